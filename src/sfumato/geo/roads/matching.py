"""Which segment each point of a trip was on: the most probable sequence of a hidden Markov model [NK09]."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.geo.roads.graph import NOWHERE, Floats, RoadGraph, Whole
from sfumato.numeric.arguments import of_kind, real, whole
from sfumato.numeric.rationals import Number, set_fields

Flags = NDArray[np.bool_]

_NOBODY: Final = -1
_MOST_CANDIDATES: Final = 20
_LEAST_METERS, _MOST_METERS = 0.01, 10_000.0


@dataclass(frozen=True, slots=True, init=False)
class RoadMatching:
    """How points are matched to roads; all of it is public.

    A point's probability given a segment falls with its distance d from it as exp(−d²/(2 noise²)). A step from a place
    on one segment to a place on another has probability in proportion to exp(−|w − s|/detour), for w meters along
    roads and s meters straight between the two points [NK09]. The sequence of segments with the largest product is
    chosen (Viterbi). The authors estimate both parameters from their traces; here they are arguments, because
    estimates from everybody's traces would let one person change the rows of another.

    Args:
        noise: The standard deviation of points about their true place, in meters.
        detour: The scale of |w − s|, in meters.
        within: Segments farther from a point than this are no candidates for it, in meters.
        candidates: The most candidates of a point, the nearest of them; 1 gives the nearest segment.

    Raises:
        ParameterError: Meters are not from 0.01 to 10,000, or candidates are no whole number from 1 to 20.

    Example:
        >>> RoadMatching(noise=5).within
        50.0

    References:
        [NK09].
    """

    noise: float
    detour: float
    within: float
    candidates: int

    def __init__(self, *, noise: Number = 8, detour: Number = 20, within: Number = 50, candidates: int = 6) -> None:
        set_fields(
            self,
            noise=_meters(noise, "noise"),
            detour=_meters(detour, "detour"),
            within=_meters(within, "within"),
            candidates=whole(candidates, "candidates", least=1, most=_MOST_CANDIDATES),
        )


def _meters(value: Number, name: str) -> float:
    meters = real(value, name, least=_LEAST_METERS)
    if meters > _MOST_METERS:
        raise ParameterError(name, value, f"must be at most {_MOST_METERS:,.0f} meters")
    return meters


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Where points were found on the roads.

    Attributes:
        segments: For each point the place of its segment in the graph's list, −1 for none.
        along: Meters from the segment's first end to the point's place on it.
        follows: Whether the point goes on from the one before it, along roads.
    """

    segments: Whole
    along: Floats
    follows: Flags


def match(roads: RoadGraph, east: Floats, north: Floats, *, trip: Whole, matching: RoadMatching) -> Matched:
    """Match the points of trips, each by its own points alone.

    Points near no segment are left out, and the trip goes on with the next. Where no candidate can be reached from the
    one before within 2 km of road, the trip is parted in two.

    Args:
        roads: The roads.
        east: Meters in the plane of the roads.
        north: Meters, as many.
        trip: The number of each point's trip, ascending; the points of a trip are in the order of time.
        matching: The parameters.

    Raises:
        ParameterError: Trips do not ascend, or lengths differ.
    """
    of_kind(roads, "roads", RoadGraph, "a RoadGraph")
    of_kind(matching, "matching", RoadMatching, "a RoadMatching")
    if not len(east) == len(north) == len(trip) or (np.diff(trip) < 0).any():
        raise ParameterError("trip", f"{len(trip)} numbers", f"must ascend, one for each of {len(east)} points")
    found, along, off = roads.candidates(east, north, within=matching.within, most=matching.candidates)
    kept = np.flatnonzero(found[:, 0] >= 0)
    states = _States(roads, found[kept], along[kept], np.stack([east, north], axis=1)[kept])
    chosen, follows = _most_probable(states, off[kept], trip[kept], matching)
    result = Matched(np.full(len(east), NOWHERE), np.zeros(len(east)), np.zeros(len(east), dtype=np.bool_))
    rows = np.arange(len(kept))
    result.segments[kept], result.along[kept] = found[kept][rows, chosen], along[kept][rows, chosen]
    result.follows[kept] = follows
    return result


@dataclass(frozen=True, slots=True, eq=False)
class _States:
    """The candidates of every point, and how far it is along roads from those of one point to those of the next."""

    roads: RoadGraph
    segments: Whole
    along: Floats
    places: Floats

    def ways(self, before: Whole, after: Whole) -> Floats:
        """Meters of road from each candidate of points to each candidate of others, infinite where there is no way."""
        start, goal = self.segments[before][:, :, np.newaxis], self.segments[after][:, np.newaxis, :]
        left, reached = self.along[before][:, :, np.newaxis], self.along[after][:, np.newaxis, :]
        found = np.where(start == goal, np.abs(reached - left), np.inf)
        for leaving in (0, 1):
            out = left if leaving == 0 else self.roads.lengths[start] - left
            for entering in (0, 1):
                into = reached if entering == 0 else self.roads.lengths[goal] - reached
                between = self.roads.between[self.roads.ends[start, leaving], self.roads.ends[goal, entering]]
                found = np.minimum(found, out + between + into)
        missing = (start == NOWHERE) | (goal == NOWHERE)
        return np.where(missing, np.inf, found)

    def steps(self, before: Whole, after: Whole, detour: float) -> Floats:
        """The logarithms of the probabilities of steps, up to a constant."""
        straight = np.sqrt(((self.places[after] - self.places[before]) ** 2).sum(axis=1))
        logs: Floats = -np.abs(self.ways(before, after) - straight[:, np.newaxis, np.newaxis]) / detour
        return logs


def _most_probable(states: _States, off: Floats, trip: Whole, matching: RoadMatching) -> tuple[Whole, Flags]:
    """The candidate of each point, and whether it goes on from the one before: all trips at once, point by point."""
    starts = np.flatnonzero(np.diff(trip, prepend=_NOBODY - 1))
    lengths = np.diff(starts, append=len(trip))
    score = -((off / matching.noise) ** 2) / 2
    before = np.full(score.shape, _NOBODY, dtype=np.int64)
    for step in range(1, int(lengths.max(initial=0))):
        points = starts[lengths > step] + step
        reached = score[points - 1][:, :, np.newaxis] + states.steps(points - 1, points, matching.detour)
        best = reached.argmax(axis=1)
        value = np.take_along_axis(reached, best[:, np.newaxis], axis=1)[:, 0]
        total = value + score[points]
        goes_on = np.isfinite(total).any(axis=1, keepdims=True)
        score[points] = np.where(goes_on, total, score[points])
        before[points] = np.where(goes_on & np.isfinite(total), best, _NOBODY)
    chosen = score.argmax(axis=1)
    follows = np.zeros(len(trip), dtype=np.bool_)
    for step in range(int(lengths.max(initial=0)) - 1, 0, -1):
        points = starts[lengths > step] + step
        previous = before[points, chosen[points]]
        follows[points] = previous >= 0
        chosen[points - 1] = np.where(previous >= 0, previous, chosen[points - 1])
    return chosen, follows
