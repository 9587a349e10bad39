"""From points of GPS to passages: who drove along which segment in which hour, and how fast."""

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.geo.roads.graph import Floats, RoadGraph, Whole
from sfumato.geo.roads.matching import Matched, RoadMatching, match
from sfumato.numeric.arguments import of_kind, real
from sfumato.numeric.rationals import Number, positive

_SMALLEST_SHARE: Final = 0.5  # of a segment that is driven along
_QUARTER, _HOUR, _DAY = 900, 3_600, 86_400  # seconds; clocks are changed at quarters of hours
_KILOMETERS_AN_HOUR: Final = 3.6
_EARLIEST, _LATEST = -62_135_596_800 + _DAY, 253_402_300_800 - _DAY  # seconds of the years 1 and 9999


def passages(
    points: Any,
    roads: RoadGraph,
    *,
    person: str = "person",
    time: str = "time",
    latitude: str = "latitude",
    longitude: str = "longitude",
    zone: tzinfo = UTC,
    matching: RoadMatching | None = None,
    pause: Number = 120,
) -> pa.Table:
    """Match points to roads, and list each segment that somebody drove along, before a session is opened.

    A person's points in the order of time are one trip as long as pauses are short. Each trip is matched by
    `RoadMatching`. Between two points the time is divided in proportion to the meters of road. A segment counts if at
    least half of it was driven along at once. Its speed is the meters over the time between the first and the last
    place on it.

    **Guarantee**: stability 1 for persons. The rows of a person depend on that person's points, the roads and the
    arguments alone, in whatever order the points come: adding, removing or replacing all points of one person changes
    the rows of that person and no others. So a session whose privacy unit is the person protects all of a person's
    points. Nothing of the result is noisy: it is as private as the points. Proof: proofs/geo/roads/passages.md.

    ====================================================  ======================================================
    Edge case                                             Behavior
    ====================================================  ======================================================
    a coordinate is NULL, NaN or infinite, or a person    the point is left out
    or a time is NULL
    several points of one person at one time              the one farthest to the south, and then west, counts
    a point is near no segment                            it is left out; the trip goes on with the next
    no way of up to 2 km between two points               the trip is parted in two
    ====================================================  ======================================================

    Args:
        points: An Arrow table, or what `pyarrow.table` makes one of, such as a dictionary of lists; one row a point.
        roads: The roads.
        person: The column that says whose point it is.
        time: The column of times, in UTC.
        latitude: The column of latitudes, in degrees.
        longitude: The column of longitudes, in degrees.
        zone: The time zone of the columns day and hour, such as ``ZoneInfo("Europe/Paris")``.
        matching: The parameters of the matching; None: the defaults of `RoadMatching`.
        pause: A trip ends where no point follows within so many seconds.

    Returns:
        Columns person, day, hour (0 to 23, when the segment was entered), segment and speed (km/h): one row a passage,
        in the order of persons and of time.

    Raises:
        ParameterError: A column is missing or of another type, or a number is not above 0.

    Example:
        >>> import sfumato as sf
        >>> made = sf.datasets.city(2, days=1)
        >>> roads = sf.geo.RoadGraph.from_geojson(made.roads)
        >>> sf.geo.passages(made.points, roads).column_names
        ['person', 'day', 'hour', 'segment', 'speed']

    References:
        [NK09].
    """
    of_kind(roads, "roads", RoadGraph, "a RoadGraph")
    of_kind(zone, "zone", tzinfo, 'a time zone, such as ZoneInfo("Europe/Paris")')
    parameters = of_kind(RoadMatching() if matching is None else matching, "matching", RoadMatching, "a RoadMatching")
    most = real(positive(pause, "pause"), "pause", is_finite=True)
    table = _ordered(points, {"person": person, "time": time, "latitude": latitude, "longitude": longitude})
    seconds = np.asarray(table["time"]).astype(np.int64) / 1e6
    numbers = np.asarray(table["number"], dtype=np.int64)
    breaks = (np.diff(numbers, prepend=-1) != 0) | (np.diff(seconds, prepend=-np.inf) > most)
    east, north = roads.plane(np.asarray(table["latitude"]), np.asarray(table["longitude"]))
    found = match(roads, east, north, trip=np.cumsum(breaks), matching=parameters)
    rows = list(_driven(roads, found, seconds))
    owners = table["person"].take(pa.array([row.point for row in rows], type=pa.int64()))
    kind = pa.int64() if isinstance(roads.segments[0], int) else pa.string()
    day, hour = _clock(np.array([row.entered for row in rows], dtype=np.float64), zone)
    return pa.table(
        {
            "person": owners,
            "day": pa.array(day.astype("datetime64[D]")),
            "hour": pa.array(hour),
            "segment": pa.array([roads.segments[row.segment] for row in rows], type=kind),
            "speed": pa.array([row.speed for row in rows], type=pa.float64()),
        }
    )


def _ordered(points: Any, names: dict[str, str]) -> pa.Table:
    """The points that count, by person and time, the number of each person among them beside."""
    try:
        given = points if isinstance(points, pa.Table) else pa.table(points)
        columns = {own: given[of_kind(name, own, str, "the name of a column, as text")] for own, name in names.items()}
        columns["time"] = columns["time"].cast(pa.timestamp("us"), safe=False)
        for axis in ("latitude", "longitude"):
            columns[axis] = columns[axis].cast(pa.float64(), safe=False)
        table = pa.table(columns)
    except ParameterError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        wanted = f"must be a table with columns {', '.join(map(repr, names.values()))}: ids, times and degrees"
        raise ParameterError("points", type(points).__name__, wanted) from error
    is_place = pc.and_(pc.is_finite(table["latitude"]), pc.is_finite(table["longitude"]))
    seconds = table["time"].cast(pa.int64())
    is_time = pc.and_(
        pc.greater_equal(seconds, 1_000_000 * _EARLIEST), pc.less(seconds, 1_000_000 * _LATEST)
    )  # fmt: skip
    table = table.filter(pc.and_(pc.and_(is_place, is_time), pc.is_valid(table["person"])))
    coded = table["person"].combine_chunks().dictionary_encode() if table.num_rows else None
    ids = pa.array([], type=pa.int64()) if coded is None else _by_size(coded)
    table = table.append_column("number", pa.chunked_array([ids]))
    return _without_repeats(
        table.sort_by([(name, "ascending") for name in ("number", "time", "latitude", "longitude")])
    )


