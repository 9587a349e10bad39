from fractions import Fraction
from typing import get_args

import pytest

from sfumato.errors import ParameterError
from sfumato.privacy import single_events
from sfumato.privacy.events import Event
from sfumato.privacy.single_events import (
    ApproxEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialEvent,
    FiniteEvent,
    GaussianEvent,
    LaplaceEvent,
    MixtureOfGaussiansEvent,
    PureEvent,
    RandomizedResponseEvent,
    ZCDPEvent,
)


def test_numbers_are_taken_as_written():
    assert PureEvent(0.1) == PureEvent("0.1") == PureEvent(Fraction(1, 10))
    assert DiscreteGaussianEvent(2, "0.5", 1).noise_multiplier == 4
    assert DiscreteLaplaceEvent("0.3", 3).noise_multiplier == Fraction(1, 10)


@pytest.mark.parametrize(("l2", "most"), [("0.5", 1), (1, 1), ("1.5", 2), (2, 4), ("2.5", 6), (10**6, 10**12)])
def test_unknown_coordinates_are_as_many_as_a_vector_of_integers_can_move(l2, most):
    assert DiscreteGaussianEvent(2, l2).l0_sensitivity == most
    assert DiscreteGaussianEvent(2, l2) == DiscreteGaussianEvent(2, l2, None) == DiscreteGaussianEvent(2, l2, most)
    assert DiscreteGaussianEvent(2, l2, 1).l0_sensitivity == 1


def test_every_one_of_them_is_an_event():
    classes = [value for name, value in vars(single_events).items() if name.endswith("Event")]
    assert len(classes) == 12
    assert set(classes) <= set(get_args(Event))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: PureEvent(-1), "epsilon"),
        (lambda: ApproxEvent(1, 2), "delta"),
        (lambda: ZCDPEvent(-1), "rho"),
        (lambda: LaplaceEvent(0), "noise_multiplier"),
        (lambda: GaussianEvent(0), "noise_multiplier"),
        (lambda: DiscreteLaplaceEvent(0, 1), "scale"),
        (lambda: DiscreteLaplaceEvent(1, 0), "l1_sensitivity"),
        (lambda: DiscreteGaussianEvent(0, 1), "stddev"),
        (lambda: DiscreteGaussianEvent(1, 0, 1), "l2_sensitivity"),
        (lambda: DiscreteGaussianEvent(1, 1, 0), "l0_sensitivity"),
        (lambda: RandomizedResponseEvent("1.1", 2), "probability"),
        (lambda: RandomizedResponseEvent("0.5", 0), "categories"),
        (lambda: ExponentialEvent("nan"), "epsilon"),
        (lambda: FiniteEvent(("1/2", "1/3"), ("1/2", "1/2")), "p"),
        (lambda: FiniteEvent(("1/2", "1/2"), ("0.3", "0.3", "0.4")), "q"),
        (lambda: MixtureOfGaussiansEvent(0, (1,), (1,)), "stddev"),
        (lambda: MixtureOfGaussiansEvent(1, (-1,), (1,)), "sensitivities"),
        (lambda: MixtureOfGaussiansEvent(1, (1, 2), (1,)), "probabilities"),
        (lambda: FiniteEvent(None, None), "p"),
        (lambda: MixtureOfGaussiansEvent(1, 2, 1), "sensitivities"),
    ],
)
def test_every_parameter_is_checked_by_name(make, name):
    with pytest.raises(ParameterError, match=name):
        make()
