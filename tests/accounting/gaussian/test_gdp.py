import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from dp_accounting import gaussian_mechanism
from tests.accounting.contract import AccountantContract
from tests.accounting.lattice_sums import composed_delta

from sfumato.accounting.gaussian.discrete_gaussian import discrete_gaussian_epsilon_up
from sfumato.accounting.gaussian.gaussian import analytic_stddev
from sfumato.accounting.gaussian.gdp import (
    Estimate,
    GDPAccountant,
    clt_estimate,
    gdp_delta_up,
    gdp_epsilon_up,
    gdp_mu_down,
    pure_to_gdp,
)
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.privacy.events import (
    ComposedEvent,
    DiscreteGaussianEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    SelfComposedEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import REPLACE_ONE

# mpmath with 40 digits, at delta 1e-6: noise multiplier, count, epsilon.
COMPOSITIONS = [
    ("1", 1, 4.886554), ("1", 10, 19.4237), ("1", 100, 96.7173), ("1", 1000, 649.385),
    ("10", 1, 0.396857), ("10", 10, 1.3676), ("10", 100, 4.886554), ("10", 10_000, 96.7173),
    ("50", 1, 0.0710), ("50", 1000, 2.9216), ("50", 10_000, 10.997151),
]  # fmt: skip
# The privacy loss distribution of dp-accounting 0.6.0 with a grid of 1e-4, at delta 1e-6.
DISCRETE = [(10, 100, 4.886554), (10, 10, 1.3676), (50, 100, 0.8341), (50, 1000, 2.9216)]


class TestGDPAccountant(AccountantContract):
    def make(self, relation):
        return GDPAccountant(neighboring_relation=relation)


def spent(*events) -> GDPAccountant:
    return GDPAccountant().compose(ComposedEvent(events))


@pytest.mark.parametrize(("noise_multiplier", "count", "epsilon"), COMPOSITIONS)
def test_compositions_have_their_exact_values(noise_multiplier, count, epsilon):
    found = GDPAccountant().compose(GaussianEvent(noise_multiplier), count=count).interval("1e-6")
    assert float(found.upper) == pytest.approx(epsilon, rel=1e-3 if epsilon < 0.1 else 4e-5)
    assert found.upper * (1 - Fraction(1, 10**8)) < found.lower < found.upper


def test_different_releases_have_their_exact_value():
    gaussians = [GaussianEvent(Fraction(noise)) for noise in range(5, 55)]
    assert float(spent(*gaussians).epsilon("1e-5")) == pytest.approx(1.7745710555730163, rel=1e-9)  # mpmath
    assert spent(*gaussians).mu == pytest.approx(0.4505272984095935)


@pytest.mark.parametrize(("sigma", "group", "delta", "epsilon"), [
    (10, 2, "1e-6", 0.834118), (10, 10, "1e-6", 4.886554), (1, 3, "1e-9", 21.945590),
])  # fmt: skip
def test_groups_have_their_exact_values(sigma, group, delta, epsilon):
    found = spent(GroupEvent(GaussianEvent(sigma), group)).epsilon(delta)
    assert float(found) == pytest.approx(epsilon, abs=1e-6)


@pytest.mark.parametrize("count", [1, 7, 100])
def test_an_independent_implementation_agrees(count):
    accountant = GDPAccountant().compose(GaussianEvent(5), count=count)
    for epsilon in (0.5, 2.0):
        peer = gaussian_mechanism.get_epsilon_gaussian(5 / math.sqrt(count), float(accountant.delta(epsilon)))
        assert peer == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize(("stddev", "count", "epsilon"), DISCRETE)
def test_discrete_compositions_are_near_the_continuous(stddev, count, epsilon):
    found = GDPAccountant().compose(DiscreteGaussianEvent(stddev, 1), count=count).interval("1e-6")
    assert float(found.lower) == pytest.approx(epsilon, rel=0.005)
    assert float(found.upper) == pytest.approx(epsilon, rel=0.003)


@pytest.mark.parametrize("stddev", [2, "2.5", 6])
@pytest.mark.parametrize("shifts", [(1, 1), (1,) * 40, (3, 2, 1, 5)])
def test_discrete_compositions_enclose_the_truth(stddev, shifts):
    accountant = spent(*(DiscreteGaussianEvent(stddev, shift, 1) for shift in shifts))
    for epsilon in ("0.1", "1", "3"):
        truth = composed_delta(float(Fraction(stddev)), shifts, float(epsilon))
        assert truth <= accountant.delta(epsilon)
        if truth > 1e-9:
            interval = accountant.interval(Fraction(truth))
            assert interval.lower <= Fraction(epsilon) * (1 + Fraction(1, 10**9))
            assert interval.upper >= Fraction(epsilon) * (1 - Fraction(1, 10**9))


def test_a_single_coordinate_moved_once_has_its_own_exact_curve():
    for event in (DiscreteGaussianEvent(3, "2.5", 1), DiscreteGaussianEvent(3, "1.2", 4)):
        steps = int(event.l2_sensitivity)
        exact = discrete_gaussian_epsilon_up(stddev=3, l2_sensitivity=steps, delta="1e-6", l0_sensitivity=1)
        assert spent(event).epsilon("1e-6") == exact
        assert spent(event).interval("1e-6").lower < exact
    assert spent(DiscreteGaussianEvent(3, 1), DiscreteGaussianEvent(4, 1)).epsilon("1e-6") > exact / 2


def test_counts_of_discrete_releases_cost_little_more_than_of_continuous():
    for count, stddev in ((10**6, 10**4), (10**12, 10**7)):
        discrete = GDPAccountant().compose(DiscreteGaussianEvent(stddev, 1), count=count).epsilon("1e-6")
        continuous = GDPAccountant().compose(GaussianEvent(stddev), count=count).epsilon("1e-6")
        assert continuous < discrete < continuous * (1 + Fraction(1, 10**6))


def test_a_unit_pays_for_the_parts_it_may_touch():
    parts = (GaussianEvent(1), GaussianEvent(2), GaussianEvent("1/2"))
    assert spent(PartitionEvent(parts, 1)).mu == 2
    assert spent(PartitionEvent(parts, 2)).mu == pytest.approx(math.sqrt(5))
    assert spent(GroupEvent(PartitionEvent(parts, 1), 3)).mu == 6
    replaced = GDPAccountant(neighboring_relation=REPLACE_ONE).compose(PartitionEvent(parts, 1))
    assert replaced.mu == pytest.approx(math.sqrt(5))
    discrete = PartitionEvent((DiscreteGaussianEvent(10, 1), DiscreteGaussianEvent(20, 1)), 1)
    assert spent(discrete).epsilon("1e-6") < spent(DiscreteGaussianEvent(10, 1), DiscreteGaussianEvent(20, 1)).epsilon(
        "1e-6"
    )


def test_what_is_not_gaussian_or_has_little_discrete_noise_is_refused():
    accountant = GDPAccountant()
    assert accountant.supports(DiscreteGaussianEvent(2, 7, 3))
    assert not accountant.supports(DiscreteGaussianEvent("1.99", 1))
    assert not accountant.supports(PartitionEvent((GaussianEvent(1), LaplaceEvent(1)), 1))
    assert not accountant.supports(SelfComposedEvent(ZCDPEvent(1), 2))


def test_mu_is_exact_or_unknown():
    assert GDPAccountant().mu == 0
    assert GDPAccountant().compose(GaussianEvent(10), count=25).mu == Fraction(1, 2)
    assert Fraction(spent(GaussianEvent(1), GaussianEvent(1)).mu) ** 2 >= 2
    assert spent(DiscreteGaussianEvent(5, 1)).mu == math.inf


def test_exact_answers_in_a_part_cost_everything():
    interval = spent(PartitionEvent((NonPrivateEvent(), GaussianEvent(1)), 1)).interval("1e-6")
    assert (interval.lower, interval.upper) == (math.inf, math.inf)


@pytest.mark.parametrize("noise_multiplier", ["1e-200", "1e200"])
def test_extreme_noise_has_a_price(noise_multiplier):
    accountant = spent(GaussianEvent(noise_multiplier))
    assert 0 < accountant.delta(1) <= 1
    assert accountant.epsilon("1e-6") == (0 if noise_multiplier == "1e200" else math.inf)


@pytest.mark.parametrize(("mu", "epsilon"), [("0.1", 0.396857), ("1", 4.886554), ("5", 35.566344)])  # mpmath, 1e-6
def test_conversions_have_their_published_values(mu, epsilon):
    assert float(gdp_epsilon_up(mu=mu, delta="1e-6")) == pytest.approx(epsilon, abs=2e-6)
    assert gdp_delta_up(mu=mu, epsilon=epsilon) == pytest.approx(1e-6, rel=1e-4)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
def test_the_mu_of_a_target_keeps_it(epsilon):
    mu = gdp_mu_down(epsilon=epsilon, delta="1e-6")
    assert mu == 1 / analytic_stddev(l2_sensitivity=1, epsilon=epsilon, delta="1e-6")
    assert gdp_delta_up(mu=mu, epsilon=epsilon) <= Fraction(1, 10**6)
    assert gdp_delta_up(mu=mu * (1 + Fraction(1, 10**8)), epsilon=epsilon) > Fraction(1, 10**6)


@pytest.mark.parametrize("epsilon", ["1e-100", "1e-9", "0.001", "0.99", "1", "3", "40", "999", "1e5", "1e100"])
def test_mu_of_a_pure_mechanism_meets_randomized_response(epsilon):
    mu = pure_to_gdp(epsilon)
    with mpmath.workdps(250):
        half = mpmath.mpf(mu.numerator) / mu.denominator / 2 / mpmath.sqrt(2)
        loss = mpmath.mpf(epsilon)
        tail, other = mpmath.erfc(half) / 2, 1 / (1 + mpmath.exp(loss))
        assert tail <= other if loss < 1e5 else mu**2 >= 8 * Fraction(epsilon)
        if loss < 1000:
            assert mpmath.erfc(half * (1 - mpmath.mpf("1e-10"))) / 2 > other


@pytest.mark.parametrize("epsilon", ["0.001", "0.2", "1", "6", "200"])
def test_the_price_of_pure_events_grows_faster_than_the_group(epsilon):
    """So that a group does best to stay together."""
    per_unit = [pure_to_gdp(size * Fraction(epsilon)) ** 2 / size for size in range(1, 12)]
    assert all(less <= more * (1 + Fraction(1, 10**15)) for less, more in pairwise(per_unit))


def test_pure_releases_are_priced_beside_gaussian_ones():
    both = spent(PureEvent("0.1"), GaussianEvent(5))
    assert both.mu == pytest.approx(math.hypot(0.2, float(pure_to_gdp("0.1"))))
    assert spent(GaussianEvent(5)).epsilon("1e-6") < both.epsilon("1e-6")
    assert both.interval("1e-6").lower == spent(GaussianEvent(5)).interval("1e-6").lower
    assert spent(RandomizedResponseEvent("1/2", 2)).mu == pytest.approx(pure_to_gdp(math.log(3)))
    assert spent(RandomizedResponseEvent(1, 2)).interval("1e-6").upper == math.inf
    assert spent(RandomizedResponseEvent(1, 2)).delta(9) == 1
    responses = GDPAccountant().compose(PureEvent("0.1"), count=1000).epsilon("1e-6")
    assert 19.3447 < responses < 30  # the exact optimal composition, and basic composition says 100


def test_mu_is_checked():
    for convert in (lambda mu: gdp_delta_up(mu=mu, epsilon=1), lambda mu: gdp_epsilon_up(mu=mu, delta="1e-6")):
        with pytest.raises(ParameterError, match="mu"):
            convert(0)


def test_a_step_that_no_vector_takes_is_not_priced():
    spent = GDPAccountant().compose(DiscreteGaussianEvent(10, "1.75", 2), count=1000).interval("1e-6")
    farthest = GDPAccountant().compose(GaussianEvent(10), count=2000).epsilon("1e-6")  # one step in each coordinate
    assert spent.lower <= farthest <= spent.upper <= farthest * Fraction(101, 100)


@pytest.mark.parametrize("epsilon", ["1e-200", "1e200"])
@pytest.mark.parametrize(
    "event",
    [
        DiscreteGaussianEvent(4, 1),
        DiscreteGaussianEvent(2**600, 1),
        DiscreteGaussianEvent(4, 2**600, 1),
        GaussianEvent(2**600),
    ],
)
def test_extreme_numbers_have_a_delta(event, epsilon):
    spent = GDPAccountant().compose(event)
    assert 0 < spent.delta(epsilon) <= 1
    assert spent.interval("1e-5").upper >= 0


def sampled(probability, sigma) -> PoissonSampledEvent:
    return PoissonSampledEvent(Fraction(probability), GaussianEvent(Fraction(sigma)))


def test_it_is_the_formula():
    estimate = clt_estimate(sampled("0.01", 1), 10_000)
    assert estimate.mu == pytest.approx(math.sqrt(math.e - 1))
    assert estimate.epsilon("1e-5") == pytest.approx(6.007, abs=1e-3)  # the truth is 6.177 or more
    assert estimate.delta(estimate.epsilon("1e-5")) == pytest.approx(1e-5)


def test_it_can_be_far_below_the_truth():
    truth = 3.435  # dp-accounting 0.6.0, privacy loss distribution
    assert clt_estimate(sampled("0.001", "0.6"), 100).epsilon("1e-9") < truth / 17


def test_it_cannot_be_taken_for_an_accountant_or_a_bound():
    for promise in ("upper", "interval", "compose", "supports", "neighboring_relation"):
        assert not hasattr(Estimate(1.0), promise)


@pytest.mark.parametrize(
    "event",
    [GaussianEvent(1), PoissonSampledEvent(Fraction(1, 2), LaplaceEvent(1)), PoissonSampledEvent(1, sampled(1, 1))],
)
def test_other_events_are_refused(event):
    with pytest.raises(UnsupportedEventError, match="clt_estimate"):
        clt_estimate(event, 10)


def test_the_count_is_checked_and_extremes_are_finite():
    with pytest.raises(ParameterError, match="count"):
        clt_estimate(sampled("0.01", 1), 0)
    assert 0 < clt_estimate(sampled("0.01", "1e-9"), 10**12).mu < math.inf
