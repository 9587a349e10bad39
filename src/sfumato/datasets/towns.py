"""A made-up city and the ways of its people: streets, trips, and points of GPS with noise.

The city lies in the Atlantic, where no city is. A river parts it, three bridges cross it, and a ring goes around.
"""

from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets.draws import Floats, bells, uniforms
from sfumato.numeric.rationals import positive_integer

CENTER: Final = (45.5, -30.0)
"""Latitude and longitude of the middle of the city, in degrees."""

UTC_OFFSET_HOURS: Final = -2
"""What the clocks of the city add to UTC, in summer and winter."""

SECONDS_BETWEEN_POINTS: Final = 10

_DEGREE: Final = (111_143.0, 78_158.0)  # meters in a degree of latitude and of longitude there
_SIDE, _BLOCK, _JITTER = 13, 250.0, 35.0  # streets each way, meters between them, meters off the grid
_SOUTH_BANK: Final = 5  # the river runs north of this street
_BRIDGES: Final = (2, 6, 10)
_RING, _RADIUS, _RAMP = 24, 2_450.0, 3  # nodes of the ring, its radius in meters, one ramp for so many nodes
_LIMITS: Final = {"street": 30, "avenue": 50, "bridge": 50, "ring": 80}  # kilometers an hour
_AVENUE: Final = 3  # every third street is one
_FIRST_MIDNIGHT: Final = np.datetime64("2026-03-02", "s")  # a Monday
_DAY, _HOUR, _WEEK, _WORK_DAYS = 86_400, 3_600, 7, 5
_MOST_PEOPLE, _MOST_DAYS = 50_000, 31
_FLOW: Final = np.repeat(
    [1.0, 0.95, 0.6, 0.5, 0.7, 0.85, 0.8, 0.6, 0.5, 0.65, 0.85, 1.0], [6, 1, 1, 1, 1, 3, 3, 1, 1, 1, 2, 3]
)
"""The share of the speed limit that is driven, by hour of a day of work."""
_WEEKEND_FLOW, _BRIDGE_FLOW = 0.9, 0.75
_METERS_OFF: Final = 8.0  # standard deviation of a point on each axis

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class City:
    """Streets, and who went where.

    Attributes:
        roads: A GeoJSON FeatureCollection of LineStrings; properties segment (from 0 on), name, kind (street, avenue,
            bridge or ring) and speed_limit in kilometers an hour. Both directions are one segment.
        river: The river, a GeoJSON Feature.
        points: Columns person, trip, time (UTC, to the second), latitude and longitude in degrees; one row a point,
            every ten seconds of a trip, about 8 meters off on each axis.
        trips: Columns person, trip, time (of departure, UTC), from_latitude, from_longitude, to_latitude and
            to_longitude; one row a trip.
        passages: Columns person, trip, segment, time (of entry, UTC) and speed in kilometers an hour; one row a
            segment of a trip, in order: what really happened, known to nobody who has the points alone.
    """

    roads: dict[str, Any]
    river: dict[str, Any]
    points: pa.Table
    trips: pa.Table
    passages: pa.Table


def city(people: int = 300, *, days: int = 7, seed: int = 2015) -> City:
    """The same streets for every number of people, each with a home, a place of work and a few other places.

    From Monday to Friday 92 people in 100 go to work between 7 and 9:30 by the city's clock and home between 16 and
    18:30; in 35 of 100 evenings they go out and home again, and on 70 of 100 days of a weekend. All take the way that
    is quickest at the speed limits, and drive a share of the limit that falls in rush hours and on bridges. The shares,
    the hours and the streets are made up.

    Args:
        people: The number of people, at most 50,000.
        days: The number of days, at most 31; the first is a Monday.
        seed: The same seed gives the same city, on every platform.

    Raises:
        ParameterError: A number is not whole, not at least 1, or too large.

    Example:
        >>> made = city(5, days=2)
        >>> made.points.column_names, len(made.roads["features"])
        (['person', 'trip', 'time', 'latitude', 'longitude'], 334)
    """
    positive_integer(people, "people", most=_MOST_PEOPLE)
    positive_integer(days, "days", most=_MOST_DAYS)
    streets = _streets(seed)
    trips = _trips(streets, people=people, days=days, seed=seed)
    passages = _passages(streets, trips, seed=seed)
    return City(
        roads={"type": "FeatureCollection", "features": [streets.feature(at) for at in range(len(streets.ends))]},
        river=_river(),
        points=_points(streets, trips, passages, seed=seed),
        trips=_table_of_trips(streets, trips),
        passages=pa.table(
            {
                "person": trips.person[passages.trip],
                "trip": passages.trip,
                "segment": passages.segment,
                "time": _times(passages.entered),
                "speed": np.round(3.6 * streets.lengths[passages.segment] / passages.seconds, 2),
            }
        ),
    )