def _by_size(coded: Any) -> Any:
    """For each row the rank of its person among all persons, whatever the order of rows."""
    rank = np.empty(len(coded.dictionary), dtype=np.int64)
    rank[np.asarray(pc.sort_indices(coded.dictionary))] = np.arange(len(rank))
    return pa.array(rank[np.asarray(coded.indices)])


def _without_repeats(table: pa.Table) -> pa.Table:
    """The first point of each person and time."""
    number, time = np.asarray(table["number"]), np.asarray(table["time"]).astype(np.int64)
    return table.filter(pa.array((np.diff(number, prepend=-1) != 0) | (np.diff(time, prepend=-1) != 0)))


class _Passage(NamedTuple):
    """A segment that was driven along: by the owner of a point, from when on, and how fast."""

    point: int
    segment: int
    entered: float
    speed: float


class _Stay(NamedTuple):
    """A place on a segment at a time."""

    segment: int
    along: float
    seconds: float


def _driven(roads: RoadGraph, found: Matched, seconds: Floats) -> Iterator[_Passage]:
    """Every passage, from the points at which a segment is entered or left."""
    kept = np.flatnonzero(found.segments >= 0)
    segments, along, follows, seconds = found.segments[kept], found.along[kept], found.follows[kept], seconds[kept]
    starts = np.flatnonzero((np.diff(segments, prepend=-1) != 0) | ~follows)
    ends = np.append(starts, len(kept))[1:] - 1
    entered: _Stay | None = None
    for first, last in zip(starts.tolist(), ends.tolist(), strict=True):
        if entered is None or not follows[first]:
            entered = _Stay(int(segments[first]), float(along[first]), float(seconds[first]))
        left = _Stay(int(segments[last]), float(along[last]), float(seconds[last]))
        if last + 1 < len(kept) and follows[last + 1]:
            after = _Stay(int(segments[last + 1]), float(along[last + 1]), float(seconds[last + 1]))
            legs = _legs(roads, left, after)
            for leaves, enters in legs:
                yield from _passage(roads, int(kept[first]), entered, leaves)
                entered = enters
        else:
            yield from _passage(roads, int(kept[first]), entered, left)
            entered = None


def _legs(roads: RoadGraph, left: _Stay, after: _Stay) -> list[tuple[_Stay, _Stay]]:
    """Where each segment on the shortest way between two places is left, and the next one entered."""
    lengths = roads.lengths
    ways = []
    for leaving, start in enumerate(roads.ends[left.segment].tolist()):
        for entering, goal in enumerate(roads.ends[after.segment].tolist()):
            out = left.along if leaving == 0 else lengths[left.segment] - left.along
            into = after.along if entering == 0 else lengths[after.segment] - after.along
            ways.append((float(out + roads.between[start, goal] + into), leaving, entering))
    total, leaving, entering = min(ways)
    pace = (after.seconds - left.seconds) / total if total > 0 else 0.0
    crossing = int(roads.ends[left.segment, leaving])
    way = roads.way(crossing, int(roads.ends[after.segment, entering]))
    at = left.along if leaving == 0 else float(lengths[left.segment]) - left.along
    leaves = _Stay(left.segment, 0.0 if leaving == 0 else float(lengths[left.segment]), left.seconds + pace * at)
    legs = []
    for segment in way:
        is_forward = int(roads.ends[segment, 0]) == crossing
        length = float(lengths[segment])
        enters = _Stay(segment, 0.0 if is_forward else length, left.seconds + pace * at)
        legs.append((leaves, enters))
        at += length
        crossing = int(roads.ends[segment, 1 if is_forward else 0])
        leaves = _Stay(segment, length if is_forward else 0.0, left.seconds + pace * at)
    last = _Stay(after.segment, 0.0 if entering == 0 else float(lengths[after.segment]), left.seconds + pace * at)
    return [*legs, (leaves, last)]


def _passage(roads: RoadGraph, point: int, entered: _Stay, left: _Stay) -> Iterator[_Passage]:
    """The passage, if at least half of the segment was driven along, and time went by."""
    meters, lasted = abs(left.along - entered.along), left.seconds - entered.seconds
    if meters >= _SMALLEST_SHARE * roads.lengths[entered.segment] and lasted > 0:
        yield _Passage(point, entered.segment, entered.seconds, _KILOMETERS_AN_HOUR * meters / lasted)


def _clock(seconds: Floats, zone: tzinfo) -> tuple[Whole, Whole]:
    """Days since 1970 and hours of the day by the clocks of a zone."""
    quarters, place = np.unique(np.floor(seconds / _QUARTER).astype(np.int64), return_inverse=True)
    shifts = [
        datetime.fromtimestamp(quarter * _QUARTER, tz=UTC).astimezone(zone).utcoffset() for quarter in quarters.tolist()
    ]
    shift = np.array([0.0 if own is None else own.total_seconds() for own in shifts], dtype=np.float64)[place]
    day, second = np.divmod(np.floor(seconds + shift).astype(np.int64), _DAY)
    return day, second // _HOUR
