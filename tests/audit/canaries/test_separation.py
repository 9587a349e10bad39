import numpy as np
import pytest
from scipy.stats import nct

from sfumato.audit.canaries.guesses import Scored
from sfumato.audit.canaries.separation import mu_of_separation

RNG = np.random.default_rng(1940)


def canaries(mu, *, size, stddev=1.0, shift=0.0):
    included = RNG.random(size) < 0.5
    return Scored(scores=shift + stddev * (RNG.normal(size=size) + mu * included), included=included)


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
