"""What is known of expressions while they are made, worked out once for each: nesting costs no more than size."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, assert_never

from sfumato.query.analysis.inference import facts_of
from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
    children,
)
from sfumato.query.model.facts import Facts

Compound: TypeAlias = Call | Case | Compare | IsIn | IsNull | Not | And | Or


class KnownFacts:
    """The facts of expressions over some columns.

    Args:
        columns: What is known of the columns; more may be added later.
    """

    def __init__(self, columns: Mapping[str, Facts]) -> None:
        self._columns = columns
        self._known: dict[int, tuple[Expression, Facts]] = {}  # the expressions too, so that no other takes their place

    def of(self, expression: Expression) -> Facts:
        """The facts of an expression: of its outermost function, and what is known of the arguments.

        Raises:
            ParameterError: It mixes kinds, or reads a column that does not exist.
        """
        if isinstance(expression, ColumnRef | Literal | Null):
            return facts_of(expression, self._columns)
        if id(expression) not in self._known:
            parts = [part if isinstance(part, Literal) else self.of(part) for part in children(expression)]
            facts = {str(place): part for place, part in enumerate(parts) if isinstance(part, Facts)}
            outermost = _with_parts(
                expression,
                [ColumnRef(str(place)) if isinstance(part, Facts) else part for place, part in enumerate(parts)],
            )
            self._known[id(expression)] = (expression, facts_of(outermost, facts))
        return self._known[id(expression)][1]


def _with_parts(expression: Compound, parts: Sequence[Expression]) -> Expression:
    """The expression with others in the place of its `children`."""
    match expression:
        case Call(function, _):
            return Call(function, tuple(parts))
        case Case():
            return Case(tuple(zip(parts[:-1:2], parts[1::2], strict=True)), parts[-1])
        case Compare(comparison, _, _):
            return Compare(comparison, parts[0], parts[1])
        case IsIn(_, values):
            return IsIn(parts[0], values)
        case IsNull():
            return IsNull(parts[0])
        case Not():
            return Not(parts[0])
        case And():
            return And(tuple(parts))
        case Or():
            return Or(tuple(parts))
        case _:
            assert_never(expression)
