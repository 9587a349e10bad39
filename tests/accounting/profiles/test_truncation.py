import math
from fractions import Fraction

import pytest

from sfumato.accounting.profiles.truncation import truncation
from sfumato.privacy.events import GaussianEvent, TruncatedPoissonSampledEvent


def event(q: Fraction, size: int, most: int) -> TruncatedPoissonSampledEvent:
    return TruncatedPoissonSampledEvent(q, size, most, GaussianEvent(Fraction(1)))


@pytest.mark.parametrize(("q", "size", "most"), [("1/10", 30, 5), ("1/2", 40, 39), ("0.01", 200, 2), ("0.9", 12, 3)])
def test_the_probabilities_are_those_of_the_definition_from_above(q, size, most):
    rate = Fraction(q)
    masses = [math.comb(size - 1, t) * rate**t * (1 - rate) ** (size - 1 - t) for t in range(size)]
    full = sum(masses[most:], start=Fraction(0))
    kept = sum((masses[t] * rate * Fraction(most, t + 1) for t in range(most, size)), start=Fraction(0)) / full
    found = truncation(event(rate, size, most))
    for bound, truth in ((found.full_up, full), (found.fits_up, 1 - full), (found.kept_up, kept)):
        assert truth <= Fraction(bound) <= truth * (1 + Fraction(1, 10**9)) + Fraction(1, 10**9)


def test_a_sample_that_cannot_overflow_is_not_cut():
    found = truncation(event(Fraction(1, 3), 10, 10))
    assert (found.fits_up, found.full_up) == (1, 0)


def test_a_sample_of_everybody_is_a_draw_of_as_many_as_fit():
    found = truncation(event(Fraction(1), 10, 4))
    assert (found.fits_up, found.full_up, found.kept_up) == (0, 1, Fraction(2, 5))


def test_large_sources_are_quick_and_sane():
    found = truncation(event(Fraction(1, 100), 10**7, 102_000))
    assert 0 < found.full_up < 1e-9
    assert found.kept_up <= Fraction(1, 100)
