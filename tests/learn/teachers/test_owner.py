"""The owner's ε: a bound for every neighbor of some votes, by exact distributions; and secret."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from tests.learn.teachers.test_labels import fit_of, law

from sfumato.errors import ParameterError
from sfumato.learn.teachers.owner import label_divergences, owners_epsilon
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.secret import Secret

ORDERS = np.array([1.5, 2.0, 4.0, 8.0, 16.0])


def majority(votes, stddev):
    """The exact distribution of the class with the largest noisy count."""
    fit = fit_of(1, classes=len(votes), threshold=0)
    object.__setattr__(fit, "count", GaussianNoise(l2_sensitivity=1, stddev=stddev))
    return law(fit, votes)[1:] / law(fit, votes)[1:].sum()


def near(votes):
    """All votes of which one is added, removed or another."""
    steps = np.eye(len(votes), dtype=int)
    changes = [*steps, *-steps, *(steps[b] - steps[a] for a, b in permutations(range(len(votes)), 2))]
    return [tuple(one) for one in (votes + change for change in changes) if min(one) >= 0]


@pytest.mark.parametrize("votes", [(9, 0, 0), (6, 1, 0), (4, 3, 1), (3, 3, 3)])
@pytest.mark.parametrize("stddev", [1, 2])
def test_no_neighbor_diverges_more_than_it_says(votes, stddev):
    bound = label_divergences(np.array(votes), stddev=stddev, reach=1 / stddev**2, orders=ORDERS)
    own = majority(votes, stddev)
    worst = np.zeros(len(ORDERS))
    for other in near(np.array(votes)):
        theirs = majority(other, stddev)
        found = [np.log((own**order * theirs ** (1 - order)).sum()) / (order - 1) for order in ORDERS]
        worst = np.maximum(worst, found)
    assert (worst <= bound + 1e-9).all()
    assert (bound <= ORDERS / stddev**2).all()
    if votes == (9, 0, 0) and stddev == 1:
        assert bound[1] < ORDERS[1] / stddev**2 / 100


def test_agreement_costs_less_and_the_charge_stays_what_it_is():
    fit = fit_of(30, count=400, classes=3, threshold=200, charge=ApproxDP(4, "1e-5"), share="1/100")
    sure, split = (Secret(np.array([votes] * 30)) for votes in ((390, 5, 5), (140, 130, 130)))
    low, high = owners_epsilon(fit, sure), owners_epsilon(fit, split)
    assert isinstance(low, Secret)
    assert low.open_for_noise() < 1
    assert 3 < high.open_for_noise() < 5
    assert fit.charge == ApproxDP(4, "1e-5")
    half = fit_of(30, count=400, classes=3, answers=15, charge=ApproxDP(4, "1e-5"))
    assert half.count.stddev < fit.count.stddev
    with pytest.raises(ParameterError, match="orders"):
        label_divergences(np.array([1, 0]), stddev=1.0, reach=1.0, orders=np.array([Fraction(1)], dtype=float))
