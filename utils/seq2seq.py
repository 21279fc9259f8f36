"""Day 4: from one sequence to another: encoder, decoder with and without attention, decoding.

Shapes: source (B, S) and target (B, T) are ids, padded with PAD behind their ends; lengths (B,)
count a source's ids. Annotations, the encoder's outputs, and decoder states have N numbers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.attention import (
    AdditiveScore,
    Attention,
    ConcatScore,
    DotScore,
    GeneralScore,
    LocalAttention,
    Memory,
    ScaledDotScore,
    padding_mask,
)
from utils.recurrent import GRU, LSTM, RNN, Bidirectional

PAD, BOS, EOS = 0, 1, 2

State = Tensor | tuple[Tensor, Tensor]  # h (B, N), or an LSTM's h and c

LAYERS = {"RNN": RNN, "LSTM": LSTM, "GRU": GRU}
SCORES = {
    "additive": lambda N: AdditiveScore(N, N, N),
    "concat": lambda N: ConcatScore(N, N, N),
    "general": lambda N: GeneralScore(N, N),
    "dot": lambda N: DotScore(),
    "scaled dot": lambda N: ScaledDotScore(),
}
STYLES = ("Bahdanau", "Luong")


@dataclass(frozen=True)
class Seq2SeqConfig:
    """The sizes and choices of a `Seq2Seq`.

    hidden_size: N, of the decoder; each direction of the encoder has N/2, so an annotation has N.
    attention: a score's name, or None for the fixed vector: the encoder's last state starts the
        decoder, and the decoder sees nothing else of the source (Sutskever et al., 2014).
    style: what looks at the source, the state before the step ("Bahdanau") or after it ("Luong").
    window: reach of local attention around a predicted position, or None for the whole source.
    """

    source_vocab_size: int
    target_vocab_size: int
    d_model: int = 64
    hidden_size: int = 128
    layer: str = "GRU"
    attention: str | None = "additive"
    style: str = "Bahdanau"
    window: int | None = None
    dropout: float = 0.0

    def __post_init__(self):
        choices = (
            ("layer", self.layer, LAYERS),
            ("attention", self.attention, (None, *SCORES)),
            ("style", self.style, STYLES),
        )
        for name, value, allowed in choices:
            if value not in allowed:
                known = ", ".join(map(repr, allowed))
                raise ValueError(f"Unknown {name} {value!r}: choose one of {known}.")
        if self.hidden_size % 2:
            raise ValueError(
                f"Both directions share hidden_size, so it is even, got {self.hidden_size}."
            )


class Encoder(nn.Module):
    """Read the source in both directions (Bahdanau et al., 2015, §3.2).

    Shapes: source (B, S), lengths (B,) to annotations (B, S, N), 0 where the source is padded, and
    the final state: what each direction holds after its last symbol, together N wide.
    Raises: ValueError if a source is empty, or lengths do not fit the batch.
    """

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        layer, half = LAYERS[config.layer], config.hidden_size // 2
        self.embedding = nn.Embedding(config.source_vocab_size, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.layer = Bidirectional(layer(config.d_model, half), layer(config.d_model, half))

    def forward(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, State]:
        x = self.dropout(self.embedding(source))
        return self.layer(x, lengths=lengths)


class Decoder(nn.Module):
    """Write the target step by step, from the fixed vector alone (Sutskever et al., 2014).

    Shapes: target_in (B, T), the symbol before each step, to logits (B, T, V), the state after the
    last step, and the weights (B, T, S) if they are needed. T = 1 is a step of decoding.
    """

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        N = config.hidden_size
        n_parts = 2 if config.layer == "LSTM" else 1
        self.bridge = nn.ModuleList([nn.Linear(N, N) for _ in range(n_parts)])
        self.embedding = nn.Embedding(config.target_vocab_size, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.layer = LAYERS[config.layer](config.d_model, N)
        self.output = nn.Linear(N, config.target_vocab_size)

    def start(self, final: State) -> State:
        """Make the state before the first step of the encoder's last (Bahdanau et al., A.2.2)."""
        if isinstance(final, Tensor):
            return self.bridge[0](final).tanh()
        h, c = (linear(part).tanh() for linear, part in zip(self.bridge, final, strict=True))
        return h, c

    def forward(
        self,
        target_in: Tensor,
        state: State,
        memory: Memory | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, State, Tensor | None]:
        x = self.dropout(self.embedding(target_in))  # (B, T, D)
        features, state, weights = self.run(x, state, memory, need_weights)
        return self.output(self.dropout(features)), state, weights

    def run(
        self, x: Tensor, state: State, memory: Memory | None, need_weights: bool
    ) -> tuple[Tensor, State, Tensor | None]:
        """Return what the logits are made of (B, T, N), the last state, and the weights."""
        if need_weights:
            raise ValueError("A model without attention has no weights: leave need_weights out.")
        states, state = self.layer(x, state)
        return states, state, None


