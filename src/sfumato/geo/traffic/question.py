"""Traffic as a query of a session: counts and mean speeds by segment and hour, from bounded contributions.

**Guarantee**: what a session guarantees, for the person as privacy unit. In each day at most so many passages of a
person count as the policy's claim says, of each segment and hour one, and each with a clamped speed. The query's noise
is made for these bounds, whatever the rows. Proof: proofs/geo/traffic/question.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from os import PathLike
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.geo.roads.graph import RoadGraph
from sfumato.geo.traffic.result import Traffic
from sfumato.ledger.locations import ExistingLedger
from sfumato.numeric.arguments import listed, of_kind, real, whole
from sfumato.numeric.rationals import Number, positive_integer
from sfumato.privacy.budgets import Budget
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.query.model.columns import Column, integer, text
from sfumato.query.model.columns import date as dates
from sfumato.query.model.columns import real as numbers
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import tables_of
from sfumato.query.model.schema import Limits, Table
from sfumato.query.python.frame import Frame
from sfumato.query.statistics.counts import count
from sfumato.query.statistics.estimates import Forecast
from sfumato.query.statistics.means import mean
from sfumato.session.asking.question import Question
from sfumato.session.asking.shown import CONFIDENCE
from sfumato.session.session import Session, open_session

HOURS_A_DAY: Final = 24
_DAILY, _ONCE = ("day",), ("day", "hour", "segment")
_COLUMNS: Final = ("day", "hour", "segment", "speed")
_OF_THE_COUNT: Final = 5
"""By default a cell is shown from so many times the error of its count on."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TrafficQuestion:
    """Traffic that was not released yet; made by `noisy_traffic`.

    Attributes:
        question: The query of the session.
        roads: The public segments.
        hours: The hours of the day that are asked about.
        days: The first day and the last.
        passages_per_day: The most passages of one person that count in one day.
    """

    question: Question
    roads: RoadGraph
    hours: tuple[int, ...]
    days: tuple[date, date]
    passages_per_day: int

    def cost(self, *, epsilon: Number, delta: Number = 0) -> PureDP | ApproxDP:
        """The cost of a release; no data is read and nothing is spent."""
        return self.question.cost(epsilon=epsilon, delta=delta)

    def error(
        self, *, epsilon: Number, delta: Number = 0, confidence: Number = CONFIDENCE, size: int | None = None
    ) -> tuple[Forecast, ...]:
        """The predicted errors of the count and of the mean speed of a segment in an hour; nothing is spent.

        Args:
            epsilon: The total ε.
            delta: The total δ; above 0 it allows Gaussian noise, which errs less here.
            confidence: The probability with which errors stay below the figures.
            size: The number of passages that the mean speed is assumed to cover; default: 1,000.
        """
        return self.question.error(epsilon=epsilon, delta=delta, confidence=confidence, size=size)

    def explain(self, *, epsilon: Number = 1, delta: Number = 0) -> str:
        """The plan as text; no data is read and nothing is spent."""
        return self.question.explain(epsilon=epsilon, delta=delta)

    def release(
        self,
        *,
        epsilon: Number,
        delta: Number = 0,
        threshold: Number | None = None,
        confidence: Number = CONFIDENCE,
    ) -> Traffic:
        """Charge the cost, read the data and return noisy traffic; see `Question.release`.

        Args:
            epsilon: The total ε of all segments and hours.
            delta: The total δ.
            threshold: Segments and hours with a smaller noisy count are not shown; default: five times the error of a
                count. It reads noisy counts alone, so it costs nothing and protects nobody: it hides what is noise.
            confidence: The confidence of intervals.

        Raises:
            ParameterError: The threshold is no number.
            BudgetExceededError: Too little budget remains; nothing was spent and no data was read.
        """
        least = None if threshold is None else real(threshold, "threshold", is_finite=True)
        if least is None:
            least = _OF_THE_COUNT * self.error(epsilon=epsilon, delta=delta, confidence=confidence)[0].half_width
        found = self.question.release(epsilon=epsilon, delta=delta, confidence=confidence)
        return Traffic(release=found, roads=self.roads, hours=self.hours, days=self.days, threshold=least)

    def __repr__(self) -> str:
        return f"<Traffic on {len(self.roads)} segments in {len(self.hours)} hours: {self.question.text}>"


