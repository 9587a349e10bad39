"""Runs are independent, divided by fair coins where the exact test wants them, and errors are outputs."""

import sys
from itertools import product
from math import factorial

import numpy as np
import pytest

from sfumato.audit.core.adapters import one_by_one
from sfumato.audit.core.findings import Verdict
from sfumato.audit.core.outputs import WHOLE, columns
from sfumato.audit.core.roles import NeighborPair
from sfumato.audit.core.runs import check_repeats, repeat_p_value, run_on
from sfumato.errors import ParameterError

PAIR = NeighborPair("here", "there", "a pair")


def named(database, count):
    return [database] * count


def test_each_half_holds_runs_on_both_databases():
    runs = run_on(PAIR, named, samples=1001)
    assert [side.text(WHOLE) for side in runs.search] == [["'here'"] * 500, ["'there'"] * 500]
    assert [set(side.text(WHOLE)) for side in runs.test] == [{"'here'"}, {"'there'"}]
    assert runs.samples == 2002


def test_fair_coins_divide_the_runs_of_the_test():
    heads = [len(run_on(PAIR, named, samples=1000).test[0]) for _ in range(50)]
    assert len(set(heads)) > 1
    assert abs(sum(heads) / 50 - 500) < 5 * (1000 / 4 / 50) ** 0.5


def test_a_function_of_one_database_is_called_once_for_each_run():
    calls = []
    outputs = one_by_one(lambda database: calls.append(database) or len(calls))("data", 3)
    assert outputs == (1, 2, 3)
    assert calls == ["data"] * 3


class UnheardError(Exception):
    """What no list of errors holds."""


def fail(row):
    raise UnheardError(row)


def refuse(_):
    raise ParameterError("x", 1, "must be 2")


@pytest.mark.parametrize(
    ("release", "label"),
    [
        (lambda row: 1 / row, "ZeroDivisionError: float division by zero"),
        (lambda row: [][int(row)], "IndexError: list index out of range"),
        (fail, "UnheardError: 0.0"),
        (refuse, "ParameterError: x = 1: must be 2"),
        (lambda _: sys.exit(0), "SystemExit: 0"),
    ],
)
def test_an_error_is_an_output(release, label):
    assert one_by_one(release)(0.0, 1) == (label,)


def test_an_interrupt_is_not():
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one_by_one(stop)(0, 1)


@pytest.mark.parametrize(
    "outputs",
    [
        [0],
        [0] * 49,
        [],
        np.int64(3),
        np.zeros((1, 50)),
        "x" * 50,
        dict.fromkeys(range(50)),
        set(range(50)),
        iter([0] * 50),
    ],
)
def test_a_wrong_number_of_outputs_is_refused(outputs):
    with pytest.raises(ParameterError, match="as many outputs as requested"):
        run_on(PAIR, lambda _database, _count: outputs, samples=100)


@pytest.mark.parametrize("change", [lambda rows: rows.clear(), lambda rows: rows.append(0), lambda rows: rows.sort()])
def test_a_mechanism_that_changes_its_database_is_refused(change):
    """Once it is empty it is no neighbor, and every output looks private."""

    def mechanism(rows, count):
        change(rows)
        return [0] * count

    with pytest.raises(ParameterError, match="must not change its database"):
        run_on(NeighborPair([3, 1, 2], [1, 2], "the first is removed"), mechanism, samples=100)


RNG = np.random.default_rng(8)
ONE_MORE = NeighborPair(5, 6, "one person more")


def verdict(mechanism, samples=1000):
    return check_repeats(ONE_MORE, mechanism, samples=samples, significance=1e-6).verdict


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


def test_a_wrong_number_of_repeated_outputs_is_refused():
    with pytest.raises(ParameterError, match="as many outputs"):
        verdict(lambda exact, _: [exact])