class LuongDecoder(Decoder):
    """Step, then look at the source (Luong et al., 2015, §3, without input feeding).

    The context does not go into the next step, so a known target runs through in one go.
    """

    def __init__(self, config: Seq2SeqConfig):
        super().__init__(config)
        N = config.hidden_size
        score = SCORES[config.attention](N)
        self.attention = (
            Attention(score) if config.window is None else LocalAttention(score, config.window, N)
        )
        self.combine = nn.Linear(2 * N, N)  # W_c

    def attend(self, context: Tensor, states: Tensor) -> Tensor:
        """Return the attentional states tanh(W_c [c; s]) (Luong et al., 2015, eq. 5)."""
        return self.combine(torch.cat([context, states], dim=-1)).tanh()

    def run(
        self, x: Tensor, state: State, memory: Memory, need_weights: bool
    ) -> tuple[Tensor, State, Tensor | None]:
        states, state = self.layer(x, state)  # (B, T, N)
        context, weights = self.attention.read(states, memory, need_weights)
        return self.attend(context, states), state, weights


class BahdanauDecoder(LuongDecoder):
    """Look at the source, then step with what was seen (Bahdanau et al., 2015, A.1.2 and A.2.2).

    The logits are made as Luong's are, where the paper has a maxout layer.
    """

    def __init__(self, config: Seq2SeqConfig):
        super().__init__(config)
        N = config.hidden_size
        width = len(self.layer.weight_ih)
        self.C = nn.Linear(N, width, bias=False)  # the context's share in the gates

    def run(
        self, x: Tensor, state: State, memory: Memory, need_weights: bool
    ) -> tuple[Tensor, State, Tensor | None]:
        steps = []
        for x_t in self.layer.project(x).unbind(dim=1):  # what the symbols add, all at once
            query = _hidden(state)[:, None]  # s_{t-1}
            context, weights = self.attention.read(query, memory, need_weights)
            state = self.layer.step(x_t + self.C(context[:, 0]), state)
            steps.append((_hidden(state), context, weights))
        states, contexts, weights = zip(*steps, strict=True)
        features = self.attend(torch.cat(contexts, dim=1), torch.stack(states, dim=1))
        return features, state, torch.cat(weights, dim=1) if need_weights else None


def _hidden(state: State) -> Tensor:
    """Return the part of a state that other layers see."""
    return state if isinstance(state, Tensor) else state[0]


