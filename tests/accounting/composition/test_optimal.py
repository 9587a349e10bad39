import math
from fractions import Fraction
from itertools import product

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.contract import AccountantContract

from sfumato.accounting.composition.advanced import AdvancedAccountant
from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.composition.optimal import (
    HighestLossOnly,
    OptimalAccountant,
    ResponsesCurve,
    _sum_of_equal,
    _sum_of_tabled,
    responses_curve,
)
from sfumato.accounting.core.accountant import EpsilonInterval
from sfumato.accounting.core.finite import smallest_delta
from sfumato.privacy.events import (
    ApproxEvent,
    Event,
    ExponentialEvent,
    FiniteEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    TruncatedPoissonSampledEvent,
)
from sfumato.privacy.neighbors import NeighboringRelation


class TestOptimalAccountant(AccountantContract):
    def make(self, relation: NeighboringRelation) -> OptimalAccountant:
        return OptimalAccountant(neighboring_relation=relation)


def composed(*events: Event, count: int = 1) -> OptimalAccountant:
    accountant = OptimalAccountant()
    for event in events:
        accountant = accountant.compose(event, count=count)
    return accountant


# Murtagh and Vadhan (2016) for equal ε, summed with 40 digits.
HOMOGENEOUS = [
    ("0.1", 0, 100, "1e-6", 4.774567588101),
    ("0.01", 0, 1000, "1e-6", 1.365446709991),
    ("0.1", 0, 1000, "1e-6", 19.344671447964),
    ("0.01", 0, 10_000, "1e-6", 4.885515600989),
    (1, 0, 50, "1e-6", 47.64940105734946),
    (1, 0, 10, "1e-9", 9.999999977066084),
    ("0.5", 0, 20, "1e-5", 9.859411024115124),
    ("0.2", 0, 200, "1e-5", 15.179043058597053),
    ("0.1", "1e-8", 50, "1e-5", 2.856550164654229),
    ("0.1", "1e-8", 50, "1e-6", 3.2641330787819687),
]
# The same for distinct ε, by brute force.
STEPS = tuple(Fraction(step, 20) for step in range(1, 11))
MIXED = ("0.1",) * 6 + ("0.5",) * 4 + (1, 1)
HALVES = tuple(Fraction(1, 2**power) for power in range(14))
HETEROGENEOUS = [
    (STEPS, "1e-2", 2.057981),
    (STEPS, "1e-3", 2.542238),
    (STEPS, "1e-5", 2.747078),
    (STEPS, "1e-6", 2.749708186140661),
    (MIXED, "1e-2", 3.947484479562045),
    (MIXED, "1e-3", 4.331418529038309),
    (HALVES, "1e-2", 1.8048022019516166),
    (HALVES, "1e-6", 1.9981371958311591),
]


@pytest.mark.parametrize(("epsilon", "delta_each", "count", "delta", "wanted"), HOMOGENEOUS)
def test_equal_events_have_the_optimal_epsilon(epsilon, delta_each, count, delta, wanted):
    interval = composed(ApproxEvent(epsilon, delta_each), count=count).interval(delta)
    assert float(interval.upper) == pytest.approx(wanted, rel=1e-9)
    assert float(interval.lower) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("epsilons", "delta", "wanted"), HETEROGENEOUS)
def test_distinct_events_have_the_optimal_epsilon(epsilons, delta, wanted):
    interval = composed(*map(PureEvent, epsilons)).interval(delta)
    assert float(interval.upper) == pytest.approx(wanted, abs=1e-6)
    assert 0 < interval.upper - interval.lower < 1e-9


def worst_pair(epsilon: Fraction, delta: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """The laws that every other (ε, δ) pair is a post-processing of, up to the rounding of e^ε down to a rational."""
    odds = Fraction(math.floor(math.exp(epsilon) * 10**12), 10**12)
    true = (1 - delta) * odds / (1 + odds)
    return [delta, true, 1 - delta - true, Fraction(0)], [Fraction(0), 1 - delta - true, true, delta]


@given(
    st.lists(st.fractions(Fraction(1, 20), 2, max_denominator=20), min_size=1, max_size=4),
    st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1, 7)]),
    st.fractions(0, 1, max_denominator=30),
)
def test_delta_is_that_of_the_exact_convolution(epsilons, delta, share):
    p, q = [Fraction(1)], [Fraction(1)]
    for epsilon in epsilons:
        laws = worst_pair(epsilon, delta)
        p, q = ([a * b for a, b in product(law, one)] for law, one in zip((p, q), laws, strict=True))
    at = share * sum(epsilons)
    truth = float(smallest_delta(p, q, epsilon=at))
    assert float(composed(*(ApproxEvent(epsilon, delta) for epsilon in epsilons)).delta(at)) == pytest.approx(
        truth, rel=1e-9, abs=1e-10
    )


