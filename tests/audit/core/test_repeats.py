"""Noise that comes twice is found, and fresh noise is not taken for it."""

from itertools import product
from math import factorial

import numpy as np
import pytest

from sfumato.audit.core.columns import columns
from sfumato.audit.core.findings import Verdict
from sfumato.audit.core.repeats import check_repeats, repeat_p_value
from sfumato.audit.core.roles import NeighborPair
from sfumato.errors import ParameterError

RNG = np.random.default_rng(8)
PAIR = NeighborPair(5, 6, "one person more")


def verdict(mechanism, samples=1000):
    return check_repeats(PAIR, mechanism, samples=samples, significance=1e-6).verdict


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda exact, n: exact + np.random.default_rng(0).laplace(size=n),
        lambda exact, n: np.rint(exact + np.random.default_rng(exact).normal(size=n)),
        lambda exact, n: [exact + i % 2 for i in range(n)],
        lambda _, n: ["rare" if i in {5, 50, 250} else "usual" for i in range(n)],
    ],
)
def test_runs_that_come_twice_are_reproducible(mechanism):
    assert verdict(mechanism) is Verdict.REPRODUCIBLE_NOISE


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda exact, n: exact + RNG.laplace(size=n),
        lambda _, n: RNG.random(n) < 1e-3,
        lambda exact, n: [exact] * n,
    ],
)
def test_fresh_noise_and_none_at_all_are_not(mechanism):
    for _ in range(20):
        assert verdict(mechanism) is Verdict.NOTHING_FOUND


@pytest.mark.parametrize("chance", [0.5, 0.2, 0.01])
def test_independent_runs_are_called_reproducible_with_a_chance_of_at_most_the_significance(chance):
    """Every pair of sequences of 6 runs of a coin, weighed by its chance."""
    weights = {runs: chance ** sum(runs) * (1 - chance) ** (6 - sum(runs)) for runs in product((0, 1), repeat=6)}
    read = {runs: columns(runs) for runs in weights}
    for significance in (0.1, 1 / 15, 1 / 16, 0.05):
        refuted = sum(w**2 for runs, w in weights.items() if repeat_p_value(read[runs], read[runs]) <= significance)
        assert refuted <= significance


def test_the_p_value_is_the_chance_of_this_order():
    read = columns(["a", "b", "b", "c"])
    assert repeat_p_value(read, read) == pytest.approx(2 / factorial(4))
    assert repeat_p_value(read, columns(["b", "a", "b", "c"])) == 1


def test_a_wrong_number_of_outputs_is_refused():
    with pytest.raises(ParameterError, match="as many outputs"):
        verdict(lambda exact, _: [exact])
