"""Which words decided? What leaving words out, gradients and attention say, and the truth.

The grammar of the reviews knows the words that decide. Each way gives every word of a review a
score for the class that the model says; of the reviews that it reads rightly, it is counted how
often the word with the highest score is one of those that decide, and which share of as many
highest scores as there are such words is theirs.
"""

import torch
from torch import Tensor, nn

from utils.classification import (
    attention_received,
    attention_rollout,
    gradient_length,
    gradient_times_input,
    leave_one_out,
)
from utils.data.reviews import Review, deciding, reviews
from utils.tasks.reading import Recipe, as_ids, as_labelled, logits_of, reviews_task, trained

PARAMETERS = {
    "model": ["BiLSTM", "Transformer", "Transformer, [CLS]"],
    "steps": 500,
    "n_test": 300,
    "seed": [0, 1, 2],
}
SHORT = {"steps": 50, "n_test": 10}
RATES = {"BiLSTM": 1e-2, "Transformer": 3e-3, "Transformer, [CLS]": 3e-3}
LAST = slice(-1, None)


def measure(model: str, steps: int, n_test: int, seed: int) -> dict:
    task, part = reviews_task(), reviews().test[:n_test]
    network = trained(model, task, RATES[model], Recipe(steps), seed).double()
    ids, labels = as_ids(as_labelled(part), task.vocabulary)
    said = logits_of(network, ids).argmax(dim=1)
    read = [
        (review, scores_of(network, torch.tensor(text), review.label))
        for review, text, right in zip(part, ids, said == labels, strict=True)
        if right
    ]
    found: dict[str, float] = {"accuracy": len(read) / len(part)}
    for way in read[0][1]:
        judged = [judge(scores[way], review) for review, scores in read]
        for name, column in zip(("highest", "precision"), zip(*judged, strict=True), strict=True):
            found[f"{way}, {name}"] = sum(column) / len(column)
    return found


def scores_of(network: nn.Module, text: Tensor, label: int) -> dict[str, Tensor]:
    """What each way says of the words of a text, (T,) each; chance gives all the same."""
    encoder = getattr(network, "encoder", None)
    embedding = encoder.embedding.symbols if encoder else network.embedding
    asked = network, embedding, text, label
    found = {
        "chance": torch.zeros(len(text)),
        "leave-one-out": leave_one_out(network, text, label),
        "gradient × input": gradient_times_input(*asked),
        "|gradient × input|": gradient_times_input(*asked).abs(),
        "|gradient|": gradient_length(*asked),
    }
    if encoder:
        found |= {
            "attention": attention_received(network, text),
            "attention, last layer": attention_received(network, text, LAST),
            "attention rollout": attention_rollout(network, text),
        }
    return found


def judge(scores: Tensor, review: Review) -> tuple[float, float]:
    """Whether the highest score is at a word that decides; which share of as many highest are.

    Where scores are equal, every order of them is as probable.
    """
    places = list(deciding(review))
    decides = torch.zeros(len(scores))
    decides[places] = 1
    return share_among(scores, decides, 1), share_among(scores, decides, len(places))


def share_among(scores: Tensor, decides: Tensor, k: int) -> float:
    """The expected share of those that decide among the k highest scores."""
    least = scores.topk(k).values[-1]
    above, level = scores > least, scores == least
    drawn = (k - above.sum()) * decides[level].mean()
    return ((decides[above].sum() + drawn) / k).item()