@pytest.mark.parametrize("count", [1, 2, 3, 6])
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(99, 100)])
def test_equal_events_have_the_delta_of_their_exact_law(count, share):
    epsilon = Fraction(3, 10)
    true = Fraction(1) / (1 + Fraction(math.exp(-0.3)))
    laws = [[a ** (count - k) * (1 - a) ** k for k in range(count + 1)] for a in (true, 1 - true)]
    p, q = ([math.comb(count, k) * mass for k, mass in enumerate(law)] for law in laws)
    at = share * count * epsilon
    truth = float(smallest_delta(p, q, epsilon=at))
    assert float(composed(PureEvent(epsilon), count=count).delta(at)) == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12"])
def test_the_interval_encloses_the_crossing(delta):
    accountant = composed(PureEvent("0.3"), PureEvent("0.7"), count=20)
    interval = accountant.interval(delta)
    assert accountant.delta(interval.upper) <= Fraction(delta) * (1 + Fraction(1, 10**9))
    assert accountant.delta(interval.lower) > Fraction(delta)


def test_one_event_costs_what_it_says():
    assert composed(ApproxEvent(1, "1e-6")).epsilon("1e-6") == 1
    assert composed(ApproxEvent(1, "1e-6")).interval("9e-7").lower == math.inf
    assert composed(PureEvent("0.1"), count=10).interval().lower == 1
    assert composed(PureEvent("0.1"), count=10).epsilon() == 1


def test_what_adds_up_to_delta_leaves_the_sum_of_epsilons():
    accountant = composed(ApproxEvent("0.1", "1e-6"), count=3)
    assert accountant.epsilon("3e-6") < Fraction(3, 10)
    assert accountant.delta("0.3") <= Fraction(3, 10**6)
    assert accountant.epsilon("2.9e-6") == math.inf


def test_a_trillion_events_are_summed():
    # 10^12 releases of 10^-6 are one Gaussian of μ = 1 in the limit (Balle and Wang 2018 at δ = 10^-6).
    interval = composed(PureEvent("1e-6"), count=10**12).interval("1e-6")
    assert float(interval.upper) == pytest.approx(4.886554117, abs=1e-8)
    assert interval.upper - interval.lower < 1e-9


@pytest.mark.parametrize("epsilon", ["1e-300", "1e-12", 30, 800, 10**20])
@pytest.mark.parametrize("delta", ["1e-350", "1e-30", "0.01"])
def test_extreme_events_are_bounded(epsilon, delta):
    interval = composed(PureEvent(epsilon), count=7).interval(delta)
    assert 0 <= interval.lower <= interval.upper <= 7 * Fraction(epsilon)


def test_counts_beyond_any_sum_add_up():
    assert composed(PureEvent("1e-6"), count=10**15).epsilon() == 10**9
    assert composed(ApproxEvent(1, "1e-6"), count=10**15).epsilon("0.5") == math.inf


