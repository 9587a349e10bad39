"""Noisy maps of a session: statistics for each public cell, their cost and error before anything is spent.

**Guarantee**: a map is one query of the session. Its keys are computed in the engine (`cells`), its contribution bounds
are those of the policy, and its whole cost is charged before data is read. What is drawn, saved or merged afterwards is
made of the release alone.

Proof: proofs/geo/maps/cells.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Final

from sfumato.errors import ParameterError
from sfumato.geo.maps.cells import AnyCells, MapCells, cells_of
from sfumato.geo.maps.result import NoisyMap
from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, positive
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.query.analysis.keys import MAX_LISTED
from sfumato.query.handles.columns import ColumnExpression
from sfumato.query.model.kinds import NUMBERS
from sfumato.query.python.frame import Frame
from sfumato.query.statistics.counts import count
from sfumato.query.statistics.estimates import Forecast
from sfumato.query.statistics.statistic import Statistic, Value
from sfumato.session.asking.question import Question
from sfumato.session.asking.shown import CONFIDENCE

_OWN: Final = "map_"
"""How columns are called that a map computes."""

_SIZES: Final = (1, 2, 5)
"""Cells are so many powers of ten of meters wide."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MapQuestion:
    """A map that was not released yet.

    Attributes:
        question: The query of the session.
        cells: The public cells.
    """

    question: Question
    cells: MapCells

    def cost(self, *, epsilon: Number, delta: Number = 0) -> PureDP | ApproxDP:
        """The cost of a release; no data is read and nothing is spent."""
        return self.question.cost(epsilon=epsilon, delta=delta)

    def error(
        self, *, epsilon: Number, delta: Number = 0, confidence: Number = CONFIDENCE
    ) -> tuple[Forecast, ...]:  # fmt: skip
        """The predicted error of each statistic in one cell; no data is read and nothing is spent."""
        return self.question.error(epsilon=epsilon, delta=delta, confidence=confidence)

    def explain(self, *, epsilon: Number = 1, delta: Number = 0) -> str:
        """The plan as text; no data is read and nothing is spent."""
        return self.question.explain(epsilon=epsilon, delta=delta)

    def release(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        error: Mapping[str, Number] | None = None,
        confidence: Number = CONFIDENCE,
    ) -> NoisyMap:
        """Charge the cost, read the data and return a noisy map; see `Question.release`.

        Args:
            epsilon: The total ε of the whole map: all cells, levels and statistics.
            delta: The total δ.
            error: Target errors of some statistics instead of ε, absolute.
            confidence: The confidence of intervals.
        """
        found = self.question.release(epsilon=epsilon, delta=delta, error=error, confidence=confidence)
        return NoisyMap(release=found, cells=self.cells)

    def __repr__(self) -> str:
        return f"<Map of {self.cells.count:,} cells: {self.question.text}>"


def noisy_map(
    table: Frame[Question], latitude: Value = "lat", longitude: Value = "lon", *, cells: AnyCells,
    **statistics: Statistic,
) -> MapQuestion:  # fmt: skip
    """A map of statistics for each of some public cells, which is not released yet.

    Every cell is answered: one without rows gets its noise like all others, so that nothing is told by its absence.
    Rows outside of all cells, and those without a place, count for none.

    Args:
        table: The rows, of a session: ``db.table("trips")``, perhaps filtered.
        latitude: The column of latitudes in degrees, or a computed one.
        longitude: The column of longitudes in degrees.
        cells: A `Grid`, `DegreeGrid`, `HexagonGrid`, `Quadtree` or `Regions`.
        statistics: Statistics by name; default: ``n=sf.count()``.

    Raises:
        ParameterError: A column that is no number, a table with a column named `map_…`, or cells that are none.

    Example:
        >>> import sfumato as sf
        >>> trips = sf.datasets.city(20, days=1).trips
        >>> columns = {"person": sf.integer(), "to_latitude": sf.real(45, 46), "to_longitude": sf.real(-31, -29)}
        >>> db = sf.open(trips, name="trips", columns=columns, unit="person",
        ...     limits=sf.Limits(max_rows_per_unit=4), budget=sf.PureDP(1))
        >>> grid = sf.geo.Grid.around("45.5", -30, width=6000, height=6000, cell=1500)
        >>> asked = sf.geo.noisy_map(db.table("trips"), "to_latitude", "to_longitude", cells=grid)
        >>> asked.error(epsilon="0.5")[0].half_width
        24.0
        >>> len(asked.release(epsilon="0.5"))
        16
    """
    of_kind(table, "table", Frame, 'a table of a session, such as db.table("trips")')
    known, asked = cells_of(cells), dict(statistics) or {"n": count()}
    taken = [name for name in table.shape.columns if name.lower().startswith(_OWN)]
    if taken:
        raise ParameterError("table", taken, f"must have no columns named {_OWN}…: rename() them first")
    places = [_coordinate(table, value, name) for value, name in ((latitude, "latitude"), (longitude, "longitude"))]
    question = known.grouped(table, *places).agg(weights=None, **asked)
    return MapQuestion(question=question, cells=known)


