"""Buffered counters: what a neighbor moves, rounding included; errors of the tables; participations by brute force."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.mechanisms.continual.shifts import shift
from tests.mechanisms.continual.streams import largest_move

from sfumato.errors import ParameterError
from sfumato.mechanisms import BufferedToeplitz, Contribution, DecayingSum, Participation, RunningTotal, SlidingWindow
from sfumato.mechanisms.continual import buffered
from sfumato.mechanisms.continual.buffered import BufferedNoise, parameters
from sfumato.mechanisms.continual.toeplitz import rounded_up
from sfumato.privacy.events import DiscreteGaussianEvent, ZCDPEvent

SAMPLER = "sfumato.mechanisms.continual.buffered.discrete_gaussian"
THOUSANDS = Contribution.clamped(0, 1000)
"""Beside which rounding to whole numbers is little."""


def strategy(horizon, chosen):
    """C, from the parameters that are drawn with."""
    powers = np.arange(horizon)
    column = np.concatenate([[1.0], ((1 - chosen.gaps) ** powers[:-1, None]) @ chosen.omegas])
    return np.array([[column[t - i] if t >= i else 0.0 for i in range(horizon)] for t in range(horizon)])


@pytest.mark.parametrize("buffers", [1, 3, 6])
@pytest.mark.parametrize("factor", [Fraction(1), Fraction(4, 5)])
def test_weights_of_the_noise_undo_the_strategy(buffers, factor):
    chosen, horizon = parameters(40, buffers, factor), 40
    matrix = strategy(horizon, chosen)
    sums = np.array([[float(factor) ** (t - i) if t >= i else 0.0 for i in range(horizon)] for t in range(horizon)])
    decoded = sums @ np.linalg.inv(matrix)
    for step in (1, 2, 17, 40):
        assert chosen.decoded_squared(step, step) == pytest.approx((decoded[step - 1] ** 2).sum(), rel=1e-6)
    if factor == 1:
        windows = decoded[39] - decoded[39 - 9]
        assert chosen.decoded_squared(40, 9) == pytest.approx((windows**2).sum(), rel=1e-6)


@pytest.mark.parametrize("buffers", [1, 4])
def test_no_placement_of_a_unit_moves_the_measurements_further(buffers):
    chosen = parameters(7, buffers, Fraction(1))
    matrix = strategy(7, chosen)
    for most, separation in product((1, 2, 3), (1, 2, 4)):
        squared = largest_move(matrix, most, separation, (-1, 1), power=2)
        stated = chosen.moved_squared(7, Participation(most, separation))
        assert squared == pytest.approx(stated, rel=1e-9)


@pytest.mark.parametrize("separation", [1, 3])
def test_what_doubles_lose_over_many_participations_is_within_the_margin(separation):
    """Beside exact rationals: a unit at each tick, and at each third."""
    chosen, horizon = parameters(300, 3, Fraction(1)), 300
    gaps, weights = ([one.value for one in each] for each in (chosen.losses, chosen.weights))
    held, exact = [Fraction(0)] * 3, Fraction(0)
    for tick in range(horizon):
        comes = tick % separation == 0
        exact += (comes + sum(weight * power for weight, power in zip(weights, held, strict=True))) ** 2
        held = [power * (1 - gap) + comes for power, gap in zip(held, gaps, strict=True)]
    times = -(-horizon // separation)
    stated = rounded_up(chosen.moved_squared(horizon, Participation(times, separation)), times)
    assert exact <= stated**2 <= exact * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("bits", [0, 3, 36])
def test_a_neighbor_has_the_same_releases_with_noise_as_far_off_as_stated(bits):
    """By the real recursion, rounding and all: 300 ticks, one event of size 3 at a tick, and three of one unit."""
    chosen, horizon = parameters(300, 4, Fraction(1)), 300
    random = np.random.default_rng(bits)
    fresh = random.integers(-(1 << bits + 3), 1 << bits + 3, horizon)
    furthest = 0.0
    for placed in ((0,), (5,), (0, 100, 200), (299,)):
        change = np.zeros(horizon, dtype=np.int64)
        change[list(placed)] = 3
        moved = shift(lambda: made(chosen, bits, 1), fresh, change, SAMPLER)
        norm = 3 * chosen.moved_squared(horizon, Participation(len(placed), 100)) ** 0.5
        stated = norm + float(chosen.slack(horizon, bits)) * horizon**0.5
        length = float(np.sqrt((moved.astype(float) ** 2).sum())) / 2**bits
        assert length <= stated
        furthest = max(furthest, length / norm if placed[0] == 0 else 0)
    if bits == 0:
        assert furthest > 1.02  # rounding moves more than the matrix does: it must be counted
    if bits == 36:
        assert furthest == pytest.approx(1, abs=1e-6)


def test_rounding_is_counted_at_every_tick_at_which_it_is_held():
    """A buffer's error is that of its last floors, each decayed since; the largest is a floor of 1 at every tick."""
    chosen, bits = parameters(1 << 16, 4, Fraction(1)), 5
    unit = 2.0 ** -(bits + 10)
    for horizon in (1, 10, 1 << 16):
        worst = np.zeros(4)
        for _ in range(min(horizon, 3000)):
            worst = worst * (1 - chosen.gaps) + unit
        of_buffers = worst @ chosen.omegas + 4 * unit  # each product is rounded down as well
        stated = float(chosen.slack(horizon, bits))
        assert of_buffers + 2.0**-bits <= stated * (1 + 1e-9)
        assert horizon > 3000 or stated <= (of_buffers + 2.0**-bits) * 1.1


