"""The staircase law, against sums over its integers."""

from fractions import Fraction
from math import ceil, exp, fsum

import pytest

from sfumato.errors import ParameterError
from sfumato.numeric.distributions import discrete_laplace_half_width, discrete_laplace_tail, discrete_laplace_variance
from sfumato.numeric.staircase import StaircaseLaw, best_width

LAWS = [(1, 1, "1/2"), (2, 1, "1"), (5, 3, "2"), (10, 10, "1"), (20, 1, "7"), (3, 2, "1/5")]


def masses(sensitivity, width, epsilon, reach=4000):
    weights = {
        k: exp(-float(Fraction(epsilon)) * max(0, ceil((abs(k) + 1 - width) / sensitivity)))
        for k in range(-reach, reach + 1)
    }
    total = fsum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


@pytest.mark.parametrize("parameters", LAWS)
def test_moments_and_tails_are_sums(parameters):
    law, truth = StaircaseLaw(*parameters[:2], Fraction(parameters[2])), masses(*parameters)
    assert law.mean_absolute() == pytest.approx(fsum(abs(k) * mass for k, mass in truth.items()), rel=1e-9)
    assert law.variance() == pytest.approx(fsum(k * k * mass for k, mass in truth.items()), rel=1e-9)
    for t in range(-1, 60):
        beyond = fsum(mass for k, mass in truth.items() if abs(k) > t)
        assert float(law.tail(t)) == pytest.approx(beyond, rel=1e-9)


@pytest.mark.parametrize("parameters", LAWS)
@pytest.mark.parametrize("confidence", ["0.05", "0.5", "0.95", "0.999999"])
def test_the_half_width_is_the_smallest(parameters, confidence):
    law = StaircaseLaw(*parameters[:2], Fraction(parameters[2]))
    t = law.half_width(confidence)
    assert law.tail(t) <= 1 - Fraction(confidence) < law.tail(t - 1)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize(
    ("sensitivity", "epsilon"), [(1, "1"), (12, "1/10"), (12, "2"), (60, "1"), (60, "5"), (60, "20")]
)
def test_the_best_width_is_the_best_of_all(sensitivity, epsilon, power):
    laws = [StaircaseLaw(sensitivity, width, Fraction(epsilon)) for width in range(1, sensitivity + 1)]
    errors = [law.moment_sum(power) / law.mass() for law in laws]
    assert errors[best_width(sensitivity, Fraction(epsilon), power) - 1] == min(errors)


def test_the_best_width_is_that_of_the_continuous_law_for_large_sensitivities():
    """[GV16]: γ = 1/(1 + e^(ε/2)), and E|noise| = Δ·e^(ε/2)/(e^ε − 1)."""
    for epsilon in (1, 3, 10):
        width = best_width(10**6, Fraction(epsilon), 1)
        assert width / 10**6 == pytest.approx(1 / (1 + exp(epsilon / 2)), abs=2e-6)
        law = StaircaseLaw(10**6, width, Fraction(epsilon))
        assert law.mean_absolute() == pytest.approx(10**6 * exp(epsilon / 2) / (exp(epsilon) - 1), rel=1e-3)


def test_with_stairs_of_one_it_is_discrete_laplace():
    law = StaircaseLaw(1, 1, Fraction(1, 10))
    assert law.half_width("0.95") == discrete_laplace_half_width(Fraction(10), "0.95")
    assert law.variance() == pytest.approx(discrete_laplace_variance(Fraction(10)))
    assert float(law.tail(7)) == pytest.approx(discrete_laplace_tail(Fraction(10), 7))


@pytest.mark.parametrize("epsilon", [Fraction(1, 2**50), Fraction(1000)])
def test_the_ends_of_epsilon_are_worked_out(epsilon):
    law = StaircaseLaw(2, best_width(2, epsilon, 1), epsilon)
    assert law.tail(law.half_width("0.95")) <= Fraction(1, 20)


@pytest.mark.parametrize("confidence", [0, 1])
def test_a_confidence_outside_is_refused(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        StaircaseLaw(2, 1, Fraction(1)).half_width(confidence)
