"""Tails of beta-binomials: certified on both sides, and bounded over all counts, none of them left out."""

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from math import floor

import pytest
from mpmath import beta, binomial, mp, mpf
from tests.synth.flows.test_urn import mass

from sfumato.synth.flows.tails import tail_bound, tails_are_below


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
