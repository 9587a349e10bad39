"""Runs are independent, divided by fair coins where the exact test wants them, and errors are outputs."""

import pytest

from sfumato.audit.roles import NeighborPair
from sfumato.audit.runs import one_by_one, run_on
from sfumato.errors import ParameterError

PAIR = NeighborPair("here", "there", "a pair")


def named(database, count):
    return [database] * count


def test_each_half_holds_runs_on_both_databases():
    runs = run_on(PAIR, named, samples=1001)
    assert runs.search == (["here"] * 500, ["there"] * 500)
    assert set(runs.test[0]) == {"here"}
    assert set(runs.test[1]) == {"there"}
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


def refuse(_):
    raise ParameterError("x", 1, "must be 2")


@pytest.mark.parametrize(
    ("release", "label"),
    [
        (lambda row: 1 / row, "ZeroDivisionError: float division by zero"),
        (lambda row: [][int(row)], "IndexError: list index out of range"),
        (refuse, "ParameterError: x = 1: must be 2"),
    ],
)
def test_an_error_is_an_output(release, label):
    assert one_by_one(release)(0.0, 1) == (label,)


def test_an_interrupt_is_not():
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one_by_one(stop)(0, 1)