def noisy_traffic(
    table: Frame[Question],
    roads: RoadGraph,
    *,
    hours: Iterable[int] | None = None,
    days: tuple[date | str, date | str] | None = None,
) -> TrafficQuestion:
    """Counts and mean speeds of passages by segment and hour of the day, which are not released yet.

    A group is a segment in an hour of the day, over all days together; each is answered, also one without passages. Of
    one person count, for d days and at most k passages a day, k·d passages in all, and d in one group.

    In the style of the historical traffic that Google described in 2015 [Ela15]: its mechanism and its ε are not
    published. The nearest published designs bound the contributions of a person and a time, and add Laplace noise
    [ABC20], [BCG24].

    Args:
        table: Passages, of a session: ``db.table("passages")``. Its policy declares the columns day (with bounds), hour
            (0 to 23), segment (its public values are the segments of the roads) and speed (with bounds), and the claims
            of `open_traffic`.
        roads: The public segments.
        hours: The hours of the day, such as ``range(6, 22)``; default: all. Fewer hours need no less noise.
        days: The first and the last day; default: all declared. Fewer days need less noise, and count less.

    Raises:
        ParameterError: A column or a claim is not declared so, or days and hours are outside.

    Example:
        >>> import sfumato as sf
        >>> made = sf.datasets.city(20, days=2)
        >>> roads = sf.geo.RoadGraph.from_geojson(made.roads)
        >>> db = sf.geo.open_traffic(
        ...     sf.geo.passages(made.points, roads), roads, days=("2026-03-02", "2026-03-03"), passages_per_day=20,
        ...     speeds=(0, 90), budget=sf.ApproxDP(2, "1e-6"))
        >>> asked = sf.geo.noisy_traffic(db.table("passages"), roads, hours=[7, 8])
        >>> asked.error(epsilon=1, delta="1e-6")[0].half_width
        92.0

    References:
        [Ela15], [ABC20], [BCG24].
    """
    of_kind(table, "table", Frame, 'a table of a session, such as db.table("passages")')
    of_kind(roads, "roads", RoadGraph, "a RoadGraph")
    base = _declared(table, roads)
    chosen = _hours(hours)
    first, last = _days(base.columns["day"], days)
    daily, length = base.matches[_DAILY], (last - first).days + 1
    counted = table.filter(table["day"].between(first, last), table["hour"].is_in(list(chosen)))
    bounded = counted.per_unit(rows=daily * length, groups=daily * length, rows_per_group=length)
    question = bounded.group_by("segment", "hour").agg(n=count("speed"), speed=mean("speed"))
    return TrafficQuestion(
        question=question, roads=roads, hours=chosen, days=(first, last), passages_per_day=daily
    )  # fmt: skip


def open_traffic(
    passages: Any,
    roads: RoadGraph,
    *,
    days: tuple[date | str, date | str],
    passages_per_day: int,
    speeds: tuple[Number, Number],
    budget: Budget,
    resolution: Number = 1,
    name: str = "passages",
    version: str = "1",
    ledger: str | PathLike[str] | ExistingLedger | None = None,
    engine: str = "duckdb",
) -> Session:
    """Open a session on a table of passages, with the declarations that `noisy_traffic` needs.

    The privacy unit is the person. The policy claims that a person has at most so many rows a day, and one for each
    day, hour and segment. Claims are enforced whenever the table is read: which rows of a person are left out depends
    on the rows of that person alone.

    Args:
        passages: What `passages` gives: columns person, day, hour, segment and speed; or a file of them.
        roads: The public segments.
        days: The first and the last day, as dates or text; rows of other days do not count.
        passages_per_day: The most passages of one person that count in one day: public, and never taken from the data.
        speeds: Speeds are clamped to these bounds, in kilometers an hour.
        budget: The most that may be spent.
        resolution: The spacing of the lattice of speeds, in kilometers an hour.
        name: The name of the table in queries.
        version: A text that the owner changes whenever declarations or data change.
        ledger: Where spending is recorded; None: in memory, until exit.
        engine: ``"duckdb"`` or ``"reference"``.

    Raises:
        ParameterError: A declaration cannot be used.

    Example:
        >>> import sfumato as sf
        >>> made = sf.datasets.city(3, days=1)
        >>> roads = sf.geo.RoadGraph.from_geojson(made.roads)
        >>> rows = sf.geo.passages(made.points, roads)
        >>> one_day = ("2026-03-02", "2026-03-02")
        >>> db = open_traffic(rows, roads, days=one_day, passages_per_day=20, speeds=(0, 90), budget=sf.PureDP(1))
        >>> str(db.remaining)
        'ε 1'
    """
    of_kind(roads, "roads", RoadGraph, "a RoadGraph")
    daily = positive_integer(passages_per_day, "passages_per_day")
    first, last = _dates(days)
    low, high = _pair(speeds, "speeds")
    day = dates(values=[first]) if first == last else dates(first, last)
    columns = {
        "day": day,
        "hour": integer(0, HOURS_A_DAY - 1),
        "segment": _keys(roads),
        "speed": numbers(low, high, resolution=resolution, nullable=False),
    }
    begins, ends = _period(day)
    limits = Limits(max_rows_per_unit=daily * ((ends - begins).days + 1))
    return open_session(
        passages, budget=budget, columns=columns, unit="person", name=name, limits=limits,
        matches={_DAILY: daily, _ONCE: 1}, version=version, ledger=ledger, engine=engine,
    )  # fmt: skip


