"""What is computed of released numbers: which parts of a formula have an interval of their own, and what follows.

A sum of noisy numbers with constant factors has the quantile of just that sum of noises, and a quotient of two such
sums has Fieller's set; a formula is cut into parts of these kinds, as large as there are. What is made of the parts has
the interval of its operation; of roots, logarithms and powers, which only rise or only fall, the ends go over.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from sfumato.numeric.many_noises import half_widths_of_sums
from sfumato.numeric.noise_sums import IntegerNoise, NoiseSums
from sfumato.numeric.ratios import quotient_ends
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.signatures import SIGNATURES
from sfumato.query.model.expressions import Call, Case, ColumnRef, Expression, Literal
from sfumato.query.model.facts import Facts, merged
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import Interval
from sfumato.query.model.kinds import Kind
from sfumato.query.statistics.measurements import Place, SumOutput
from sfumato.query.values.reals import REALS, real_interval


@dataclass(frozen=True, slots=True)
class Linear:
    """A constant and noisy numbers, each times a factor other than 0."""

    constant: Fraction
    factors: tuple[tuple[Place, Fraction], ...] = ()

    def scaled(self, factor: Fraction) -> "Linear":
        """The product with a number."""
        return Linear(self.constant * factor, tuple((p, f * factor) for p, f in self.factors if f * factor))

    def plus(self, other: "Linear") -> "Linear":
        """The sum."""
        factors = dict(self.factors)
        for place, factor in other.factors:
            factors[place] = factors.get(place, Fraction(0)) + factor
        return Linear(self.constant + other.constant, tuple((p, f) for p, f in factors.items() if f))

    def of(self, numbers: Mapping[Place, int]) -> Fraction:
        """Its value."""
        return sum((factor * numbers[place] for place, factor in self.factors), start=self.constant)


@dataclass(frozen=True, slots=True)
class Quotient:
    """One such sum over another one."""

    dividend: Linear
    divisor: Linear


Part: TypeAlias = Linear | Quotient


def parts_of(
    expression: Expression, outputs: Mapping[str, SumOutput], facts: Mapping[str, Facts]
) -> tuple[Expression, dict[str, tuple[Expression, Part]]]:
    """A formula with names in place of its parts, and the parts by name; columns of other kinds stay as they are.

    Args:
        expression: Over the columns of an answer.
        outputs: Those that are sums of noisy numbers with constant factors.
        facts: What is known of all columns.
    """
    found: dict[Expression, tuple[str, Part]] = {}

    def cut(inner: Expression) -> Expression:
        part = None if isinstance(inner, ColumnRef | Literal) else _part(inner, outputs, facts)
        if part is not None:
            name, _ = found.setdefault(inner, (f"\0{len(found)}", part))
            return ColumnRef(name)
        match inner:
            case Call(function, arguments):
                return Call(function, tuple(map(cut, arguments)))
            case Case(branches, default):
                return Case(tuple((condition, cut(value)) for condition, value in branches), cut(default))
            case _:
                return inner

    whole = cut(expression)
    return whole, {name: (inner, part) for inner, (name, part) in found.items()}


def _part(
    expression: Expression, outputs: Mapping[str, SumOutput], facts: Mapping[str, Facts]
) -> Part | None:  # fmt: skip
    """What an expression is, if it reads a noisy number and is of these kinds."""
    whole = _linear(expression, outputs, facts)
    if whole is not None:
        return whole if whole.factors else None
    if not isinstance(expression, Call) or expression.function is not Function.DIVIDE:
        return None
    dividend, divisor = (_linear(argument, outputs, facts) for argument in expression.arguments)
    if dividend is None or divisor is None or not divisor.factors:
        return None
    return Quotient(dividend, divisor)


def _linear(
    expression: Expression, outputs: Mapping[str, SumOutput], facts: Mapping[str, Facts]
) -> Linear | None:  # fmt: skip
    match expression:
        case ColumnRef(name) if name in outputs:
            resolution, terms = outputs[name].resolution, outputs[name].terms
            return Linear(Fraction(0), tuple((place, factor * resolution) for place, factor in terms))
        case Literal(Fraction() as value):
            return Linear(value)
        case Call(Function.TO_FLOAT | Function.NEGATE as function, (inner,)):
            found = _linear(inner, outputs, facts)
            return None if found is None else found.scaled(Fraction(1 if function is Function.TO_FLOAT else -1))
        case Call(Function.NULL_IF, (inner, Literal(value))) if value == 0:
            return _linear(inner, outputs, facts)  # where it is NULL there is nothing to hold
        case Call(Function.ADD | Function.SUBTRACT | Function.MULTIPLY | Function.DIVIDE as function, (first, second)):
            if function is Function.DIVIDE and facts_of(expression, facts).kind is Kind.INTEGER:
                return None  # toward zero
            pair = _linear(first, outputs, facts), _linear(second, outputs, facts)
            return None if pair[0] is None or pair[1] is None else _combined(function, pair[0], pair[1])
        case _:
            return None


def _combined(function: Function, first: Linear, second: Linear) -> Linear | None:
    match function:
        case Function.ADD:
            return first.plus(second)
        case Function.SUBTRACT:
            return first.plus(second.scaled(Fraction(-1)))
        case Function.MULTIPLY if not second.factors:
            return first.scaled(second.constant)
        case Function.MULTIPLY if not first.factors:
            return second.scaled(first.constant)
        case Function.DIVIDE if not second.factors and second.constant:
            return first.scaled(1 / second.constant)
        case _:
            return None


def intervals_of(
    part: Part, numbers: Sequence[Mapping[Place, int]], noise: Callable[[int], IntegerNoise | None], failure: Fraction
) -> list[Interval]:
    """Where the true values of a part lie, one a group.

    Args:
        part: Of noisy numbers that all were released.
        numbers: Those of each group.
        noise: The noise of each measurement.
        failure: How often a true value may lie outside.
    """
    places = _places(part)
    noises = tuple(one for measurement, _ in places if (one := noise(measurement)) is not None)
    if isinstance(part, Linear):
        (width,) = half_widths_of_sums(noises, _weights(part, places)[None, :], failure)
        reach = Fraction(float(width))
        return [Interval(value - reach, value + reach) for value in map(part.of, numbers)]
    measured = [np.array([float(own.of(row)) for row in numbers]) for own in (part.dividend, part.divisor)]
    weights = [_weights(own, places) for own in (part.dividend, part.divisor)]
    low, high = quotient_ends((measured[0], measured[1]), (weights[0], weights[1]), NoiseSums(noises, failure))
    return [Interval(_end(a), _end(b)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def linear_of(
    expression: Expression, outputs: Mapping[str, SumOutput], facts: Mapping[str, Facts]
) -> Linear | None:  # fmt: skip
    """The sum of noisy numbers that an expression is; None if it is none."""
    return _linear(expression, outputs, facts)


def reach_of_sum(
    part: Linear, count: int, noise: Callable[[int], IntegerNoise | None], failure: Fraction
) -> Fraction | None:  # fmt: skip
    """How far the sum of a part over so many groups, each with noise of its own, may be from the true one.

    Args:
        part: Of noisy numbers.
        count: How many groups; of more the reach is no shorter.
        noise: The noise of each measurement.
        failure: How often the true sum may lie further away.
    """
    places = _places(part)
    noises = [noise(measurement) for measurement, _ in places]
    known = tuple(one for one in noises if one is not None)
    if len(known) != len(noises):
        return None
    if not known:
        return Fraction(0)
    (width,) = half_widths_of_sums(known * count, np.tile(_weights(part, places), count)[None, :], failure)
    return Fraction(float(width))


def _places(part: Part) -> tuple[Place, ...]:
    forms = (part,) if isinstance(part, Linear) else (part.dividend, part.divisor)
    return tuple(dict.fromkeys(place for form in forms for place, _ in form.factors))


def _weights(form: Linear, places: Sequence[Place]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    factors = dict(form.factors)
    return np.array([float(factors.get(place, Fraction(0))) for place in places])


def _end(number: float) -> Fraction | None:
    return Fraction(number) if math.isfinite(number) else None


def formula_facts(expression: Expression, known: Mapping[str, Facts]) -> Facts:
    """What is known of a formula over columns of known facts: as `facts_of`, of whichever branch of CASE."""
    match expression:
        case Call(function, arguments):
            inner = [formula_facts(argument, known) for argument in arguments]
            facts = SIGNATURES[function](expression, inner)
            if function in REALS:
                exponent = arguments[1] if function is Function.POWER else None
                facts = replace(facts, interval=real_interval(function, inner[0].interval, exponent))
            return replace(facts, interval=facts.interval.within_doubles())
        case Case(branches, default):
            return merged([formula_facts(value, known) for value in (*(v for _, v in branches), default)])
        case _:
            return facts_of(expression, known)
