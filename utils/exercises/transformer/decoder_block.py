"""A decoder block: causal self-attention, cross-attention to the source, a feed-forward layer."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.self_attention import MultiHeadAttention


def decoder_block(
    x: Tensor,
    memory: Tensor,
    real: Tensor,
    norms: Sequence[Callable],
    own: MultiHeadAttention,
    cross: MultiHeadAttention,
    think: Callable,
) -> Tensor:
    """Shapes: x (B, T, D), memory (B, S, D), real (B, 1, 1, S); returns (B, T, D)."""
    x = x + own(norms[0](x), is_causal=True)[0]
    x = x + cross(norms[1](x), memory, mask=real)[0]
    return x + think(norms[2](x))


exercise = Exercise(decoder_block, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def norm_with(gain: float, bias: float) -> Callable:
    """A norm with a gain and a bias of its own, so that none can stand in for another."""

    def norm(x: Tensor) -> Tensor:
        return gain * torch.nn.functional.layer_norm(x, x.shape[-1:]) + bias

    return norm


NORMS = [norm_with(1.5, 0.2), norm_with(0.7, -0.3), norm_with(1.1, 0.5)]


class Attention:
    """Yesterday's layer with two heads and fixed weights, for inputs of any precision."""

    def __init__(self, D: int, seed: int):
        self.layer = MultiHeadAttention(D, 2).double().requires_grad_(False)
        generator = torch.Generator().manual_seed(seed)
        for weight in self.layer.parameters():
            weight.normal_(std=0.6, generator=generator)

    def __call__(
        self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None, **how
    ) -> tuple[Tensor, Tensor | None]:
        memory = None if memory is None else memory.double()
        y, weights = self.layer(x.double(), memory, mask, **how)
        return y.to(x.dtype), weights


LAYERS = {D: (Attention(D, 0), Attention(D, 1)) for D in (4, 6)}  # own, cross


def given(B: int, T: int, S: int, D: int, lengths: Sequence[int]) -> tuple:
    real = (torch.arange(S) < torch.tensor(lengths)[:, None])[:, None, None]
    return 2 * random(B, T, D), random(B, S, D), real, NORMS, *LAYERS[D], torch.sin


@exercise.stage("one word, which reads one word of the source")
def one_word():
    return [given(1, 1, 1, 4, [1])]


@exercise.stage("one word, which reads a source of three words")
def one_word_of_several():
    return [given(1, 1, 3, 4, [3])]


@exercise.stage("several words, none of which may see a later one")
def several_words():
    return [given(2, 3, 5, 4, [5, 5])]


@exercise.stage("sources with padding")
def padded_sources():
    return [given(3, 4, 5, 6, [5, 2, 3])]


# What goes wrong ----------------------------------------------------------------------------------


def run(
    *given,
    look=lambda own, y, real: own(y, is_causal=True)[0],
    ask=lambda cross, y, memory, real: cross(y, memory, mask=real)[0],
    order=(0, 1, 2),
    step=lambda x, norm, f: x + f(norm(x)),
):
    """Run a decoder block with one part of it done otherwise."""
    x, memory, real, norms, own, cross, think = given
    sublayers = [lambda y: look(own, y, real), lambda y: ask(cross, y, memory, real), think]
    for place, i in enumerate(order):
        x = step(x, norms[place], sublayers[i])
    return x


@exercise.mistake(
    "your cross-attention takes keys and values from the decoder's own stream: they come from the "
    "encoder's output, `memory`."
)
def keys_from_the_decoder(*given):
    return run(*given, ask=lambda cross, y, memory, real: cross(y)[0])


@exercise.mistake(
    "your cross-attention asks from the source's side: the queries come from the decoder's stream, "
    "keys and values from `memory`."
)
def queries_from_the_source(*given):
    return run(*given, ask=lambda cross, y, memory, real: cross(memory, y)[0])