class Seq2Seq(nn.Module):
    """Encoder and decoder: a model of p(target | source).

    Shapes: source (B, S), lengths (B,), target_in (B, T) to logits (B, T, V), and the alignment
    (B, T, S) if weights are needed.
    Raises: ValueError if a source or the target is empty, or the lengths do not fit.
    """

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        self.encoder = Encoder(config)
        decoders = {"Bahdanau": BahdanauDecoder, "Luong": LuongDecoder}
        decoder = Decoder if config.attention is None else decoders[config.style]
        self.decoder = decoder(config)

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[State, Memory | None]:
        """Return the decoder's first state, and the source prepared to be looked at."""
        annotations, final = self.encoder(source, lengths)
        memory = None
        if isinstance(self.decoder, LuongDecoder):
            mask = padding_mask(lengths, source.shape[1])
            memory = self.decoder.attention.remember(annotations, annotations, mask)
        return self.decoder.start(final), memory

    def forward(
        self, source: Tensor, lengths: Tensor, target_in: Tensor, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        if target_in.dim() != 2 or len(target_in) != len(source) or not target_in.shape[1]:
            raise ValueError(
                f"Expected a target of at least one symbol for each of {len(source)} sources, "
                f"got {tuple(target_in.shape)}."
            )
        state, memory = self.encode(source, lengths)
        logits, _, weights = self.decoder(target_in, state, memory, need_weights)
        return (logits, weights) if need_weights else logits


# Training -----------------------------------------------------------------------------------------


def shift(target: Tensor) -> Tensor:
    """Return the decoder's input (B, T): BOS, then the target without its last symbol."""
    return F.pad(target[:, :-1], (1, 0), value=BOS)


def sequence_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Return the mean of -log p over the symbols that are not padding.

    Shapes: logits (B, T, V), target (B, T).
    Raises: ValueError if shapes disagree, or there is nothing but padding.
    """
    if logits.shape[:2] != target.shape:
        raise ValueError(
            f"Expected logits (B, T, V) for targets (B, T), got {tuple(logits.shape)} and "
            f"{tuple(target.shape)}."
        )
    if not (target != PAD).any():
        raise ValueError("The target holds nothing but padding: there is no loss to average.")
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)


# Decoding -----------------------------------------------------------------------------------------


@contextmanager
def _inference(model: Seq2Seq) -> Iterator[None]:
    """Switch off dropout and gradients for a while."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)


def _next_log_probabilities(
    model: Seq2Seq, token: Tensor, state: State, memory: Memory | None, need_weights: bool = False
) -> tuple[Tensor, State, Tensor | None]:
    """Take one step for tokens (B,); what no target contains (PAD, BOS) can't be chosen."""
    logits, state, weights = model.decoder(token[:, None], state, memory, need_weights)
    log_p = logits[:, 0].log_softmax(dim=-1)  # (B, V)
    log_p[:, [PAD, BOS]] = -torch.inf
    return log_p, state, weights


def greedy_decode(
    model: Seq2Seq, source: Tensor, lengths: Tensor, max_len: int, need_weights: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Choose the most probable symbol at each step, until all have ended or max_len is reached.

    Returns: ids (B, T ≤ max_len), EOS included, PAD behind it; with them, if needed, the weights
    (B, T, S), which are 0 behind EOS.
    """
    _check_max_len(max_len)
    with _inference(model):
        state, memory = model.encode(source, lengths)
        token = source.new_full((len(source),), BOS)
        ended = torch.zeros_like(token, dtype=torch.bool)
        ids, alignment = [], []
        while len(ids) < max_len and not ended.all():
            log_p, state, weights = _next_log_probabilities(
                model, token, state, memory, need_weights
            )
            token = log_p.argmax(dim=-1).masked_fill(ended, PAD)
            ids.append(token)
            if need_weights:
                alignment.append(weights.masked_fill(ended[:, None, None], 0))
            ended = ended | (token == EOS)
        ids = torch.stack(ids, dim=1)
        return (ids, torch.cat(alignment, dim=1)) if need_weights else ids


def _check_max_len(max_len: int) -> None:
    if max_len < 1:
        raise ValueError(
            f"A target has at least one symbol, so max_len is positive, got {max_len}."
        )


def _rows(state: State, index: Tensor) -> State:
    """Choose rows of a state's parts, or of a memory's."""
    if isinstance(state, Tensor):
        return state[index]
    parts = (part[index] for part in state)
    return Memory(*parts) if isinstance(state, Memory) else tuple(parts)


def beam_search(
    model: Seq2Seq,
    source: Tensor,
    lengths: Tensor,
    width: int,
    max_len: int,
    length_penalty: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Keep the `width` most probable beginnings at each step (Sutskever et al., 2014, §3.2).

    What ends with EOS leaves the beam and competes by log p(y) / |y|^length_penalty, where |y|
    counts EOS. A beginning that max_len cuts off is returned only if none of its beam has ended.

    Returns: ids of the best (B, T ≤ max_len), EOS included, PAD behind it, and its score (B,).
    Raises: ValueError if the width or max_len is below 1, or the penalty is negative.
    """
    _check_max_len(max_len)
    if width < 1 or length_penalty < 0:
        raise ValueError(
            f"A beam is at least 1 wide and its length penalty at least 0, got {width} and "
            f"{length_penalty}."
        )
    B, dtype = len(source), model.decoder.output.weight.dtype
    with _inference(model):
        state, memory = model.encode(source, lengths)
        first = torch.arange(B, device=source.device)[:, None]  # the first row of each beam
        rows = first.expand(-1, width).flatten()  # B·W rows, a sentence's beam side by side
        state = _rows(state, rows)
        memory = None if memory is None else _rows(memory, rows)
        first = first * width

        ids = source.new_full((B, width, 0), PAD)
        token = source.new_full((B, width), BOS)
        alive = source.new_full((B, width), -torch.inf, dtype=dtype)  # log p of the beginnings
        alive[:, 0] = 0
        best_ids = source.new_full((B, max_len), PAD)
        best = source.new_full((B,), -torch.inf, dtype=dtype)
        for t in range(1, max_len + 1):
            log_p, state, _ = _next_log_probabilities(model, token.flatten(), state, memory)
            V = log_p.shape[-1]
            candidates = (alive[..., None] + log_p.view(B, width, V)).flatten(1)
            alive, chosen = candidates.topk(width, dim=1)  # of W·V
            parent, token = chosen // V, chosen % V
            state = _rows(state, (first + parent).flatten())
            ids = torch.cat([ids.gather(1, parent[..., None].expand_as(ids)), token[..., None]], 2)

            ended = alive.masked_fill(token != EOS, -torch.inf) / t**length_penalty
            score, beam = ended.max(dim=1)
            better = score > best
            best = torch.where(better, score, best)
            best_ids[better, :t] = ids[better, beam[better]]
            alive = alive.masked_fill(token == EOS, -torch.inf)
            # log p only falls, so no beginning can reach more than it would at max_len
            if (alive.amax(dim=1) / max_len**length_penalty <= best).all():
                break
        score, beam = (alive / t**length_penalty).max(dim=1)
        cut = best == -torch.inf
        best_ids[cut, :t] = ids[cut, beam[cut]]
        longest = (best_ids != PAD).sum(dim=1).max()
        return best_ids[:, :longest], torch.where(cut, score, best)
