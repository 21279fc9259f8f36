"""Day 13's pictures show what is chosen, learned and hidden."""

import pytest
import torch
from drawings import arrows, leads, near, places, texts
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, Rectangle

from utils.drawing import SharedVocabulary, guided_logits, joint_loss
from utils.show.diagrams import tinted
from utils.show.mechanisms import drawing

pytestmark = pytest.mark.usefixtures("closed")

IMAGES = torch.rand(5, 3, 24, 24, generator=torch.Generator().manual_seed(0))
VEIL = tinted("state", 0.5)


def shown(ax) -> list[torch.Tensor]:
    """The pictures (3, H, W) of a sheet, in the order in which they were drawn."""
    return [torch.as_tensor(image.get_array()).permute(2, 0, 1) for image in ax.images]


def filled(ax, colour: str) -> list[tuple[float, float]]:
    """The middles of a sheet's rectangles of a colour."""
    return [
        tuple(patch.get_center())
        for patch in ax.patches
        if isinstance(patch, Rectangle) and patch.fill and to_hex(patch.get_facecolor()) == colour
    ]


def under(ax, number: int) -> list[tuple[float, float]]:
    """The covered places of a picture, as its row and column of six by six."""
    left, right, bottom, top = ax.images[number].get_extent()
    side = (right - left) / 6
    return [
        (int((y - top) / side), int((x - left) / side))
        for x, y in filled(ax, VEIL)
        if left < x < right and top < y < bottom
    ]


def test_codes_stand_row_by_row_between_a_picture_and_what_is_drawn_from_it():
    codes = torch.tensor([17, 17, 17, 17, 3, 93, 17, 17, 17])
    ax = drawing.three_parts(IMAGES[0], codes, IMAGES[1])
    assert torch.equal(torch.stack(shown(ax)), IMAGES[:2])
    assert [text for text in texts(ax) if text.isdigit()] == [str(code) for code in codes.tolist()]
    ((x, y),), ((right, below),) = places(ax, "3"), places(ax, "93")
    assert right > x and y == below and "9 codes" in texts(ax)
    assert [at[0] for at in filled(ax, tinted("key", 0.6))] == pytest.approx([x, right])
    ((encoder, _),), ((decoder, _),) = places(ax, "encoder"), places(ax, "decoder")
    assert encoder < x < decoder and len(arrows(ax)) == 4


def test_each_vector_is_joined_to_the_nearest_of_the_codebook():
    codebook = torch.tensor([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0]])
    z = torch.tensor([[3.5, 0.2], [0.3, -0.4], [2.0, 1.8], [1.9, 0.1]])
    ax = drawing.nearest(z, codebook)
    joined = [line.get_xydata().tolist() for line in ax.lines if len(line.get_xdata()) == 2]
    wanted = [1, 0, 2, 0]
    assert len(joined) == 4
    for (_, end), k in zip(joined, wanted, strict=True):
        assert end == pytest.approx(places(ax, str(k))[0])
    (_, low), (_, high) = places(ax, "1")[0], places(ax, "2")[0]
    assert high < low  # a larger second number is further up
    lengths = [torch.dist(*map(torch.tensor, ends)).item() for ends in joined]
    far = torch.stack([torch.dist(*pair) for pair in zip(z, codebook[wanted], strict=True)])
    scale = lengths[0] / far[0].item()
    assert near(lengths, scale * far)


def test_the_gradient_goes_around_the_step_that_has_no_slope():
    ax = drawing.straight_through()
    at = {name: places(ax, name)[0] for name in ("encoder", "z", "nearest", "q", "decoder")}
    order = [x for x, _ in at.values()]
    assert order == sorted(order)
    (blocked,) = [arrow for arrow in arrows(ax) if arrow.get_linestyle() != "-"]
    (from_x, _), (to_x, _) = blocked._posA_posB
    assert at["nearest"][0] < to_x < from_x < at["q"][0]
    assert leads(ax, at["q"], at["z"])
    back = [arrow for arrow in arrows(ax) if arrow._posA_posB[0][0] > arrow._posA_posB[1][0]]
    assert len(back) == 4 and len(arrows(ax)) == 8


def test_the_codebook_part_moves_q_and_the_commitment_moves_z_less():
    ax = drawing.two_pulls(0.25)
    moves = [[x for x, _ in arrow._posA_posB] for arrow in arrows(ax)]
    (codebook, commitment) = moves
    assert codebook[0] > codebook[1] and commitment[0] < commitment[1]
    whole = places(ax, "q")[1][0] - places(ax, "z")[1][0] - 1.3
    assert commitment[1] - commitment[0] == pytest.approx(0.25 * whole)
    letters = [box for box in ax.patches if isinstance(box, FancyBboxPatch)]
    white = [box.get_x() for box in letters if to_hex(box.get_facecolor()) == "#ffffff"]
    assert len(white) == 2 and white[0] < 8 < white[1]  # z above, q below stay
    for kept, moved in zip(places(ax, "sg: stays"), places(ax, "moves"), strict=True):
        assert kept[1] == moved[1] and (kept[0] < moved[0]) == (kept[1] < 4)


