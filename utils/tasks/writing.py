"""Day 9's task: to continue a text, in byte pairs, and what the text before a token is worth."""

import math
import re
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn

from utils.data.docstrings import PARTS, docstring_text
from utils.data.text import SPECIAL
from utils.self_attention import causal_mask
from utils.tokens import BytePairs, learn_merges_indexed
from utils.training.counting import KneserNey
from utils.training.loop import History
from utils.training.metrics import bits_per_byte, surprises
from utils.training.recipes import tag_loss, train_once
from utils.transformer import DecoderOnly, Tagger, TransformerConfig

N_MERGES = 256
T = 64  # tokens that a model reads at once
B = 8
STEPS = 1000  # of the stored comparison; the lesson takes fewer
RATE = 8e-3


def paragraphs(part: str) -> str:
    """The documentation that Days 3 and 7 read, each paragraph on one line."""
    text = docstring_text(part)
    return "\n".join(" ".join(p.split()) for p in re.split(r"\n\s*\n", text))


class Writing:
    """A text in three parts, cut into byte pairs that its training part has taught.

    source: "train", "validation" or "test" to the text of that part, such as `tiny_shakespeare`.
    tokens: the byte pairs; the first numbers are those of `utils.data.text`.
    text, ids: each part, as it is and in tokens, (n,).
    """

    def __init__(self, source: Callable[[str], str] = paragraphs, n_merges: int = N_MERGES):
        self.text = {part: source(part) for part in PARTS}
        merges = learn_merges_indexed(self.text["train"], n_merges)
        self.tokens = BytePairs.from_merges(merges, SPECIAL)
        self.ids = {
            part: torch.tensor(self.tokens.encode(text)) for part, text in self.text.items()
        }

    def spelled(self, ids: Iterable[int]) -> list[str]:
        """Each token as a text of its own; a byte that is half a letter is a �."""
        return [self.tokens.decode([number]) for number in ids]

    @property
    def n_bytes(self) -> int:
        """How many bytes of the validation text are asked for: all but the first token's."""
        return sum(map(len, self.tokens.pieces(self.ids["validation"][1:])))

    def per_byte(self, nats: Tensor) -> float:
        """Bits per byte of the validation text, from the surprises of all its tokens but the first.

        Shapes: nats (n - 1,).
        """
        return bits_per_byte(nats.mean().item(), len(nats), self.n_bytes)

    def judged(self, model: Callable[[Tensor], Tensor]) -> Tensor:
        """`surprises` of a model on the validation text, in windows of T."""
        return surprises(model, self.ids["validation"], T)

    def counted(self, order: int) -> Tensor:
        """The same from a table of counts (`KneserNey`), which reads no more than a model does."""
        table = KneserNey(self.ids["train"], order, len(self.tokens))
        ids = self.ids["validation"]
        windows = (ids[start : start + T + 1] for start in range(0, len(ids) - 1, T))
        return -torch.cat([table.log_probabilities(window)[1:] for window in windows])


# A model that sees both sides ---------------------------------------------------------------------


def train_both_sides(task: Writing, steps: int = 250) -> tuple[Tagger, History]:
    """Train Day 6's encoder, which hides nothing, to predict the token after each position."""
    torch.manual_seed(0)
    sizes = {"d_model": 64, "n_heads": 4, "d_ff": 128, "n_layers": 1, "dropout": 0.0}
    config = TransformerConfig(len(task.tokens), **sizes, norm="pre", positions="rotary")
    model, text = Tagger(config, len(task.tokens)), task.ids["train"]
    starts = torch.randint(len(text) - T, (steps, B, 1))
    batches = [(ids, ids) for ids in text[starts + torch.arange(T + 1)]]

    def loss(logits: Tensor, ids: Tensor) -> Tensor:
        return tag_loss(logits[:, :-1], ids[:, 1:])

    return model, train_once(model, loss, batches, learning_rate=RATE)