@exercise.mistake(
    "your self-attention sees later words: in a decoder it has to be causal, or the answer is in "
    "the input."
)
def not_causal(*given):
    return run(*given, look=lambda own, y, real: own(y)[0])


@exercise.mistake(
    "the causal mask is on the wrong attention: the decoder's own words are written one by one, "
    "while the source is there from the start."
)
def mask_on_the_wrong_attention(*given):
    return run(
        *given,
        look=lambda own, y, real: own(y)[0],
        ask=lambda cross, y, memory, real: cross(y, memory, mask=real, is_causal=True)[0],
    )


@exercise.mistake("your cross-attention is causal, too: the whole source is known from the start.")
def both_causal(*given):
    return run(
        *given, ask=lambda cross, y, memory, real: cross(y, memory, mask=real, is_causal=True)[0]
    )


@exercise.mistake("your cross-attention attends to padding: give it the mask `real`.")
def padding_seen(*given):
    return run(*given, ask=lambda cross, y, memory, real: cross(y, memory)[0])


@exercise.mistake(
    "`real` is the source's padding: it belongs to the attention that reads the source."
)
def mask_of_the_source_on_the_target(*given):
    return run(
        *given,
        look=lambda own, y, real: own(y, mask=real, is_causal=True)[0],
        ask=lambda cross, y, memory, real: cross(y, memory)[0],
    )


@exercise.mistake(
    "you normalise the encoder's output: the encoder has done so once, after its last block."
)
def memory_normalised_again(x, memory, real, norms, *layers):
    return run(x, norms[1](memory), real, norms, *layers)


@exercise.mistake(
    "cross-attention comes first in yours: the decoder first reads its own words, then asks the "
    "source."
)
def cross_attention_first(*given):
    return run(*given, order=(1, 0, 2))


@exercise.mistake(
    "cross-attention comes first in yours, with its own norm: the decoder first reads its own "
    "words, then asks the source."
)
def cross_attention_first_with_its_norm(x, memory, real, norms, *layers):
    return run(x, memory, real, [norms[1], norms[0], norms[2]], *layers, order=(1, 0, 2))


@exercise.mistake("the feed-forward layer comes last: first collect, then think.")
def thought_before_the_source(*given):
    return run(*given, order=(0, 2, 1))


@exercise.mistake("cross-attention is missing: your block never sees the source.")
def no_cross_attention(x, memory, real, norms, *layers):
    return run(x, memory, real, [norms[0], norms[2]], *layers, order=(0, 2))


@exercise.mistake("self-attention is missing: your block never sees the words before its own.")
def no_self_attention(x, memory, real, norms, *layers):
    return run(x, memory, real, norms[1:], *layers, order=(1, 2))


@exercise.mistake("the feed-forward layer is missing: it follows the two attention layers.")
def no_feed_forward(*given):
    return run(*given, order=(0, 1))


@exercise.mistake(
    "you exchanged the two attention layers: `own` reads the target, `cross` the source."
)
def layers_exchanged(x, memory, real, norms, own, cross, think):
    return decoder_block(x, memory, real, norms, cross, own, think)


@exercise.mistake("nothing is normalised: each sublayer should read norm(x), each its own norm.")
def no_norms(*given):
    return run(*given, step=lambda x, norm, f: x + f(x))


@exercise.mistake("you use one norm for all sublayers: each has its own.")
def one_norm(x, memory, real, norms, *layers):
    return run(x, memory, real, [norms[0]] * 3, *layers)


@exercise.mistake("you normalise the sums: that is post-norm, and it leaves no path free.")
def post_norm(*given):
    return run(*given, step=lambda x, norm, f: norm(x + f(x)))


@exercise.mistake("the input is lost: add each sublayer's output to the stream.")
def no_residuals(*given):
    return run(*given, step=lambda x, norm, f: f(norm(x)))


