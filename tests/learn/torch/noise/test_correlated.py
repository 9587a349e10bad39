"""Correlated noise: what a unit moves by brute force, the theorem on bands beside exact laws, and the noise itself."""

from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np
import pytest

from sfumato.accounting import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.learn.torch.noise.correlated import CorrelatedNoise
from sfumato.learn.torch.noise.sampling import CyclicPoisson, Phases, Poisson
from sfumato.learn.torch.noise.steps import IndependentNoise, calibrated
from sfumato.mechanisms.continual import banded
from sfumato.mechanisms.continual.buffered import parameters
from sfumato.privacy.events import DiscreteGaussianEvent, PoissonSampledEvent, SelfComposedEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

STEP = 1 << 20
HALVES = CyclicPoisson(period=4, probability="0.5")


def noise(participation=Phases(4), multiplier=2, **facts):  # noqa: B008 # a frozen value
    return CorrelatedNoise(multiplier, **{"l2_sensitivity": STEP, "steps": 16, "participation": participation} | facts)


def strategy(made):
    """C in lattice steps of z for a change of one step of the data: whole numbers for bands, and floats for buffers."""
    mechanism, horizon = made.mechanism, made.steps
    if isinstance(mechanism, banded.BandedToeplitz):
        exact = banded.coefficients(mechanism.power, mechanism.bands)
        column = [*banded.rounded(exact, mechanism.lattice_bits), *[0] * horizon]
    else:
        chosen = parameters(horizon, mechanism.buffers, Fraction(1))
        powers = np.arange(horizon)
        column = np.concatenate([[1.0], ((1 - chosen.gaps) ** powers[:-1, None]) @ chosen.omegas])
        column = column * 2.0**mechanism.lattice_bits
    kind = object if isinstance(column, list) else float
    return np.array([[column[t - i] if t >= i else 0 for i in range(horizon)] for t in range(horizon)], dtype=kind)


def resumed(matrix, stop):
    """C of a training that resumes after so many steps: two blocks."""
    found = matrix.copy()
    found[stop:, :stop] = 0
    return found


def parts(period, steps, stop=0):
    """All the steps that a unit can be in, with a phase before and another after."""
    for before, after in product(range(period), repeat=2):
        yield [s for s in range(stop) if s % period == before] + [s for s in range(stop, steps) if s % period == after]


@pytest.mark.parametrize("bands", [1, 2, 3, 4])
@pytest.mark.parametrize("steps", [7, 16])
def test_with_bands_each_part_of_a_unit_moves_numbers_of_its_own(steps, bands):
    """All phases, resumed after any period: exact matrices; each part moves as much as the event says, and no more."""
    made = noise(steps=steps, bands=bands)
    matrix, once = strategy(made), made.mechanism.once
    largest = 0
    for stop in range(0, steps, 4):
        cut = resumed(matrix, stop)
        for there in parts(4, steps, stop):
            columns = cut[:, there]
            products = columns.T @ columns
            assert (products == np.diag(np.diag(products))).all()
            assert len(there) <= made.event.count
            largest = max(largest, *(int(each) for each in np.diag(products)))
    assert largest * STEP**2 <= once.l2_sensitivity**2 <= largest * STEP**2 * (1 + Fraction(1, 10**9))
    assert once.stddev >= 2 * once.l2_sensitivity


@pytest.mark.parametrize(("steps", "period"), [(7, 2), (16, 4), (16, 16)])
def test_with_buffers_all_parts_together_move_as_much_as_the_event_says(steps, period):
    made = noise(Phases(period), steps=steps, buffers=3)
    matrix, moved = strategy(made), []
    for stop in range(0, steps, period):
        moved += [
            float(np.linalg.norm(resumed(matrix, stop)[:, there].sum(axis=1))) * STEP
            for there in parts(period, steps, stop)
        ]
    stated = float(made.event.l2_sensitivity)
    assert max(moved) <= stated
    assert stated <= max(moved) * 1.002  # with the rounding of buffers
    assert made.event.stddev >= 2 * made.event.l2_sensitivity


REACH = 7
"""Noise of a standard deviation of 1 lies further from 0 with a chance below 1e-12."""


def shifted(center):
    values = np.arange(-REACH, REACH + 1)
    return np.exp(-((values - center) ** 2) / 2.0) / np.exp(-(np.arange(-60, 61) ** 2) / 2.0).sum()


def law_of_four_steps(phase, coins, size):
    """Of C·x + z for C of two bands, 2 and 1: a unit adds `size` first; in its next batch what the first noise says."""
    values = np.arange(-REACH, REACH + 1)
    grown = [shifted(2 * size * coins[0]), shifted(size * coins[0])]
    if phase:  # it is in the steps 1 and 3: the last column is cut
        before = np.multiply.outer(shifted(0), np.multiply.outer(*grown))
        says = values[:, None, None] * 0 + values[None, :, None] + values[None, None, :] > size
        later = [shifted(2 * size * coins[1] * sign) for sign in (1, -1)]
        return np.where(says[..., None], before[..., None] * later[0], before[..., None] * later[1])
    before = np.multiply.outer(*grown)
    says = values[:, None] + values > size
    later = [
        np.multiply.outer(shifted(2 * size * coins[1] * sign), shifted(size * coins[1] * sign)) for sign in (1, -1)
    ]
    return np.where(says[..., None, None], before[..., None, None] * later[0], before[..., None, None] * later[1])


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_sampling_amplifies_with_bands_as_for_independent_noise(relation):
    """A unit whose second part depends on the releases before: exact laws, in both orders, by phase and on average."""
    q, period = 0.4, 2
    once = DiscreteGaussianEvent(Fraction(1), Fraction("2.2361"), 2)  # ‖(2, 1)‖, in two numbers
    event = CyclicPoisson(period=period, probability="0.4").event(once, 4)
    accountant = PLDAccountant(neighboring_relation=relation).compose(event)
    other = -1 if relation is REPLACE_ONE else 0

    def law(phase, size):
        return sum(
            np.prod([q if coin else 1 - q for coin in coins]) * law_of_four_steps(phase, coins, size)
            for coins in product((0, 1), repeat=2)
        )

    pairs = [(law(phase, 1), law(phase, other)) for phase in range(period)]
    pairs.append(tuple(reduce(np.add, each) / period for each in zip(*pairs, strict=True)))
    for epsilon in (0.0, 0.5, 1.5):
        stated = float(accountant.delta(Fraction(epsilon)))
        found = max(
            np.maximum(p - np.exp(epsilon) * r, 0).sum()
            for first, second in pairs
            for p, r in ((first, second), (second, first))
        )
        assert found <= stated + 1e-8
        assert stated <= found * (1.4 if relation is REPLACE_ONE else 1.02)


