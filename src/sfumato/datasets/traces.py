"""Made-up traces of phones: who was seen by which antenna in which hour, shaped as in [MHVB13]."""

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets.draws import Floats, uniforms
from sfumato.numeric.rationals import positive_integer

HOURS_A_DAY: Final = 24

_MOST_PEOPLE: Final = 200_000
_MOST_DAYS: Final = 365
_SIGHTINGS_A_DAY: Final = (0, 0.1, 0.5, 0.9, 1), (1.5, 2.0, 3.5, 6.5, 9.0)  # 114 a month in the literature
_FIRST_HOUR, _LAST_HOUR = 7, 24
_WORK: Final = range(9, 18)
_WORK_DAYS, _WEEK = 5, 7
_AT_ANCHOR: Final = 0.7  # else somewhere about
_CENTER_SPREAD, _ABOUT = 0.22, 0.1  # of the length of the city
_BELL: Final = (
    (0, 0.001, 0.023, 0.159, 0.309, 0.5, 0.691, 0.841, 0.977, 0.999, 1),
    (-3.7, -3.1, -2, -1, -0.5, 0, 0.5, 1, 2, 3.1, 3.7),
)


def traces(people: int = 20_000, *, days: int = 28, antennas: int = 30, seed: int = 2013) -> pa.Table:
    """Columns person, x, y (the antenna's place on a square grid) and hour (from 0 on), one row a sighting.

    A person has a home and a place of work, both drawn about the middle of the city. The number of sightings a day
    is drawn once for each person: half have up to 3.5. Each sighting falls on any day and an hour from 7 to midnight,
    both drawn evenly. Seven times in ten it is at the anchor of that hour, which is work from 9 to 18 on five days of
    seven and home else; otherwise at an antenna about the anchor, drawn from a bell a tenth of the city wide. Places
    outside the city are moved to its edge. A sighting in the same hour at the same antenna may come twice.

    Args:
        people: How many there are, at most 200,000.
        days: For how long, at most 365.
        antennas: On each side of the grid.
        seed: The same seed gives the same traces, on every platform.

    Raises:
        ParameterError: A number is not whole, not at least 1, or too large.

    Example:
        >>> traces(10, days=7).column_names
        ['person', 'x', 'y', 'hour']

    References:
        [MHVB13].
    """
    positive_integer(people, "people", most=_MOST_PEOPLE)
    positive_integer(days, "days", most=_MOST_DAYS)
    positive_integer(antennas, "antennas", most=1_000)
    a_day = np.interp(uniforms(seed, "sightings a day", people), *_SIGHTINGS_A_DAY)
    many = np.maximum(1, np.rint(a_day * days)).astype(np.int64)
    person = np.repeat(np.arange(people), many)
    day = np.floor(days * uniforms(seed, "day", len(person))).astype(np.int64)
    of_day = np.floor(
        _FIRST_HOUR + (_LAST_HOUR - _FIRST_HOUR) * uniforms(seed, "hour", len(person))
    ).astype(np.int64)  # fmt: skip
    at_work = (day % _WEEK < _WORK_DAYS) & (of_day >= _WORK.start) & (of_day < _WORK.stop)
    away = uniforms(seed, "away", len(person)) >= _AT_ANCHOR
    places = {
        axis: _place(axis, person=person, people=people, at_work=at_work, away=away, antennas=antennas, seed=seed)
        for axis in ("x", "y")
    }
    return pa.table({"person": person, **places, "hour": day * HOURS_A_DAY + of_day})


def _place(
    axis: str,
    *,
    person: NDArray[np.int64],
    people: int,
    at_work: NDArray[np.bool_],
    away: NDArray[np.bool_],
    antennas: int,
    seed: int,
) -> NDArray[np.int64]:
    """One coordinate of each sighting's antenna."""
    home, work = (
        0.5 + _CENTER_SPREAD * _bell(uniforms(seed, f"{anchor} {axis}", people)) for anchor in ("home", "work")
    )
    anchor = np.where(at_work, work[person], home[person])
    moved = _ABOUT * _bell(uniforms(seed, f"moved {axis}", len(person)))
    place = np.floor(antennas * (anchor + np.where(away, moved, 0))).astype(np.int64)
    clipped: NDArray[np.int64] = np.clip(place, 0, antennas - 1)
    return clipped


def _bell(uniform: Floats) -> Floats:
    """About normal with deviation 1: a quantile function that runs straight between a few points of the normal one."""
    return np.interp(uniform, *_BELL)
