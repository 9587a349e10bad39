"""Expressions of SQL to expressions of the plan, by an allow-list: rules by the class of the parsed node.

What has no rule is refused, and so is a node of which the parser noted more than its rule reads.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, assert_never

from sqlglot import exp

from sfumato.errors import ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.sizes import MAX_RELATIONS, MAX_SIZE
from sfumato.query.handles.conditions import literal
from sfumato.query.model.expressions import (
    FALSE,
    TRUE,
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Condition,
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
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.sql.expressions.constants import Parameters, constant, midnight, time_constant, whole
from sfumato.query.sql.parsing import require_only, shown, unnested
from sfumato.query.sql.refusals import refusal

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
            parts, facts = list[Expression](), dict[str, Facts]()
            for place, part in enumerate(children(expression)):
                if isinstance(part, Literal):
                    parts.append(part)
                else:
                    parts.append(ColumnRef(str(place)))
                    facts[str(place)] = self.of(part)
            self._known[id(expression)] = (expression, facts_of(_with_parts(expression, parts), facts))
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


_CONNECTIVES: Final = And | Or | Not
_CONDITIONS: Final = _CONNECTIVES | Compare | IsIn | IsNull

Leaf: TypeAlias = Callable[[exp.Expr], Expression | None]
"""What a node means before any rule is asked: a column, a key, an aggregate; or None."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What the nodes of one class may hold, and what they mean."""

    arguments: frozenset[str]
    lower: "Callable[[Scalars, Any], Expression]"


Rules: TypeAlias = Mapping[type[exp.Expr], Rule]


def call(function: Function, *arguments: str) -> Rule:
    """The rule of a function that takes expressions only."""

    def lower(scalars: "Scalars", node: exp.Expr) -> Expression:
        return Call(function, tuple(scalars.lower(node.args[name]) for name in arguments))

    return Rule(frozenset(arguments), lower)


class Effort:
    """How much one query may still be lowered to; text may say little and mean much, as CTEs do that use CTEs."""

    def __init__(self) -> None:
        self.spent = 0

    def spend(self, amount: int = 1) -> None:
        """Note what is made.

        Raises:
            ParameterError: It is more than a query may hold.
        """
        self.spent += amount
        if self.spent > MAX_SIZE:
            raise ParameterError("question", "too many terms", f"must have at most {MAX_SIZE:,} once expanded")

    def spend_relation(self) -> None:
        """Note one relation.

        Raises:
            ParameterError: There are more than a query may hold.
        """
        self.spend(MAX_SIZE // MAX_RELATIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalars:
    """Lowers expressions in one place of a query.

    Attributes:
        rules: What is supported.
        leaf: What columns mean in this place.
        known: What is known of the columns that expressions may read, and of expressions over them.
        parameters: The values of `$1` and `:name`.
        effort: How much may still be made.
    """

    rules: Rules
    leaf: Leaf
    known: KnownFacts
    parameters: Parameters
    effort: Effort

    def lower(self, node: exp.Expr) -> Expression:
        """The expression that a node means.

        Raises:
            NotPrivateError: It is not supported.
            ParameterError: It mixes kinds, or names what does not exist.
        """
        self.effort.spend()
        found = self.leaf(node)
        if found is not None:
            return found
        rule = self.rules.get(type(node))
        if rule is None:
            raise refusal(node)
        require_only(node, rule.arguments)
        expression = rule.lower(self, node)
        if not isinstance(expression, _CONNECTIVES | Literal):  # conditions are checked one by one
            self._check(expression, node)
        return expression

    def condition(self, node: exp.Expr) -> Condition:
        """The condition that a node means.

        Raises:
            ParameterError: It is neither true nor false.
        """
        expression = self.lower(node)
        if isinstance(expression, Literal) and isinstance(expression.value, bool):
            return TRUE if expression.value else FALSE
        if not isinstance(expression, _CONDITIONS) and self.kind(expression) is not Kind.BOOLEAN:
            raise ParameterError("condition", shown(node), "must be true or false; compare it with something")
        return expression

    def kind(self, expression: Expression) -> Kind:
        """The kind of an expression."""
        return self.known.of(expression).kind

    def alternatives(self, nodes: Sequence[exp.Expr]) -> tuple[Expression, ...]:
        """Values that are to be of one kind: NULL is of the kind of the others, text beside times is a time.

        Raises:
            NotPrivateError: All of them are NULL.
        """
        is_null = [isinstance(unnested(node), exp.Null) for node in nodes]
        if all(is_null):
            raise refusal(exp.Null())
        values = self.in_time([self.lower(n) for n, null in zip(nodes, is_null, strict=True) if not null])
        others = iter(values)
        missing = Null(self.kind(values[0]))
        return tuple(missing if null else next(others) for null in is_null)

    def in_time(self, values: Sequence[Expression]) -> tuple[Expression, ...]:
        """Values as times where any of them is one: constant text is read, a day beside a timestamp is its midnight."""
        kinds = list(map(self.kind, values))
        if TIMES.isdisjoint(kinds):
            return tuple(values)
        target = Kind.TIMESTAMP if Kind.TIMESTAMP in kinds else Kind.DATE
        return tuple(as_time(value, kind, target) for value, kind in zip(values, kinds, strict=True))

    def constant(self, node: exp.Expr) -> Literal:
        """The constant that a node must be.

        Raises:
            NotPrivateError: It is none.
        """
        return literal(None) if isinstance(unnested(node), exp.Null) else constant(self.lower(node), node)

    def whole(self, node: exp.Expr, *, lower: int, upper: int, name: str) -> int:
        """The whole number between two others that a node must be.

        Raises:
            NotPrivateError: It is no constant.
            ParameterError: It is another one.
        """
        return whole(self.lower(node), node, lower=lower, upper=upper, name=name)

    def _check(self, expression: Expression, node: exp.Expr) -> None:
        """Refuse kinds that do not go together, naming the fragment."""
        try:
            self.known.of(expression)
        except ParameterError as error:
            raise ParameterError(error.name, shown(node), f"{error.requirement}; found {error.value}") from None


def as_time(value: Expression, kind: Kind, target: Kind) -> Expression:
    """A value as a DATE or a TIMESTAMP, if it is constant text or a date; else the value."""
    match value:
        case Literal(str() as text):
            return time_constant(text, target)
        case Literal(dt.date() as day) if kind is Kind.DATE and target is Kind.TIMESTAMP:
            return midnight(day)
        case _ if kind is Kind.DATE and target is Kind.TIMESTAMP:
            return Call(Function.TO_TIMESTAMP, (value,))
        case _:
            return value