def _pair(values: Any, name: str) -> tuple[Any, Any]:
    found = listed(values, name)
    if len(found) != len(("first", "last")):
        raise ParameterError(name, f"{len(found)} values", "must be two: the first and the last")
    return found[0], found[1]


def _keys(roads: RoadGraph) -> Column:
    """The column of segments, with all of them as public values."""
    named = [segment for segment in roads.segments if isinstance(segment, str)]
    return text(values=named) if named else integer(values=[int(segment) for segment in roads.segments])


def _period(day: Column) -> tuple[date, date]:
    """The first and the last declared day."""
    if day.kind is Kind.DATE and day.values:
        listed_days = [key for key in day.values if isinstance(key, date)]
        return min(listed_days), max(listed_days)
    if day.kind is not Kind.DATE or day.lower is None or day.upper is None:
        raise ParameterError("day", str(day.kind), 'must have bounds, as by sf.date("2026-03-02", "2026-03-08")')
    return date.fromordinal(int(day.lower)), date.fromordinal(int(day.upper))


def _declared(table: Frame[Question], roads: RoadGraph) -> Table:
    """The one table that is asked, with all declarations that bounds follow from."""
    tables = list(tables_of(table.relation))
    if len(tables) != 1 or not tables[0].has_owners:
        raise ParameterError("table", len(tables), "must be one table with a unit column, such as person")
    (base,) = tables
    missing = [name for name in _COLUMNS if name not in base.columns or name not in table.shape.columns]
    if missing:
        raise ParameterError("table", base.name, f"must have the columns {', '.join(missing)}")
    claims = {frozenset(names): most for names, most in base.matches.items()}
    if _DAILY not in base.matches or claims.get(frozenset(_ONCE)) != 1:
        wanted = 'must declare max_matches of ["day"], and ["day", "hour", "segment"] as unique; see open_traffic'
        raise ParameterError("table", base.name, wanted)
    if set(base.columns["segment"].values or ()) != set(roads.segments):
        raise ParameterError("segment", base.name, "must have the segments of the roads as its public values")
    speed = base.columns["speed"]
    if speed.lower is None or speed.upper is None or speed.nullable:
        raise ParameterError("speed", base.name, "must have bounds, and not be nullable")
    return base


def _hours(hours: Iterable[int] | None) -> tuple[int, ...]:
    asked = range(HOURS_A_DAY) if hours is None else listed(hours, "hours", of="whole numbers")
    chosen = sorted({whole(hour, "hours", most=HOURS_A_DAY - 1) for hour in asked})
    if not chosen:
        raise ParameterError("hours", 0, "must be at least one hour of the day, from 0 to 23")
    return tuple(chosen)


def _days(column: Column, days: tuple[date | str, date | str] | None) -> tuple[date, date]:
    """The first and the last day that are asked about, within those that are declared."""
    declared = _period(column)
    first, last = declared if days is None else _dates(days)
    if not declared[0] <= first <= last <= declared[1]:
        raise ParameterError("days", f"{first} to {last}", f"must lie within {declared[0]} to {declared[1]}, in order")
    return first, last


def _dates(days: Any) -> tuple[date, date]:
    first, last = (_date(day) for day in _pair(days, "days"))
    if last < first:
        raise ParameterError("days", str(last), f"must not end before {first}")
    return first, last


def _date(day: Any) -> date:
    if type(day) is date:
        return day
    try:
        return date.fromisoformat(day)
    except (TypeError, ValueError):
        raise ParameterError("days", day, "must be dates, or text such as 2026-03-02") from None