@dataclass(frozen=True, slots=True)
class _Streets:
    """Crossings in meters east and north of the center, and which two of them each segment joins."""

    places: Floats
    ends: Whole
    kinds: list[str]
    names: list[str]

    @property
    def limits(self) -> Floats:
        return np.array([_LIMITS[kind] for kind in self.kinds], dtype=np.float64)

    @property
    def lengths(self) -> Floats:
        east, north = (self.places[self.ends[:, 1]] - self.places[self.ends[:, 0]]).T
        found: Floats = np.sqrt(east * east + north * north)
        return found

    def feature(self, segment: int) -> dict[str, Any]:
        """One segment as GeoJSON has it."""
        kind = self.kinds[segment]
        properties = {"segment": segment, "name": self.names[segment], "kind": kind, "speed_limit": _LIMITS[kind]}
        return _line(self.places[self.ends[segment]], properties)


@dataclass(frozen=True, slots=True)
class _Trips:
    """Who leaves when (seconds after the first midnight by the city's clock), from which crossing, and to which."""

    person: Whole
    leaves: Floats
    origin: Whole
    target: Whole


@dataclass(frozen=True, slots=True)
class _Passages:
    """Which trip enters which segment when, how long it takes, and whether it goes from the first end to the second."""

    trip: Whole
    segment: Whole
    entered: Floats
    seconds: Floats
    is_forward: NDArray[np.bool_]


def _streets(seed: int) -> _Streets:
    """A square of streets, without those that would cross the river off a bridge, and a ring with ramps."""
    column, row = (axis.ravel() for axis in np.meshgrid(np.arange(_SIDE), np.arange(_SIDE)))
    at = np.stack([column, row], axis=1) - (_SIDE - 1) / 2
    moved = 2 * np.stack([uniforms(seed, f"street {axis}", len(at)) for axis in "xy"], axis=1) - 1
    angles = [2 * pi * number / _RING for number in range(_RING)]
    ring = _RADIUS * np.array([(cos(angle), sin(angle)) for angle in angles])
    square: Floats = _BLOCK * at + _JITTER * moved
    found: list[tuple[int, int, str, str]] = []
    for crossing, (along, up) in enumerate(zip(column.tolist(), row.tolist(), strict=True)):
        if along + 1 < _SIDE:
            kind = "avenue" if up % _AVENUE == 0 else "street"
            found.append((crossing, crossing + 1, kind, f"Street {up + 1}"))
        if up + 1 < _SIDE and (up != _SOUTH_BANK or along in _BRIDGES):
            kind = "bridge" if up == _SOUTH_BANK else "avenue" if along % _AVENUE == 0 else "street"
            bridge = {2: "West Bridge", 6: "Old Bridge", 10: "East Bridge"}
            name = bridge[along] if up == _SOUTH_BANK else f"Avenue {chr(ord('A') + along)}"
            found.append((crossing, crossing + _SIDE, kind, name))
    for number, place in enumerate(ring):
        node = len(square) + number
        found.append((node, len(square) + (number + 1) % _RING, "ring", "Ring"))
        if number % _RAMP == 0:
            east, north = (square - place).T
            found.append((int(np.argmin(east * east + north * north)), node, "avenue", f"Ramp {number // _RAMP + 1}"))
    firsts, seconds, kinds, names = zip(*found, strict=True)
    places = np.round(np.concatenate([square, ring]), 1)
    return _Streets(places, np.array([firsts, seconds], dtype=np.int64).T, list(kinds), list(names))


