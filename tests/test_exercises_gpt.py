"""The reference solutions of Day 9, held to the library and to definitions as loops."""

import pytest
import torch
from torch.nn import functional as F

from utils.exercises.gpt import check
from utils.exercises.gpt.forward import gpt
from utils.exercises.gpt.next_chances import next_chances
from utils.exercises.gpt.next_token_loss import next_token_loss
from utils.exercises.gpt.write import write
from utils.training import sampling
from utils.transformer import DecoderOnly, TransformerConfig

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def passes(number: str, answer) -> bool:
    return check.exercises[number].judge(answer) == (True, "correct.")


def decoder(**choices) -> DecoderOnly:
    torch.manual_seed(0)
    sizes = {"d_model": 8, "n_heads": 2, "d_ff": 12, "n_layers": 2, "dropout": 0.0}
    return DecoderOnly(TransformerConfig(11, **sizes, norm="pre", **choices)).double().eval()


# 9.1 The loss at every position -------------------------------------------------------------------


def test_the_loss_is_the_librarys_on_shifted_targets():
    logits, ids = draw(3, 6, 9), torch.randint(1, 9, (3, 6))
    ids[1, 4:] = 0
    targets = ids[:, 1:].flatten()
    expected = F.cross_entropy(logits[:, :-1].flatten(0, 1), targets, ignore_index=0)
    torch.testing.assert_close(next_token_loss(logits, ids), expected, **EXACT)


def loss_by_a_loop(logits, ids):
    nats = []
    for row, text in zip(logits, ids, strict=True):
        for t in range(len(text) - 1):
            if text[t + 1] != 0:
                nats.append(-row[t].log_softmax(0)[text[t + 1]])
    return torch.stack(nats).mean()


def loss_by_the_library(logits, ids):
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], ignore_index=0)


@pytest.mark.parametrize("answer", [loss_by_a_loop, loss_by_the_library])
def test_a_loss_in_another_style_is_right(answer):
    assert passes("9.1", answer)


# 9.2 The forward pass -----------------------------------------------------------------------------


@pytest.mark.parametrize("positions", [None, "rotary"])
def test_the_forward_pass_is_that_of_the_books_decoder(positions):
    model = decoder(positions=positions)
    ids = torch.randint(11, (3, 7))
    blocks = [lambda x, block=block: block(x, is_causal=True)[0] for block in model.stack.blocks]
    found = gpt(ids, model.output.weight, blocks, model.stack.norm)
    torch.testing.assert_close(found, model(ids)[0], **EXACT)


def test_a_forward_pass_by_the_librarys_functions_is_right():
    def answer(ids, table, blocks, norm):
        x = F.embedding(ids, table) * table.shape[1] ** 0.5
        for block in blocks:
            x = block(x)
        return F.linear(norm(x), table)

    assert passes("9.2", answer)


# 9.3 The chances of the next token ----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("tau", "k", "p"), [(0.7, 5, 0.8), (1.5, 20, 0.5), (1.0, 1, 0.3), (0.4, 20, 1.0)]
)
def test_chances_are_those_of_the_books_filters(seed, tau, k, p):
    logits = 2 * draw(20, seed=seed)
    filtered = sampling.top_p(sampling.top_k(sampling.temperature(logits, tau), k), p)
    torch.testing.assert_close(next_chances(logits, tau, k, p), filtered.softmax(0), **EXACT)


def chances_by_a_loop(logits, tau, k, p):
    chances = (logits / tau).softmax(0).tolist()
    ranked = sorted(range(len(chances)), key=lambda i: -chances[i])[:k]
    total, kept, mass = sum(chances[i] for i in ranked), [], 0.0
    for i in ranked:
        if mass >= p:
            break
        kept.append(i)
        mass += chances[i] / total
    left = sum(chances[i] for i in kept)
    shares = [chances[i] / left if i in kept else 0.0 for i in range(len(chances))]
    return torch.tensor(shares, dtype=logits.dtype)


def chances_by_logits(logits, tau, k, p):
    logits = logits / tau
    worst = logits.topk(min(k, len(logits))).values[-1]
    logits = logits.masked_fill(logits < worst, float("-inf"))
    ranked, order = logits.softmax(0).sort(descending=True)
    out = order[ranked.cumsum(0) - ranked >= p]
    logits[out] = float("-inf")
    return logits.softmax(0)


@pytest.mark.parametrize("answer", [chances_by_a_loop, chances_by_logits])
def test_chances_in_another_style_are_right(answer):
    assert passes("9.3", answer)


# 9.4 Writing with a cache -------------------------------------------------------------------------


def test_what_is_written_with_a_cache_is_what_is_written_without():
    model = decoder(positions="rotary")

    def begin():
        state = [None]

        def read(ids, start):
            logits, state[0] = model(ids, state[0])
            return logits

        return read

    text = [3, 1, 4]
    for _ in range(8):
        text.append(int(model(torch.tensor([text]))[0][0, -1].argmax()))
    with torch.no_grad():
        found = write(begin, [3, 1, 4], 8, lambda logits: int(logits.argmax()))
    assert found == text


def test_writing_that_reads_the_prompt_before_its_loop_is_right():
    def answer(begin, prompt, n, choose):
        read = begin()
        text = list(prompt)
        logits = read(torch.tensor([prompt]), 0)
        for i in range(n):
            text.append(choose(logits[0, -1]))
            if i < n - 1:
                logits = read(torch.tensor([[text[-1]]]), len(text) - 1)
        return text

    assert passes("9.4", answer)


def test_a_prompt_read_token_by_token_is_right():
    def answer(begin, prompt, n, choose):
        read, text = begin(), []
        for place, id in enumerate(prompt):
            logits = read(torch.tensor([[id]]), place)
            text.append(id)
        for _ in range(n):
            text.append(choose(logits[0, 0]))
            logits = read(torch.tensor([text[-1:]]), len(text) - 1)
        return text

    assert passes("9.4", answer)
