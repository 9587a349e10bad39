"""Histograms: counts of values between public edges, and cells between edges as others use them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, exact
from sfumato.privacy.stored_names import Names
from sfumato.query.analysis.shape import Shape
from sfumato.query.handles.columns import expression_of
from sfumato.query.handles.conditions import literal
from sfumato.query.model.expressions import Case, Compare, Comparison, Condition, Expression, IsNull, Literal, Null
from sfumato.query.model.facts import Facts
from sfumato.query.model.intervals import place_of
from sfumato.query.model.kinds import Kind
from sfumato.query.model.statement import Values
from sfumato.query.statistics.measurements import LinearOutput
from sfumato.query.statistics.recipes import GroupedRows, NoisyCells, Recipe
from sfumato.query.statistics.statistic import Statistic, Value, number_facts, number_sql, numbered

Edge: TypeAlias = Fraction | date
"""A number; or a day, or (as `datetime`) a time."""

_EDGES: Final = {Kind.DATE: date, Kind.TIMESTAMP: datetime}


@dataclass(frozen=True, slots=True)
class Histogram(Statistic):
    """Counts of values between public `edges`, ascending: [e₀, e₁), …, [eₖ₋₁, eₖ]; others are left out.

    Edges are of the kind of the values: numbers, days or times.
    """

    stored: ClassVar = Names("Histogram", "edges", unwritten=("value",))
    of_numbers: ClassVar = True
    of_times: ClassVar = True
    adds_up: ClassVar = True

    value: Expression
    edges: tuple[Edge, ...]

    def sql(self, values: Sequence[str]) -> str:
        """As a function that SQL does not have."""
        return f"HISTOGRAM({values[0]}, ARRAY[{', '.join(map(_edge_sql, self.edges))}])"

    def columns(self, name: str) -> tuple[str, ...]:
        """The names of the columns: one per bin."""
        return numbered(name, len(self.edges) - 1)

    def facts(self, shape: Shape) -> tuple[Facts, ...]:
        """Whole numbers."""
        return (number_facts(Kind.INTEGER),) * (len(self.edges) - 1)

    def check_parameters(self, name: str, shape: Shape, facts: Sequence[Facts]) -> None:
        """The edges are of the kind of the values, of few digits, at least two, and ascend."""
        if {type(edge) for edge in self.edges} - {_EDGES.get(facts[0].kind, Fraction)}:
            shown = ", ".join(map(_edge_sql, self.edges))
            raise ParameterError("edges", shown, f"must be of the kind of the values, {facts[0].kind}")
        places = [place_of(_edge(edge)) for edge in self.edges]
        bins = tuple(pairwise(places))
        if not bins or any(low >= high for low, high in bins):
            requirement = "must be at least two, in ascending order"
            raise ParameterError("edges", f"{len(self.edges)} edges", requirement)

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """One noisy count a bin; the last edge belongs to the last bin."""
        first, *inner, last = self.edges
        outside = (
            Compare(Comparison.LESS, self.value, Literal(first)),
            Compare(Comparison.GREATER, self.value, Literal(last)),
        )
        names = self.columns(name)
        return Recipe(
            (NoisyCells(rows.with_cells(cells_between(inner, self.value, outside=outside))),),
            lambda places: tuple(
                LinearOutput(name=column, measurement=places[0], coordinate=place) for place, column in enumerate(names)
            ),
        )


def _edge_sql(edge: Edge) -> str:
    if isinstance(edge, date):
        return f"{'TIMESTAMP' if isinstance(edge, datetime) else 'DATE'} '{edge}'"
    return number_sql(edge)


def cells_between(edges: Sequence[Edge], value: Expression, *, outside: Sequence[Condition] = ()) -> Values:
    """Cells of a number, a day or a time, by ascending edges that tell one from the next; NULL is in none.

    What is outside by a condition is in none, too.
    """
    left_out = [(condition, Null(Kind.INTEGER)) for condition in (*outside, IsNull(value))]
    cells = [(Compare(Comparison.LESS, value, Literal(e)), Literal(Fraction(i))) for i, e in enumerate(edges)]
    index = Case((*left_out, *cells), Literal(Fraction(len(edges))))
    return Values(value=index, values=tuple(range(len(edges) + 1)))


def histogram(value: Value, *, edges: Iterable[Number | date]) -> Statistic:
    """The numbers of values between public edges, in ascending order; the last bin includes its upper edge.

    Edges are numbers; of dates they are `date`s, and of timestamps `datetime`s without a time zone.

    Example:
        >>> histogram("age", edges=[0, 18, 65, 120]).edges[1]
        Fraction(18, 1)
    """
    return Histogram(expression_of(value), tuple(map(_edge, listed(edges, "edges"))))


def _edge(edge: Number | date) -> Edge:
    if isinstance(edge, date):
        moment = literal(edge).value
        return moment if isinstance(moment, date) else edge
    return exact(edge, "edges")
