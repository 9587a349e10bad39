from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import nct

from sfumato.accounting.gaussian.gaussian import gaussian_delta_up
from sfumato.audit.canaries.gaussian import _curve, gaussian_p_value, mu_of_separation, refuted_mu
from sfumato.audit.canaries.guesses import Guesses, Scored, exact_p_value

RNG = np.random.default_rng(2410)
FOUND = Guesses(right=400, made=500, canaries=1000)


@pytest.mark.parametrize("mu", [0.2, 1.0, 4.0, 15.0])
def test_the_curve_is_the_accountants_from_above(mu):
    epsilon = np.linspace(0, mu * mu / 2 + 4 * mu, 20)
    exact = np.array([gaussian_delta_up(noise_multiplier=1 / mu, epsilon=float(e)) for e in epsilon])
    assert _curve(mu, epsilon) == pytest.approx(exact, rel=1e-9)


def test_the_whole_curve_refutes_no_less_than_its_points():
    for epsilon in (0.5, 1.0, 2.0):
        delta = gaussian_delta_up(noise_multiplier=1, epsilon=epsilon)
        alone = exact_p_value(FOUND, epsilon=Fraction(epsilon), delta=Fraction(delta))
        assert gaussian_p_value(FOUND, mu=1.0) <= alone * 1.3 + 1e-12  # the grid need not hold this very point


def test_a_mu_is_refuted_where_the_p_value_reaches_the_significance():
    bound = refuted_mu(FOUND, significance=0.01)
    assert gaussian_p_value(FOUND, mu=bound) <= 0.01 < gaussian_p_value(FOUND, mu=bound + 1e-3)


def test_guesses_by_chance_refute_nothing():
    assert refuted_mu(Guesses(right=250, made=500, canaries=1000), significance=0.01) < 1e-5


@pytest.mark.statistical
@pytest.mark.parametrize(("mu", "share"), [(0.5, 1 / 4), (1.5, 1 / 2), (3.0, 1.0)])
def test_a_true_mu_is_refuted_no_more_often_than_said(mu, share):
    """Of 200 runs at level 0.2, at most 69 once in 10^6 (40 expected if the test were exact)."""
    refuted = 0
    for _ in range(200):
        included = RNG.random(400) < 0.5
        seen = Scored(scores=RNG.normal(size=400) + mu * included, included=included)
        half = round(share * 200)
        refuted += gaussian_p_value(seen.guesses(high=half, low=half), mu=mu) <= 0.2
    assert refuted <= 69, "type-I error 1e-6"


SEPARATION_RNG = np.random.default_rng(1940)


def canaries(mu, *, size, stddev=1.0, shift=0.0):
    included = SEPARATION_RNG.random(size) < 0.5
    return Scored(scores=shift + stddev * (SEPARATION_RNG.normal(size=size) + mu * included), included=included)


def test_the_limit_is_where_the_law_of_t_reaches_the_significance():
    seen = Scored(scores=[0.0, 1.0, 2.0, 2.0, 3.0, 4.5], included=[False, False, False, True, True, True])
    limit = mu_of_separation(seen, significance=0.1)
    pooled = np.sqrt((np.var([0, 1, 2]) * 3 + np.var([2, 3, 4.5]) * 3) / 4)
    unit = np.sqrt(2 / 3)
    statistic = (np.mean([2, 3, 4.5]) - 1) / (pooled * unit)
    assert nct.sf(statistic, 4, limit / unit) == pytest.approx(0.1, rel=1e-6)


def test_units_and_origin_of_scores_do_not_matter():
    seen = canaries(2.0, size=100)
    moved = Scored(scores=7 * seen.scores - 3, included=seen.included)
    assert mu_of_separation(moved, significance=0.05) == pytest.approx(mu_of_separation(seen, significance=0.05))


@pytest.mark.parametrize(
    ("scores", "included"),
    [
        ([1.0, 1.0, 1.0, 1.0], [True, True, False, False]),
        ([1.0, 2.0, 3.0], [True, False, False]),
        ([9.0, 8.0, 1.0, 2.0], [False, False, True, True]),
        ([np.inf, 8.0, 1.0, 2.0], [True, True, False, False]),
    ],
)
def test_what_does_not_separate_says_nothing(scores, included):
    assert mu_of_separation(Scored(scores=scores, included=included), significance=0.05) == 0


@pytest.mark.statistical
@pytest.mark.parametrize(("mu", "size"), [(0.0, 20), (0.5, 20), (3.0, 200)])
def test_a_true_mu_lies_below_the_limit_as_often_as_said(mu, size):
    """Exact, so both sides are tested: 150 runs at 0.2 with 30 expected, outside of 9 to 56 once in 10^6."""
    above = sum(mu_of_separation(canaries(mu, size=size, stddev=3), significance=0.2) > mu for _ in range(150))
    assert 9 <= above <= 56


def test_scores_almost_without_spread_say_much_and_are_no_error():
    scores = np.arange(60) % 2 + 1e-15 * np.arange(60)
    assert 1e3 < mu_of_separation(Scored(scores=scores, included=scores > 0.5), significance=1e-6) < 1e5
