"""Day 12: from a photograph to what a published model reads: its size, its cut, its scale.

Numbers are rounded where `transformers` rounds them with Pillow, so that none differs.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from utils.arguments import check_choice, check_sizes, described
from utils.tokens.tables import PublishedConfig, read_json

RESAMPLING = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}
DEEP = "I", "I;16", "I;16L", "I;16B", "I;16N", "F"  # modes of 16 and 32 bits
CLIP_MEAN = 0.48145466, 0.4578275, 0.40821073  # of the pictures that CLIP was trained with
CLIP_STD = 0.26862954, 0.26130258, 0.27577711


@dataclass(frozen=True)
class Preprocessing:
    """How a picture is brought to a model's size and scale. The defaults are CLIP's.

    size: of the shorter side, or height and width, whatever the picture's proportions are.
    crop: height and width of what is cut out of the middle; None if nothing is cut.
    resampling: "bicubic", or another of Pillow's filters.
    mean, std: of red, green and blue, from 0 to 1: one is taken away, and the other divides.
    Raises: ValueError if a size is below 1, the cut is larger, a filter is unknown, mean or std are
        not of three colours, or std is 0.
    """

    size: int | tuple[int, int] = 224
    crop: tuple[int, int] | None = (224, 224)
    resampling: str = "bicubic"
    mean: tuple[float, float, float] = CLIP_MEAN
    std: tuple[float, float, float] = CLIP_STD

    def __post_init__(self):
        shorter = self.size if isinstance(self.size, tuple) else (self.size, self.size)
        for height, width in filter(None, (shorter, self.crop)):
            check_sizes(height=height, width=width)
        if self.crop is not None and any(a > b for a, b in zip(self.crop, shorter, strict=True)):
            raise ValueError(f"A cut of {self.crop} doesn't fit into a picture of {shorter}.")
        check_choice("resampling", self.resampling, RESAMPLING)
        if not all(deviation > 0 for deviation in self.std):
            raise ValueError(f"A picture is divided by std, so it is above 0, got {self.std}.")
        for name in ("mean", "std"):
            if len(getattr(self, name)) != 3:
                raise ValueError(
                    f"{name} has a number for red, green and blue: {getattr(self, name)}?"
                )

    def resized(self, width: int, height: int) -> tuple[int, int]:
        """Return the width and height to which a picture is brought before it is cut."""
        if isinstance(self.size, tuple):
            return self.size[::-1]
        shorter, longer = sorted((width, height))
        longer = int(self.size * longer / shorter)
        return (self.size, longer) if width <= height else (longer, self.size)


CLIPS = Preprocessing()


def preprocess(picture: Image.Image | Tensor, how: Preprocessing = CLIPS) -> Tensor:
    """Return what a published model reads of a picture (Radford et al., 2021, §2.4; its code).

    What is transparent in a picture of Pillow's lies on white.
    Shapes: a picture of Pillow's in any mode, or (3, H, W) or (1, H, W) of uint8, to (3, H, W) of
        float32, of the cut's height and width.
    Raises: ValueError if it is no such picture, its file is cut short, it has no pixel, or more
        than 8 bits per number.
    """
    image = _in_colours(_as_image(picture))
    image = image.resize(how.resized(*image.size), RESAMPLING[how.resampling])
    pixels = np.array(image)  # (H, W, 3)
    if how.crop is not None:
        top, left = ((has - cut) // 2 for has, cut in zip(pixels.shape, how.crop, strict=False))
        pixels = pixels[top : top + how.crop[0], left : left + how.crop[1]]
    pixels = (pixels.astype(np.float64) * (1 / 255)).astype(np.float32)
    pixels = (pixels - np.float32(how.mean)) / np.float32(how.std)
    return torch.from_numpy(pixels.transpose(2, 0, 1).copy())


def _in_colours(image: Image.Image) -> Image.Image:
    if image.mode in ("RGBa", "La"):  # the colours are multiplied by what covers
        image = image.convert(image.mode.upper())
    if "A" in image.getbands() or image.info.get("transparency") is not None:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def _as_image(picture: Image.Image | Tensor) -> Image.Image:
    if isinstance(picture, Image.Image):
        if 0 in picture.size:
            raise ValueError(f"A picture of {picture.size} pixels shows nothing.")
        if picture.mode in DEEP:
            raise ValueError(
                f"A picture of mode {picture.mode} has more than 8 bits per number, and all above "
                "255 would be white: scale its numbers to 0 to 255 and bring it to mode L first."
            )
        try:
            picture.load()
        except (OSError, SyntaxError) as error:  # a SyntaxError for a PNG
            raise ValueError(
                f"The picture can't be read ({error}): fetch its file again."
            ) from None
        return picture
    is_bytes = isinstance(picture, Tensor) and picture.dtype == torch.uint8
    if not is_bytes or picture.dim() != 3 or len(picture) not in (1, 3) or not picture.numel():
        raise ValueError(
            "Expected a picture of Pillow's, or one (3, H, W) or (1, H, W) of uint8, without "
            f"transparency, got {described(picture)}."
        )
    pixels = picture.expand(3, -1, -1).permute(1, 2, 0)
    return Image.fromarray(pixels.contiguous().cpu().numpy())


def read_preprocessing(folder: Path | str) -> Preprocessing:
    """Read preprocessor_config.json, which a model is published with.

    Raises: ValueError if it is missing or damaged, or asks for something else.
    """
    told = read_json(Path(folder) / "preprocessor_config.json")
    told.expect(do_resize=True, do_rescale=True, do_normalize=True, do_pad=None)
    if told.get("do_flip_channel_order"):
        raise told.unlike("do_flip_channel_order", "false in the models that the book reads")
    told.setdefault("rescale_factor", 1 / 255)
    if abs(told.number("rescale_factor") * 255 - 1) > 1e-6:
        raise told.unlike("rescale_factor", "1/255")
    is_cut = told.flag("do_center_crop", False)
    size = _size(told, is_cut)
    crop = _height_and_width(told, "crop_size") if is_cut else None
    told.setdefault("resample", RESAMPLING["bilinear"])
    names = {str(number): name for name, number in RESAMPLING.items()}
    resampling = PublishedConfig(told.file, {"resample": str(told["resample"])})
    return Preprocessing(
        size,
        crop,
        resampling.choice("resample", names),
        _colours(told, "image_mean"),
        _colours(told, "image_std"),
    )


def _size(told: PublishedConfig, is_cut: bool) -> int | tuple[int, int]:
    is_number = type(told["size"]) is int
    if is_number and is_cut:  # older files: of the shorter side
        return told.size("size")
    if not is_number and "shortest_edge" in (sides := told.table("size")):
        sides.expect(longest_edge=None)
        return sides.size("shortest_edge")
    return _height_and_width(told, "size")


def _height_and_width(told: PublishedConfig, key: str) -> tuple[int, int]:
    """Return height and width from a table of both, or from one number for both."""
    if type(told[key]) is int:
        return told.size(key), told.size(key)
    sides = told.table(key)
    return sides.size("height"), sides.size("width")


def _colours(told: PublishedConfig, key: str) -> tuple[float, float, float]:
    values = told[key]
    is_list = isinstance(values, list) and len(values) == 3
    if not is_list or not all(type(x) in (int, float) and 0 <= x <= 1 for x in values):
        raise told.unlike(key, "a list of three numbers from 0 to 1")
    return tuple(values)
