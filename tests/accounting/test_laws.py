"""Laws that tie accountants to each other and to the definition, on random programs of events."""

from contextlib import suppress
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.contract import DELTA, EVENTS, name_of
from tests.accounting.exact_pairs import exact_delta, exact_epsilon
from tests.sizes import FULL_SIZE

from sfumato.accounting.comparison import BestAccountant
from sfumato.accounting.composition.advanced import AdvancedAccountant
from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.composition.optimal import OptimalAccountant
from sfumato.accounting.gaussian.gdp import GDPAccountant
from sfumato.accounting.gaussian.zcdp import ZCDPAccountant
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.accounting.renyi.accountant import RDPAccountant
from sfumato.errors import SfumatoError
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    FiniteEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    MixtureOfGaussiansEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    RepeatAndSelectEvent,
    SampledWithoutReplacementEvent,
    SelfComposedEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

ACCOUNTANTS = (
    BasicAccountant,
    AdvancedAccountant,
    OptimalAccountant,
    ZCDPAccountant,
    RDPAccountant,
    GDPAccountant,
    PLDAccountant,
)
every_relation = pytest.mark.parametrize("relation", NeighboringRelation)
LISTED = [name_of(event) for event in EVENTS]


def supporting(event: Event, relation: NeighboringRelation):
    empty = (kind(neighboring_relation=relation) for kind in ACCOUNTANTS)
    return [accountant.compose(event) for accountant in empty if accountant.supports(event)]


@every_relation
@pytest.mark.parametrize("event", [SelfComposedEvent(event, 5) for event in EVENTS], ids=LISTED)
def test_independent_accountants_agree_within_their_bounds(event, relation):
    intervals = [accountant.interval(DELTA) for accountant in supporting(event, relation)]
    assert max(interval.lower for interval in intervals) <= min(interval.upper for interval in intervals)


HALF = PoissonSampledEvent("1/2", GaussianEvent("1/2"))
PARTED = (
    GroupEvent(PartitionEvent((GaussianEvent(2),) * 3, 1), 3),
    GroupEvent(PartitionEvent((LaplaceEvent(2),) * 3, 1), 3),
    GroupEvent(PartitionEvent((GaussianEvent(2),) * 4, 2), 2),
    PartitionEvent((GaussianEvent(2), LaplaceEvent(3)), 1),
    PartitionEvent((GaussianEvent(2), GaussianEvent(3), GaussianEvent(4)), 2),
)


@every_relation
@pytest.mark.parametrize("delta", ["1e-6", "0.1"])
@pytest.mark.parametrize("event", PARTED, ids=str)
def test_partitions_of_groups_are_bounded_alike(event, delta, relation):
    intervals = [accountant.interval(delta) for accountant in supporting(event, relation)]
    assert max(interval.lower for interval in intervals) <= min(interval.upper for interval in intervals)


def test_a_group_does_not_fit_into_every_part():
    """Three units of one part each: three lie in one part, or one in each, never three in each."""
    event = GroupEvent(PartitionEvent((GaussianEvent(2),) * 3, 1), 3)
    assert PLDAccountant().compose(event).interval("1e-6").lower <= GDPAccountant().compose(event).epsilon("1e-6")
    sampled = PLDAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE).compose(
        PartitionEvent((HALF, HALF), 1)
    )
    assert sampled.interval("1e-6").lower <= 10.707  # an exchange within one part, the dearest case


@every_relation
@pytest.mark.parametrize("event", EVENTS, ids=LISTED)
def test_the_best_is_at_most_each(event, relation):
    best = BestAccountant(neighboring_relation=relation).compose(event, count=3)
    others = [accountant.epsilon(DELTA) for accountant in supporting(SelfComposedEvent(event, 3), relation)]
    assert best.epsilon(DELTA) == min(others)


EXTREMES = (
    *(GaussianEvent(noise) for noise in ("1e-9", "1e-3", "1e9")),
    *(LaplaceEvent(noise) for noise in ("1e-9", "1e9")),
    *(DiscreteGaussianEvent(stddev, 1) for stddev in ("0.01", 10**6)),
    *(DiscreteLaplaceEvent(scale, 1) for scale in ("0.01", 10**6)),
    DiscreteGaussianEvent(10**6, 10**5, 10**3),
    PureEvent("1e-30"),
    PureEvent(10**4),
    ApproxEvent(1, "1e-300"),
    ApproxEvent(1, 1),
    ZCDPEvent("1e-30"),
    ZCDPEvent(10**6),
    RandomizedResponseEvent("1e-12", 10**9),
    RandomizedResponseEvent(1, 2),
    FiniteEvent((1, 0), (0, 1)),
    FiniteEvent((1, 0), ("1/2", "1/2")),
    MixtureOfGaussiansEvent("1e-3", (0, 5), ("0.5", "0.5")),
    *(PoissonSampledEvent(share, GaussianEvent(1)) for share in (0, "1e-12", "0.999999999999", 1)),
    PoissonSampledEvent("0.01", GaussianEvent("1e-3")),
    PoissonSampledEvent("0.5", NonPrivateEvent()),
    SampledWithoutReplacementEvent(1, 10**12, PureEvent(5)),
    SampledWithoutReplacementEvent(7, 7, PureEvent(5)),
    RepeatAndSelectEvent(PureEvent("0.1"), 10**9, 1),
    GroupEvent(PoissonSampledEvent("0.01", GaussianEvent(5)), 50),
    PartitionEvent((LaplaceEvent(3), GaussianEvent(4)), 10**6),
)


