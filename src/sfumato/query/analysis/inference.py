"""What is publicly known of an expression, by what is known of the columns that it reads.

Derived from the owner's declarations and from the question alone. Kinds are binding: an expression that mixes them is
refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Final

from sfumato.errors import ParameterError
from sfumato.query.analysis.narrowing import NOT_TRUE, TRUE, Truth, narrowed
from sfumato.query.analysis.signatures import SIGNATURES, check_parameters
from sfumato.query.model.expressions import (
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
from sfumato.query.model.facts import Edition, Facts, family, literal_facts, merged
from sfumato.query.model.intervals import ANYTHING, Interval
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.values.reals import REALS, first_interval

MAX_NARROWED: Final = 1_000
"""Of how many expressions beside columns a condition may say something; what it says of others is left out."""

_CONSTANT: Final = Literal | Null
_NOTHING: Final[Mapping[Expression, Facts]] = MappingProxyType({})


class KnownColumns(Mapping[str, Facts]):
    """What is known of columns in rows of which conditions are true, and of expressions over these columns.

    Args:
        columns: The facts of the columns.
        expressions: The facts of expressions of which conditions say more than follows from their columns.
    """

    __slots__ = ("_columns", "expressions")

    def __init__(self, columns: Mapping[str, Facts], expressions: Mapping[Expression, Facts] = _NOTHING) -> None:
        self._columns, self.expressions = columns, expressions

    def __getitem__(self, name: str) -> Facts:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def narrowed_by(
    columns: Mapping[str, Facts], condition: Condition, edition: Edition = Edition.LATEST, truth: Truth = TRUE
) -> Mapping[str, Facts]:
    """The facts of columns, and of expressions over them, in rows in which a condition is what it is known to be.

    A list of public values that nothing passes stays as it was, so that there is always something to answer with.

    Args:
        columns: The facts of the columns in any row.
        condition: One that `facts_of` accepts.
        edition: By which rules; by the first ones, conditions say nothing.
        truth: What it is known to be.
    """
    facts = partial(facts_of, columns=columns, edition=edition)
    found = {} if edition is Edition.FIRST else narrowed(condition, truth, facts)
    if not found:
        return columns
    own = dict(columns)
    expressions = dict(columns.expressions) if isinstance(columns, KnownColumns) else {}
    for expression, said in found.items():
        known = replace(said, values=facts(expression).values) if said.values == () else said
        if isinstance(expression, ColumnRef):
            own[expression.name] = known
        elif len(expressions) < MAX_NARROWED or expression in expressions:
            expressions[expression] = known
    return KnownColumns(own, expressions)


def facts_of(expression: Expression, columns: Mapping[str, Facts], edition: Edition = Edition.LATEST) -> Facts:
    """The facts of an expression over columns of known facts.

    Args:
        expression: The expression.
        columns: What is known of the columns it reads.
        edition: By which rules.

    Raises:
        ParameterError: It mixes kinds, or reads a column that does not exist.
    """
    if isinstance(columns, KnownColumns) and columns.expressions and expression in columns.expressions:
        return columns.expressions[expression]
    match expression:
        case ColumnRef(name):
            return _column(name, columns)
        case Literal(value):
            facts = literal_facts(value)
            return replace(facts, interval=ANYTHING) if facts.kind in TIMES and edition is Edition.FIRST else facts
        case Null(kind):
            return Facts(kind=kind, values=(), longest=0 if kind is Kind.TEXT else None)
        case Case(branches, default):
            alternatives = []
            for condition, chosen in branches:
                _require_condition(facts_of(condition, columns, edition))
                within = columns if isinstance(chosen, _CONSTANT) else narrowed_by(columns, condition, edition)
                alternatives.append(facts_of(chosen, within, edition))
                if len(alternatives) < len(branches) or not isinstance(default, _CONSTANT):
                    columns = narrowed_by(columns, condition, edition, NOT_TRUE)
            return merged([*alternatives, facts_of(default, columns, edition)])
        case Call(_, arguments):
            check_parameters(expression)
            known = [facts_of(argument, columns, edition) for argument in arguments]
            facts = _called(expression, known, edition)
            facts = replace(facts, certain=_certain(expression, known, edition))
            # an infinite double, which a column may hold, is NULL in whatever a function makes of it
            return replace(facts, nullable=True) if facts.kind is Kind.FLOAT else facts
        case And() | Or() | Not() | Compare() | IsIn() | IsNull():
            return _condition(expression, columns, edition)


def _called(call: Call, arguments: Sequence[Facts], edition: Edition) -> Facts:
    facts = SIGNATURES[call.function](call, arguments)
    if edition is Edition.FIRST and call.function in REALS:
        facts = replace(facts, interval=first_interval(call.function))
    return replace(facts, interval=facts.interval.within_doubles())


def _certain(call: Call, arguments: Sequence[Facts], edition: Edition) -> Interval | None:
    """The interval of a result by what is certain of the arguments, if for any of them that is another one."""
    if all(facts.certain is None for facts in arguments):
        return None
    certain = [replace(facts, interval=facts.certain_interval, certain=None) for facts in arguments]
    return _called(call, certain, edition).interval


def _column(name: str, columns: Mapping[str, Facts]) -> Facts:
    if name not in columns:
        raise ParameterError("column", name, f"must be one of: {', '.join(columns)}")
    return columns[name]


def _condition(expression: Expression, columns: Mapping[str, Facts], edition: Edition) -> Facts:
    inner = list(map(partial(facts_of, columns=columns, edition=edition), children(expression)))
    match expression:
        case Compare(comparison, _, _) if family(inner[0].kind) != family(inner[1].kind):
            shown = f"{inner[0].kind} {comparison} {inner[1].kind}"
            raise ParameterError("comparison", shown, "must compare values of one kind")
        case IsIn() if len({family(facts.kind) for facts in inner}) > 1:
            raise ParameterError("IN", "constants of other kinds", "must list constants of the kind of the value")
        case And() | Or() | Not():
            for facts in inner:
                _require_condition(facts)
        case _:
            pass  # IS NULL takes anything
    nullable = not isinstance(expression, IsNull) and any(facts.nullable for facts in inner)
    return Facts(kind=Kind.BOOLEAN, values=(False, True), nullable=nullable)


def _require_condition(facts: Facts) -> None:
    if facts.kind is not Kind.BOOLEAN:
        raise ParameterError("condition", facts.kind.value, "must be true or false; compare the value with something")
