from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.accounting.basic import BasicAccountant
from sfumato.mechanisms.gaussian import Gaussian
from sfumato.mechanisms.laplace import Laplace
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.query.allocation import allocate
from sfumato.query.stability import Sensitivity

ONE = Sensitivity(l1=1, l2=Fraction(1), l0=1)
NONE = Sensitivity(l1=0, l2=Fraction(0), l0=1)
WIDE = Sensitivity(l1=100, l2=Fraction(10), l0=100)

sensitivities = st.integers(0, 60).flatmap(
    lambda l1: st.integers(1, max(1, l1)).map(lambda l0: Sensitivity(l1=l1, l2=sqrt_up(Fraction(l1 * l1, l0)), l0=l0))
)


def scales(columns, total):
    return [mechanism.scale for mechanism in allocate(columns, total).mechanisms]


def test_columns_share_equally_and_a_mean_halves_its_share():
    assert scales([[ONE], [ONE, ONE]], PureDP(1)) == [2, 4, 4]


def test_a_measure_that_nobody_moves_costs_nothing_and_leaves_its_share_to_the_others():
    assert scales([[NONE, ONE], [ONE]], PureDP(1)) == [0, 2, 2]
    assert scales([[NONE], [ONE]], PureDP(1)) == [0, 1]
    assert allocate([[NONE], [ONE]], PureDP(1)).charge == PureDP(1)
    assert allocate([[NONE]], PureDP(1)).charge == PureDP(0)


def test_delta_is_taken_where_the_gaussian_has_the_smaller_variance():
    chosen = allocate([[WIDE], [ONE]], ApproxDP(1, "1e-6"))
    assert [type(mechanism) for mechanism in chosen.mechanisms] == [Gaussian, Laplace]
    assert chosen.mechanisms[0].delta == Fraction(1, 10**6)
    assert chosen.charge == ApproxDP(1, "1e-6")


def test_delta_that_nobody_takes_is_not_charged():
    assert allocate([[ONE]], ApproxDP(1, "1e-6")).charge == PureDP(1)


def test_measures_that_take_the_gaussian_share_delta():
    chosen = allocate([[WIDE], [WIDE]], ApproxDP(1, "1e-6"))
    assert [mechanism.delta for mechanism in chosen.mechanisms] == [Fraction(1, 2 * 10**6)] * 2


@pytest.mark.parametrize("total", [PureDP(0), ApproxDP(0, "1e-6")])
def test_with_epsilon_zero_nothing_is_released_and_nothing_charged(total):
    chosen = allocate([[ONE], [WIDE]], total)
    assert ([mechanism.scale for mechanism in chosen.mechanisms], chosen.charge) == ([0, 0], PureDP(0))


@given(
    st.lists(st.lists(sensitivities, min_size=1, max_size=2), min_size=1, max_size=3),
    st.sampled_from(["0.1", "1", "3"]),
    st.sampled_from([0, "1e-9", "1e-5"]),
)
@settings(max_examples=40, deadline=None)
def test_what_is_charged_covers_what_is_released_and_stays_within_the_total(columns, epsilon, delta):
    total = guarantee(epsilon, delta)
    chosen = allocate(columns, total)
    event = ComposedEvent(tuple(mechanism.event for mechanism in chosen.mechanisms))
    assert chosen.charge <= total
    assert BasicAccountant().compose(event).epsilon(chosen.charge.delta) <= chosen.charge.epsilon
    assert len(chosen.mechanisms) == sum(map(len, columns))