GRID = [(1, ADD_OR_REMOVE_ONE), (10**12, REPLACE_ONE), (1, REPLACE_ONE), (10**12, ADD_OR_REMOVE_ONE)]


@pytest.mark.parametrize(("count", "relation"), GRID if FULL_SIZE else GRID[:1])
@pytest.mark.parametrize("event", EXTREMES, ids=str)
def test_extremes_have_a_number_or_a_typed_error(event, count, relation):
    for accountant in (kind(neighboring_relation=relation) for kind in ACCOUNTANTS):
        if accountant.supports(event):
            assert_answers(accountant, event, count)


def assert_answers(accountant, event, count):
    with suppress(SfumatoError):
        composed = accountant.compose(event, count=count)
        deltas = (Fraction(0), Fraction(1, 10**300), DELTA, Fraction(999, 1000))
        for delta in deltas if count == 1 else deltas[::2]:
            interval = composed.interval(delta)
            assert 0 <= interval.lower <= interval.upper
        for epsilon in (Fraction(0), Fraction(1), Fraction(10**6)) if count == 1 else (Fraction(1),):
            assert 0 <= composed.delta(epsilon) <= 1


MASSES = st.lists(st.integers(1, 6), min_size=3, max_size=3)
LAWS = MASSES.map(lambda masses: tuple(Fraction(mass, sum(masses)) for mass in masses))
RESPONSES = st.builds(RandomizedResponseEvent, st.fractions("0.05", "0.9", max_denominator=20), st.integers(2, 4))
FINITE = st.one_of(RESPONSES, st.builds(FiniteEvent, LAWS, LAWS))
SHARES = st.fractions("0.05", "0.95", max_denominator=20)
ADDED = st.one_of(
    FINITE,
    st.builds(PoissonSampledEvent, SHARES, FINITE),
    st.builds(PoissonSampledEvent, SHARES, st.lists(FINITE, min_size=2, max_size=2).map(ComposedEvent)),
    st.builds(SampledWithoutReplacementEvent, st.integers(1, 4), st.integers(5, 9), RESPONSES),
    st.builds(PartitionEvent, st.lists(FINITE, min_size=1, max_size=2), st.just(1)),
)
REPLACED = st.one_of(
    FINITE,
    st.builds(PoissonSampledEvent, SHARES, RESPONSES),
    st.builds(SampledWithoutReplacementEvent, st.integers(1, 4), st.integers(5, 9), RESPONSES),
)
PROGRAMS = st.one_of(
    st.tuples(st.lists(ADDED, min_size=1, max_size=3), st.just(NeighboringRelation.ADD_OR_REMOVE_ONE)),
    st.tuples(st.lists(REPLACED, min_size=1, max_size=3), st.just(NeighboringRelation.REPLACE_ONE)),
)
DELTAS = st.sampled_from([Fraction(1, 5), Fraction(1, 100), Fraction(1, 10**6)])


@pytest.mark.essential
@given(PROGRAMS, DELTAS)
def test_no_accountant_is_below_the_definition(program, delta):
    events, relation = program
    event = ComposedEvent(tuple(events))
    epsilon = exact_epsilon(event, relation, delta)
    for accountant in supporting(event, relation):
        assert accountant.epsilon(delta) >= epsilon * (1 - 1e-12), type(accountant).__name__


@given(PROGRAMS, st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(2)]))
def test_no_accountant_has_less_delta_than_the_definition(program, epsilon):
    events, relation = program
    event = ComposedEvent(tuple(events))
    delta = exact_delta(event, relation, epsilon)
    for accountant in supporting(event, relation):
        assert accountant.delta(epsilon) >= delta * (1 - Fraction(1, 10**12)), type(accountant).__name__


@given(st.lists(FINITE, min_size=1, max_size=3), st.integers(1, 2), DELTAS)
def test_the_loss_distribution_holds_the_truth_between_its_bounds(events, count, delta):
    event = SelfComposedEvent(ComposedEvent(tuple(events)), count)
    found = PLDAccountant().compose(event).interval(delta)
    truth = exact_epsilon(event, ADD_OR_REMOVE_ONE, delta)
    assert found.lower * (1 - 1e-12) <= truth <= found.upper * (1 + 1e-12)


@every_relation
@pytest.mark.parametrize("count", [1, 2, 6])
@pytest.mark.parametrize("event", [RandomizedResponseEvent("0.5", 2), RandomizedResponseEvent("0.1", 4)], ids=str)
def test_few_responses_are_priced_to_a_thousandth(event, count, relation):
    truth = exact_epsilon(SelfComposedEvent(event, count), relation, DELTA)
    found = PLDAccountant(neighboring_relation=relation).compose(event, count=count).interval(DELTA)
    assert found.lower <= truth <= found.upper * (1 + 1e-12)
    assert found.upper <= truth * (1 + 1e-3)


@every_relation
@pytest.mark.parametrize(("accountant", "size"), list(product(ACCOUNTANTS, [2, 5])))
def test_a_group_is_the_same_noise_on_a_longer_move(accountant, size, relation):
    empty = accountant(neighboring_relation=relation)
    for event, as_one in (
        (LaplaceEvent(10), LaplaceEvent(Fraction(10, size))),
        (PureEvent("0.1"), PureEvent(Fraction(size, 10))),
    ):
        if empty.supports(event):
            group = empty.compose(GroupEvent(event, size), count=7)
            assert group.epsilon(DELTA) == empty.compose(as_one, count=7).epsilon(DELTA)