@given(
    st.lists(
        st.tuples(st.fractions(0, 2, max_denominator=10), st.sampled_from([0, Fraction(1, 10**7)]), st.integers(1, 30)),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([Fraction(1, 10**3), Fraction(1, 10**5)]),
)
def test_it_is_never_above_basic_and_advanced_composition(events, delta):
    accountants = [OptimalAccountant(), BasicAccountant(), AdvancedAccountant()]
    for epsilon, delta_each, count in events:
        accountants = [each.compose(ApproxEvent(epsilon, delta_each), count=count) for each in accountants]
    optimal, basic, advanced = (each.epsilon(delta) for each in accountants)
    assert optimal <= basic
    assert optimal <= advanced


@pytest.mark.parametrize(
    "event",
    [
        LaplaceEvent(10),
        ExponentialEvent("0.1"),
        GroupEvent(LaplaceEvent(20), 2),
        PoissonSampledEvent(1, PureEvent("0.1")),
    ],
)
def test_every_event_with_an_epsilon_counts_as_a_pure_one(event):
    assert composed(event, count=100).epsilon("1e-6") == composed(PureEvent("0.1"), count=100).epsilon("1e-6")


def test_only_of_the_worst_mechanisms_a_lower_bound_is_known():
    assert composed(LaplaceEvent(10), count=100).interval("1e-6").lower == 0
    assert composed(PureEvent("0.1"), count=100).interval("1e-6").lower > 4.77


def test_curves_are_refused():
    assert not OptimalAccountant().supports(GaussianEvent(1))
    assert not OptimalAccountant().supports(PoissonSampledEvent("0.1", GaussianEvent(1)))


def test_counts_of_randomized_responses_are_not_lost():
    # Summed with 120 digits; dp-accounting 0.6 reports 1.0987.
    cost = composed(RandomizedResponseEvent("0.5", 2), count=100).epsilon("1e-6")
    assert float(cost) == pytest.approx(94.28986789292, rel=1e-10)


def test_a_sampled_exact_answer_is_its_probability():
    accountant = composed(PoissonSampledEvent("1e-3", NonPrivateEvent()))
    assert accountant.epsilon("1e-3") == 0
    assert accountant.delta(5) == Fraction(1, 1000)


def test_many_different_events_are_composed_by_their_losses():
    each = Fraction(1, 100)
    nearly = each + Fraction(1, 10**12)
    exact = composed(PureEvent(nearly), count=4000).epsilon("1e-6")
    interval = composed(PureEvent(each), PureEvent(nearly), count=2000).interval("1e-6")
    assert interval.lower <= exact * (1 + Fraction(1, 10**9))
    assert float(exact) * (1 - 1e-9) <= interval.upper <= float(exact) * 1.002
    assert composed(PureEvent(each), PureEvent(nearly), count=2000).delta(interval.upper) <= Fraction(1005, 10**9)


def test_many_distinct_events_end_exactly_in_their_sum():
    accountant = composed(*(PureEvent(Fraction(1, step)) for step in range(1, 61)))
    assert accountant.epsilon() == accountant.interval().lower == sum(Fraction(1, step) for step in range(1, 61))
    assert accountant.delta(5) == 0
    assert accountant.epsilon("1e-6") < 4.6


@pytest.mark.parametrize(("delta", "count"), [("1e-330", 1), ("1e-300", 3), ("1e-320", 10**6)])
def test_deltas_below_the_floats_add_up(delta, count):
    total = Fraction(delta) * count
    accountant = composed(ApproxEvent(1, delta), count=count)
    truth = total - total**2 / 2 * (1 - Fraction(1, count))  # up to a relative total²
    assert truth <= accountant.delta(count) <= truth * (1 + 2 * total)
    assert accountant.interval(0) == EpsilonInterval(math.inf, math.inf)
    assert accountant.interval(total).lower <= accountant.epsilon(total) <= count


@pytest.mark.parametrize(
    ("event", "delta"),
    [
        (TruncatedPoissonSampledEvent(Fraction(1, 2), 100, 1, NonPrivateEvent()), "0.1"),
        (TruncatedPoissonSampledEvent(1, 10, 2, NonPrivateEvent()), "0.5"),
        (PartitionEvent((FiniteEvent(("0.1", "0.9"), (0, 1)), ApproxEvent("0.5", "0.1")), 2), "0.195"),
    ],
)
def test_what_is_only_bounded_has_no_infinite_lower_end(event, delta):
    assert composed(event).interval(delta) == EpsilonInterval(0, math.inf)


def test_exact_answers_beside_the_worst_mechanisms_are_infinite_on_both_sides():
    assert composed(PureEvent(1), NonPrivateEvent()).interval("0.1") == EpsilonInterval(math.inf, math.inf)
    assert composed(LaplaceEvent(1), NonPrivateEvent()).interval("0.1") == EpsilonInterval(0, math.inf)


def test_long_shares_of_delta_are_no_obstacle():
    """Too many different ε for a sum, beside δ whose sum is longer than a parameter may be."""
    primes = [n for n in range(10**6, 10**6 + 7000) if all(n % step for step in range(2, 1001))]
    accountant = composed(*(ApproxEvent(Fraction(1, prime), Fraction(1, prime**2)) for prime in primes))
    interval = accountant.interval("1e-6")
    assert 0 < interval.lower <= interval.upper < Fraction(1, 1000)


@pytest.mark.parametrize("epsilon", [1000, 10**4, 10**6])
def test_a_delta_that_floats_take_for_1_has_an_answer(epsilon):
    found = OptimalAccountant().compose(PureEvent(epsilon), count=2).interval(1 - Fraction(1, 10**17))
    assert 0 <= found.lower <= found.upper <= 2 * epsilon


ctx.prec = 200


def exactly(value: Fraction) -> arb:
    return arb(value.numerator) / value.denominator


def exact_delta(epsilon_each: Fraction, count: int, epsilon: Fraction) -> arb:
    """Σ over l of C(k, l) max(e^(lε₀) − e^(ε + (k − l)ε₀), 0)/(1 + e^ε₀)^k (Murtagh and Vadhan 2016)."""
    total, each = arb(0), exactly(epsilon_each)
    for true in range(count + 1):
        if (2 * true - count) * epsilon_each > epsilon:
            mass = (each * true).exp() - (exactly(epsilon) + each * (count - true)).exp()
            total += math.comb(count, true) * mass
    return total / (1 + each.exp()) ** count


@given(
    st.fractions(Fraction(1, 1000), 5, max_denominator=1000),
    st.integers(1, 300),
    st.fractions(0, Fraction(99, 100), max_denominator=100),
)
def test_equal_responses_are_bounded_on_both_sides(epsilon_each, count, share):
    epsilon = share * epsilon_each * count
    curve = responses_curve(((epsilon_each, count),))
    truth = float(exact_delta(epsilon_each, count, epsilon))
    assert curve.delta_down(epsilon) <= truth <= curve.delta_up(epsilon)
    assert curve.delta_up(epsilon) <= truth * (1 + 1e-10) + 1e-299


@given(st.integers(1, 60), st.integers(1, 60), st.fractions(0, Fraction(99, 100), max_denominator=100))
def test_a_table_of_two_is_the_sum_of_one(first, second, share):
    each = Fraction(1, 7)
    nearly = each + Fraction(1, 10**30)
    epsilon = share * each * (first + second)
    table = responses_curve(((each, first), (nearly, second)))
    truth = float(exact_delta(each, first + second, epsilon))
    assert table.delta_down(epsilon) <= truth * (1 + 1e-15)
    assert table.delta_up(epsilon) >= truth * (1 - 1e-15)
    assert table.delta_up(epsilon) == pytest.approx(truth, rel=1e-8, abs=1e-290)


def test_sums_also_give_the_slope_of_the_curve():
    step = Fraction(1, 10**6)
    for sum_beyond in (
        lambda epsilon: _sum_of_equal(Fraction(1, 10), 100, epsilon),
        lambda epsilon: _sum_of_tabled(((Fraction(1, 10), 10), (Fraction(1, 3), 5)), epsilon),
    ):
        at = Fraction(51, 100)
        height, slope = sum_beyond(at)
        assert (height - sum_beyond(at + step)[0]) * 10**6 == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize("counts", [((Fraction(1, 10), 10**5),), ((Fraction(1, 10), 300), (Fraction(1, 5), 40))])
@pytest.mark.parametrize("delta", ["0.5", "1e-3", "1e-9", "1e-40", "1e-200"])
def test_the_search_finds_where_the_curve_crosses(counts, delta):
    curve = responses_curve(counts)
    wanted = Fraction(delta)
    upper = curve.epsilon_up(wanted)
    lower = curve.epsilon_down(wanted, start=upper)
    assert curve.delta_up(upper) <= wanted
    assert curve.delta_down(lower) > wanted
    assert upper - lower < upper / 10**9


def test_at_zero_and_beyond_the_highest_loss_the_curve_is_exact():
    curve = responses_curve(((Fraction(1, 10), 30), (Fraction(1, 5), 5)))
    assert curve.delta_up(Fraction(4)) == 0
    assert curve.delta_up(Fraction(4) - Fraction(1, 10**9)) > 0
    assert curve.epsilon_up(Fraction(0)) == curve.epsilon_down(Fraction(0), start=Fraction(9)) == 4
    assert curve.epsilon_up(Fraction(1, 2)) == curve.epsilon_down(Fraction(1, 2), start=Fraction(0)) == 0


def test_what_cannot_be_summed_adds_up():
    curve = responses_curve(((Fraction(10**20), 3),))
    assert isinstance(curve, HighestLossOnly)
    assert curve.epsilon_up(Fraction(1, 2)) == 3 * 10**20
    assert curve.epsilon_down(Fraction(1, 2), start=Fraction(3 * 10**20)) == 0
    assert curve.delta_up(Fraction(3 * 10**20)) == 0
    assert curve.delta_up(Fraction(10**20)) == 1
    assert isinstance(responses_curve(((Fraction(1), 10**12),)), ResponsesCurve)


def test_too_many_different_responses_are_left_to_others():
    assert responses_curve(((Fraction(1), 2000), (Fraction(2), 2000))) is None
    assert responses_curve(((Fraction(1, 10**9), 10**15),)) is None
