"""Day 4: from one sequence to another: the encoder, and decoders with and without attention.

Shapes: source (B, S) and target (B, T) are ids, padded with PAD behind their ends; lengths (B,)
count a source's ids. Annotations, the encoder's outputs, and decoder states have N numbers.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_choice, check_target
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
from utils.recurrent import GRU, LSTM, RNN, Bidirectional, Embedding, State

PAD, BOS, EOS = 0, 1, 2

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
        Without attention, style and window have no say.
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
        check_choice("layer", self.layer, LAYERS)
        check_choice("attention", self.attention, (None, *SCORES))
        check_choice("style", self.style, STYLES)
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
        self.embedding = Embedding(config.source_vocab_size, config.d_model)
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
        self.embedding = Embedding(config.target_vocab_size, config.d_model)
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
        self.C = nn.Linear(N, self.layer.n_blocks * N, bias=False)  # the context's share in a step

    def run(
        self, x: Tensor, state: State, memory: Memory, need_weights: bool
    ) -> tuple[Tensor, State, Tensor | None]:
        steps = []
        for x_t in self.layer.project(x).unbind(dim=1):  # what the symbols add, all at once
            query = self.layer.hidden(state)[:, None]  # s_{t-1}
            context, weights = self.attention.read(query, memory, need_weights)
            state = self.layer.step(x_t + self.C(context[:, 0]), state)
            steps.append((self.layer.hidden(state), context, weights))
        states, contexts, weights = zip(*steps, strict=True)
        features = self.attend(torch.cat(contexts, dim=1), torch.stack(states, dim=1))
        return features, state, torch.cat(weights, dim=1) if need_weights else None


class Seq2Seq(nn.Module):
    """Encoder and decoder: a model of p(target | source).

    Shapes: source (B, S), lengths (B,), target_in (B, T) to logits (B, T, V), and the alignment
    (B, T, S) if weights are needed.
    Raises: ValueError if a source or the target is empty, or the lengths do not fit.
    """

    bos, eos = BOS, EOS  # what stands before a target, and at its end

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
        check_target(target_in, len(source))
        state, memory = self.encode(source, lengths)
        logits, _, weights = self.decoder(target_in, state, memory, need_weights)
        return (logits, weights) if need_weights else logits


# Training -----------------------------------------------------------------------------------------


def shift(target: Tensor, bos: int = BOS) -> Tensor:
    """Return the decoder's input (B, T): BOS, then the target without its last symbol."""
    return F.pad(target[:, :-1], (1, 0), value=bos)


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
    if not torch.compiler.is_compiling() and not (target != PAD).any():
        raise ValueError("The target holds nothing but padding: there is no loss to average.")
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)
