"""The regression finds float leaks that no threshold on values shows, and leaves grids alone."""

from fractions import Fraction
from functools import cache
from inspect import isfunction

import numpy as np
import pytest

from sfumato.audit.core.findings import Verdict
from sfumato.audit.core.outputs import columns
from sfumato.audit.core.roles import NeighborPair
from sfumato.audit.core.runs import run_on
from sfumato.audit.search.bets import Ranking
from sfumato.audit.search.logistic import finest_bit, strongest_score
from sfumato.audit.search.testers import BITS, SPLIT_SEARCH
from sfumato.privacy.guarantees import ApproxDP

RNG = np.random.default_rng(52)
CLAIM = ApproxDP(1, 0)
PAIR = NeighborPair(0, 1, "one person more")
RANKING = Ranking(runs=2000, delta=CLAIM.delta, significance=1e-6)


def verdict(tester, mechanism, samples=3000):
    return tester(run_on(PAIR, mechanism, samples=samples), claim=CLAIM, significance=1e-6).verdict


def float_laplace(exact, n):
    return RNG.laplace(exact, 1, n)


def grid_laplace(exact, n):
    return np.round(RNG.laplace(0, 1, n) * 2**20) / 2**20 + exact


def test_three_thousand_floats_are_enough():
    assert verdict(BITS, float_laplace) is Verdict.PRIVACY_VIOLATION
    assert verdict(SPLIT_SEARCH, float_laplace) is Verdict.NOTHING_FOUND


def test_the_same_noise_on_a_grid_leaks_nothing():
    assert verdict(BITS, grid_laplace) is Verdict.NOTHING_FOUND


def test_several_coordinates_tell_together_what_none_tells_alone():
    """Each of 12 coins moves by ε/4, so that all of them together move by 3ε."""

    def coins(exact, n):
        return (RNG.random((n, 12)) < (0.56 if exact else 0.44)).astype(float)

    assert verdict(BITS, coins, samples=20_000) is Verdict.PRIVACY_VIOLATION


@pytest.mark.parametrize("outputs", [["a"] * 200, [None] * 200, [float("nan")] * 200, [float("inf"), 1e308] * 100])
def test_outputs_without_usable_numbers_are_no_error(outputs):
    read = columns(outputs)
    assert strongest_score(read, read, ranking=RANKING).strength <= 0


@pytest.mark.parametrize(
    ("value", "bit"), [(1.0, 0), (-6.0, 1), (0.375, -3), (2.0**60, 60), (5e-324, -1074), (0.0, 64), (float("nan"), 64)]
)
def test_the_finest_bit_is_the_largest_power_of_two_that_divides(value, bit):
    assert finest_bit(np.array([value])) == bit


def test_the_finest_bit_agrees_with_exact_arithmetic():
    for value in RNG.laplace(0, 1, 200):
        number = Fraction(value)
        power = (number.numerator & -number.numerator).bit_length() - number.denominator.bit_length()
        assert finest_bit(np.array([value])) == power


VECTORS = RNG.normal(size=(2000, 6))


@cache
def trained():
    return strongest_score(columns(VECTORS), columns(VECTORS + 0.5), ranking=RANKING)


def scores(outputs, score):
    """What the threshold is compared with, read out of the event."""
    (look,) = (cell.cell_contents for cell in score.__closure__ if isfunction(cell.cell_contents))
    return look(columns(outputs)).tolist()


@pytest.mark.parametrize("others", [0, 1, 2, 3, 7, 4991, 20_001])
def test_the_score_of_an_output_does_not_depend_on_how_many_are_scored(others):
    one = VECTORS[0]
    alone = scores([one], trained().event.happened)
    assert scores([one] * (others + 1), trained().event.happened) == alone * (others + 1)


def test_the_smallest_spread_has_a_score():
    tiny = columns([0.0, 5e-324] * 200), columns([0.0, 1e-310] * 200)
    assert strongest_score(*tiny, ranking=RANKING).strength > 0


def test_numbers_that_are_not_regressed_are_said():
    wide = columns(np.zeros((100, 40)))
    assert strongest_score(wide, wide, ranking=RANKING).unread == ("all but 16 of 40 numbers by the regression",)
