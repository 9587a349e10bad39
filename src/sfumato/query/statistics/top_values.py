"""The most frequent of the public values of a column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from sfumato.privacy.stored_names import Names
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.keys import candidates
from sfumato.query.analysis.shape import Shape
from sfumato.query.handles.columns import expression_of
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import Facts
from sfumato.query.model.schema import Key
from sfumato.query.model.statement import Values
from sfumato.query.statistics.estimates import AnswerValue, Estimator, Forecast, by_row
from sfumato.query.statistics.measurements import Output, Section
from sfumato.query.statistics.ranks import choice_of, misrank_of, misranked
from sfumato.query.statistics.recipes import GroupedRows, Recipe, TopCells
from sfumato.query.statistics.statistic import Ordering, Spelling, SqlReader, Statistic, Value, numbered


@dataclass(frozen=True, slots=True, kw_only=True)
class TopOutput(Output):
    """An answer that is a chosen public value."""

    stored: ClassVar = Names("TopOutput", "measurement", "coordinate", "values", unwritten=("name",))

    name: str
    measurement: int
    coordinate: int
    values: tuple[Key, ...]

    def estimator(self, section: Section, confidence: Fraction, *, size: int | None = None) -> Estimator:
        """The value itself, and how many rows fewer it may have than one that is more frequent."""
        misrank = misrank_of(section, self.measurement, confidence, size=size, candidates=len(self.values))
        return by_row(
            lambda row: AnswerValue(
                value=self.values[row[self.measurement][self.coordinate]], low=None, high=None, misrank=misrank(row)
            )
        )

    def forecast(self, section: Section, confidence: Fraction, *, size: int) -> Forecast:
        """How many rows it may be off."""
        choice = choice_of(section, self.measurement)
        width = misranked(choice, confidence, candidates=len(self.values))
        return Forecast(column=self.name, half_width=width, assumption="in the count of the value")


def _read(_: type[Any], sql: SqlReader, call: Any) -> Statistic:
    if call.this is None:
        raise sql.refusal(call, "no column is named", "Write MODE() WITHIN GROUP (ORDER BY column).")
    return TopValues(sql.value(call.this))


def _read_ordered(_: type[Any], sql: SqlReader, call: Any, ordering: Ordering) -> Statistic:
    sql.require_only(call)
    return TopValues(ordering.value)


@dataclass(frozen=True, slots=True)
class TopValues(Statistic):
    """The `k` most frequent of the public values of x, most frequent first; MODE for k = 1."""

    stored: ClassVar = Names("TopK", "k", unwritten=("value",))
    spellings: ClassVar = (Spelling(names=("MODE",), node="Mode", optional=1, read=_read, ordered=_read_ordered),)
    outputs: ClassVar = (TopOutput,)

    value: Expression
    k: int = 1

    def sql(self, values: Sequence[str]) -> str:
        """MODE; for more values a function that SQL does not have."""
        return (
            f"MODE() WITHIN GROUP (ORDER BY {values[0]})" if self.k == 1 else f"TOP_K({values[0]}, {self.k})"
        )  # fmt: skip

    def columns(self, name: str) -> tuple[str, ...]:
        """The names of the columns: one per place."""
        return numbered(name, self.k) if self.k > 1 else (name,)

    def facts(self, shape: Shape) -> tuple[Facts, ...]:
        """The facts of the values."""
        return (replace(facts_of(self.value, shape.columns), nullable=True),) * len(self.columns(""))

    def listed_values(self, columns: Mapping[str, Facts]) -> tuple[Key, ...] | None:
        """The declared values among which it chooses."""
        return facts_of(self.value, columns).values

    def check_parameters(self, name: str, shape: Shape, facts: Sequence[Facts]) -> None:
        """There are at least `k` public values."""
        candidates(name, facts[0], self.k)

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """One choice from all public values."""
        values, names = candidates(name, rows.facts(self.value), self.k), self.columns(name)
        return Recipe(
            (TopCells(rows.with_cells(Values(value=self.value, values=values)), self.k),),
            lambda places: tuple(
                TopOutput(name=column, measurement=places[0], coordinate=place, values=values)
                for place, column in enumerate(names)
            ),
        )


def mode(value: Value) -> Statistic:
    """The most frequent of the public values of a column."""
    return TopValues(expression_of(value))


def top_k(value: Value, k: int) -> Statistic:
    """The `k` most frequent of the public values of a column, most frequent first."""
    return TopValues(expression_of(value), k)
