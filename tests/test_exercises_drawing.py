"""Day 13's exercises, held to the book's layers, and answers to them in other styles."""

import math
from collections import Counter

import pytest
import torch
from torch.nn import functional as F

from utils import drawing
from utils.exercises.drawing import check
from utils.exercises.drawing.best_of import best_of
from utils.exercises.drawing.draw_codes import draw_codes, likeliest
from utils.exercises.drawing.guided_logits import guided_logits
from utils.exercises.drawing.nearest_codes import nearest_codes
from utils.exercises.drawing.perplexity_of_codes import perplexity_of_codes
from utils.exercises.drawing.picture_loss import picture_loss
from utils.exercises.drawing.sentence_and_codes import sentence_and_codes
from utils.exercises.drawing.straight_through import straight_through
from utils.exercises.drawing.two_slopes import slopes
from utils.exercises.drawing.unmask_schedule import unmask_schedule
from utils.exercises.drawing.vq_loss import vq_loss
from utils.training.sampling import chooser, generate
from utils.transformer import DecoderOnly, TransformerConfig
from utils.vision import zero_shot

EXACT = {"rtol": 1e-10, "atol": 1e-10}
VOCABULARY = drawing.SharedVocabulary(n_words=9, n_codes=5, longest=4, n_places=6)
WORDS = torch.tensor([[5, 7, 0, 0], [8, 4, 6, 0]])
CODES = torch.tensor([[0, 4, 2, 2, 1, 3], [4, 4, 0, 1, 0, 2]])


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


# Held to the book's layers ------------------------------------------------------------------------


def test_codes_and_their_vectors_are_the_books():
    z, codebook = draw(11, 4), draw(7, 4, seed=1)
    for ours, books in zip(
        nearest_codes(z, codebook), drawing.nearest_codes(z, codebook), strict=True
    ):
        assert torch.equal(ours, books)


@pytest.mark.parametrize(
    "ours, books, others",
    [
        (straight_through, drawing.straight_through, ()),
        (vq_loss, drawing.codebook_loss, (0.3,)),
    ],
)
def test_numbers_and_gradients_are_the_books(ours, books, others):
    z, q = draw(4, 3), draw(4, 3, seed=1)
    torch.testing.assert_close(ours(z, q, *others), books(z, q, *others), **EXACT)
    torch.testing.assert_close(slopes(ours, z, q, *others), slopes(books, z, q, *others), **EXACT)


def test_the_perplexity_is_the_books():
    codes = torch.randint(9, (4, 7), generator=torch.Generator().manual_seed(0))
    assert math.isclose(perplexity_of_codes(codes, 12), drawing.perplexity_of_codes(codes, 12))


def test_the_row_and_its_loss_are_the_books():
    ids = sentence_and_codes(WORDS, CODES, 9, 5)
    assert torch.equal(ids, VOCABULARY.sentence_then_picture(WORDS, CODES))
    logits = draw(2, 11, 15)
    expected = drawing.joint_loss(logits, ids, VOCABULARY)
    torch.testing.assert_close(picture_loss(logits, ids, 9, 7 / 8), expected, **EXACT)


def test_drawing_is_the_books():
    torch.manual_seed(0)
    sizes = {"d_model": 8, "n_heads": 2, "d_ff": 12, "n_layers": 2, "dropout": 0.0}
    config = TransformerConfig(15, **sizes, tied=False, positions="learned", max_len=12)
    model = DecoderOnly(config).double().eval()
    step = drawing.drawing_step(model, VOCABULARY)
    books = generate(step, WORDS, torch.full((2,), 14), 6, chooser(0)) - 9
    start = torch.cat([WORDS, torch.full((2, 1), 14)], dim=1)
    assert torch.equal(draw_codes(lambda ids: model(ids)[0], start, 6, 9, 0.7, likeliest), books)


def test_guidance_and_schedule_are_the_books():
    a, b = draw(2, 3, 4)
    assert torch.equal(guided_logits(a, b, 2.5), drawing.guided_logits(a, b, 2.5))
    for n in range(1, 40):
        for steps in range(1, n + 1):
            assert unmask_schedule(n, steps) == drawing.unmask_schedule(n, steps)


def test_the_best_picture_is_what_the_sentence_would_find_by_itself():
    pictures, sentences = draw(5, 8, 3), draw(5, 3, seed=1)
    found = [
        zero_shot(s[None], p, 0.1)[0].argmax() for p, s in zip(pictures, sentences, strict=True)
    ]
    assert best_of(pictures, sentences).tolist() == [int(i) for i in found]


@pytest.mark.parametrize("given", [27, 27.0])
def test_27_bytes_hold_a_picture(given):
    assert check.exercises["bytes_in_codes"].judge(given) == (True, "correct.")
    assert 64**36 == 256**27


# Other styles -------------------------------------------------------------------------------------


def nearest_by_a_loop(z, codebook):
    codes = [
        min(range(len(codebook)), key=lambda k: float(((x - codebook[k]) ** 2).sum())) for x in z
    ]
    return torch.tensor(codes), torch.stack([codebook[k] for k in codes])


def nearest_by_products(z, codebook):
    codes = (z @ codebook.T - (codebook**2).sum(1) / 2).max(dim=1).indices
    return codes, F.one_hot(codes, len(codebook)).to(z.dtype) @ codebook


class Passed(torch.autograd.Function):
    """q forward, and the gradient to z as it is."""

    @staticmethod
    def forward(ctx, z, q):
        return q.clone()

    @staticmethod
    def backward(ctx, slope):
        return slope, None