def _trips(streets: _Streets, *, people: int, days: int, seed: int) -> _Trips:
    """Up to four a day: to work, home, out, home; in the order of people and of time."""

    def draw(what: str, *shape: int) -> Floats:
        return uniforms(seed, what, int(np.prod(shape))).reshape(shape)

    square = _SIDE * _SIDE
    home = np.floor(square * draw("home", people)).astype(np.int64)
    near = 0.5 + 0.16 * bells(draw("work", 2, people))  # of the side of the square
    column, row = np.clip(np.floor(_SIDE * near), 0, _SIDE - 1).astype(np.int64)
    favorites = np.floor(len(streets.places) * draw("favorites", people, 3)).astype(np.int64)
    shape = (people, days)
    chosen = np.floor(3 * draw("out", *shape)).astype(np.int64)
    leisure = np.take_along_axis(favorites, chosen, axis=1)
    works = np.arange(days) % _WEEK < _WORK_DAYS
    to_work = works & (draw("works", *shape) < 0.92)  # noqa: PLR2004 # as the docstring says
    goes_out = draw("goes out", *shape) < np.where(works, 0.35, 0.7)
    going = np.stack([to_work, to_work, goes_out, goes_out], axis=2)
    first = np.where(works[:, np.newaxis], [7, 16, 19, 21.5], [7, 16, 10, 16])  # hours of the day
    leaves = first + np.array([2.5, 2.5, 1.5, 2.0]) * draw("leaves", *shape, 4)
    leaves = np.floor(_HOUR * leaves) + _DAY * np.arange(days)[:, np.newaxis]
    at_home = np.broadcast_to(home[:, np.newaxis], shape)
    at_work = np.broadcast_to((_SIDE * row + column)[:, np.newaxis], shape)
    origin, target = (
        np.stack(places, axis=2)
        for places in ((at_home, at_work, at_home, leisure), (at_work, at_home, leisure, at_home))
    )
    going &= origin != target
    person = np.broadcast_to(np.arange(people)[:, np.newaxis, np.newaxis], going.shape)
    return _Trips(person[going], leaves[going], origin[going], target[going])


def _passages(streets: _Streets, trips: _Trips, *, seed: int) -> _Passages:
    """The segments of every trip in order, walked back from its end for all trips at once."""
    cost = streets.lengths / streets.limits
    number = np.full((len(streets.places), len(streets.places)), -1, dtype=np.int64)
    number[tuple(streets.ends.T)] = number[tuple(streets.ends.T[::-1])] = np.arange(len(cost))
    before = _crossing_before(number, cost)
    steps: list[tuple[Whole, NDArray[np.bool_]]] = []
    place = trips.target
    while not steps or (place != trips.origin).any():
        previous = np.where(place == trips.origin, place, before[trips.origin, place])
        steps.append((number[previous, place], streets.ends[number[previous, place], 1] == place))
        place = previous
    segment, is_forward = (np.stack(part[::-1], axis=1) for part in zip(*steps, strict=True))
    is_real = segment >= 0
    trip = np.repeat(np.arange(len(is_real)), is_real.sum(axis=1))
    segment, is_forward = segment[is_real], is_forward[is_real]
    day, second = np.divmod(trips.leaves, _DAY)
    flow = np.where(day % _WEEK < _WORK_DAYS, _FLOW[(second / _HOUR).astype(np.int64)], _WEEKEND_FLOW)
    pace = 0.85 + 0.25 * uniforms(seed, "pace", len(trips.person))
    on_bridge = np.array([kind == "bridge" for kind in streets.kinds])[segment]
    share = (flow * pace)[trip] * np.where(on_bridge, _BRIDGE_FLOW, 1.0)
    seconds = 3.6 * cost[segment] / share
    total = np.cumsum(seconds)
    starts = np.flatnonzero(np.diff(trip, prepend=-1))
    since = total - seconds - np.repeat((total - seconds)[starts], np.diff(starts, append=len(trip)))
    return _Passages(trip, segment, trips.leaves[trip] + since, seconds, is_forward)


