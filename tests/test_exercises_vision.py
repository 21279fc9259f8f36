"""Day 12's exercises, held to the book's layers, and answers to them in other styles."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils import vision
from utils.exercises.vision import check
from utils.exercises.vision.attention_distance import attention_distance
from utils.exercises.vision.class_and_positions import class_and_positions
from utils.exercises.vision.contrastive_loss import contrastive_loss
from utils.exercises.vision.cost_of_patches import cost_of_patches
from utils.exercises.vision.occlusion import occlusion
from utils.exercises.vision.patches import patches
from utils.exercises.vision.recall_at_k import recall_at_k
from utils.exercises.vision.roll_out import roll_out
from utils.exercises.vision.told_apart import told_apart
from utils.exercises.vision.unpatch import unpatch
from utils.exercises.vision.zero_shot import zero_shot
from utils.measure.costs import work
from utils.transformer import EncoderBlock, TransformerConfig

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def unit(x):
    return F.normalize(x, dim=-1)


def both(logits):
    own = torch.arange(len(logits))
    return (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)) / 2


# Held to the book's layers ------------------------------------------------------------------------


@pytest.mark.parametrize("shape, P", [((2, 3, 4, 6), 2), ((1, 1, 9, 3), 3), ((3, 2, 2, 4), 1)])
def test_patches_are_the_books(shape, P):
    images = draw(*shape)
    cut = patches(images, P)
    assert torch.equal(cut, vision.patches(images, P))
    assert torch.equal(unpatch(cut, *shape[1:]), vision.unpatch(cut, *shape[1:]))


def test_the_first_block_reads_class_token_and_positions():
    torch.manual_seed(0)
    sizes = {"channels": 3, "image_size": 6, "patch_size": 2, "n_classes": 4}
    config = TransformerConfig(1, d_model=8, n_heads=2, d_ff=12, n_layers=1, dropout=0.0)
    model = vision.VisionTransformer(config, **sizes).double()
    embedding, positions = model.encoder.embedding.symbols, model.encoder.embedding.positions.table
    nn.init.normal_(embedding.class_token)
    read = []
    model.encoder.blocks[0].register_forward_pre_hook(lambda _, given: read.append(given[0]))
    images = draw(3, 3, 6, 6)
    model(images)
    tokens = embedding.linear(patches(images, 2))
    found = class_and_positions(tokens, embedding.class_token, positions)
    torch.testing.assert_close(found, read[0], **EXACT)


def test_the_contrastive_loss_and_zero_shot_are_the_books():
    pictures, sentences = draw(4, 3), draw(4, 3, seed=1)
    for ours, books in (
        (contrastive_loss, vision.contrastive_loss),
        (zero_shot, vision.zero_shot),
    ):
        found, expected = (f(pictures, sentences, 0.3) for f in (ours, books))
        torch.testing.assert_close(found, expected, **EXACT)


def test_vectors_that_are_all_alike_cost_as_much_as_a_guess():
    same = draw(1, 6).expand(9, -1)
    assert math.isclose(contrastive_loss(same, same, 0.1), math.log(9))


def test_the_cost_is_that_of_a_block():
    sizes = {"d_model": 768, "n_heads": 12, "d_ff": 3072, "n_layers": 1, "dropout": 0.0}
    block = EncoderBlock(TransformerConfig(vocab_size=1, **sizes)).eval()
    few, many = (torch.zeros(1, n, 768) for n in (196, 784))
    factor = work(lambda: block(many)).products / work(lambda: block(few)).products
    assert math.isclose(factor, cost_of_patches(), rel_tol=1e-9)


@pytest.mark.parametrize("given", [4.49, 4.47, 4.5])
def test_the_class_token_makes_no_difference_to_a_prediction(given):
    assert check.exercises["cost_of_patches"].judge(given) == (True, "correct.")


def test_a_head_that_looks_at_itself_has_no_distance():
    weights = torch.eye(7, dtype=torch.float64).expand(2, 3, -1, -1)
    assert torch.equal(attention_distance(weights, 2, 3), torch.zeros(3, dtype=torch.float64))


def test_what_is_rolled_out_is_a_share():
    weights = draw(3, 2, 5, 5).softmax(dim=3)
    found = roll_out(weights)
    assert (found > 0).all() and found.sum() < 1


def test_a_linear_score_falls_by_what_was_hidden():
    image, w = draw(3, 4, 6), draw(3, 4, 6, seed=1)
    falls = occlusion(lambda images: (images * w).sum(dim=(1, 2, 3)), image, 2, 0.0)
    torch.testing.assert_close(falls.sum(), (image * w).sum(), **EXACT)


def test_a_bag_of_words_tells_nothing_apart():
    similarity = draw(50, 2, 1).expand(-1, -1, 2)
    assert told_apart(similarity)[0] == told_apart(similarity)[2] == 0


def test_all_sentences_hold_the_own_one():
    own = torch.tensor([3, 0, 3, 5])
    assert recall_at_k(draw(4, 6), own, 6) == 1


# Other styles -------------------------------------------------------------------------------------


def patches_by_a_loop(images, P):
    rows, columns = range(0, images.shape[2], P), range(0, images.shape[3], P)
    parts = [images[:, :, i : i + P, j : j + P].flatten(1) for i in rows for j in columns]
    return torch.stack(parts, dim=1)


def windows(images, P):
    return images.unfold(2, P, P).unfold(3, P, P)  # (B, C, H/P, W/P, P, P)


def unpatched_by_a_loop(patches, C, H, W):
    P = round((H * W / patches.shape[1]) ** 0.5)
    images = torch.empty(len(patches), C, H, W, dtype=patches.dtype)
    for k in range(patches.shape[1]):
        i, j = divmod(k, W // P)
        part = patches[:, k].view(-1, C, P, P)
        images[:, :, i * P : (i + 1) * P, j * P : (j + 1) * P] = part
    return images


def unpatched_row_by_row(patches, C, H, W):
    P = round((patches.shape[2] / C) ** 0.5)
    parts, n = patches.unflatten(2, (C, P, P)).unbind(1), W // P
    return torch.cat([torch.cat(parts[i * n : (i + 1) * n], 3) for i in range(H // P)], 2)


def unpatched_by_folding(patches, C, H, W):
    P = round((patches.shape[2] / C) ** 0.5)
    return F.fold(patches.mT, (H, W), kernel_size=P, stride=P)


def placed_in_the_table(tokens, class_token, positions):
    sequence = positions.expand(len(tokens), -1, -1).clone()
    sequence[:, 0] += class_token
    sequence[:, 1:] += tokens
    return sequence


def contrast_by_a_loop(u, v, tau):
    s, total = torch.einsum("ie,je->ij", unit(u), unit(v)) / tau, 0
    for i in range(len(s)):
        total = total - (s[i, i] - s[i].logsumexp(0))
        total = total - (s[i, i] - s[:, i].logsumexp(0))
    return total / (2 * len(s))


def contrast_by_logsumexp(u, v, tau):
    s = F.cosine_similarity(u[:, None], v[None], dim=-1) * (1 / tau)
    return ((s.logsumexp(0) + s.logsumexp(1)) / 2 - s.diagonal()).mean()


def recall_by_sorting(similarity, own, k):
    orders = similarity.argsort(dim=1, descending=True)[:, :k].tolist()
    return sum(int(i) in order for i, order in zip(own, orders, strict=True)) / len(own)


def told_apart_by_a_loop(similarity):
    found = []
    for (a, b), (c, d) in similarity.tolist():
        sentences, pictures = a > b and d > c, a > c and d > b
        found.append([sentences, pictures, sentences and pictures])
    return torch.tensor(found).double().mean(dim=0).tolist()


def distance_by_a_loop(weights, rows, columns):
    n, total = rows * columns, torch.zeros(weights.shape[1], dtype=weights.dtype)
    for q in range(n):
        for k in range(n):
            far = math.hypot(q // columns - k // columns, q % columns - k % columns)
            share = weights[:, :, q + 1, k + 1] / weights[:, :, q + 1, 1:].sum(-1)
            total += far * share.mean(dim=0)
    return total / n


def rolled_out_from_the_end(weights):
    row = F.one_hot(torch.tensor(0), weights.shape[-1]).to(weights.dtype)
    for layer in weights.mean(dim=1).flip(0):
        row = row @ layer / 2 + row / 2
    return row[1:]


def rolled_out_and_scaled(weights):
    found = torch.eye(weights.shape[-1], dtype=weights.dtype)
    for layer in weights.mean(dim=1):
        layer = layer + torch.eye(len(layer))
        found = layer / layer.sum(dim=1, keepdim=True) @ found
    return found[0, 1:]


def occluded_in_one_batch(score, image, P, value):
    rows, columns = image.shape[1] // P, image.shape[2] // P
    hidden = torch.eye(rows * columns, dtype=torch.bool).view(-1, 1, rows, columns)
    hidden = hidden.repeat_interleave(P, 2).repeat_interleave(P, 3)
    with torch.no_grad():
        falls = score(image[None]) - score(image.masked_fill(hidden, value))
    return falls.view(rows, columns)


OTHER_STYLES = [
    ("patches", vision.patches),
    ("patches", patches_by_a_loop),
    ("patches", lambda images, P: F.unfold(images, P, stride=P).mT),
    ("patches", lambda images, P: F.pixel_unshuffle(images, P).flatten(2).mT),
    ("patches", lambda x, P: windows(x, P).movedim(1, 3).flatten(3).flatten(1, 2)),
    ("unpatch", vision.unpatch),
    ("unpatch", unpatched_by_a_loop),
    ("unpatch", unpatched_row_by_row),
    ("unpatch", unpatched_by_folding),
    ("class_and_positions", placed_in_the_table),
    (
        "class_and_positions",
        lambda x, c, p: torch.cat([(c + p[0]).expand(len(x), 1, -1), x + p[1:]], dim=1),
    ),
    ("class_and_positions", lambda x, c, p: torch.stack([torch.vstack([c, t]) + p for t in x])),
    ("contrastive_loss", vision.contrastive_loss),
    ("contrastive_loss", contrast_by_a_loop),
    ("contrastive_loss", contrast_by_logsumexp),
    ("contrastive_loss", lambda u, v, tau: both(unit(u) @ unit(v).T / tau)),
    (
        "zero_shot",
        lambda u, v, tau: F.softmax(F.cosine_similarity(u[:, None], v, dim=-1) / tau, dim=-1),
    ),
    ("zero_shot", vision.zero_shot),
    ("zero_shot", lambda u, v, tau: torch.stack([(unit(v) @ unit(x) / tau).softmax(0) for x in u])),
    ("recall_at_k", recall_by_sorting),
    ("recall_at_k", lambda s, own, k: (s.topk(k).indices == own[:, None]).any(1).float().mean()),
    ("told_apart", told_apart_by_a_loop),
    ("attention_distance", distance_by_a_loop),
    ("roll_out", rolled_out_from_the_end),
    ("roll_out", rolled_out_and_scaled),
    ("occlusion", occluded_in_one_batch),
    (
        "position_likeness",
        lambda p, rows, columns: F.cosine_similarity(p[1:, None], p[1:], dim=2).view(
            rows, columns, rows, columns
        ),
    ),
    ("several_ways", lambda x: unit(unit(x).sum(1))),
]


@pytest.mark.parametrize(("name", "answer"), OTHER_STYLES)
def test_an_answer_in_another_style_is_right(name, answer):
    assert check.exercises[name].judge(answer) == (True, "correct.")


# What readers tried -------------------------------------------------------------------------------


def contrast_of_probabilities(u, v, tau):
    odds, own = (unit(u) @ unit(v).T / tau).softmax(dim=1), torch.arange(len(u))
    return (F.cross_entropy(odds, own) + F.cross_entropy(odds.T, own)) / 2


def told_by_the_first(s):
    first, second = s[..., 0] > s[..., 1], s[:, 0] > s[:, 1]  # of each picture, of each sentence
    pictures, sentences = first.all(dim=1).double(), second.all(dim=1).double()
    return pictures.mean(), sentences.mean(), (pictures * sentences).mean()


def told_one_by_one(s):
    own = s.diagonal(dim1=1, dim2=2)
    found = own > s.flip(2).diagonal(dim1=1, dim2=2), own > s.flip(1).diagonal(dim1=1, dim2=2)
    both = found[0].all(dim=1) & found[1].all(dim=1)
    return tuple(one.double().mean().item() for one in (*found, both))


READERS = [
    ("contrastive_loss", "probabilities_of_rows", contrast_of_probabilities),
    (
        "contrastive_loss",
        "logarithm_of_a_scale",
        lambda u, v, tau: both(math.exp(tau) * unit(u) @ unit(v).T),
    ),
    (
        "zero_shot",
        "row_by_row",
        lambda u, v, tau: torch.softmax(F.cosine_similarity(u, v, dim=1) / tau, dim=0),
    ),
    (
        "recall_at_k",
        "similarities_of_all",
        lambda s, own, k: ((s > s[:, own]).long().sum(dim=1) < k).float().mean().item(),
    ),
    ("told_apart", "all_to_the_first", told_by_the_first),
    ("told_apart", "third_alone_by_pairs", told_one_by_one),
]


@pytest.mark.parametrize(("name", "mistake", "answer"), READERS)
def test_a_mistake_that_readers_made_is_named(name, mistake, answer):
    exercise = check.exercises[name]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)


def test_a_sum_over_the_batch_is_named_even_if_it_is_not_finite():
    def summed(u, v, tau):
        logits = unit(u) @ unit(v).T / tau
        ways = logits.softmax(dim=1), logits.softmax(dim=0)
        return -sum(way.diagonal().log().sum() for way in ways) / 2

    exercise = check.exercises["contrastive_loss"]
    passed, sentence = exercise.judge(summed)
    assert not passed and sentence.endswith(exercise.mistakes["sum_over_the_batch"].says)


@pytest.mark.parametrize(
    ("given", "mistake"), [(14.4, "weights_once"), (15.6, "width_not_squared"), (16, "pairs_alone")]
)
def test_a_part_of_the_cost_is_named(given, mistake):
    exercise = check.exercises["cost_of_patches"]
    assert exercise.judge(given) == (False, exercise.mistakes[mistake].says)
