"""What a released event costs: parts added up, Gaussian noise priced together."""

from fractions import Fraction

import pytest

from sfumato.accounting import BasicAccountant, joint_stddevs
from sfumato.ledger.core.event_prices import price_of
from sfumato.privacy.events import ApproxEvent, ComposedEvent, DiscreteGaussianEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

DELTA = Fraction(1, 10**6)


def gaussians(count, epsilon, delta):
    stddevs = joint_stddevs(
        l2_sensitivities=[1] * count, l0_sensitivities=[1] * count, weights=[1] * count, epsilon=epsilon, delta=delta
    )
    return tuple(DiscreteGaussianEvent(stddev, 1, 1) for stddev in stddevs)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_answers_calibrated_together_cost_what_they_were_calibrated_for(relation):
    event = ComposedEvent((PureEvent("0.5"), *gaussians(5, 1, DELTA / 2), ApproxEvent("0.25", DELTA / 2)))
    price = price_of(event, delta=DELTA, neighboring_relation=relation)
    assert Fraction("1.74") < price <= Fraction("1.75")
    assert BasicAccountant().compose(event).epsilon(DELTA) > Fraction("1.7") * price  # one by one


@pytest.mark.parametrize("one", [*gaussians(1, 1, DELTA), DiscreteGaussianEvent(Fraction(7, 3), 2, 4)])
def test_a_single_answer_is_priced_as_before(one):
    """Of the second one the price by which several are composed is more."""
    price = price_of(ComposedEvent((one, PureEvent(1))), delta=DELTA, neighboring_relation=ADD_OR_REMOVE_ONE)
    assert price == BasicAccountant().compose(ComposedEvent((one, PureEvent(1)))).epsilon(DELTA)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("epsilon", [5, 10, 30])
def test_a_single_vector_of_narrow_noise_costs_no_more_than_it_was_calibrated_for(epsilon, relation):
    (stddev,) = joint_stddevs(
        l2_sensitivities=[2], l0_sensitivities=[4], weights=[1], epsilon=epsilon, delta=DELTA
    )  # fmt: skip
    event = ComposedEvent((DiscreteGaussianEvent(stddev, 2, 4), PureEvent(1)))
    assert BasicAccountant().compose(event).epsilon(DELTA) > epsilon + 1
    assert epsilon < price_of(event, delta=DELTA, neighboring_relation=relation) <= epsilon + 1


@pytest.mark.parametrize("delta", [0, DELTA / 2])
def test_a_delta_that_others_take_whole_leaves_nothing_for_noise(delta):
    event = ComposedEvent((*gaussians(2, 1, DELTA), ApproxEvent(0, DELTA / 2)))
    assert price_of(event, delta=Fraction(delta), neighboring_relation=ADD_OR_REMOVE_ONE) == float("inf")


def test_less_noise_than_was_calibrated_costs_more():
    narrow = tuple(DiscreteGaussianEvent(e.stddev / 2, 1, 1) for e in gaussians(3, 1, DELTA))
    assert price_of(ComposedEvent(narrow), delta=DELTA, neighboring_relation=ADD_OR_REMOVE_ONE) > 1.5