def _crossing_before(number: Whole, cost: Floats) -> Whole:
    """The last crossing but one of the cheapest way from each crossing to each other [Flo62]."""
    total = np.where(number >= 0, cost[number], np.inf)
    np.fill_diagonal(total, 0)
    before = np.where(number >= 0, np.arange(len(number))[:, np.newaxis], -1)
    for middle in range(len(number)):
        through = total[:, middle, np.newaxis] + total[middle]
        before = np.where(through < total, before[middle], before)
        total = np.minimum(through, total)
    return before


def _points(streets: _Streets, trips: _Trips, passages: _Passages, *, seed: int) -> pa.Table:
    """Where each trip is every ten seconds from its start on, with noise."""
    last = np.flatnonzero(np.diff(passages.trip, append=-1))
    length = passages.entered[last] + passages.seconds[last] - trips.leaves
    many = np.floor(length / SECONDS_BETWEEN_POINTS).astype(np.int64) + 1
    trip = np.repeat(np.arange(len(many)), many)
    tick = np.arange(len(trip)) - np.repeat(np.cumsum(many) - many, many)
    at = trips.leaves[trip] + SECONDS_BETWEEN_POINTS * tick
    apart = 2.0 * (trips.leaves.max(initial=0) + _DAY)  # so that no trip reaches into the next
    passage = np.searchsorted(passages.entered + apart * passages.trip, at + apart * trip, side="right") - 1
    done = np.minimum((at - passages.entered[passage]) / passages.seconds[passage], 1)
    done = np.where(passages.is_forward[passage], done, 1 - done)
    first, second = streets.ends[passages.segment[passage]].T
    place = streets.places[first] + done[:, np.newaxis] * (streets.places[second] - streets.places[first])
    off = np.stack([bells(uniforms(seed, f"noise {axis}", len(at))) for axis in "xy"], axis=1)
    latitude, longitude = _degrees(place + _METERS_OFF * off)
    return pa.table(
        {"person": trips.person[trip], "trip": trip, "time": _times(at), "latitude": latitude, "longitude": longitude}
    )


def _table_of_trips(streets: _Streets, trips: _Trips) -> pa.Table:
    origin, target = _degrees(streets.places[trips.origin]), _degrees(streets.places[trips.target])
    return pa.table(
        {
            "person": trips.person,
            "trip": np.arange(len(trips.person)),
            "time": _times(trips.leaves),
            "from_latitude": origin[0],
            "from_longitude": origin[1],
            "to_latitude": target[0],
            "to_longitude": target[1],
        }
    )


def _times(seconds: Floats) -> NDArray[np.datetime64]:
    """Times in UTC of seconds after the first midnight by the city's clock."""
    return _FIRST_MIDNIGHT + (np.floor(seconds) - UTC_OFFSET_HOURS * _HOUR).astype("timedelta64[s]")


def _degrees(places: Floats) -> tuple[Floats, Floats]:
    """Latitudes and longitudes to a millionth of a degree, which is 11 centimeters."""
    east, north = places.T
    return np.round(CENTER[0] + north / _DEGREE[0], 6), np.round(CENTER[1] + east / _DEGREE[1], 6)


def _river() -> dict[str, Any]:
    """From west to east between two streets, in a slow wave."""
    middle = _BLOCK * (_SOUTH_BANK + 0.5 - (_SIDE - 1) / 2)
    places = np.array([(east, middle + 35 * sin(east / 500)) for east in range(-3_000, 3_001, 250)])
    return _line(places, {"name": "River", "kind": "water"})


def _line(places: Floats, properties: dict[str, Any]) -> dict[str, Any]:
    latitude, longitude = _degrees(places)
    line = [[east, north] for east, north in zip(longitude.tolist(), latitude.tolist(), strict=True)]
    return {"type": "Feature", "properties": properties, "geometry": {"type": "LineString", "coordinates": line}}
