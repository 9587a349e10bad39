"""Random events of every kind, nested at random."""

from fractions import Fraction

from hypothesis import strategies as st

from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialEvent,
    FiniteEvent,
    FullyAdaptiveEvent,
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
    TruncatedPoissonSampledEvent,
    ZCDPEvent,
)

NONNEGATIVE = st.fractions(0, 10)
POSITIVE = st.fractions(Fraction(1, 10**6), 10**6)
PROBABILITIES = st.fractions(0, 1)
COUNTS = st.integers(1, 30)

SHARES = st.lists(st.integers(1, 9), min_size=3, max_size=3).map(lambda n: tuple(Fraction(k, sum(n)) for k in n))
THREE = st.tuples(NONNEGATIVE, NONNEGATIVE, NONNEGATIVE)
BUDGETS = st.one_of(
    st.builds(PureEvent, NONNEGATIVE),
    st.builds(ApproxEvent, NONNEGATIVE, PROBABILITIES),
    st.builds(ZCDPEvent, NONNEGATIVE),
    st.builds(GaussianEvent, POSITIVE),
)

LEAVES = st.one_of(
    st.just(NonPrivateEvent()),
    st.builds(PureEvent, NONNEGATIVE),
    st.builds(ApproxEvent, NONNEGATIVE, PROBABILITIES),
    st.builds(ZCDPEvent, NONNEGATIVE),
    st.builds(LaplaceEvent, POSITIVE),
    st.builds(GaussianEvent, POSITIVE),
    st.builds(DiscreteLaplaceEvent, POSITIVE, POSITIVE),
    st.builds(DiscreteGaussianEvent, POSITIVE, POSITIVE, COUNTS),
    st.builds(RandomizedResponseEvent, PROBABILITIES, COUNTS),
    st.builds(ExponentialEvent, NONNEGATIVE),
    st.builds(FiniteEvent, SHARES, SHARES),
    st.builds(MixtureOfGaussiansEvent, POSITIVE, THREE, SHARES),
    st.builds(FullyAdaptiveEvent, BUDGETS),
)


def _nested(events):
    several = st.lists(events, max_size=3).map(tuple)
    return st.one_of(
        st.builds(PoissonSampledEvent, PROBABILITIES, events),
        st.builds(TruncatedPoissonSampledEvent, PROBABILITIES, COUNTS, COUNTS, events),
        st.builds(SampledWithoutReplacementEvent, COUNTS, st.integers(10**6, 10**9), events),
        st.builds(RepeatAndSelectEvent, events, st.fractions(1, 100), st.none() | NONNEGATIVE),
        st.builds(SelfComposedEvent, events, COUNTS),
        st.builds(ComposedEvent, several),
        st.builds(PartitionEvent, several, COUNTS),
        st.builds(GroupEvent, events, COUNTS),
    )


EVENTS = st.recursive(LEAVES, _nested, max_leaves=5)
