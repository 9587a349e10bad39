"""Exact choice among finitely many candidates, by rejection from a uniform choice."""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from sfumato.errors import ParameterError
from sfumato.noise.bernoulli import bernoulli_exp
from sfumato.noise.integers import Integers, narrow, python_integers
from sfumato.noise.rejection import accepted
from sfumato.noise.uniform import uniform_below


def exponential_choice(exponents: Sequence[Fraction], size: int) -> Integers:
    """`size` independent indexes i with P(i) = exp(−exponents[i]) / Σ_j exp(−exponents[j]), exactly.

    A candidate is proposed uniformly and kept with probability exp(−(exponent − smallest exponent)), so one draw takes
    at most as many proposals as there are candidates, on average.

    Args:
        exponents: One rational for each candidate; adding the same number to all changes nothing.
        size: How many, 0 or more.

    Raises:
        ParameterError: There is no candidate, or the size lies outside.

    Example:
        >>> exponential_choice([Fraction(0), Fraction(1000)], 3).tolist()
        [0, 0, 0]
    """
    if len(exponents) == 0:
        raise ParameterError("exponents", "an empty sequence", "must hold at least one candidate")
    smallest, denominator = min(exponents), lcm(*(exponent.denominator for exponent in exponents))
    numerators = narrow(python_integers(int((exponent - smallest) * denominator) for exponent in exponents))
    return accepted(lambda count: _attempts(numerators, denominator, count), size)


def _attempts(numerators: Integers, denominator: int, count: int) -> Integers:
    proposals = uniform_below(len(numerators), count)
    return proposals[bernoulli_exp(numerators[proposals], denominator)]
