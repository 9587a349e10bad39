from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.core.tally import flattened
from sfumato.accounting.renyi.of_event import bound_of
from sfumato.accounting.renyi.samples import Inside, exchanged, sampled
from sfumato.privacy.events import ComposedEvent, GaussianEvent, LaplaceEvent, SelfComposedEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

ORDERS = np.array([1.5, 2.0, 8.0])
TENTH = Fraction(1, 10)


def inside(event):
    return Inside(flattened(event, ADD_OR_REMOVE_ONE), bound_of(event, ADD_OR_REMOVE_ONE))


def test_gaussian_noise_in_a_sample_is_one_distance():
    several = ComposedEvent((SelfComposedEvent(GaussianEvent(3), 9), GaussianEvent(Fraction(1, 2))))
    assert inside(several).distance ** 2 == pytest.approx(1 + 4)
    assert inside(GaussianEvent(2)).distance == Fraction(1, 2)
    assert inside(ComposedEvent((GaussianEvent(2), LaplaceEvent(2)))).distance is None


def test_several_gaussians_in_one_sample_are_one_gaussian():
    four = sampled(TENTH, inside(SelfComposedEvent(GaussianEvent(2), 4))).divergence(ORDERS)
    assert four == pytest.approx(sampled(TENTH, inside(GaussianEvent(1))).divergence(ORDERS))


def test_everybody_in_the_sample_is_no_sample():
    noise = inside(GaussianEvent(1))
    assert sampled(Fraction(1), noise) is noise.bound
    assert exchanged(Fraction(1), noise, noise.bound) is noise.bound


def test_integration_and_expansion_agree_at_whole_orders():
    noise = inside(GaussianEvent(1))
    with_laplace = inside(ComposedEvent((GaussianEvent(1), LaplaceEvent(10**9))))
    orders = np.array([2.0, 3.0, 8.0, 30.0])
    assert sampled(TENTH, noise).divergence(orders) == pytest.approx(
        sampled(TENTH, with_laplace).divergence(orders), rel=1e-7
    )


def test_an_exchange_costs_no_more_than_two_steps_and_no_less_than_one():
    noise, pair = inside(GaussianEvent(1)), bound_of(GaussianEvent(Fraction(1, 2)), ADD_OR_REMOVE_ONE)
    one, both = sampled(TENTH, noise).divergence(ORDERS), exchanged(TENTH, noise, pair).divergence(ORDERS)
    assert np.all(both > one)
    assert np.all(both <= pair.divergence(ORDERS))
