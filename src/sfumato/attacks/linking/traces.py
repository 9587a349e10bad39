"""Unicity: how many people a few points of their traces tell apart from everybody else [MHVB13].

A point is what is known of one moment: a place and an hour, a shop and a day. Who knows p points of somebody, and finds
one trace that has them all, has found the rest of the trace.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.core.answers import dice
from sfumato.attacks.core.classes import Table, codes, column_of, looked_up, names_of
from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind, real
from sfumato.numeric.rationals import Number, positive, positive_integer
from sfumato.plots.attacks import unicity_curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Whole: TypeAlias = NDArray[np.int64]

_PAIRS_AT_ONCE: Final = 2_000_000  # of a person sought and one who may be it
_ABSENT: Final = np.iinfo(np.int64).max
_WIDTHS: Final = "widths of intervals by column, such as {'hour': 4}"


_FOUND: Final = "outcomes by resolution and number of points, as of unicity_by_points"


class Traces:
    """Points by person, ready to be sought: who was there.

    Args:
        records: One row a point.
        user: The column that says whose point it is.
        columns: The columns that make a point.
        resolution: For some columns, which must be numbers, the width of the intervals into which they are cut from 0
            on; others count as they are.

    Raises:
        ParameterError: A column is missing or is cut without being named, a width is not above 0, or there are no rows.
    """

    def __init__(
        self, records: Table, *, user: str, columns: Sequence[str], resolution: Mapping[str, Number] | None = None
    ) -> None:
        cut = {} if resolution is None else of_kind(resolution, "resolution", Mapping, _WIDTHS)
        columns = names_of(columns, and_all_that_are="cut", of=cut)
        person = _numbered(_column(records, user, "user"))
        if len(person) == 0:
            raise ParameterError("records", "a table without rows", "must hold at least one")
        point = np.zeros(len(person), dtype=np.int64)
        for column in columns:
            values = _column(records, column, "columns")
            if len(values) != len(person):
                raise ParameterError("records", f"{len(values)} values of {column}", f"must have {len(person)}")
            own = _numbered(_cut(values, cut.get(column)))
            point = _numbered(point * (own.max() + 1) + own)
        self.people = int(person.max()) + 1
        self._pairs = _distinct(point * self.people + person)  # sorted, so that who was there stands together
        self._ends = np.searchsorted(self._pairs, np.arange(point.max() + 2) * self.people)
        own, place = self._pairs % self.people, self._pairs // self.people
        order = np.argsort(own, kind="stable")
        self._trace, self._starts = place[order], np.searchsorted(own[order], np.arange(self.people + 1))

    def drawn(self, persons: Whole, points: int) -> Whole:
        """For each person, this many random points of their trace, the rarest first; −1 where there are no more."""
        points = min(points, int(np.diff(self._starts).max()))
        rows = np.full((len(persons), points), -1, dtype=np.int64)
        visits = np.append(np.diff(self._ends), _ABSENT)
        draw = dice()
        for row, person in zip(rows, persons.tolist(), strict=True):
            trace = self._trace[self._starts[person] : self._starts[person + 1]]
            chosen = draw.choice(trace, size=min(points, len(trace)), replace=False, shuffle=False)
            row[: len(chosen)] = chosen
        return np.take_along_axis(rows, np.argsort(visits[rows], axis=1, kind="stable"), axis=1)

    def matches(self, points: Whole) -> Whole:
        """How many people have all points of a row; those that are −1 bind nobody."""
        found = np.zeros(len(points), dtype=np.int64)
        for rows in self._chunks(points[:, 0]):
            sought, candidate = self._visitors(points[rows, 0])
            for further in points[rows, 1:].T:
                has = self._has(further[sought], candidate)
                sought, candidate = sought[has], candidate[has]
            found[rows] = np.bincount(sought, minlength=len(points[rows]))
        return found

    def _visitors(self, points: Whole) -> tuple[Whole, Whole]:
        """Whoever was at each point: its place in the list, and the person."""
        starts, counts = self._ends[points], self._ends[points + 1] - self._ends[points]
        sought = np.repeat(np.arange(len(points)), counts)
        within = np.arange(len(sought)) - np.repeat(np.cumsum(counts) - counts, counts)
        return sought, self._pairs[np.repeat(starts, counts) + within] % self.people

    def _has(self, points: Whole, people: Whole) -> NDArray[np.bool_]:
        wanted = points * self.people + people
        at = np.minimum(np.searchsorted(self._pairs, wanted), len(self._pairs) - 1)
        has: NDArray[np.bool_] = (self._pairs[at] == wanted) | (points < 0)
        return has

    def _chunks(self, points: Whole) -> Iterator[slice]:
        """Parts with so few visitors that they fit into memory at once."""
        total = np.cumsum(self._ends[points + 1] - self._ends[points])
        start = 0
        while start < len(points):
            before = int(total[start - 1]) if start else 0
            end = max(start + 1, int(np.searchsorted(total, before + _PAIRS_AT_ONCE, side="right")))
            yield slice(start, end)
            start = end


def unicity(
    records: Table,
    *,
    user: str,
    columns: Sequence[str],
    points: int = 4,
    resolution: Mapping[str, Number] | None = None,
    people: int = 2_500,
) -> Outcome:
    """The share of people whom some points of their trace, drawn at random, tell apart from everybody else.

    In the literature: of 1.5 million people, by antenna and hour, 4 points tell 95% apart and 2 more than half; of 1.1
    million people's payments, by shop and day, 4 tell 90% apart.

    Args:
        records: One row a point.
        user: The column that says whose point it is.
        columns: The columns that make a point.
        points: The number of different known points; all points of a person who has fewer.
        resolution: For some columns, which must be numbers, the width of the intervals into which they are cut from 0
            on, before points are drawn; others count as they are.
        people: The number of people drawn at random, without repetition; at most all.

    Returns:
        Whoever alone fits, out of the people drawn; its interval is one of confidence.

    Raises:
        ParameterError: A column is missing or is cut without being named, a number is too small, or there are no rows.

    Example:
        >>> walks = {"who": [1, 1, 2, 2], "place": ["a", "b", "a", "c"], "hour": [0, 5, 0, 5]}
        >>> unicity(walks, user="who", columns=["place", "hour"], points=2).success
        1.0
        >>> unicity(walks, user="who", columns=["hour"], points=2).success
        0.0

    References:
        [MHVB13]; [MRSP15] for payments.
    """
    traces = Traces(records, user=user, columns=columns, resolution=resolution)
    return _outcome(traces, points=points, people=people)


def unicity_by_points(
    records: Table,
    *,
    user: str,
    columns: Sequence[str],
    points: Sequence[int] = (1, 2, 3, 4, 5, 6),
    resolutions: Mapping[str, Mapping[str, Number]],
    people: int = 2_500,
) -> dict[str, dict[int, Outcome]]:
    """`unicity` at several resolutions, and for several numbers of points each.

    Args:
        records: One row a point.
        user: The column that says whose point it is.
        columns: The columns that make a point.
        points: Numbers of known points.
        resolutions: By a name, such as "4 hours", the widths of intervals.
        people: The number of people drawn for each.

    Raises:
        ParameterError: As for `unicity`.

    Example:
        >>> walks = {"who": [1, 1, 2, 2], "hour": [0, 5, 0, 6]}
        >>> found = unicity_by_points(walks, user="who", columns=["hour"], points=[2],
        ...                           resolutions={"an hour": {}, "a day": {"hour": 24}})
        >>> {name: by_points[2].success for name, by_points in found.items()}
        {'an hour': 1.0, 'a day': 0.0}

    References:
        [MHVB13].
    """
    of_kind(resolutions, "resolutions", Mapping, f"by a name {_WIDTHS}")
    points = listed(points, "points", of="whole numbers")
    for known in points:
        positive_integer(known, "points")
    found = {}
    for name, resolution in resolutions.items():
        traces = Traces(records, user=user, columns=columns, resolution=resolution)
        found[name] = {known: _outcome(traces, points=known, people=people) for known in points}
    return found


def unicity_picture(found: Mapping[str, Mapping[int, Outcome]], *, title: str | None = None) -> "Figure":
    """A picture of `unicity_by_points`: a curve over the number of points for each resolution.

    Args:
        found: Outcomes by resolution and number of points.
        title: The title; None states the largest share.

    Raises:
        ParameterError: There is nothing to draw, or matplotlib is missing.

    Example:
        >>> one = {points: Outcome(attack="unicity", successes=points, trials=4, baseline=0) for points in (1, 2, 3)}
        >>> figure = unicity_picture({"an hour": one})
    """
    of_kind(found, "found", Mapping, _FOUND)
    by_number = [of_kind(by_points, "found", Mapping, _FOUND) for by_points in found.values()]
    if not found or not all(by_number):
        raise ParameterError("found", 0, "must have at least one outcome for each resolution")
    for points, outcome in (pair for by_points in by_number for pair in by_points.items()):
        real(points, "found", least=-inf)
        of_kind(outcome, "found", Outcome, _FOUND)
    of_kind(title, "title", (str, NoneType), "text, or None")
    return unicity_curves(
        {name: list(by_points) for name, by_points in found.items()},
        {name: [outcome.success for outcome in by_points.values()] for name, by_points in found.items()},
        limits={name: [outcome.interval() for outcome in by_points.values()] for name, by_points in found.items()},
        title=title,
    )


def _outcome(traces: Traces, *, points: int, people: int) -> Outcome:
    positive_integer(points, "points")
    positive_integer(people, "people")
    persons = dice().permutation(traces.people)[:people]
    alone = int((traces.matches(traces.drawn(persons, points)) == 1).sum())
    return Outcome(
        attack=f"unicity with {points} points", successes=alone, trials=len(persons), baseline=1 / traces.people
    )


def _column(records: Table, name: str, parameter: str) -> NDArray[Any]:
    """A column as an array, without a copy where it is one already."""
    try:
        column = np.asarray(looked_up(records, name, parameter=parameter, of="records"))
        is_plain = column.ndim == 1 and column.dtype != object
    except ParameterError:
        raise
    except (TypeError, ValueError):  # lists of several lengths
        is_plain = False
    return column if is_plain else codes(column_of(records, name, parameter=parameter, of="records"), name="records")


def _cut(column: NDArray[Any], width: Number | None) -> NDArray[Any]:
    if width is None:
        return column
    if column.dtype.kind not in "biuf":
        raise ParameterError("resolution", width, "must be of a column of numbers")
    return np.floor(column / real(positive(width, "resolution"), "resolution", least=-inf))


def _numbered(values: NDArray[Any]) -> Whole:
    """The number of each value among the different ones, from 0 on without gaps."""
    if values.dtype.kind in "iu" and values.min(initial=0) >= 0 and values.max(initial=0) <= len(values):
        number = np.cumsum(np.bincount(values) > 0) - 1  # without sorting
        return np.asarray(number[values], dtype=np.int64)
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _distinct(values: Whole) -> Whole:
    """In order; quicker than `np.unique`, which may keep them in the order of their hashes first."""
    ordered = np.sort(values)
    kept: Whole = ordered[np.flatnonzero(np.diff(ordered, prepend=-1))]
    return kept
