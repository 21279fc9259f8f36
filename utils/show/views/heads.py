"""Day 5: the attention weights between words, in each layer and head of a reader of sentences."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from utils.show.views.frame import listed, paragraph, view


def heads(
    sentences: Sequence[Sequence[str]],
    weights: Mapping[str, Tensor],
    *,
    answers: Mapping[str, Sequence[Mapping[int, str]]],
    right: Sequence[Mapping[int, str]],
) -> None:
    """Let the reader choose sentence, mask, layer, head and word, and see where the word looks.

    sentences: each a list of words, which may differ in length; T is that of the longest, or more.
    weights: {name of a mask: (B, L, h, T, T)}, one for each sentence, layer and head.
    answers: {name of the mask: for each sentence {place: the model's answer there}}.
    right: for each sentence {place: the correct answer there}, places from 0.
    Raises: ValueError if there is nothing to show, or what is given does not fit together, or the
        weights are no weights.
    """
    sentences = [_words(sentence) for sentence in sentences]
    places = [sorted(wanted) for wanted in right]
    if not sentences or len(places) != len(sentences):
        raise ValueError(
            f"Each sentence needs what is right in it, got {len(sentences)} sentences and "
            f"{len(places)} answers."
        )
    for words, asked in zip(sentences, places, strict=True):
        if not asked or not all(place in range(len(words)) for place in asked):
            raise ValueError(
                f"{' '.join(words)!r} has words 0 to {len(words) - 1}, and an answer is asked for "
                f"at {asked}: name at least one place of a word."
            )
    if not weights or list(weights) != list(answers):
        raise ValueError(
            f"Weights and answers need the same masks, at least one, got {list(weights)} and "
            f"{list(answers)}."
        )
    looks = {name: _looks(name, values, sentences) for name, values in weights.items()}
    shapes = {name: tuple(values.shape) for name, values in looks.items()}
    if len(set(shapes.values())) > 1:
        raise ValueError(f"Under each mask the weights need one shape, got {shapes}.")
    for name, said in answers.items():
        if [sorted(of) for of in said] != places:
            raise ValueError(
                f"Under the mask {name!r} the answers need the places {places}, as in `right`, got "
                f"{[sorted(of) for of in said]}."
            )

    masks = [
        {
            "name": name,
            "looks": [
                values[row, :, :, : len(words), : len(words)].tolist()
                for row, words in enumerate(sentences)
            ],
            "answers": [
                [of[place] for place in asked]
                for of, asked in zip(answers[name], places, strict=True)
            ],
        }
        for name, values in looks.items()
    ]
    shown = [
        {"words": words, "right": [[place, wanted[place]] for place in asked]}
        for words, wanted, asked in zip(sentences, right, places, strict=True)
    ]
    _, n_layers, n_shown, _, _ = next(iter(shapes.values()))
    says = "\n".join(
        [
            f"View: attention between words; layers {n_layers}, heads {n_shown - 1}, "
            f"masks: {', '.join(looks)}.",
            *(" ".join(words) for words in sentences),
        ]
    )
    still = paragraph(
        "Attention between words: an interactive picture, which needs JavaScript. In JupyterLab, "
        "run the cell to open it. It begins with the first layer and the mean of its heads:"
    ) + listed([_in_short(sentence, masks[0], row) for row, sentence in enumerate(shown)])
    view("heads", {"sentences": shown, "masks": masks}, says=says, still=still)


def _words(sentence: Sequence[str]) -> list[str]:
    if isinstance(sentence, str) or not len(sentence):
        raise ValueError(f"A sentence is a list of words, at least one, got {sentence!r}.")
    return [str(word) for word in sentence]


def _looks(name: str, weights: Tensor, sentences: list[list[str]]) -> Tensor:
    """Per cent (B, L, 1 + h, T, T), whole numbers: first the mean of the heads, then each."""
    weights = torch.as_tensor(weights).detach().cpu().double()
    longest = max(map(len, sentences))
    fits = weights.dim() == 5 and weights.numel() and len(weights) == len(sentences)
    if not fits or weights.shape[3] != weights.shape[4] or weights.shape[4] < longest:
        raise ValueError(
            f"{len(sentences)} sentences of up to {longest} words need weights (B, L, h, T, T), "
            f"got {tuple(weights.shape)} under the mask {name!r}."
        )
    for row, words in enumerate(sentences):
        sums = weights[row, :, :, : len(words), : len(words)].sum(-1)
        none_or_all = (sums.abs() < 0.01) | ((sums - 1).abs() < 0.01)
        if not (none_or_all.all() and (weights[row] >= 0).all()):
            raise ValueError(
                f"Under the mask {name!r} the weights of {' '.join(words)!r} are none: a word's "
                "weights are at least 0 and sum to 1, or to 0 where it may look at nothing."
            )
    shown = torch.cat([weights.mean(dim=2, keepdim=True), weights], dim=2)
    return (100 * shown).round().int()


def _in_short(sentence: dict, mask: dict, row: int) -> str:
    """Where the asked words of a sentence look most, and what the model answers there."""
    words, parts = sentence["words"], []
    for (place, _), answer in zip(sentence["right"], mask["answers"][row], strict=True):
        looks = mask["looks"][row][0][0][place]
        most = max(range(len(words)), key=looks.__getitem__)
        parts.append(
            f"“{words[place]}” looks most at “{words[most]}” ({looks[most]}%), and the model "
            f"answers “{answer}”"
        )
    return f"{' '.join(words)}: {'; '.join(parts)}."
