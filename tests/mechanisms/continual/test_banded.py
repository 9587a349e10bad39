"""Banded counters: what a neighbor moves, the noise beside exact matrices, placements by brute force, and errors."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.mechanisms.continual.streams import largest_move

from sfumato.errors import ParameterError
from sfumato.mechanisms import (
    BandedToeplitz,
    BufferedToeplitz,
    Contribution,
    DecayingSum,
    Participation,
    RunningTotal,
    SlidingWindow,
    SquareRoot,
)
from sfumato.mechanisms.continual import banded
from sfumato.mechanisms.continual.banded import (
    BandedNoise,
    best_power,
    coefficients,
    decoded_squares,
    moved_squared,
    rounded,
)
from sfumato.mechanisms.continual.square_root import coefficients as of_square_root
from sfumato.privacy.events import DiscreteGaussianEvent, SelfComposedEvent, ZCDPEvent
from sfumato.privacy.neighbors import REPLACE_ONE

SUMS = (RunningTotal(), SlidingWindow(3), DecayingSum("0.9"))
THOUSANDS = Contribution.clamped(0, 1000)
BITS = 20


def column_of(bands, power="0.6", bits=BITS):
    return rounded(coefficients(Fraction(power), bands), bits)


def dense(column, horizon, bits=BITS):
    """C, exactly."""
    zero = Fraction(0)
    return [
        [Fraction(column[t - i], 1 << bits) if 0 <= t - i < len(column) else zero for i in range(horizon)]
        for t in range(horizon)
    ]


def drawn(fresh, column, unit_bits, blocks=None):
    """The noise for z as given, ticks × numbers, in steps of the lattice."""
    left = iter(np.split(fresh, np.cumsum(blocks or [len(fresh)])[:-1]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(banded, "discrete_gaussian", lambda *_: next(left).ravel())
        noise = BandedNoise(fresh.shape[1], unit_bits, column, BITS, Fraction(1))
        return np.concatenate([noise.draw(ticks) for ticks in blocks or [len(fresh)]])


def test_coefficients_are_those_of_a_power_and_fall():
    assert np.allclose([float(each) for each in coefficients(Fraction(1, 2), 60)], of_square_root(60, RunningTotal()))
    third = [float(each) for each in coefficients(Fraction(1, 3), 50)]
    assert np.allclose(np.convolve(np.convolve(third, third), third)[:50], 1)  # (1 − x)^(−1/3), three times
    for power, bits in product(("0", "0.3", "0.984375"), (0, 3, 30)):
        steps = column_of(40, power, bits)
        assert (steps[0], min(steps) >= 0, (np.diff(steps) <= 0).all()) == (1 << bits, True, True)
    factor = DecayingSum("0.9").factor
    decaying = coefficients(Fraction(1, 2), 5, factor)
    assert decaying == tuple(each * factor**place for place, each in enumerate(coefficients(Fraction(1, 2), 5)))


@pytest.mark.parametrize("unit_bits", [0, 6])
@pytest.mark.parametrize("bands", [1, 2, 5])
def test_the_strategy_makes_the_fresh_noise_of_the_correlated_one(bands, unit_bits):
    """C·u by exact matrices is z to half a step of u, at every tick."""
    fresh = np.random.default_rng(bands).integers(-(1 << BITS + 4), 1 << BITS + 4, (30, 2))
    column = column_of(bands)
    found, matrix = drawn(fresh, column, unit_bits), dense(column, 30)
    for number in (0, 1):
        noise = [Fraction(int(u), 1 << unit_bits) for u in found[:, number]]
        for row, wanted in zip(matrix, fresh[:, number], strict=True):
            made = sum(factor * u for factor, u in zip(row, noise, strict=True))
            assert abs(made - Fraction(int(wanted), 1 << BITS)) <= Fraction(1, 2 << unit_bits)


@pytest.mark.parametrize("unit_bits", [0, 4, 20])
def test_a_neighbor_has_the_same_releases_with_noise_as_far_off_as_its_columns(unit_bits):
    """By the real recursion: z′ − z is C·d exactly, in steps of the lattice, whatever z is."""
    column = column_of(7)
    fresh = np.random.default_rng(7).integers(-(1 << 24), 1 << 24, (60, 1))
    plain = drawn(fresh, column, unit_bits)
    for placed in ((0,), (5,), (0, 7, 30), (0, 3, 4)):
        change = np.zeros((60, 1), dtype=np.int64)
        change[list(placed), 0] = [1, -3, 2][: len(placed)]
        moved = np.convolve(column, change[:, 0])[:60]
        assert (drawn(fresh + moved[:, None], column, unit_bits) == plain + (change << unit_bits)).all()


@pytest.mark.parametrize("numbers", [1, 3])
def test_any_blocks_and_python_integers_give_the_same_noise(numbers):
    column = column_of(6)
    for size in (1 << 30, 1 << 61):
        fresh = np.random.default_rng(1).integers(-size, size, (40, numbers))
        found = [
            drawn(each, column, 4, blocks).tolist()
            for each, blocks in ((fresh, [40]), (fresh, [1, 2, 7, 0, 30]), (fresh.astype(object), [20, 20]))
        ]
        assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("bands", [1, 3, 5])
def test_no_placement_of_a_unit_moves_the_measurements_further(bands):
    """Ten ticks, all placements and signs; where the columns are whole, and apart, it is √k·‖c‖ itself."""
    column = column_of(bands, bits=10)
    matrix = np.array(dense(column, 10, 10), dtype=float)
    for most, separation in product((1, 2, 3), (1, 2, 3, 5)):
        times = Participation(most, separation).within(10)
        stated = float(moved_squared(column, times, separation, 10))
        found = largest_move(matrix, most, separation, (-1, 1), power=2)
        assert found <= stated * (1 + 1e-12)
        assert found >= stated * (1 - 1e-12) or (times - 1) * separation + bands > 10
        if separation >= bands:
            assert stated == pytest.approx(times * sum((each / 1024) ** 2 for each in column), rel=1e-12)


@pytest.mark.parametrize("relation", [None, REPLACE_ONE])
def test_events_are_those_of_the_columns(relation):
    bound = Contribution.vector(l2=1000, **({"neighboring_relation": relation} if relation else {}))
    exchanged = 2 if relation else 1
    far = BandedToeplitz(horizon=60, rho="0.5", bands=6, contribution=bound, participation=Participation(10, 6))
    column = rounded(coefficients(far.power, 6), far.lattice_bits)
    norm = sum(each**2 for each in column) ** 0.5 * 1000 * exchanged
    assert isinstance(far.once, DiscreteGaussianEvent)
    assert far.event == SelfComposedEvent(far.once, 10)
    assert norm <= float(far.once.l2_sensitivity) * (1 + 1e-12)
    assert float(far.once.l2_sensitivity) == pytest.approx(norm, rel=1e-9)
    assert float(far.once.stddev) == pytest.approx(norm * 10**0.5, rel=1e-6)  # for ρ = 1/2
    assert far.once.l0_sensitivity == 6 * (1000 * exchanged) ** 2
    near = BandedToeplitz(horizon=60, rho="0.5", bands=7, contribution=bound, participation=Participation(10, 6))
    assert near.event == ZCDPEvent(Fraction(1, 2))
    once = BandedToeplitz(horizon=60, rho="0.5", bands=7, contribution=bound)
    assert once.event == once.once


@pytest.mark.parametrize("sums", SUMS, ids=str)
@pytest.mark.parametrize("bands", [1, 4])
def test_weights_of_the_noise_undo_the_strategy(bands, sums):
    horizon, power = 12, Fraction(3, 5)
    factor = getattr(sums, "factor", 1)
    column = np.array([float(each) for each in coefficients(power, bands, factor)])
    matrix = np.array([[column[t - i] if 0 <= t - i < bands else 0 for i in range(horizon)] for t in range(horizon)])
    width = getattr(sums, "width", horizon)
    added = [[float(factor) ** (t - i) if 0 <= t - i < width else 0 for i in range(horizon)] for t in range(horizon)]
    weights = np.array(added) @ np.linalg.inv(matrix)
    assert np.allclose(decoded_squares(horizon, bands, sums, power), (weights**2).sum(axis=1))


@pytest.mark.parametrize("sums", SUMS, ids=str)
@pytest.mark.parametrize(("horizon", "bands"), [(40, 3), (64, 16)])
def test_the_power_is_the_best_of_all(horizon, bands, sums):
    factor = getattr(sums, "factor", 1)

    def error(power):
        column = [float(each) for each in coefficients(power, bands, factor)]
        return np.dot(column, column) * decoded_squares(horizon, bands, sums, power)[-1]

    chosen = error(best_power(horizon, bands, sums))
    assert chosen == pytest.approx(min(error(Fraction(place, 64)) for place in range(64)))


@pytest.mark.parametrize(("horizon", "bands"), [(64, 4), (128, 8)])
def test_no_other_bands_have_much_less_error(horizon, bands):
    """All columns of so many bands, by descent from the one that is used."""

    def log_error(rest):
        column, weights = np.concatenate([[1.0], rest]), np.zeros(horizon)
        weights[0] = 1.0
        for tick in range(1, horizon):
            held = min(bands - 1, tick)
            weights[tick] = -column[1 : held + 1] @ weights[tick - held : tick][::-1]
        return np.log(column @ column * (np.cumsum(weights) ** 2).sum())

    used = [float(each) for each in coefficients(best_power(horizon, bands, RunningTotal()), bands)][1:]
    found = minimize(log_error, used, method="L-BFGS-B", options={"maxiter": 30})
    assert log_error(used) - found.fun <= 2 * 0.002  # 0.2% of the standard deviation


@pytest.mark.parametrize(
    ("passes", "root", "buffered", "least"),
    [(1, 2.831, 2.831, 2.831), (4, 7.035, 7.034, 6.622), (16, 22.95, 22.95, 19.01)],
)
def test_units_that_come_again_cost_less_than_with_other_counters(passes, root, buffered, least):
    """256 ticks: the figures of the documentation, in units of 1/√(2ρ)."""
    facts = {
        "horizon": 256, "rho": "0.5", "contribution": THOUSANDS,
        "participation": Participation(passes, 256 // passes),
    }  # fmt: skip
    found = [
        counter.largest_stddev / 1000
        for counter in (SquareRoot(**facts), BufferedToeplitz(**facts), BandedToeplitz(**facts, bands=256 // passes))
    ]
    assert found == pytest.approx([root, buffered, least], rel=2e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"horizon": 0}, {"horizon": (1 << 20) + 1}, {"rho": 0}, {"rho": "1e40"}, {"rho": "1e-40"}, {"bands": 0},
        {"bands": 1025}, {"power": 1}, {"power": "0.3"}, {"power": -1}, {"contribution": 1},
        {"participation": None}, {"sums": 7},
    ],
)  # fmt: skip
def test_what_is_no_counter_is_refused(wrong):
    with pytest.raises(ParameterError):
        BandedToeplitz(**{"horizon": 8, "rho": 1, "bands": 2} | wrong)
