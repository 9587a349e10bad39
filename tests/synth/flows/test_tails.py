"""Tails of beta-binomials: certified on both sides, and bounded over all counts, none of them left out."""

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from math import floor, inf, isfinite

import pytest
from mpmath import beta, binomial, mp, mpf
from tests.synth.flows.test_urn import mass

from sfumato.synth.flows.tails import tail_bound, tail_near, tails_are_below


def by_mpmath(draws, least, inside, outside):
    """The tail from beta functions, to 80 digits."""
    with mp.workdps(80):
        a, b = (mpf(one.numerator) / one.denominator for one in (inside, outside))
        terms = (binomial(draws, k) * beta(k + a, draws - k + b) / beta(a, b) for k in range(least, draws + 1))
        return mp.nstr(sum(terms), 60)


@pytest.mark.parametrize(
    ("draws", "least", "inside", "outside"),
    [
        (10, 7, Fraction(10, 3), Fraction(97)), (1000, 60, Fraction("14.97"), Fraction("2381.5")),
        (1000, 17, Fraction("1.00295"), Fraction("999.3")), (50, 0, Fraction(1, 7), Fraction(2, 9)),
    ],
)  # fmt: skip
def test_a_tail_agrees_with_beta_functions_to_fifty_digits(draws, least, inside, outside):
    upper = tail_bound(draws, least, inside=inside, outside=outside)
    lower = tail_bound(draws, least, inside=inside, outside=outside, rounding=ROUND_FLOOR)
    assert lower < upper
    with mp.workdps(80):
        true = mpf(by_mpmath(draws, least, inside, outside))
        for bound in (lower, upper):
            assert abs(mpf(str(bound)) / true - 1) < mpf(10) ** -50


@pytest.mark.parametrize(("inside", "outside"), [(Fraction(5, 3), Fraction(7, 2)), (Fraction(1, 9), Fraction(1, 4))])
def test_bounds_enclose_the_exact_tail(inside, outside):
    for least in range(7):
        exact = sum(mass([inside, outside], (k, 6 - k)) for k in range(least, 7))
        lower, upper = (
            Fraction(tail_bound(6, least, inside=inside, outside=outside, rounding=way))
            for way in (ROUND_FLOOR, ROUND_CEILING)
        )
        assert lower <= exact <= upper


@pytest.mark.parametrize("draws", [1, 8, 61, 700])
@pytest.mark.parametrize("inside", [Fraction(1), Fraction("1.00295"), Fraction(700, 3)])
@pytest.mark.parametrize("outside", [Fraction(1, 9), Fraction(7, 2), Fraction(2_000)])
def test_bounds_in_doubles_enclose_those_of_sixty_digits_and_are_near_them(draws, inside, outside):
    for least in sorted({0, 1, draws // 40, draws // 3, draws - 1, draws}):
        lower, upper = (
            tail_bound(draws, least, inside=inside, outside=outside, rounding=way)
            for way in (ROUND_FLOOR, ROUND_CEILING)
        )
        below, above = tail_near(draws, least, inside=inside, outside=outside)
        assert below <= lower <= upper <= above
        if lower > 2.0**-900 and isfinite(above):
            assert above <= below * (1 + 2.0**-30)
        assert above <= 2.0**-899 or isfinite(above) or below > 0.1


def test_where_doubles_do_not_reach_they_say_so_and_sixty_digits_decide():
    assert tail_near(40_000, 1, inside=Fraction(2), outside=Fraction(1)) == (0, inf)
    assert tail_near(9, 1, inside=Fraction(2), outside=Fraction(1, 2**40)) == (0, inf)
    assert tail_near(9, 1, inside=Fraction(2), outside=Fraction(0)) == (1, 1)
    assert tail_near(9_000, 10, inside=Fraction(9_000), outside=Fraction(9))[0] > 0.1  # a sum beyond the doubles
    cell = {"prior": Fraction(2), "others": Fraction(1, 2**40), "growth": Fraction(2), "draws": 9}
    assert not tails_are_below(Fraction(1, 2), **cell)
    exact = tail_bound(9, 5, inside=Fraction(3), outside=Fraction(4))
    cell = {"prior": Fraction(2), "others": Fraction(4), "growth": Fraction(2), "draws": 9}
    assert tails_are_below(Fraction(exact), **cell)
    assert not tails_are_below(Fraction(exact) * (1 - Fraction(1, 10**40)), **cell)


def test_a_cell_alone_has_all_draws():
    assert tail_bound(5, 5, inside=Fraction(1, 3), outside=Fraction(0)) >= 1


@pytest.mark.parametrize("total", [None, 12])
@pytest.mark.parametrize("growth", [Fraction(1, 2), Fraction(2)])
def test_the_answer_is_that_of_all_counts_one_by_one(total, growth):
    """Over many priors and limits; with intervals of any width nothing is allowed that one count forbids."""
    draws, answers = 12, set()
    for prior in (Fraction(1, 2), Fraction(2), Fraction(7, 2), Fraction(30)):
        worst = Fraction(0)
        for count in range(1, 60 if total is None else total + 1):
            beyond = floor(growth * (count - 1 + prior)) + 1
            rest = 3 * prior + (0 if total is None else total - count)
            if beyond <= draws:
                worst = max(worst, sum(mass([count + prior, rest], (k, draws - k)) for k in range(beyond, draws + 1)))
        for limit in (Fraction(1, 10), Fraction(1, 10**3), Fraction(1, 10**6)):
            found = tails_are_below(limit, prior=prior, others=3 * prior, growth=growth, draws=draws, total=total)
            assert found == (worst <= limit), (prior, limit)
            answers.add(found)
    assert answers == {True, False}


def test_the_largest_tail_need_not_be_of_the_first_count():
    cell = {"prior": Fraction(1, 2), "others": Fraction(5), "growth": Fraction(1, 2), "draws": 12}
    assert tail_bound(12, 1, inside=Fraction(3, 2), outside=Fraction(5)) < Fraction(9, 10)  # of one worker
    assert not tails_are_below(Fraction(9, 10), **cell)
