"""The best counter within a memory, by comparison with all; and totals that never fall."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from sfumato.errors import ParameterError
from sfumato.mechanisms import (
    BandedToeplitz,
    BinaryTree,
    BufferedToeplitz,
    Contribution,
    DecayingSum,
    HybridTree,
    Participation,
    SlidingWindow,
    SquareRoot,
    best_counter,
    nondecreasing,
)


def test_the_best_counter_depends_on_the_memory_and_the_budget():
    assert isinstance(best_counter(horizon=1000, rho=1), SquareRoot | BufferedToeplitz)
    assert best_counter(horizon=1 << 16, rho=1, memory=4) == BufferedToeplitz(horizon=1 << 16, rho=1, buffers=3)
    assert best_counter(horizon=1 << 16, rho=1, memory=7).buffers == 6
    assert best_counter(horizon=1000, epsilon=1) == BinaryTree(horizon=1000, epsilon=1, online=True)
    assert isinstance(best_counter(horizon=None, rho=1), HybridTree)
    assert isinstance(best_counter(horizon=1 << 26, rho=1), BinaryTree)


def test_bands_are_for_units_that_come_again_after_a_while():
    often = Participation(most=8, separation=32)
    facts = {"horizon": 256, "rho": 1, "participation": often}
    assert best_counter(**facts) == BandedToeplitz(bands=32, **facts)
    assert isinstance(best_counter(**facts, memory=6), BufferedToeplitz)
    assert best_counter(horizon=30, rho=1, participation=often).largest_stddev <= min(
        kind(horizon=30, rho=1, participation=often).largest_stddev for kind in (SquareRoot, BufferedToeplitz)
    )


@pytest.mark.parametrize("sums", [SlidingWindow(30), DecayingSum("0.9")], ids=str)
def test_windows_and_decaying_sums_take_the_strategy_with_the_least_error(sums):
    best = best_counter(horizon=2000, rho=1, sums=sums, memory=3000)
    others = [SquareRoot(horizon=2000, rho=1, sums=sums), *(
        BufferedToeplitz(horizon=2000, rho=1, sums=sums, buffers=buffers) for buffers in range(1, 7)
    )]  # fmt: skip
    assert best.largest_stddev == min(counter.largest_stddev for counter in others)
    assert best.sums == sums


@pytest.mark.parametrize(
    "wrong",
    [
        {"horizon": 0}, {"memory": 0}, {"memory": 1}, {"rho": None}, {"epsilon": 1},
        {"horizon": None, "sums": SlidingWindow(2)},
        {"rho": None, "epsilon": 1, "sums": DecayingSum("0.5")}, {"sums": 1},
    ],
)  # fmt: skip
def test_what_no_counter_has_is_refused(wrong):
    with pytest.raises(ParameterError):
        best_counter(**{"horizon": 100, "rho": 1} | wrong)


@pytest.mark.parametrize("seed", range(5))
def test_nondecreasing_totals_are_the_nearest(seed):
    noisy = np.random.default_rng(seed).normal(size=(200, 2)).cumsum(axis=0) + np.arange(200)[:, None] * 0.3
    found = nondecreasing(noisy, lower=None)
    for place in (0, 1):
        assert np.allclose(found[:, place], isotonic_regression(noisy[:, place]).x)
    assert (np.diff(nondecreasing(noisy, online=True), axis=0) >= 0).all()


def test_nondecreasing_totals_of_counts_are_nearer_to_the_truth():
    counter = best_counter(horizon=500, rho="0.01", contribution=Contribution.one_of())
    exact = np.cumsum(np.ones((500, 50), dtype=int), axis=0)
    released = counter.start(50).release_block(np.ones((500, 50), dtype=int))
    error = ((nondecreasing(released) - exact) ** 2).mean()
    assert error < ((released - exact) ** 2).mean()


def test_the_bound_below_and_shapes():
    assert nondecreasing([], lower=0).shape == (0,)
    assert nondecreasing([-5, -7]).tolist() == [0, 0]
    assert nondecreasing([-5, -7], lower=None).tolist() == [-6, -6]
    for wrong in ("x", [[[1]]], None, 3):
        with pytest.raises(ParameterError):
            nondecreasing(wrong)
    with pytest.raises(ParameterError):
        nondecreasing([1], online=1)
    with pytest.raises(ParameterError):
        nondecreasing([1], lower="x")
