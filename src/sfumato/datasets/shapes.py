"""Made-up gray images of ten shapes, to learn to tell apart: each at a place, in a size and at an angle of its own.

They are drawn by comparisons, sums, products and roots alone, which are the same on every platform.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.datasets.draws import Floats, bells, uniforms
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import positive_integer

Gray = NDArray[np.uint8]
Whole = NDArray[np.int64]

_FEWEST_PIXELS, _MOST_PIXELS, _MOST_IMAGES = 8, 64, 100_000
_BLOCK: Final = 1_000  # images whose draws have streams of their own
_SHIFT, _SMALLEST, _LARGEST, _TURN = (
    0.15,
    0.55,
    0.75,
    0.2,
)  # of half a side; the tangent of half an angle of 22.6 degrees
_DARK, _LIGHT = (20.0, 90.0), (60.0, 120.0)  # gray of the ground, and how much lighter the shape is
_NOISE: Final = 20.0  # standard deviation of a pixel, in levels of gray
_WHITE: Final = 255.0


def _length(across: Floats, down: Floats) -> Floats:
    found: Floats = np.sqrt(across * across + down * down)
    return found


def _longer(across: Floats, down: Floats) -> Floats:
    found: Floats = np.maximum(np.abs(across), np.abs(down))
    return found


def _two_bars(across: Floats, down: Floats) -> Floats:
    upright = np.maximum(np.abs(across) - 0.25, np.abs(down) - 1)
    level = np.maximum(np.abs(across) - 1, np.abs(down) - 0.25)
    found: Floats = np.minimum(upright, level)
    return found


def _turned_bars(across: Floats, down: Floats) -> Floats:
    half = 0.5**0.5
    return _two_bars(half * (across + down), half * (across - down))


def _three_bars(across: Floats, down: Floats) -> Floats:
    bars = np.abs(down - 0.75 * np.clip(np.rint(down / 0.75), -1, 1)) - 0.2
    found: Floats = np.maximum(np.abs(across) - 0.95, bars)
    return found


_DRAWN: Final[dict[str, Callable[[Floats, Floats], Floats]]] = {
    "disk": lambda across, down: _length(across, down) - 1,
    "ring": lambda across, down: np.abs(_length(across, down) - 0.8) - 0.2,
    "square": lambda across, down: _longer(across, down) - 0.85,
    "frame": lambda across, down: np.abs(_longer(across, down) - 0.7) - 0.18,
    "triangle": lambda across, down: np.maximum(down - 0.8, (2 * np.abs(across) - down - 1) / 5**0.5),
    "plus": _two_bars,
    "cross": _turned_bars,
    "rows": _three_bars,
    "columns": lambda across, down: _three_bars(down, across),
    "moon": lambda across, down: np.maximum(_length(across, down) - 1, 0.85 - _length(across - 0.5, down)),
}
"""How far a point lies outside of each shape, about; inside, less than 0. The unit is the size of the shape."""

SHAPES: Final = tuple(_DRAWN)
"""The names of the shapes, in the order of their labels."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabeledImages:
    """Gray images, and what they show.

    Attributes:
        images: Levels of gray from 0 to 255, `uint8`, images × rows × columns.
        labels: The class of each image, `int64`, from 0 on.
        names: The name of each class.
    """

    images: Gray
    labels: Whole
    names: tuple[str, ...]


def shapes(n: int = 2_000, *, side: int = 16, seed: int = 2027) -> LabeledImages:
    """Small images of disks, rings, squares, frames, triangles, pluses, crosses, rows, columns and moons.

    Each class is as likely as any other. The middle, the size, the angle of up to 22.6 degrees either way and both
    shades are drawn for each image; each pixel has noise of its own, with a standard deviation of 20 levels of gray. A
    larger set begins with the images of a smaller one. Half of them to train and half to test are independent draws.

    Args:
        n: The number of images, at most 100,000.
        side: Rows and columns of an image, from 8 to 64.
        seed: The same seed gives the same images, on every platform.

    Raises:
        ParameterError: A number is not whole, or out of range.

    Example:
        >>> made = shapes(100)
        >>> made.images.shape, made.images.dtype.name, made.names[int(made.labels[0])]
        ((100, 16, 16), 'uint8', 'rows')
    """
    positive_integer(n, "n", most=_MOST_IMAGES)
    if positive_integer(side, "side", most=_MOST_PIXELS) < _FEWEST_PIXELS:
        raise ParameterError("side", side, f"must be a whole number from {_FEWEST_PIXELS} to {_MOST_PIXELS}")
    labels = np.floor(len(SHAPES) * uniforms(seed, "shape", n)).astype(np.int64)
    images = np.empty((n, side, side), dtype=np.uint8)
    for start in range(0, n, _BLOCK):
        block = slice(start, min(start + _BLOCK, n))
        images[block] = _drawn(labels[block], side, f"{seed}/images from {start}")
    return LabeledImages(images=images, labels=labels, names=SHAPES)


def _drawn(labels: Whole, side: int, stream: str) -> Gray:
    """Images of these classes, with the draws of one stream."""
    drawn = [uniforms(0, f"{stream}/{what}", len(labels)) for what in ("x", "y", "size", "turn", "ground", "shape")]
    x, y, size, turn, ground, shape = (values[:, np.newaxis, np.newaxis] for values in drawn)
    size = _SMALLEST + (_LARGEST - _SMALLEST) * size
    tangent = _TURN * (2 * turn - 1)
    cosine, sine = (1 - tangent * tangent) / (1 + tangent * tangent), 2 * tangent / (1 + tangent * tangent)
    middles = (2 * np.arange(side) + 1) / side - 1
    right, below = middles - _SHIFT * (2 * x - 1), middles[:, np.newaxis] - _SHIFT * (2 * y - 1)
    across, down = (cosine * right + sine * below) / size, (cosine * below - sine * right) / size
    outside = np.empty(across.shape)
    for label, distance in enumerate(_DRAWN.values()):
        chosen = labels == label
        outside[chosen] = distance(across[chosen], down[chosen])
    covered = np.clip(0.5 - outside * size * side / 2, 0, 1)  # about the share of each pixel
    clean = _DARK[0] + (_DARK[1] - _DARK[0]) * ground + (_LIGHT[0] + (_LIGHT[1] - _LIGHT[0]) * shape) * covered
    noise = bells(uniforms(0, f"{stream}/noise", clean.size)).reshape(clean.shape)
    return np.clip(np.floor(clean + _NOISE * noise + 0.5), 0, _WHITE).astype(np.uint8)