@torch.no_grad()
def surprises_at_the_end(task: Writing, model: nn.Module, length: int = 32) -> Tensor:
    """-ln p of the tokens behind pieces of validation text, where nothing follows yet: (n,)."""
    ids = task.ids["validation"]
    rows = ids[: len(ids) // (length + 1) * (length + 1)].view(-1, length + 1)
    log_p = model(rows[:, :-1])[:, -1].log_softmax(dim=-1)
    return -log_p.gather(1, rows[:, -1:])[:, 0]


# What a model is asked ----------------------------------------------------------------------------


@torch.no_grad()
def tree(
    model: Callable[[Tensor], Tensor], starts: Sequence[tuple[int, ...]], n: int
) -> dict[tuple[int, ...], list[float]]:
    """Logits of what follows some texts and their likeliest continuations, of n texts in all."""
    found: dict[tuple[int, ...], list[float]] = {}
    waiting = [(0.0, start) for start in starts]
    while waiting and len(found) < n:
        nats, text = waiting.pop(waiting.index(min(waiting)))
        logits = model(torch.tensor([text]))[0, -1]
        found[text] = logits.tolist()
        best = (-logits.log_softmax(dim=0)).topk(6, largest=False)
        waiting += [
            (nats + more, (*text, number))
            for more, number in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        ]
    return found


@torch.no_grad()
def surprised(task: Writing, model: Callable[[Tensor], Tensor], text: str) -> list[tuple]:
    """Each token of a text, its bits, and the three that the model held likelier or likeliest."""
    ids = task.tokens.encode(text)
    log_p = model(torch.tensor([ids]))[0].log_softmax(dim=-1)
    spelled = task.spelled(ids)
    found: list[tuple] = [(spelled[0], None, [])]
    for token, number, row in zip(spelled[1:], ids[1:], log_p, strict=False):
        best = row.exp().topk(3)
        expected = zip(task.spelled(best.indices.tolist()), best.values.tolist(), strict=True)
        found.append((token, -row[number].item() / math.log(2), list(expected)))
    return found


@torch.no_grad()
def best_continuation(model: Callable[[Tensor], Tensor], ids: Sequence[int], n: int) -> list[int]:
    """Ids and n more, each of them the best behind all before it."""
    text = list(ids)
    for _ in range(n):
        text.append(model(torch.tensor([text]))[0, -1].argmax().item())
    return text


def by_place(nats: Tensor, edges: Sequence[int]) -> tuple[list[float], list[float]]:
    """The mean surprise of tokens by how many of their window stand before them.

    edges: of the places in a window of T, counted from 0, that are taken together. Returns: the
        mean number of tokens that were read, and the mean of nats, for each.
    """
    places = nats[: len(nats) // T * T].view(-1, T).mean(dim=0)
    rings = list(zip(edges, edges[1:], strict=False))
    return [(a + 1 + b) / 2 for a, b in rings], [places[a:b].mean().item() for a, b in rings]


def words_in(task: Writing, texts: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
    """Of the words of each text, the share that the training text has, and that of different ones.

    Shapes: texts, rows of one length, to two tensors of as many rows and columns.
    """
    known = set(re.findall(r"\w+", task.text["train"]))
    words = [[re.findall(r"\w+", text) for text in row] for row in texts]
    exist = [[sum(word in known for word in of) / len(of) for of in row] for row in words]
    return torch.tensor(exist), torch.tensor(
        [[len(set(of)) / len(of) for of in row] for row in words]
    )


# The book's model beside the lesson's ------------------------------------------------------------


def small_decoder(positions: str | None) -> DecoderOnly:
    """A small GPT of the book's blocks, with weights of chance, in double precision."""
    torch.manual_seed(1)
    sizes = {"d_model": 12, "n_heads": 3, "d_ff": 20, "n_layers": 2, "dropout": 0.0}
    config = TransformerConfig(
        11, **sizes, norm="pre", activation="gelu", positions=positions, tied=True
    )
    model = DecoderOnly(config).double()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.3)
    return model


def small_library(book: DecoderOnly) -> nn.TransformerEncoder:
    """The library's blocks of the same sizes, whose weights the book's model takes."""
    c = book.config
    block = nn.TransformerEncoderLayer(
        c.d_model, c.n_heads, c.d_ff, 0.0, "gelu", batch_first=True, norm_first=True
    )
    norm = nn.LayerNorm(c.d_model)
    library = nn.TransformerEncoder(block, c.n_layers, norm, enable_nested_tensor=False).double()
    book.stack.load_library(library)
    return library


def take_over(model: nn.Module, book: DecoderOnly) -> None:
    """Give the lesson's GPT the weights of the book's."""
    with torch.no_grad():
        model.table.copy_(book.output.weight)
    model.norm.load_state_dict(book.stack.norm.state_dict())
    for ours, theirs in zip(model.blocks, book.stack.blocks, strict=True):
        look, think = theirs.self_attention, theirs.feed_forward
        ours.W_in.load_state_dict({"weight": look.W_in, "bias": look.b_in})
        ours.W_o.load_state_dict(look.W_o.state_dict())
        for layer, twin in zip((ours.think[0], ours.think[2]), (think.W_1, think.W_2), strict=True):
            layer.load_state_dict(twin.state_dict())
        for norm, residual in zip(ours.norms, theirs.residuals, strict=True):
            norm.load_state_dict(residual.norm.state_dict())


@torch.no_grad()
def off_from_book_and_library(make: Callable[[int, int, int, int], nn.Module]) -> float:
    """How far the lesson's logits are from the book's, and from the library's blocks, at most.

    make: from V, D, h and F to the lesson's GPT. The library turns nothing by position, so the
    lesson's blocks leave that out beside it.
    """
    ids, off = torch.randint(11, (3, 9)), []
    for positions in ("rotary", None):
        book, model = small_decoder(positions), make(11, 12, 3, 20).double()
        if positions is None:
            for block in model.blocks:
                del block.turn
                block.turn = lambda x: x
            x = math.sqrt(12) * book.output.weight[ids]
            hidden = small_library(book)(x, mask=~causal_mask(9), is_causal=True)
            off.append((book(ids)[0] - hidden @ book.output.weight.T).abs().max())
        take_over(model, book)
        off.append((model(ids) - book(ids)[0]).abs().max())
    return torch.stack(off).max().item()