def made(chosen, bits, numbers):
    return BufferedNoise(numbers, bits, chosen, Fraction(1))


def test_many_numbers_and_one_have_the_same_noise(monkeypatch):
    chosen = parameters(1 << 10, 5, Fraction(1))
    random = np.random.default_rng(1)
    for size in (1 << 20, 1 << 60):
        fresh = random.integers(-size, size, (50, 3))
        found = []
        for numbers in (1, 3):
            parts = [fresh] if numbers == 3 else [fresh[:, [place]] for place in range(3)]
            columns = []
            for part in parts:
                monkeypatch.setattr(buffered, "discrete_gaussian", lambda _, count, part=part: part.reshape(count))
                columns.append(made(chosen, 30, numbers).draw(50))
            found.append(np.concatenate(columns, axis=1).tolist())
        assert found[0] == found[1]


def test_the_noise_is_for_the_matrix_and_the_rounding():
    daily = BufferedToeplitz(horizon=1000, rho="0.5", contribution=THOUSANDS)
    chosen, steps = parameters(1000, 4, Fraction(1)), 1 << daily.lattice_bits
    norm = Fraction(chosen.moved_squared(1000, Participation()) ** 0.5)
    rounding = chosen.slack(1000, daily.lattice_bits) * 31
    assert isinstance(daily.event, DiscreteGaussianEvent)
    assert daily.event.l2_sensitivity >= (1000 * norm + rounding) * steps
    assert daily.event.l2_sensitivity <= (1000 * norm + 2 * rounding) * steps
    assert daily.event.l0_sensitivity == 1000
    assert daily.event.stddev >= daily.event.l2_sensitivity
    assert BufferedToeplitz(horizon=1000, rho=1, participation=Participation(2)).event == ZCDPEvent(1)


@pytest.mark.parametrize(
    ("power", "buffers", "ratio"), [(10, 3, 1.0015), (12, 3, 1.005), (14, 4, 1.002), (16, 4, 1.005)]
)
def test_the_error_is_next_to_that_of_the_square_root(power, buffers, ratio):
    root = {10: 3.2726, 12: 3.7139, 14: 4.1552, 16: 4.5964}[power]
    daily = BufferedToeplitz(horizon=1 << power, rho="0.5", buffers=buffers, contribution=THOUSANDS)
    assert 0.9999 <= daily.largest_stddev / 1000 / root <= ratio + 3e-5
    assert daily.memory == buffers + 1


def test_the_errors_of_the_field_are_met():
    """Those of jax_privacy at 1,024 ticks, at equal memory."""
    for buffers, golden in ((1, 3.86489), (2, 3.32979), (3, 3.27760)):
        daily = BufferedToeplitz(horizon=1024, rho="0.5", buffers=buffers, contribution=THOUSANDS)
        assert daily.largest_stddev / 1000 == pytest.approx(golden, abs=1e-3)


def test_a_decaying_sum_has_an_error_of_its_own():
    short, long = (
        BufferedToeplitz(horizon=horizon, rho="0.5", sums=DecayingSum("0.9"), contribution=THOUSANDS)
        for horizon in (1 << 10, 1 << 20)
    )
    assert short.largest_stddev == pytest.approx(long.largest_stddev, rel=1e-3)
    assert (
        short.largest_stddev < 0.6 * BufferedToeplitz(horizon=1 << 10, rho="0.5", contribution=THOUSANDS).largest_stddev
    )
    assert BufferedToeplitz(horizon=1 << 10, rho=1, sums=SlidingWindow(30)).memory == 35


@pytest.mark.parametrize(
    "wrong",
    [
        {"horizon": 0}, {"horizon": (1 << 24) + 1}, {"rho": 0}, {"rho": "1e40"}, {"rho": "1e-40"}, {"buffers": 0},
        {"buffers": 7}, {"contribution": None}, {"participation": 3}, {"sums": RunningTotal},
    ],
)  # fmt: skip
def test_what_is_no_counter_is_refused(wrong):
    with pytest.raises(ParameterError):
        BufferedToeplitz(**{"horizon": 8, "rho": 1} | wrong)