def test_events_are_of_all_parts_or_of_samples():
    for relation, exchanged in ((ADD_OR_REMOVE_ONE, 1), (REPLACE_ONE, 2)):
        plain = noise(neighboring_relation=relation)
        assert plain.event == SelfComposedEvent(plain.mechanism.once, 4) == plain.mechanism.event
        sampled = noise(HALVES, neighboring_relation=relation)
        assert sampled.event == SelfComposedEvent(PoissonSampledEvent(Fraction(1, 2), sampled.mechanism.once), 4)
        moved = noise().mechanism.once.l2_sensitivity / (1 << noise().mechanism.lattice_bits)
        found = plain.mechanism.once.l2_sensitivity / (1 << plain.mechanism.lattice_bits)
        assert float(found / moved) == pytest.approx(exchanged, rel=1e-5)
        within = sampled.mechanism.once.l2_sensitivity / (1 << sampled.mechanism.lattice_bits)
        assert float(within / moved) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("facts", [{}, {"buffers": 3}, {"participation": HALVES, "bands": 3}], ids=["4", "B", "3"])
def test_noise_of_a_step_and_of_all_together_is_as_stated(facts):
    """Type-I error below 1e-8: 6 standard deviations of a mean of 5,000 squares."""
    made, width = noise(steps=48, **facts), 5_000
    running = made.start(width)
    drawn = [running.draw() for _ in range(48)]
    assert {each.dtype for each in drawn} == {np.dtype(np.int64)}
    allowed = 6 * (2 / width) ** 0.5
    assert abs((drawn[-1] / float(made.stddev_steps)).var() - 1) <= allowed
    assert abs((sum(drawn) / made.total_stddev_steps).var() - 1) <= allowed
    assert made.total_stddev_steps < 0.75 * float(made.stddev_steps) * 48**0.5
    with pytest.raises(ParameterError, match="one of the steps"):
        running.draw()


def test_the_strategy_of_the_noise_is_that_of_the_event(monkeypatch):
    """C·u is z to half a step of the data, also after the training has resumed, where C begins anew."""
    made, fresh = noise(steps=8), iter(np.random.default_rng(3).integers(-(1 << 42), 1 << 42, (12, 3)))
    kept = []
    monkeypatch.setattr(banded, "discrete_gaussian", lambda *_: kept.append(next(fresh)) or kept[-1].copy())
    matrix, bits = strategy(made), made.mechanism.lattice_bits
    for first in (0, 4):
        del kept[:]
        running = made.start(3, step=first)
        noises = np.array([running.draw() for _ in range(8 - first)], dtype=object)
        left = matrix[: 8 - first, : 8 - first] @ noises - np.array(kept, dtype=object)
        assert max(abs(int(each)) for each in left.ravel()) <= 1 << bits - 1
    cut = noise(steps=7).start(3, step=8)
    with pytest.raises(ParameterError, match="one of the steps"):
        cut.draw()
    for step in (1, 6, 12):
        with pytest.raises(ParameterError, match="step"):
            made.start(3, step=step)


def test_amplified_bands_leave_less_noise_than_either_extreme():
    """At ε = 3, δ = 1e-5, in 256 steps of a 64th of all units: the figures of the documentation."""
    share, facts = Fraction(1, 64), {"l2_sensitivity": STEP, "steps": 256}
    ways = (
        lambda each: IndependentNoise(each, participation=Poisson(share), **facts),
        lambda each: CorrelatedNoise(each, participation=CyclicPoisson(period=16, probability=16 * share), **facts),
        lambda each: CorrelatedNoise(each, participation=Phases(64), **facts),
        lambda each: CorrelatedNoise(each, participation=Phases(64), buffers=4, **facts),
    )
    target = ApproxDP(3, "1e-5")
    found = [calibrated(each, target=target, tolerance="0.02").total_stddev_steps / STEP for each in ways]
    assert found == pytest.approx([12.6, 8.4, 9.2, 9.8], rel=0.03)


@pytest.mark.parametrize(
    "wrong",
    [
        {"bands": 5}, {"bands": 0}, {"participation": Poisson("0.1"), "bands": 2}, {"buffers": 2, "bands": 2},
        {"participation": HALVES, "buffers": 2}, {"buffers": 9}, {"multiplier": 0}, {"steps": 0},
        {"l2_sensitivity": "0.5"}, {"participation": 3}, {"neighboring_relation": "any"}, {"multiplier": "1e-20"},
    ],
    ids=range(12),
)  # fmt: skip
def test_what_is_no_noise_is_refused(wrong):
    with pytest.raises(ParameterError):
        noise(**wrong)
