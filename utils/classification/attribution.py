"""Day 8: which words decided? Ways to ask a model, each with a number for every word.

Shapes: a text is ids (T,), and its scores are (T,); a model makes logits (B, n_classes) of ids
(B, T) and lengths (B,), and is in evaluation mode. A large score says that a word speaks for the
class.
"""

import torch
from torch import Tensor, nn

from utils.arguments import described, is_whole


def _lengths(ids: Tensor) -> Tensor:
    """Return the lengths (B,) of texts (B, T) without padding."""
    return torch.full((len(ids),), ids.shape[1], device=ids.device)


# What changes without the word --------------------------------------------------------------------


@torch.no_grad()
def leave_one_out(model: nn.Module, text: Tensor, label: int) -> Tensor:
    """Return by how much log p(label) falls when a word is deleted (Li et al., 2016, §4).

    The words behind it move up by one place.
    Raises: ValueError if the text is not ids (T,) of at least two words.
    """
    check_words(text, least=2)
    T = len(text)
    others = ~torch.eye(T, dtype=torch.bool, device=text.device)
    shorter = text.expand(T, T)[others].view(T, T - 1)  # row t lacks word t
    with_all, without = (
        model(ids, _lengths(ids)).log_softmax(dim=1)[:, label] for ids in (text[None], shorter)
    )
    return with_all - without


# What changes with the word's vector --------------------------------------------------------------


def gradient_times_input(
    model: nn.Module, embedding: nn.Module, text: Tensor, label: int
) -> Tensor:
    """Return x_t · ∂z_label/∂x_t, for each word's embedding x_t (Denil et al., 2014, §4.1).

    This is what the logit would lose if the word's vector became 0, were the model linear.
    embedding: the model's, whose outputs are the x_t.
    Raises: ValueError if the text is not ids (T,) of at least one word.
    """
    x, gradient = _slopes(model, embedding, text, label)
    return (gradient * x).sum(dim=-1)


def gradient_length(model: nn.Module, embedding: nn.Module, text: Tensor, label: int) -> Tensor:
    """Return |∂z_label/∂x_t|: how much a small step of the word's vector can change the logit.

    It has no sign, and doesn't ask which step would delete the word (Simonyan et al., 2014, §3).
    Raises: ValueError if the text is not ids (T,) of at least one word.
    """
    return _slopes(model, embedding, text, label)[1].norm(dim=-1)


def _slopes(
    model: nn.Module, embedding: nn.Module, text: Tensor, label: int
) -> tuple[Tensor, Tensor]:
    """Return the words' embeddings and the logit's gradient by them, (T, D) each."""
    check_words(text)
    caught = []
    hook = embedding.register_forward_hook(lambda module, inputs, x: caught.append(x))
    try:
        with torch.enable_grad():
            logit = model(text[None], _lengths(text[None]))[0, label]
    finally:
        hook.remove()
    (x,) = caught
    (gradient,) = torch.autograd.grad(logit, x)
    return x.detach()[0, -len(text) :], gradient[0, -len(text) :]  # [CLS] stands before the words


# Where the model looked ---------------------------------------------------------------------------


@torch.no_grad()
def attention_received(model: nn.Module, text: Tensor, layers: slice = slice(None)) -> Tensor:
    """Return the weight with which a word is looked at, the mean over layers, heads and queries.

    With [CLS] before the text, the only query is [CLS], which is what the classes are made of.
    Raises: ValueError if the text is not ids (T,) of at least one word.
    """
    check_words(text)
    weights = _weights(model, text)[layers]  # (L, h, S, S)
    return _from_the_pooled(weights.mean(dim=(0, 1)), len(text))


@torch.no_grad()
def attention_rollout(model: nn.Module, text: Tensor) -> Tensor:
    """Return a word's share in what is pooled, followed through all layers (Abnar & Zuidema, 2020).

    Half of what leaves a layer is said to come from the place itself, by way of the residual, the
    other half as the mean of the heads' weights has it; layers are multiplied.
    Raises: ValueError if the text is not ids (T,) of at least one word.
    """
    check_words(text)
    return _from_the_pooled(rolled_out(_weights(model, text)), len(text))


def rolled_out(weights: Tensor) -> Tensor:
    """Follow attention through all layers: how much of each key is in each output.

    Shapes: weights (L, h, S, S) to (S, S).
    """
    shares = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    for of_layer in weights.mean(dim=1):
        shares = (of_layer @ shares + shares) / 2
    return shares


def _weights(model: nn.Module, text: Tensor) -> Tensor:
    """Return all weights with which one text was read, (L, h, S, S)."""
    return model(text[None], _lengths(text[None]), need_weights=True)[1][0]


def _from_the_pooled(weights: Tensor, T: int) -> Tensor:
    """Keep the queries that are pooled, and of the keys the words. Shapes: (S, S) to (T,)."""
    queries = weights[:1] if len(weights) > T else weights
    return queries.mean(dim=0)[-T:]


def check_words(text: Tensor, least: int = 1) -> None:
    """Raise a ValueError if this is no text in ids (T,), or has fewer words than that."""
    if not is_whole(text) or text.dim() != 1:
        raise ValueError(f"Expected a text as whole ids (T,), got {described(text)}.")
    if len(text) < least:
        raise ValueError(
            f"The text has {len(text)} words and needs at least {least}: with fewer, nothing would "
            "be left to read."
        )
