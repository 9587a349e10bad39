"""Who takes part: the law of each unit's steps, and events beside the exact laws of small trainings."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from sfumato.accounting import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.learn.torch.noise.sampling import CyclicPoisson, Phases, Poisson, TruncatedPoisson
from sfumato.learn.torch.noise.steps import moved
from sfumato.privacy.events import DiscreteGaussianEvent, SelfComposedEvent, TruncatedPoissonSampledEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

ALL = {"poisson": Poisson("0.3"), "phases": Phases(2), "cyclic": CyclicPoisson(period=2, probability="0.4")}
STEPS = 3
REACH = 9
"""Noise of a standard deviation of 1 lies further from 0 with a chance below 1e-18."""
DEVIATIONS = 6
"""A count strays further from its mean with a chance below 1e-8, by normal tails."""


def laws(participation):
    """By the definition: for each phase, the chance of each pattern of steps that a unit is in."""
    q = float(participation.sampling_probability)
    for phase in range(participation.period):
        mine = [step % participation.period == phase for step in range(STEPS)]
        yield {
            pattern: np.prod(
                [(q if there else 1 - q) if own else 1.0 for there, own in zip(pattern, mine, strict=True)]
            )
            for pattern in product((0, 1), repeat=STEPS)
            if not any(there and not own for there, own in zip(pattern, mine, strict=True))
        }


def outcome(patterns, size):
    """The law of the noisy sums of all steps, of a unit that adds `size` where it takes part."""
    values = np.arange(-REACH, REACH + 1)

    def noise(center):
        weights = np.exp(-((values - center) ** 2) / 2.0)
        return weights / np.exp(-(np.arange(-60, 61) ** 2) / 2.0).sum()

    def joint(pattern):
        first, second, third = (noise(size * there) for there in pattern)
        return first[:, None, None] * second[:, None] * third

    return sum(chance * joint(pattern) for pattern, chance in patterns.items())


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_no_training_is_more_revealing_than_its_event_and_some_are_as_revealing(name, relation):
    """Sums with a unit and without it, or with one that adds 1 and one that takes 1 away."""
    participation = ALL[name]
    distance = moved(Fraction(1), participation, relation)
    event = participation.event(DiscreteGaussianEvent(Fraction(1), distance, 1), STEPS)
    accountant = PLDAccountant(neighboring_relation=relation).compose(event)
    other = -1 if relation is REPLACE_ONE else 0
    pairs = [(outcome(law, 1), outcome(law, other)) for law in laws(participation)]
    known = sum(first for first, _ in pairs) / len(pairs), sum(second for _, second in pairs) / len(pairs)
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        stated = float(accountant.delta(Fraction(epsilon)))
        found = [
            np.maximum(p - np.exp(epsilon) * q, 0).sum()
            for first, second in [*pairs, known]
            for p, q in ((first, second), (second, first))
        ]
        assert max(found) <= stated + 1e-12
        assert stated <= max(found) * 1.02


@pytest.mark.parametrize("name", ALL)
def test_each_unit_takes_part_by_its_own_draws(name):
    participation, units = ALL[name], 4_000
    running = participation.start(units)
    there = np.zeros((6, units), dtype=bool)
    for step in range(6):
        there[step, running.draw(step)] = True
    share = float(participation.share)
    assert abs(there.sum(axis=1) - share * units).max() <= DEVIATIONS * (units * share * (1 - share)) ** 0.5
    if participation.period == 2:
        assert not (there[::2].any(axis=0) & there[1::2].any(axis=0)).any()
    if name == "phases":
        assert (there[::2] == there[0]).all()
        assert (there[1::2] == ~there[0]).all()
    else:
        q = float(participation.sampling_probability)
        again = there[participation.period][there[0]]
        assert abs(again.sum() - q * len(again)) <= DEVIATIONS * (len(again) * q) ** 0.5
    pairs = there[0, :-1] & there[0, 1:]  # neighbors in place know nothing of each other
    assert abs(pairs.sum() - share**2 * len(pairs)) <= 2 * DEVIATIONS * (len(pairs) * share**2) ** 0.5


def test_of_a_batch_that_is_too_large_all_choices_are_equally_likely():
    """Beside the law by enumeration of all coins: each set of units strays within six standard deviations."""
    q, units, largest, times = 0.6, 4, 2, 20_000
    law = dict.fromkeys((own for size in range(largest + 1) for own in combinations(range(units), size)), 0.0)
    for coins in product((0, 1), repeat=units):
        drawn = tuple(unit for unit, coin in enumerate(coins) if coin)
        chance = q ** len(drawn) * (1 - q) ** (units - len(drawn))
        stay = list(combinations(drawn, min(largest, len(drawn))))
        for own in stay:
            law[own] += chance / len(stay)
    running = TruncatedPoisson("0.6", units=units, largest=largest).start(units)
    found = dict.fromkeys(law, 0)
    for step in range(times):
        found[tuple(running.draw(step).tolist())] += 1
    for own, chance in law.items():
        assert abs(found[own] - times * chance) <= DEVIATIONS * (times * chance * (1 - chance)) ** 0.5


def test_a_truncated_batch_is_priced_for_so_many_units_as_there_are():
    batches, once = TruncatedPoisson("0.1", units=50, largest=8), DiscreteGaussianEvent(Fraction(64), Fraction(64), 1)
    sampled = TruncatedPoissonSampledEvent(Fraction(1, 10), 50, 8, once)
    assert batches.event(once, 7) == SelfComposedEvent(sampled, 7)
    for units in (49, 51):
        with pytest.raises(ParameterError, match="for which the event was computed"):
            batches.start(units)


def test_a_phase_is_drawn_and_no_place():
    """Sixty-four units have the same phases twice with a chance of 8^−64; a single one has the same in 100 of 2^−99."""
    first, second = (Phases(8).start(64) for _ in range(2))
    assert [first.draw(t).tolist() for t in range(8)] != [second.draw(t).tolist() for t in range(8)]
    assert len({len(Phases(2).start(1).draw(0)) for _ in range(100)}) == 2


def test_a_batch_is_drawn_once_and_a_training_resumes_where_a_period_begins():
    running = Phases(3).start(5, step=6)
    assert sorted(np.concatenate([running.draw(step) for step in (6, 7, 8)]).tolist()) == [0, 1, 2, 3, 4]
    for step in (8, 10, 0):
        with pytest.raises(ParameterError, match="drawn once"):
            running.draw(step)
    assert [Poisson(1).start(2, step=7).draw(7).tolist(), len(Poisson(1).start(0).draw(0))] == [[0, 1], 0]
    for step in (1, 4, -3):
        with pytest.raises(ParameterError, match="step"):
            Phases(3).start(5, step=step)


@pytest.mark.parametrize(("stop", "steps"), [(3, 7), (6, 8), (9, 9), (0, 4)])
def test_who_resumes_takes_part_no_more_often(stop, steps):
    """Whatever phases are drawn before and after."""
    batches = Phases(3)
    most = max(
        len([s for s in range(stop) if s % 3 == before]) + len([s for s in range(stop, steps) if s % 3 == after])
        for before, after in product(range(3), repeat=2)
    )
    assert most <= batches.times(steps)


def test_what_runs_tells_nothing_of_the_units():
    assert repr(Phases(3).start(12345)) == "RunningBatches(Phases(period=3), step=0)"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Poisson(0), lambda: Poisson("1.1"), lambda: Poisson(None), lambda: Phases(0), lambda: Phases(2.5),
        lambda: CyclicPoisson(period=0, probability=1), lambda: CyclicPoisson(period=2, probability=0),
        lambda: Phases(2).start(-1), lambda: Phases(2).times(0), lambda: TruncatedPoisson(1, units=9, largest=3),
        lambda: TruncatedPoisson("0.1", units=9, largest=9), lambda: TruncatedPoisson("0.1", units=9, largest=0),
    ],
    ids=range(12),
)  # fmt: skip
def test_what_is_no_way_to_take_part_is_refused(wrong):
    with pytest.raises(ParameterError):
        wrong()