def _coordinate(table: Frame[Question], value: Value, name: str) -> ColumnExpression:
    found = value if isinstance(value, ColumnExpression) else table[of_kind(value, name, str, "a column of the table")]
    if found.facts.kind not in NUMBERS:
        raise ParameterError(name, str(found.facts.kind), "must be a number of degrees")
    return found


def finest_grid(
    table: Frame[Question], latitude: Value = "lat", longitude: Value = "lon", *, around: LocalProjection,
    width: Number, height: Number, rows: Number, relative_error: Number, epsilon: Number, delta: Number = 0,
) -> Grid:  # fmt: skip
    """The finest grid whose cells hold enough rows for an error, before anything is spent.

    Cells are 1, 2 or 5 powers of ten of meters wide. With n rows on A square meters, a cell of s meters holds n·s²/A of
    them on average; the 95% error of its count must be at most so much of that. The number of rows is what you presume
    it to be: nothing of it is read from data.

    Args:
        table: As for `noisy_map`.
        latitude: As for `noisy_map`.
        longitude: As for `noisy_map`.
        around: The plane of the grid.
        width: From west to east in meters.
        height: From south to north in meters.
        rows: The presumed number of rows.
        relative_error: The largest share of a cell's presumed count that its error may be.
        epsilon: The ε of the map.
        delta: Its δ.

    Raises:
        ParameterError: As for `noisy_map`; or even one cell for the whole map has a larger error.

    Example:
        >>> import sfumato as sf
        >>> columns = {"person": sf.integer(), "to_latitude": sf.real(45, 46), "to_longitude": sf.real(-31, -29)}
        >>> db = sf.open(sf.datasets.city(20, days=1).trips, name="trips", columns=columns, unit="person",
        ...     limits=sf.Limits(max_rows_per_unit=4), budget=sf.PureDP(1))
        >>> grid = finest_grid(
        ...     db.table("trips"), "to_latitude", "to_longitude", around=LocalProjection("45.5", -30), width=6000,
        ...     height=6000, rows=9000, relative_error="0.1", epsilon=1)
        >>> float(grid.cell), len(grid), str(db.spent)
        (1000.0, 36, 'ε 0')
    """
    plane = of_kind(around, "around", LocalProjection, "a LocalProjection")
    wide, high = positive(width, "width"), positive(height, "height")
    share, presumed = positive(relative_error, "relative_error"), positive(rows, "rows")
    for size in _sizes(max(wide, high)):
        columns, up = (int(-(-length // size)) for length in (wide, high))
        if max(columns, up) > MAX_LISTED:
            continue
        grid = Grid(plane, cell=size, columns=columns, rows=up)
        asked = noisy_map(table, latitude, longitude, cells=grid, n=count())
        error = asked.error(epsilon=epsilon, delta=delta)[0].half_width
        if isfinite(error) and Fraction(error) <= share * presumed * min(size / wide, Fraction(1)) * min(
            size / high, Fraction(1)
        ):
            return grid
    requirement = "is less than the error of the largest cells: take a larger epsilon"
    raise ParameterError("relative_error", str(relative_error), requirement)


def _sizes(most: Fraction) -> list[Fraction]:
    """1, 2, 5, 10, … meters, up to the first that is as wide as a map."""
    sizes, power = list[Fraction](), Fraction(1)
    while not sizes or sizes[-1] < most:
        sizes += [power * size for size in _SIZES]
        power *= 10
    return sizes
