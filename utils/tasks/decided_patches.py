"""Day 12: which patches a sentence depends on, said in four ways, beside what the scene knows.

Shapes: a picture (3, H, W), scores of its n patches (n,), row by row.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.classification.attribution import rolled_out
from utils.data.scenes import Scene, drawn, scenes
from utils.tasks.scenes import vectors_of
from utils.vision import CLIP, patches, unpatch

WAYS = "attention", "roll-out", "gradient × input", "occlusion"


def hidden_in_turn(picture: Tensor, patch_size: int) -> Tensor:
    """Return the picture as often as it has patches, each time with another one black."""
    rows = patches(picture[None], patch_size)
    n = rows.shape[1]
    rows = rows.repeat(n, 1, 1)
    rows[range(n), range(n)] = 0.0  # the ground of every scene
    return unpatch(rows, *picture.shape)


def scores(model: CLIP, picture: Tensor, sentence: Tensor) -> dict[str, Tensor]:
    """Return what each of `WAYS` says of the patches. sentence: its unit vector (E,).

    "attention": the class token's, in the last block, averaged over the heads. "roll-out": through
    all blocks (Abnar and Zuidema, 2020). Neither knows the sentence.
    "gradient × input": of the similarity, summed up over each patch. "occlusion": how far the
    similarity falls if the patch is painted black, as the ground is.
    """
    encoder = model.image_encoder
    P = encoder.encoder.embedding.symbols.patch_size
    seen = picture.clone().requires_grad_()
    features, weights = encoder(seen[None], need_weights=True)
    similarity = F.normalize(features, dim=1)[0] @ sentence
    (gradient,) = torch.autograd.grad(similarity, seen)
    with torch.no_grad():
        of_class = weights[0, -1].mean(dim=0)[0], rolled_out(weights[0])[0]  # (1 + n,) each
        without = model.encode_images(hidden_in_turn(picture, P)) @ sentence
        steep = patches((gradient * picture)[None], P)[0].sum(dim=1)
        by_way = (*(row[1:] for row in of_class), steep, similarity - without)
        return dict(zip(WAYS, by_way, strict=True))


def on_the_thing(model: CLIP, n: int = 100, seed: int = 0, part: str = "test") -> dict[str, float]:
    """In which share of n scenes the strongest patch is on the thing that the sentence names.

    Each scene has two things side by side, of which the sentence names the first. "any ink": a
    patch drawn at random from those on either thing.
    """
    P = model.image_encoder.encoder.embedding.symbols.patch_size
    side_by_side = [s for s in scenes(2 * n, seed, n_things=(2,), part=part) if _apart(s)][:n]
    pictures, boxes = drawn(side_by_side, seed, part, need_boxes=True)
    named = vectors_of(model, [Scene(scene.things[:1]) for scene in side_by_side])
    found = dict.fromkeys((*WAYS, "any ink"), 0.0)
    for picture, sentence, (box, _) in zip(pictures, named, boxes, strict=True):
        left, top, right, bottom = map(int, box)
        own = torch.zeros_like(picture)
        own[:, top:bottom, left:right] = picture[:, top:bottom, left:right]
        on_it, inked = (_inked(image, P) for image in (own, picture))
        for way, of_patches in scores(model, picture, sentence).items():
            found[way] += on_it[of_patches.argmax()].item()
        found["any ink"] += (on_it.sum() / inked.sum()).item()
    return {way: of / n for way, of in found.items()}


def _apart(scene: Scene) -> bool:
    return "inside" not in scene.relations


def _inked(image: Tensor, P: int) -> Tensor:
    """Whether there is ink in each patch. Shapes: (3, H, W) to (n,)."""
    return patches(image[None], P)[0].amax(dim=1) > 0
