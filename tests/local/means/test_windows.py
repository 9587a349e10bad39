"""The window: its exact probabilities, moments and event, and that draws follow them."""

from fractions import Fraction

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law, cdf_of
from tests.local.branches import law_of

from sfumato.local.core.odds import epsilon_of
from sfumato.local.means.windows import WindowLaw
from sfumato.numeric.rounding import log_up

LAWS = [
    WindowLaw(steps, width, ratio)
    for steps in (1, 2, 5)
    for width in (1, 2, 4, 7)
    for ratio in (Fraction(3, 2), Fraction(7))
]
EACH = pytest.mark.parametrize("law", LAWS, ids=str)


@EACH
def test_draws_have_the_stated_probabilities(law):
    for place in range(law.steps + 1):
        found = law_of(lambda place=place: int(law.draw(np.array([place]))[0]))
        assert [found.get(output, 0) for output in range(law.outputs)] == law.probabilities(place)
        assert sum(law.probabilities(place)) == 1


@EACH
def test_the_largest_ratio_is_that_of_the_window(law):
    everywhere = [law.probabilities(place) for place in range(law.steps + 1)]
    assert (
        max(p / q for one in everywhere for other in everywhere for p, q in zip(one, other, strict=True)) == law.ratio
    )
    assert epsilon_of(law.event) == log_up(law.ratio)


@EACH
def test_no_two_places_are_further_apart_than_the_ends(law):
    for threshold in (Fraction(1), Fraction(5, 4), law.ratio):

        def reached(first, second, threshold=threshold):
            return sum(max(Fraction(0), p - threshold * q) for p, q in zip(first, second, strict=True))

        worst = reached(law.event.p, law.event.q)
        for first in range(law.steps + 1):
            for second in range(law.steps + 1):
                assert reached(law.probabilities(first), law.probabilities(second)) <= worst


@EACH
def test_numbers_have_the_true_mean_and_the_stated_squares(law):
    scale = 1 / (law.steps * law.excess)
    numbers = [(2 * output - (law.outputs - 1)) * scale for output in range(law.outputs)]
    assert law.numbers() == pytest.approx([float(number) for number in numbers])
    slope, intercept = law.squares()
    for place in range(law.steps + 1):
        masses, true = law.probabilities(place), Fraction(2 * place, law.steps) - 1
        assert sum(mass * number for mass, number in zip(masses, numbers, strict=True)) == true
        squares = sum(mass * number**2 for mass, number in zip(masses, numbers, strict=True))
        assert squares == slope * true**2 + intercept


@pytest.mark.statistical
@pytest.mark.parametrize("place", [0, 3, 10])
def test_many_draws_follow_their_law(place):
    law = WindowLaw(10, 6, Fraction(4))
    assert_law(law.draw(np.full(SAMPLES, place)), cdf_of(np.array([float(mass) for mass in law.probabilities(place)])))
