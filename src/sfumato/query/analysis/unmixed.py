"""Choices of one kind: TO_FLOAT around whole numbers that stand among floats, before rows are looked at.

What is one of several values is FLOAT if any of them is, says `facts.merged`. Which of them a row has must not change
that, nor whether a quotient is cut off, so engines in Python evaluate `unmixed` expressions.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from sfumato.query.analysis.inference import facts_of
from sfumato.query.model.expressions import Call, Case, Expression, rebuilt
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.statement import Bins, Cell, LatticeValue, Measure, StepProduct, StepSum, ValueCount

_CHOICES: Final = frozenset({Function.COALESCE, Function.LEAST, Function.GREATEST})


def unmixed(expression: Expression, columns: Mapping[str, Facts]) -> Expression:
    """The expression with TO_FLOAT around every INTEGER that CASE, COALESCE, LEAST or GREATEST mix with a FLOAT.

    Args:
        expression: One that `facts_of` accepts.
        columns: What is known of the columns it reads.

    Example:
        >>> from fractions import Fraction
        >>> from sfumato.query.model.expressions import Literal
        >>> half, one = Literal(Fraction(1, 2)), Literal(Fraction(1))
        >>> unmixed(Call(Function.LEAST, (half, one)), {}) == Call(
        ...     Function.LEAST, (half, Call(Function.TO_FLOAT, (one,)))
        ... )
        True
    """
    inner = rebuilt(expression, lambda child: unmixed(child, columns))
    is_choice = isinstance(expression, Case) or (isinstance(expression, Call) and expression.function in _CHOICES)
    if not is_choice or facts_of(expression, columns).kind is not Kind.FLOAT:
        return inner
    return _with_alternatives(
        inner,
        lambda value: Call(Function.TO_FLOAT, (value,)) if facts_of(value, columns).kind is Kind.INTEGER else value,
    )


def _with_alternatives(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """A choice with its alternatives changed, but not its conditions."""
    if isinstance(expression, Case):
        branches = tuple((condition, change(value)) for condition, value in expression.branches)
        return Case(branches, change(expression.default))
    return rebuilt(expression, change)


def unmixed_measure(measure: Measure, columns: Mapping[str, Facts]) -> Measure:
    """The measure over `unmixed` expressions."""
    match measure:
        case ValueCount(present):
            return ValueCount(tuple(unmixed(value, columns) for value in present))
        case StepSum(steps):
            return StepSum(_unmixed_steps(steps, columns))
        case StepProduct(first, second):
            return StepProduct(_unmixed_steps(first, columns), _unmixed_steps(second, columns))
        case _:
            return measure


def unmixed_cell(cell: Cell, columns: Mapping[str, Facts]) -> Cell:
    """The cell over `unmixed` expressions."""
    if isinstance(cell, Bins):
        return replace(cell, steps=_unmixed_steps(cell.steps, columns))
    return replace(cell, value=unmixed(cell.value, columns))


def _unmixed_steps(steps: LatticeValue, columns: Mapping[str, Facts]) -> LatticeValue:
    return replace(steps, value=unmixed(steps.value, columns))
