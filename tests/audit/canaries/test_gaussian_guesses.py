from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.gaussian.gaussian import gaussian_delta_up
from sfumato.audit.canaries.gaussian_guesses import _curve, gaussian_p_value, refuted_mu
from sfumato.audit.canaries.guesses import Guesses, Scored
from sfumato.audit.canaries.one_run import exact_p_value

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
