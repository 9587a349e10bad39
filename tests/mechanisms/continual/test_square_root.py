"""Square-root counters: coefficients, what a neighbor moves, participations by brute force, errors of the tables."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.mechanisms.continual.streams import largest_move

from sfumato.errors import ParameterError
from sfumato.mechanisms import Contribution, DecayingSum, Participation, RunningTotal, SlidingWindow, SquareRoot
from sfumato.mechanisms.continual import square_root
from sfumato.mechanisms.continual.square_root import SquareRootNoise, coefficients, moved_squared, rounded_coefficients
from sfumato.privacy.events import ZCDPEvent

SUMS = (RunningTotal(), SlidingWindow(1), SlidingWindow(3), SlidingWindow(99), DecayingSum("0.9"))
THOUSANDS = Contribution.clamped(0, 1000)


def generating(sums, horizon):
    """The coefficients of a(x)."""
    width, factor = getattr(sums, "width", horizon), float(getattr(sums, "factor", 1))
    return np.array([factor**k if k < width else 0.0 for k in range(horizon)])


@pytest.mark.parametrize("sums", SUMS, ids=str)
def test_coefficients_are_those_of_a_square_root(sums):
    column = coefficients(500, sums)
    assert np.allclose(np.convolve(column, column)[:500], generating(sums, 500), atol=1e-12)
    steps = rounded_coefficients(500, sums, 20)
    assert (steps[0], np.abs(steps / 2**20 - column).max() <= 2.0**-20) == (1 << 20, True)
    assert np.abs(np.cumsum(steps / 2**20 - column)).max() <= 2.0**-20


@pytest.mark.parametrize("sums", SUMS, ids=str)
def test_no_placement_of_a_unit_moves_the_measurements_further(sums):
    column = coefficients(7, sums)
    matrix = np.array([[column[t - i] if t >= i else 0.0 for i in range(7)] for t in range(7)])
    for most, separation in product((1, 2, 3), (1, 2, 4)):
        stated = moved_squared(column, Participation(most, separation), sums)
        squared = largest_move(matrix, most, separation, (-1, 1), power=2)
        assert squared <= stated * (1 + 1e-12)
        assert stated <= squared * (1 + 1e-9 if most == 1 or not isinstance(sums, SlidingWindow) else 1.7)


@pytest.mark.parametrize("unit_bits", [2, 20])
@pytest.mark.parametrize("sums", SUMS[:3], ids=str)
def test_a_neighbor_has_the_same_releases_with_noise_as_far_off_as_its_column(sums, unit_bits):
    """By the real recursion: z′ − z is C·d exactly, in steps of the lattice, whatever z is."""
    steps = rounded_coefficients(90, sums, 20)
    fresh = np.random.default_rng(7).integers(-(1 << 24), 1 << 24, 90)
    with pytest.MonkeyPatch.context() as patch:
        for placed in ((0,), (5,), (0, 30, 31)):
            change = np.zeros(90, dtype=np.int64)
            change[list(placed)] = [1, -3, 2][: len(placed)]
            column = np.convolve(steps, change)[:90]
            patch.setattr(square_root, "discrete_gaussian", lambda _, size: fresh[:size])
            plain = SquareRootNoise(1, unit_bits, steps, 20, Fraction(1)).draw(90)
            patch.setattr(square_root, "discrete_gaussian", lambda _, size, moved=fresh + column: moved[:size])
            assert (
                SquareRootNoise(1, unit_bits, steps, 20, Fraction(1)).draw(90) == plain + (change[:, None] << unit_bits)
            ).all()


@pytest.mark.parametrize("numbers", [1, 3])
@pytest.mark.parametrize("sizes", [[1] * 20 + [130], [70, 70, 0, 10]])
def test_any_blocks_give_the_same_noise(numbers, sizes, monkeypatch):
    steps = rounded_coefficients(150, RunningTotal(), 30)
    for size in (1 << 30, 1 << 60):
        fresh, found = np.random.default_rng(1).integers(-size, size, (150, numbers)), []
        for blocks in ([150], sizes):
            left = iter(np.split(fresh, np.cumsum(blocks)[:-1]))
            monkeypatch.setattr(square_root, "discrete_gaussian", lambda *_, left=left: next(left).ravel())
            noise = SquareRootNoise(numbers, 4, steps, 30, Fraction(1))
            found.append(np.concatenate([noise.draw(ticks) for ticks in blocks]).tolist())
        assert found[0] == found[1]


@pytest.mark.parametrize(
    ("power", "largest", "rms"),
    [(10, 3.2726, 3.1098), (12, 3.7139, 3.5513), (14, 4.1552, 3.9929), (16, 4.5964, 4.4344)],
)
def test_noise_is_that_of_the_tables_of_the_field(power, largest, rms):
    counter = SquareRoot(horizon=1 << power, rho="0.5", contribution=THOUSANDS)
    assert counter.largest_stddev / 1000 == pytest.approx(largest, abs=1e-3)
    column, ticks = coefficients(1 << power, RunningTotal()), 1 << power
    assert counter.stddev(ticks // 2) == pytest.approx(
        counter.stddev(1) * np.linalg.norm(column[: ticks // 2]), rel=1e-6
    )
    mean = (column**2) @ (ticks - np.arange(ticks)) / ticks  # each coefficient is in the sums from its tick on
    assert counter.stddev(1) / 1000 * mean**0.5 == pytest.approx(rms, abs=1e-3)


def test_windows_have_an_error_that_does_not_grow():
    short, long = (
        SquareRoot(horizon=horizon, rho="0.5", sums=SlidingWindow(30), contribution=THOUSANDS).largest_stddev
        for horizon in (1 << 9, 1 << 13)
    )
    assert short == pytest.approx(long, rel=1e-2)
    assert long < 0.65 * SquareRoot(horizon=1 << 13, rho="0.5", contribution=THOUSANDS).largest_stddev


@pytest.mark.parametrize("bits", [0, 10])
def test_noise_moves_by_the_event_that_is_stated(bits):
    bound = Contribution.clamped(0, 1 << bits)
    single = SquareRoot(horizon=60, rho="0.5", contribution=bound)
    twice = SquareRoot(horizon=60, rho="0.5", contribution=bound, participation=Participation(2, 9))
    change = np.zeros(60, dtype=np.int64)
    change[0] = 1 << bits
    once = np.convolve(rounded_coefficients(60, RunningTotal(), single.lattice_bits).astype(float), change)[:60]
    assert np.sqrt((once**2).sum()) <= float(single.event.l2_sensitivity) <= float(single.stddev_steps)
    assert np.sqrt((once**2).sum()) == pytest.approx(float(single.event.l2_sensitivity), rel=1e-5)
    change[9] = 1 << bits
    both = np.convolve(rounded_coefficients(60, RunningTotal(), twice.lattice_bits).astype(float), change)[:60]
    assert (both**2).sum() == pytest.approx(float(twice.stddev_steps) ** 2, rel=1e-5)
    assert twice.event == ZCDPEvent(Fraction(1, 2))


@pytest.mark.parametrize(
    "wrong",
    [
        {"horizon": 0}, {"horizon": (1 << 20) + 1}, {"rho": 0}, {"rho": "1e40"}, {"rho": "1e-40"}, {"contribution": 1},
        {"participation": None}, {"sums": 7},
    ],
)  # fmt: skip
def test_what_is_no_counter_is_refused(wrong):
    with pytest.raises(ParameterError):
        SquareRoot(**{"horizon": 8, "rho": 1} | wrong)


def test_noise_is_for_the_rounding_of_the_lattice_that_it_has(monkeypatch):
    """There are ρ where the noise for the rounding of one lattice needs the next coarser one, and so on."""
    made, last = square_root.set_noise, []

    def noted(counter, *, norm, finest):
        made(counter, norm=norm, finest=finest)
        last[:] = [(norm, finest, counter.lattice_bits)]
        seen.append(norm)

    seen = []
    monkeypatch.setattr(square_root, "set_noise", noted)
    SquareRoot(horizon=1 << 16, rho=1)
    widest = (1 << 20) / Fraction(seen[0]) * (1 - Fraction(66_000, 1 << 36))
    before = len(seen)
    SquareRoot(horizon=1 << 16, rho=1 / (2 * widest**2))
    assert len(seen) - before == 3
    ((_, finest, bits),) = last
    assert finest == bits
