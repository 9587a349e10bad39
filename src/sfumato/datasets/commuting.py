"""A made-up town and its census of commuters: where each worker lives, and where each works.

The town lies in the Atlantic, where no town is. It has a center, a harbor with an industrial park, suburbs, and a lake
where nobody lives. Workers are drawn by comparisons, sums, products and quotients alone, which are the same everywhere.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets.draws import Floats, uniforms
from sfumato.numeric.rationals import positive_integer

_CORNER: Final = (44.0, -28.0)  # latitude and longitude of the south-western corner
_DEGREE: Final = (111_115.0, 80_178.0)  # meters in a degree of latitude and of longitude there
_ACROSS, _UP, _SIDE = 10, 8, 1_000.0  # blocks each way, and meters of a side
_LAKE: Final = frozenset({(3, 5), (4, 5), (3, 6), (4, 6), (5, 6)})
_HOMES: Final = ((2.0, 2.0, 2.2, 30.0), (7.5, 5.5, 1.8, 34.0), (5.0, 3.0, 1.2, 18.0))
_JOBS: Final = ((5.0, 3.0, 0.8, 60.0), (8.5, 1.0, 0.7, 40.0), (1.5, 6.5, 0.9, 12.0))
"""Places of homes and of jobs: how far east and north in blocks, how wide, and how many in the middle."""
_REACH: Final = 2.5  # kilometers: at three times as far, a home sends a tenth as many
_MOST_WORKERS: Final = 2_000_000
_STEP: Final = 50_000  # workers at once


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Commuters:
    """Who works where, and the blocks of the town.

    Attributes:
        workers: Columns home and work, names of blocks; one row a worker.
        blocks: A GeoJSON FeatureCollection of squares of one kilometer; the property name is that of the block.
        names: All blocks, in the order of `blocks`.
        kilometers: From the middle of each block to that of each other, rows and columns as `names`; a block of work
            and one of home, either way round.
    """

    workers: pa.Table
    blocks: dict[str, Any]
    names: tuple[str, ...]
    kilometers: Floats


def commuters(n: int = 40_000, *, seed: int = 2008) -> Commuters:
    """A census of n made-up workers of a made-up town: the block where each lives, and the one where each works.

    Jobs are dense in the center, in an industrial park and on a campus; homes in two suburbs and the center. Of all who
    work in a block, homes send workers as they are dense, divided by 1 + (kilometers/2.5)²: a gravity model. Nothing of
    it was counted anywhere.

    Args:
        n: The number of workers, at most 2,000,000.
        seed: The same seed gives the same workers, on every platform; the blocks are the same for all.

    Raises:
        ParameterError: The number is not whole, not at least 1, or too large.

    Example:
        >>> made = commuters(1_000)
        >>> made.workers.column_names, made.workers.num_rows, len(made.names), made.kilometers.shape
        (['home', 'work'], 1000, 75, (75, 75))
    """
    positive_integer(n, "n", most=_MOST_WORKERS)
    places = [(east, north) for north in range(_UP) for east in range(_ACROSS) if (east, north) not in _LAKE]
    names = tuple(f"{chr(ord('A') + north)}{east + 1}" for east, north in places)
    middles = np.array(places, dtype=np.float64) + 0.5
    squares = _squares(middles, middles)
    jobs = _dense(middles, _JOBS)
    homes = _whole(_dense(middles, _HOMES) / (1 + squares / (_REACH * _REACH)))
    work = _chosen(np.broadcast_to(np.cumsum(_whole(jobs)), (1, len(places))), uniforms(seed, "work", n))
    home = np.empty(n, dtype=np.int64)
    drawn, ends = uniforms(seed, "home", n), np.cumsum(homes, axis=1)
    for start in range(0, n, _STEP):
        part = slice(start, start + _STEP)
        home[part] = _chosen(ends[work[part]], drawn[part])
    labels = np.array(names)
    return Commuters(
        workers=pa.table({"home": labels[home], "work": labels[work]}),
        blocks={"type": "FeatureCollection", "features": [_block(*one) for one in zip(names, places, strict=True)]},
        names=names,
        kilometers=np.sqrt(squares) * (_SIDE / 1_000),
    )


def _squares(places: Floats, others: Floats) -> Floats:
    """The squared distance of each place from each other, in blocks."""
    east, north = (np.subtract.outer(places[:, axis], others[:, axis]) for axis in range(2))
    found: Floats = east * east + north * north
    return found


def _dense(middles: Floats, around: tuple[tuple[float, float, float, float], ...]) -> Floats:
    """How dense something is in each block: a little everywhere, and more near each of some places."""
    found: Floats = np.ones(len(middles))
    for east, north, wide, many in around:
        near = 1 + _squares(middles, np.array([[east, north]]))[:, 0] / (wide * wide)
        found = found + many / (near * near)
    return found


def _whole(weights: Floats) -> NDArray[np.int64]:
    return np.floor(1_000_000 * weights).astype(np.int64) + 1


def _chosen(ends: NDArray[np.int64], uniform: Floats) -> NDArray[np.int64]:
    """For each number the place where it lies among rising ends."""
    beyond = ends <= (uniform * ends[:, -1])[:, np.newaxis]
    found: NDArray[np.int64] = beyond.sum(axis=1)
    return found


def _block(name: str, place: tuple[int, int]) -> dict[str, Any]:
    """A square as GeoJSON has it."""
    east, north = place
    corners = [(east, north), (east + 1, north), (east + 1, north + 1), (east, north + 1), (east, north)]
    ring = [
        [round(_CORNER[1] + _SIDE * x / _DEGREE[1], 6), round(_CORNER[0] + _SIDE * y / _DEGREE[0], 6)]
        for x, y in corners
    ]  # fmt: skip
    return {"type": "Feature", "properties": {"name": name}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