def loss_by_hand(z, q, beta):
    still_z, still_q, total = z.data, q.data, 0
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            total = total + (q[i, j] - still_z[i, j]) ** 2 + beta * (z[i, j] - still_q[i, j]) ** 2
    return total / z.numel()


def perplexity_by_counting(codes, K):
    counts = Counter(codes.flatten().tolist())
    n = sum(counts.values())
    return math.prod((c / n) ** (-c / n) for c in counts.values())


def row_by_filling(words, codes, n_words, n_codes):
    T = words.shape[1]
    ids = torch.full((len(words), T + 1 + codes.shape[1]), n_words + n_codes)
    ids[:, :T], ids[:, T + 1 :] = words, codes + n_words
    return ids


def loss_by_a_loop(logits, ids, n_words, share):
    words, codes, V = [], [], logits.shape[-1]
    for row, of_row in zip(ids.tolist(), logits, strict=True):
        for t in range(len(row) - 1):
            nats = of_row[t].logsumexp(0) - of_row[t, row[t + 1]]
            if 0 < row[t + 1] < n_words:
                words.append(nats)
            elif n_words <= row[t + 1] < V - 1:
                codes.append(nats)
    return torch.stack(words).mean() * (1 - share) + torch.stack(codes).mean() * share


def loss_by_ignoring(logits, ids, n_words, share):
    V, target = logits.shape[2], ids[:, 1:].clone()
    target[target == V - 1] = 0
    flat = logits[:, :-1].flatten(0, 1)
    words = F.cross_entropy(
        flat, target.masked_fill(target >= n_words, 0).flatten(), ignore_index=0
    )
    codes = F.cross_entropy(flat, target.masked_fill(target < n_words, -100).flatten())
    return words + share * (codes - words)


def drawn_among_all(model, start, n, n_words, tau, choose):
    ids = start.clone()
    for _ in range(n):
        logits = model(ids)[:, -1] / tau
        logits[:, :n_words] = -torch.inf
        logits[:, -1] = -torch.inf
        ids = torch.cat([ids, choose(torch.softmax(logits, dim=-1)).unsqueeze(1)], dim=1)
    return ids[:, -n:] - n_words


def drawn_and_made_whole(model, start, n, n_words, tau, choose):
    ids, found = start, []
    for _ in range(n):
        p = (model(ids)[:, -1] / tau).exp()[:, n_words:-1]
        found.append(choose(p / p.sum(dim=1, keepdim=True)))
        ids = torch.cat([ids, found[-1][:, None] + n_words], dim=1)
    return torch.stack(found, dim=1)


def schedule_from_the_end(n, steps):
    hidden = [n]
    while len(hidden) <= steps:
        hidden.append(
            min(hidden[-1] - 1, int(n * math.sin(math.pi / 2 * (1 - len(hidden) / steps))))
        )
    return hidden[1:]


def best_by_a_loop(pictures, sentences):
    found = []
    for of_one, sentence in zip(pictures, sentences, strict=True):
        found.append(
            max(range(len(of_one)), key=lambda i: (of_one[i] @ sentence) / of_one[i].norm())
        )
    return torch.tensor(found)


OTHER_STYLES = [
    ("nearest_codes", drawing.nearest_codes),
    ("nearest_codes", nearest_by_a_loop),
    ("nearest_codes", nearest_by_products),
    ("straight_through", drawing.straight_through),
    ("straight_through", lambda z, q: z - (z - q).detach()),
    ("straight_through", lambda z, q: q.detach() + z - z.detach()),
    ("straight_through", Passed.apply),
    ("vq_loss", drawing.codebook_loss),
    ("vq_loss", loss_by_hand),
    (
        "vq_loss",
        lambda z, q, beta: beta * F.mse_loss(q.detach(), z) + F.mse_loss(z.detach(), q),
    ),
    ("perplexity_of_codes", drawing.perplexity_of_codes),
    ("perplexity_of_codes", perplexity_by_counting),
    (
        "perplexity_of_codes",
        lambda codes, K: (
            F.one_hot(codes.flatten(), K)
            .double()
            .mean(0)
            .xlogy(F.one_hot(codes.flatten(), K).double().mean(0))
            .sum()
            .neg()
            .exp()
        ),
    ),
    ("sentence_and_codes", row_by_filling),
    (
        "sentence_and_codes",
        lambda words, codes, n_words, n_codes: torch.hstack(
            [F.pad(words, (0, 1), value=n_words + n_codes), codes + n_words]
        ),
    ),
    ("picture_loss", loss_by_a_loop),
    ("picture_loss", loss_by_ignoring),
    ("draw_codes", drawn_among_all),
    ("draw_codes", drawn_and_made_whole),
    ("guided_logits", lambda a, b, w: w * a + (1 - w) * b),
    ("guided_logits", lambda a, b, w: torch.lerp(b, a, w)),
    ("unmask_schedule", drawing.unmask_schedule),
    ("unmask_schedule", schedule_from_the_end),
    ("best_of", best_by_a_loop),
    (
        "best_of",
        lambda p, s: torch.einsum("bne,be->bn", F.normalize(p, dim=-1), s).max(dim=1).indices,
    ),
]


@pytest.mark.parametrize(("name", "answer"), OTHER_STYLES)
def test_an_answer_in_another_style_is_right(name, answer):
    assert check.exercises[name].judge(answer) == (True, "correct.")
