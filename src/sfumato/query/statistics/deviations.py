"""The mean absolute deviation of values around a public constant."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, exact
from sfumato.privacy.stored_names import Names
from sfumato.query.analysis.shape import Shape
from sfumato.query.handles.columns import expression_of
from sfumato.query.model.expressions import Call, Expression, Literal
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.statistics.means import mean_recipe
from sfumato.query.statistics.recipes import GroupedRows, Recipe
from sfumato.query.statistics.statistic import Spelling, SqlReader, Statistic, Value, number_sql


def _read(_: type[Any], sql: SqlReader, call: Any) -> Statistic:
    around = sql.number(call.args["around"])
    if around is None:
        raise ParameterError("around", sql.shown(call.args["around"]), "must be a constant number, such as 40")
    return AbsoluteDeviation(sql.single(call.this), around)


@dataclass(frozen=True, slots=True)
class AbsoluteDeviation(Statistic):
    """AVG_ABS_DEV(x, around): the mean of |x − around|, from one noisy sum and one noisy count; NULL is left out.

    Its bounds follow from those of x: between 20 and 100, values lie at most 60 from 40. It is estimated, and its error
    predicted, as of any mean.
    """

    stored: ClassVar = Names("AbsoluteDeviation", "around", unwritten=("value",))
    spellings: ClassVar = (
        Spelling(names=("AVG_ABS_DEV",), node="AbsoluteDeviation", arguments=("this", "around"), read=_read),
    )
    of_numbers: ClassVar = True

    value: Expression
    around: Fraction

    def sql(self, values: Sequence[str]) -> str:
        """As a function that SQL does not have."""
        return f"AVG_ABS_DEV({values[0]}, {number_sql(self.around)})"

    def check_parameters(self, name: str, shape: Shape, facts: Sequence[Facts]) -> None:
        """Refuse a constant of thousands of digits."""
        exact(self.around, "around")

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """That of the mean of distances."""
        distance = Call(Function.ABS, (Call(Function.SUBTRACT, (self.value, Literal(self.around))),))
        return mean_recipe(rows, name, distance, None)


def avg_abs_dev(value: Value, *, around: Number) -> Statistic:
    """The mean absolute deviation: the mean distance of values from a public constant.

    Args:
        value: A column, or an expression of columns.
        around: The constant, in the unit of the values. It must not come from the data; release a median first to use
            one.

    Example:
        >>> avg_abs_dev("hours", around=8).around
        Fraction(8, 1)
    """
    return AbsoluteDeviation(expression_of(value), exact(around, "around"))
