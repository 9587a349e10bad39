import math
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.calibration import (
    Parameter,
    calibrate,
    largest_count,
    largest_sampling_probability,
    smallest_noise,
)
from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.composition.optimal import OptimalAccountant
from sfumato.accounting.gaussian.gaussian import analytic_stddev, gaussian_epsilon_up
from sfumato.accounting.gaussian.gdp import GDPAccountant
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.accounting.renyi.accountant import RDPAccountant
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.privacy.events import (
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PoissonSampledEvent,
    PureEvent,
    SelfComposedEvent,
    ZCDPEvent,
)
from sfumato.privacy.guarantees import ApproxDP, PureDP

TOLERANCE = Fraction(1, 10**6)


@dataclass
class Counting:
    """An accountant that counts how often it was asked."""

    inner: object
    asked: list

    def compose(self, event, *, count=1):
        return Counting(self.inner.compose(event, count=count), self.asked)

    def epsilon(self, delta=0):
        self.asked.append(delta)
        return self.inner.epsilon(delta)


def sampled(probability, count):
    return lambda noise: SelfComposedEvent(PoissonSampledEvent(probability, GaussianEvent(noise)), count)


@pytest.mark.parametrize("delta", ["1e-5", "1e-9"])
@pytest.mark.parametrize("epsilon", ["0.1", 1, 10])
def test_gaussian_noise_is_that_of_the_exact_curve(epsilon, delta):
    target = ApproxDP(epsilon, delta)
    noise = smallest_noise(GaussianEvent, target=target, accountant=GDPAccountant())
    exact = analytic_stddev(l2_sensitivity=1, epsilon=epsilon, delta=delta)
    assert exact * (1 - TOLERANCE) <= noise <= exact * (1 + 2 * TOLERANCE)
    assert gaussian_epsilon_up(noise_multiplier=noise, delta=delta) <= target.epsilon


# calibration by dp-accounting 0.6, up to 1.2% too large, as its grid is coarse; q, count, ε: the noise at δ = 1e-5
PLD_NOISE = [
    ("0.01", 1000, 1, 1.4148),
    ("0.01", 1000, 8, 0.5864),
    ("0.01", 10_000, 1, 3.8560),
    ("0.01", 10_000, 3, 1.5671),
    ("0.001", 10_000, 3, 0.5727),
]
RDP_NOISE = [("0.01", 1000, 1, 1.5140), ("0.01", 10_000, 3, 1.6619), ("0.001", 10_000, 8, 0.4725)]


@pytest.mark.parametrize(("probability", "count", "epsilon", "noise"), PLD_NOISE)
def test_noise_by_privacy_loss_is_at_most_the_reference_and_no_less_would_do(probability, count, epsilon, noise):
    asked = []
    accountant, target = Counting(PLDAccountant(), asked), ApproxDP(epsilon, "1e-5")
    found = calibrate(sampled(probability, count), target=target, accountant=accountant, tolerance="1e-4")
    assert noise * 0.985 <= found.value <= noise * 1.001
    assert found.epsilon <= epsilon
    less = sampled(probability, count)(found.value * Fraction(998, 1000))
    assert PLDAccountant().compose(less).interval("1e-5").lower > epsilon
    assert len(asked) <= 12


@pytest.mark.parametrize(("probability", "count", "epsilon", "noise"), RDP_NOISE)
def test_noise_by_renyi_divergences_is_at_most_the_reference(probability, count, epsilon, noise):
    found = smallest_noise(sampled(probability, count), target=ApproxDP(epsilon, "1e-5"), accountant=RDPAccountant())
    assert noise * 0.98 <= found <= noise * 1.005


@pytest.mark.parametrize(
    ("epsilon", "count", "scale"), [("0.5", 100, 79.36), (1, 100, 41.49), (2, 100, 21.78), (8, 1000, 20.44)]
)
def test_laplace_scales_agree_with_the_reference(epsilon, count, scale):
    found = smallest_noise(
        LaplaceEvent, target=ApproxDP(epsilon, "1e-6"), accountant=PLDAccountant(), count=count, tolerance="1e-5"
    )
    assert float(found) == pytest.approx(scale, rel=1e-3)


def test_exact_scales_are_found_exactly():
    assert smallest_noise(LaplaceEvent, target=PureDP("0.1"), accountant=BasicAccountant(), count=7) == 70


def test_what_was_spent_before_counts():
    spent = BasicAccountant().compose(PureEvent("0.5"))
    assert smallest_noise(LaplaceEvent, target=PureDP("0.75"), accountant=spent) == 4
    assert largest_count(PureEvent("0.1"), target=PureDP(1), accountant=spent) == 5


@given(st.integers(1, 10**6), st.integers(1, 1000))
def test_a_count_is_exact_for_pure_events(count, parts):
    epsilon = Fraction(1, parts)
    target = PureDP(count * epsilon + epsilon / 2)
    assert largest_count(PureEvent(epsilon), target=target, accountant=BasicAccountant(), tolerance="1e-7") == count


def test_a_count_is_the_last_that_fits():
    target = ApproxDP(2, "1e-6")
    count = largest_count(PureEvent("0.01"), target=target, accountant=OptimalAccountant())
    assert OptimalAccountant().compose(PureEvent("0.01"), count=count).epsilon("1e-6") <= 2
    assert OptimalAccountant().compose(PureEvent("0.01"), count=count + 1).epsilon("1e-6") > 2


def test_a_count_without_limit_is_the_largest():
    assert largest_count(PureEvent(0), target=PureDP(1), accountant=BasicAccountant()) == 10**12


