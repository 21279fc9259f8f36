"""How many pictures does a Vision Transformer need, beside a convolutional network?

Both read handwritten digits after training on some of them, with the same jitter, for equally many
steps, each at the best of four rates by the validation part, found with the first seed. Training
pictures are drawn anew for each seed, out of the first part of the file; the test's forms are
others. Of the ViT also what its positions and heads learned: "alike" is the mean cosine of two
positions by their distance in patches, "looks" the mean distance over which each head attends, a
list for each seed; "before" training too.
"""

from utils.data.pictures import digits
from utils.tasks import patches as task

PARAMETERS = {"network": list(task.NETWORKS), "pictures": [50, 100, 200, 500, 1221], "steps": 1000}
SHORT = {"pictures": [50], "steps": 3}


def data():
    return list(digits("file order").train)


def measure(network: str, pictures: int, steps: int) -> dict:
    held = digits("file order")
    found = task.tuned(network, held, pictures, steps=steps)
    row = {
        "rate": found.rate,
        "by rate": found.by_rate,
        "parameters": sum(weight.numel() for weight in found.models[0].parameters()),
        "validation": [task.reads(model, held.validation) for model in found.models],
        "test": [task.reads(model, held.test) for model in found.models],
    }
    if network == "ViT":
        untrained = [task.network(network, seed) for seed in task.SEEDS]
        for end, models in ((", before", untrained), ("", found.models)):
            for seed, model in zip(task.SEEDS, models, strict=True):
                row |= {
                    f"{name}, seed {seed}{end}": value for name, value in seen(model, held).items()
                }
    return row


def seen(model, held) -> dict[str, list[float]]:
    """What positions and heads are like."""
    table = model.encoder.embedding.positions.table.detach()[1:]
    far = task.looks(model, held.validation.images)  # (L, h)
    return {"alike": list(task.alike_by_distance(table).values())} | {
        f"looks, layer {i + 1}": row.sort().values.tolist() for i, row in enumerate(far)
    }
