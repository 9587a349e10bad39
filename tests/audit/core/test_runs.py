"""Runs are independent, divided by fair coins where the exact test wants them, and errors are outputs."""

import sys

import numpy as np
import pytest

from sfumato.audit.core.reading import WHOLE
from sfumato.audit.core.roles import NeighborPair
from sfumato.audit.core.runs import one_by_one, run_on
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
    with pytest.raises(ParameterError, match="as many outputs as it is asked for"):
        run_on(PAIR, lambda _database, _count: outputs, samples=100)


@pytest.mark.parametrize("change", [lambda rows: rows.clear(), lambda rows: rows.append(0), lambda rows: rows.sort()])
def test_a_mechanism_that_changes_its_database_is_refused(change):
    """Once it is empty it is no neighbor, and every output looks private."""

    def mechanism(rows, count):
        change(rows)
        return [0] * count

    with pytest.raises(ParameterError, match="leave its database as it is"):
        run_on(NeighborPair([3, 1, 2], [1, 2], "the first is removed"), mechanism, samples=100)
