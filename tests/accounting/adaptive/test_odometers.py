import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.adaptive.adversaries import crossing_probability, finite, response
from tests.accounting.adaptive.odometer_contract import OdometerContract
from tests.accounting.contract import EVENTS

from sfumato.accounting.adaptive.odometers import BasicOdometer, PureOdometer
from sfumato.accounting.adaptive.pure_filters import ApproxFilter
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import ApproxEvent, NonPrivateEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE


class TestPureOdometer(OdometerContract):
    def make(self, relation=ADD_OR_REMOVE_ONE):
        return PureOdometer(neighboring_relation=relation)


class TestBasicOdometer(OdometerContract):
    def make(self, relation=ADD_OR_REMOVE_ONE):
        return BasicOdometer(neighboring_relation=relation)


def test_the_privacy_loss_never_passes_the_sum():
    assert crossing_probability(PureOdometer(), (response(2), response("3/2"), finite("1/5", "1/3")), depth=5) == 0


def test_a_sum_any_smaller_is_passed():
    truthful = response(3)
    shy = type(truthful)(PureEvent(log_up(Fraction(5, 2))), truthful.p, truthful.q)
    assert crossing_probability(PureOdometer(), (shy,), depth=1) == Fraction(3, 4)


def test_basic_odometer_adds_epsilon_and_delta():
    odometer = BasicOdometer().compose(ApproxEvent("0.1", "1e-7"), count=10).compose(PureEvent("0.5"))
    assert (odometer.epsilon, odometer.delta) == (Fraction(3, 2), Fraction(1, 10**6))


def test_exact_answers_are_read_as_no_protection():
    assert PureOdometer().compose(NonPrivateEvent()).epsilon == float("inf")
    assert BasicOdometer().compose(NonPrivateEvent()).delta == 1


@given(st.lists(st.sampled_from([event for event in EVENTS if BasicOdometer().supports(event)]), max_size=6))
def test_a_filter_of_what_was_read_is_just_filled_by_it(events):
    odometer = BasicOdometer()
    for event in events:
        odometer = odometer.compose(event)
    account = ApproxFilter(odometer.epsilon, odometer.delta)
    for event in events:
        account = account.spend(event)
    assert {number for _, number in account.remaining.numbers} == {0}


def test_an_exact_answer_is_read_also_after_an_epsilon_that_no_float_holds():
    assert PureOdometer().compose(PureEvent("1e390")).compose(NonPrivateEvent()).epsilon == math.inf