def test_a_row_has_the_ids_of_the_vocabulary_and_the_weights_of_the_loss():
    symbols = SharedVocabulary(n_words=92, n_codes=128, longest=4, n_places=3)
    words, codes = torch.tensor([[4, 29, 40]]), torch.tensor([[17, 17, 93]])
    ids = symbols.sentence_then_picture(words, codes)
    ax = drawing.shared_row(
        ["a", "red", "three"], words[0].tolist(), codes[0].tolist(), 92, symbols.mark
    )
    said = texts(ax)
    start = said.index("4")
    assert said[start : start + 8] == [str(number) for number in ids[0].tolist()]
    assert said[:8] == ["a", "red", "three", "pad …", "mark", "17", "17", "93"]
    logits = torch.zeros(1, 8, len(symbols), requires_grad=True)
    for weights, text in (((1, 0), "1/8"), ((0, 1), "7/8")):
        (slope,) = torch.autograd.grad(joint_loss(logits, ids, symbols, weights), logits)
        asked = 1 + slope[0].abs().sum(dim=1).nonzero()[:, 0]  # the loss reads the next symbol
        across = [places(ax, said[t])[0][0] if t != 6 else places(ax, "17")[1][0] for t in asked]
        assert [x for x, _ in places(ax, text)] == pytest.approx(across)


def test_codes_that_are_not_written_are_covered():
    ax = drawing.code_by_code(dict(zip((0, 9, 18, 27, 36), IMAGES, strict=True)))
    assert torch.equal(torch.stack(shown(ax)), IMAGES)
    for number, done in enumerate((0, 9, 18, 27, 36)):
        assert under(ax, number) == [divmod(place, 6) for place in range(done, 36)]
    assert texts(ax) == ["0", "9", "18", "27", "36", "codes written"]


def test_the_most_similar_picture_comes_first_and_is_framed():
    scores = torch.tensor([0.1, 0.4, 0.3, 0.2])
    ax = drawing.best_of(IMAGES[:4], scores, "a red three", [False, True, False, True])
    order = [1, 2, 3, 0]
    assert torch.equal(torch.stack(shown(ax)), IMAGES[order])
    assert texts(ax) == ["a red three", "0.40 ✓", "0.30", "0.20 ✓", "0.10"]
    frames = {patch.get_bbox().bounds for patch in ax.patches if isinstance(patch, FancyBboxPatch)}
    ((x, y, width, height),) = frames
    left, right, bottom, top = ax.images[0].get_extent()
    assert x < left < right < x + width and y < top < bottom < y + height


def test_hidden_codes_are_covered_and_counted():
    hidden = torch.rand(3, 36, generator=torch.Generator().manual_seed(1)) < 0.5
    hidden[2] = False
    ax = drawing.unmasking(IMAGES[:3], hidden)
    for number, covered in enumerate(hidden):
        assert under(ax, number) == [divmod(i, 6) for i in covered.nonzero()[:, 0].tolist()]
    assert texts(ax) == [*[f"{int(n)} hidden" for n in hidden.sum(dim=1)[:2]], "done"]


def test_guidance_goes_on_beyond_the_logits_of_the_sentence():
    without, with_ = torch.tensor([1.0, 0.5, 0.0, -0.5]), torch.tensor([0.5, 1.5, 0.0, -1.0])
    ax = drawing.guided(without, with_, 3)
    beyond = guided_logits(with_[None], without[None], 3)[0]
    every = torch.stack([without, with_, beyond])
    drawn = [text for text in texts(ax) if text.replace(".", "").replace("-", "").isdigit()]
    assert near([float(text) for text in drawn], every)
    chances = [float(text[:-1]) / 100 for text in texts(ax) if text.endswith("%")]
    assert near(chances, every.softmax(dim=1))
    colours = [tinted(role) for role in ("state", "query", "value")]
    bars = [bar for bar in ax.patches if to_hex(bar.get_facecolor()) in colours]
    unit = bars[0].get_height()
    assert near([bar.get_height() / unit for bar in bars], every.abs())
    assert len({round(bar.get_y() + bar.get_height(), 6) for bar in bars[:2]}) == 1
    assert bars[3].get_y() == pytest.approx(bars[0].get_y() + unit)  # below the line
