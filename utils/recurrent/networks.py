"""Days 2 and 3: what is built of recurrent layers: two directions, and whole models."""

import torch
from torch import Tensor, nn

from utils.arguments import check_ids, check_sizes
from utils.recurrent.rnn import Recurrent, State, check_library, detach


def reverse(x: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Turn each sequence's real steps around; padding stays at the end.

    Shapes: x (B, T, ...) and lengths (B,) to (B, T, ...).
    """
    if lengths is None:
        return x.flip(1)
    T = x.shape[1]
    t = torch.arange(T, device=x.device)
    source = (lengths.to(x.device)[:, None] - 1 - t) % T  # (B, T)
    return x[torch.arange(len(x), device=x.device)[:, None], source]


class Bidirectional(nn.Module):
    """Read a sequence from both ends; each step sees past and future (Schuster & Paliwal, 1997).

    Shapes: x (B, T, D) to outputs (B, T, 2N), forward's beside backward's, and the final state
    (B, 2N): forward's after the last real step beside backward's after step 0.
    Raises: ValueError if the two layers are of different kinds or read different widths.
    """

    def __init__(self, forward: Recurrent, backward: Recurrent):
        super().__init__()
        check_directions(forward, backward)
        self.ahead, self.back = forward, backward
        self.input_size = forward.input_size
        self.output_size = forward.output_size + backward.output_size

    def hidden(self, state: State) -> Tensor:
        """Return the part of a state that the layer shows to others: h (B, 2N)."""
        return self.ahead.hidden(state)

    def forward(
        self, x: Tensor, state: None = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """Read the sequences x (B, T, D).

        Raises: ValueError if a state is given, or if x and lengths disagree.
        """
        check_no_state(state)
        ahead, ahead_state = self.ahead(x, None, lengths)
        back, back_state = self.back(reverse(x, lengths), None, lengths)
        outputs = torch.cat([ahead, reverse(back, lengths)], dim=2)
        if isinstance(ahead_state, tuple):
            pairs = zip(ahead_state, back_state, strict=True)
            return outputs, tuple(torch.cat(pair, dim=1) for pair in pairs)
        return outputs, torch.cat([ahead_state, back_state], dim=1)

    def load_library(self, library: nn.RNNBase) -> None:
        """Take the weights of a bidirectional layer of the library, and of no other."""
        check_library(library, bidirectional=True)
        self.ahead.load_direction(library)
        self.back.load_direction(library, reverse=True)


class Embedding(nn.Embedding):
    """A row of d_model learned numbers for each symbol of the vocabulary.

    Shapes: ids (B, T) to rows (B, T, d_model).
    Raises: ValueError if a size is below 1, or ids are not whole numbers from 0 to vocab_size - 1.
    """

    def __init__(self, vocab_size: int, d_model: int):
        check_sizes(vocab_size=vocab_size, d_model=d_model)
        super().__init__(vocab_size, d_model)

    def forward(self, ids: Tensor) -> Tensor:
        check_ids(ids, self.num_embeddings)
        return super().forward(ids.long())


class LanguageModel(nn.Module):
    """Predict each next symbol from those before it (Mikolov et al., 2010).

    Shapes: ids (B, T) to logits (B, T, V) and the layer's state. The logits at step t are about the
    symbol at t + 1.
    """

    def __init__(self, vocab_size: int, d_model: int, layer: nn.Module):
        super().__init__()
        self.embedding = Embedding(vocab_size, d_model)
        self.layer = layer
        self.output = nn.Linear(layer.output_size, vocab_size)

    def forward(
        self, ids: Tensor, state: State | None = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, State]:
        h, state = self.layer(self.embedding(ids), state, lengths)
        return self.output(h), state


class Streaming(nn.Module):
    """Read long texts chunk by chunk: the state goes on, its gradient stops where a chunk begins.

    This is backpropagation through time, truncated (Williams & Peng, 1990).
    Shapes: ids (B, T), the next chunk of B texts, to logits (B, V, T), as a cross-entropy takes
    them. `begins`, one boolean (Python's, where it is compiled), says that these are first chunks.
    Raises: ValueError if the texts become more or fewer without a new beginning.
    """

    def __init__(self, model: LanguageModel):
        super().__init__()
        self.model = model
        self.state = None

    def forward(self, ids: Tensor, begins: Tensor) -> Tensor:
        logits, state = self.model(ids, None if begins else self.state)
        self.state = detach(state)
        return logits.transpose(1, 2)


class SequenceClassifier(nn.Module):
    """Read a sequence to its end, then say which class it belongs to.

    Shapes: ids (B, T) and lengths (B,) to logits (B, n_classes).
    """

    def __init__(self, vocab_size: int, d_model: int, layer: nn.Module, n_classes: int):
        super().__init__()
        check_sizes(n_classes=n_classes)
        self.embedding = Embedding(vocab_size, d_model)
        self.layer = layer
        self.output = nn.Linear(layer.output_size, n_classes)

    def forward(self, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
        _, state = self.layer(self.embedding(ids), lengths=lengths)
        return self.output(self.layer.hidden(state))


def check_directions(forward: object, backward: object) -> None:
    """Raise a ValueError if two recurrent layers can't read the same sequence from both ends."""
    kinds = [(type(layer).__name__, layer.input_size) for layer in (forward, backward)]
    if kinds[0] != kinds[1]:
        given = " and ".join(f"{kind} of {width} inputs" for kind, width in kinds)
        raise ValueError(
            f"Both directions need layers of the same kind and input size, got {given}."
        )


def check_no_state(state: None) -> None:
    """Raise a ValueError if a layer that reads from both ends is to go on from a state."""
    if state is not None:
        raise ValueError(
            "A bidirectional layer needs the whole sequence at once: it can't go on from a "
            "state, so leave the state out."
        )