@exercise.mistake("the stream goes through the norms in yours: add f(norm(x)) to x itself.")
def path_normed(*given):
    return run(*given, step=lambda x, norm, f: norm(x) + f(norm(x)))


@exercise.mistake("all sublayers read the same input: each should read what the one before left.")
def side_by_side(x, *given):
    return run(x, *given, step=lambda y, norm, f: y + f(norm(x)))


@exercise.mistake("the last sum is missing: add what the feed-forward layer returns to the stream.")
def last_sum_missing(x, memory, real, norms, own, cross, think):
    x = x + own(norms[0](x), is_causal=True)[0]
    x = x + cross(norms[1](x), memory, mask=real)[0]
    return think(norms[2](x))


@exercise.mistake(
    "an attention layer returns two things, its output and its weights: take the first."
)
def weights_kept(x, memory, real, norms, own, cross, think):
    x = x + own(norms[0](x), is_causal=True)
    x = x + cross(norms[1](x), memory, mask=real)
    return x + think(norms[2](x))


@exercise.mistake("your mask is upside down: `real` is True where a word of the source is.")
def mask_inverted(x, memory, real, *layers):
    return run(x, memory, ~real, *layers)


@exercise.mistake(
    "the sum around cross-attention is missing: what the block has read of its own words is lost."
)
def cross_sum_missing(x, memory, real, norms, own, cross, think):
    x = x + own(norms[0](x), is_causal=True)[0]
    x = cross(norms[1](x), memory, mask=real)[0]
    return x + think(norms[2](x))


@exercise.mistake("cross-attention reads the stream as it is: its queries need a norm, the second.")
def queries_not_normed(x, memory, real, norms, *layers):
    return run(x, memory, real, [norms[0], lambda y: y, norms[2]], *layers)


@exercise.mistake("the feed-forward layer uses the norm of cross-attention: its own is the third.")
def third_norm_unused(x, memory, real, norms, *layers):
    return run(x, memory, real, [norms[0], norms[1], norms[1]], *layers)


@exercise.mistake("the feed-forward layer reads the stream as it is: it needs a norm, the third.")
def thought_not_normed(x, memory, real, norms, *layers):
    return run(x, memory, real, [norms[0], norms[1], lambda y: y], *layers)


@exercise.mistake("the first sum is missing: add what self-attention finds to the stream.")
def own_sum_missing(x, memory, real, norms, own, cross, think):
    x = own(norms[0](x), is_causal=True)[0]
    x = x + cross(norms[1](x), memory, mask=real)[0]
    return x + think(norms[2](x))


@exercise.mistake("self-attention reads the stream as it is: it needs a norm, the first.")
def own_not_normed(x, memory, real, norms, *layers):
    return run(x, memory, real, [lambda y: y, norms[1], norms[2]], *layers)


@exercise.mistake("you normalise at the end of the block: a norm comes once, after the last block.")
def norm_at_the_end(x, memory, real, norms, own, cross, think):
    return norms[2](decoder_block(x, memory, real, norms, own, cross, think))


@exercise.mistake(
    "you use `own` for both attention layers: `cross` is the one that reads the source."
)
def own_twice(x, memory, real, norms, own, cross, think):
    return decoder_block(x, memory, real, norms, own, own, think)


@exercise.mistake("cross-attention has the mask, but no `memory`: it reads the decoder's words.")
def memory_forgotten(*given):
    return run(*given, ask=lambda cross, y, memory, real: cross(y, mask=real)[0])


@exercise.mistake("your source asks, and its mask hides target words: what asks comes first.")
def queries_from_the_source_with_its_mask(*given):
    return run(*given, ask=lambda cross, y, memory, real: cross(memory, y, mask=real)[0])


@exercise.mistake("the feed-forward layer returns no weights: [0] takes one sequence for all.")
def first_thought_alone(x, memory, real, norms, own, cross, think):
    return run(x, memory, real, norms, own, cross, lambda y: think(y)[0])