def test_the_largest_sample_is_private_and_a_larger_one_is_not():
    target, event = ApproxDP(1, "1e-6"), GaussianEvent(2)
    found = largest_sampling_probability(event, target=target, accountant=PLDAccountant(), count=100)
    assert PLDAccountant().compose(PoissonSampledEvent(found, event), count=100).epsilon("1e-6") <= 1
    larger = found * (1 + Fraction(1, 1000))
    assert PLDAccountant().compose(PoissonSampledEvent(larger, event), count=100).epsilon("1e-6") > 1


def test_everybody_may_be_sampled_where_the_event_itself_is_cheap_enough():
    event, target = GaussianEvent(100), ApproxDP(1, "1e-6")
    assert largest_sampling_probability(event, target=target, accountant=PLDAccountant()) == 1


def test_nobody_is_sampled_for_an_exact_answer():
    event, target = NonPrivateEvent(), PureDP(1)
    assert largest_sampling_probability(event, target=target, accountant=PLDAccountant()) == 0


def test_an_epsilon_of_zero_is_met_through_delta():
    noise = smallest_noise(GaussianEvent, target=ApproxDP(0, "0.1"), accountant=GDPAccountant(), tolerance="1e-6")
    assert GDPAccountant().compose(GaussianEvent(noise)).delta(0) <= Fraction(1, 10)
    assert float(noise) == pytest.approx(1 / (2 * 0.12566134685507402), rel=1e-5)  # 1/2μ with 2Φ(μ/2) − 1 = 0.1


@given(st.randoms(use_true_random=False), st.sampled_from(list(Parameter)))
def test_whatever_make_event_does_the_result_was_private(generator, parameter):
    costs = {}

    def make_event(value):
        return PureEvent(costs.setdefault(value, Fraction(generator.randrange(21), 10)))

    try:
        found = calibrate(make_event, target=PureDP(1), accountant=BasicAccountant(), parameter=parameter)
    except ParameterError:
        return
    assert costs[found.value] == found.epsilon <= 1


def test_results_are_short():
    noise = smallest_noise(GaussianEvent, target=ApproxDP(1, "1e-6"), accountant=GDPAccountant(), tolerance="1e-4")
    assert noise.numerator.bit_length() <= 18


def test_a_calibration_reads_well():
    found = calibrate(
        lambda count: SelfComposedEvent(PureEvent("0.1"), int(count)),
        target=PureDP("0.95"), accountant=BasicAccountant(), parameter="count",
    )  # fmt: skip
    assert str(found) == "count 9 costs ε 0.9 at δ 0"
    assert found.event == SelfComposedEvent(PureEvent("0.1"), 9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: smallest_noise(GaussianEvent, target=PureDP(1), accountant=GDPAccountant()), "any noise.*δ above 0"),
        (lambda: largest_count(PureEvent(2), target=PureDP(1), accountant=BasicAccountant()), "even one release"),
        (
            lambda: smallest_noise(LaplaceEvent, target=PureDP(1), accountant=BasicAccountant().compose(PureEvent(2))),
            "spent before",
        ),
        (
            lambda: largest_sampling_probability(
                PureEvent(1), target=PureDP(1), accountant=PLDAccountant().compose(PureEvent(2))
            ),
            "spent before",
        ),
    ],
)
def test_an_impossible_target_is_named_with_a_way_out(call, words):
    with pytest.raises(ParameterError, match=f"target.*{words}"):
        call()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"parameter": "epsilon"}, "parameter"),
        ({"tolerance": 0}, "tolerance"),
        ({"tolerance": 2}, "tolerance"),
        ({"guess": 0}, "guess"),
    ],
)
def test_arguments_are_checked(arguments, name):
    with pytest.raises(ParameterError, match=name):
        calibrate(LaplaceEvent, target=PureDP(1), accountant=BasicAccountant(), **arguments)


def test_a_guess_changes_the_way_and_not_the_result():
    results = {
        calibrate(LaplaceEvent, target=PureDP("0.5"), accountant=BasicAccountant(), guess=guess).value
        for guess in ("1e-3", 1, "1e6")
    }
    assert results == {Fraction(2)}


def test_an_event_without_a_price_is_refused():
    with pytest.raises(UnsupportedEventError):
        smallest_noise(lambda rho: ZCDPEvent(1 / rho), target=ApproxDP(1, "1e-6"), accountant=OptimalAccountant())


def test_infinite_costs_on_the_way_do_no_harm():
    def make_event(noise):
        return NonPrivateEvent() if noise < 3 else PureEvent(Fraction(1, 10**6))

    found = calibrate(make_event, target=PureDP(1), accountant=BasicAccountant())
    assert 3 <= found.value <= 3 * (1 + TOLERANCE)
    assert math.isinf(BasicAccountant().compose(make_event(2)).epsilon())


@pytest.mark.parametrize("tolerance", ["0.2", "0.5", 1])
@pytest.mark.parametrize("epsilon", ["0.999", "0.9999", "3.7"])
def test_a_coarse_tolerance_is_good_enough_for_a_rough_answer(tolerance, epsilon):
    target = PureDP(epsilon)
    noise = smallest_noise(LaplaceEvent, target=target, accountant=BasicAccountant(), tolerance=tolerance)
    assert 1 <= noise * target.epsilon <= 1 + Fraction(tolerance)


@pytest.mark.parametrize("guess", ["1e390", "1e-390"])
@pytest.mark.parametrize("parameter", list(Parameter))
def test_a_guess_beyond_the_range_is_its_end(guess, parameter):
    found = calibrate(
        lambda value: PureEvent(1 / value if parameter is Parameter.NOISE else value),
        target=PureDP("0.5" if parameter is Parameter.SAMPLING_PROBABILITY else 2),
        accountant=BasicAccountant(), parameter=parameter, guess=guess,
    )  # fmt: skip
    assert found.epsilon == found.target.epsilon
