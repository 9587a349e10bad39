"""What is publicly known of an expression, by what is known of the columns that it reads.

Derived from the owner's declarations alone. Kinds are binding: an expression that mixes them is refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from sfumato.errors import ParameterError
from sfumato.query.analysis.signatures import SIGNATURES, check_parameters
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
from sfumato.query.model.facts import Edition, Facts, family, literal_facts, merged
from sfumato.query.model.intervals import ANYTHING, Interval
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.values.reals import REALS, first_interval


def facts_of(expression: Expression, columns: Mapping[str, Facts], edition: Edition = Edition.LATEST) -> Facts:
    """The facts of an expression over columns of known facts.

    Args:
        expression: The expression.
        columns: What is known of the columns it reads.
        edition: By which rules.

    Raises:
        ParameterError: It mixes kinds, or reads a column that does not exist.
    """
    match expression:
        case ColumnRef(name):
            return _column(name, columns)
        case Literal(value):
            facts = literal_facts(value)
            return replace(facts, interval=ANYTHING) if facts.kind in TIMES and edition is Edition.FIRST else facts
        case Null(kind):
            return Facts(kind=kind, values=(), longest=0 if kind is Kind.TEXT else None)
        case Case(branches, default):
            for condition, _ in branches:
                _require_condition(facts_of(condition, columns, edition))
            return merged([facts_of(value, columns, edition) for value in (*(v for _, v in branches), default)])
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
