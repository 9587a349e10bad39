"""The method that is taken follows from public facts, and what a method cannot do is refused."""

import pytest

from sfumato.errors import ParameterError
from sfumato.synth.methods.choosing import LIMITS, check_method, chosen_method
from sfumato.synth.methods.plan import METHODS
from sfumato.synth.methods.stated import Stated
from sfumato.synth.models.shape import TableShape

WORKLOAD = Stated(workload={("x0",): 1})


@pytest.mark.parametrize(("columns", "stated", "expected", "reason"), [
    (1, Stated(), "independent", "one column"), (2, Stated(), "aim", "2 columns are few"),
    (16, Stated(), "aim", "16 columns are few"), (17, Stated(), "mst", "beyond 16"),
    (100, Stated(), "mst", "beyond 16"),
    (1, WORKLOAD, "aim", "workload"), (30, WORKLOAD, "aim", "workload"),
], ids=range(7))  # fmt: skip
def test_the_method_follows_from_columns_and_workload(columns, stated, expected, reason):
    method, why = chosen_method(TableShape({f"x{place}": 3 for place in range(columns)}), stated)
    assert method == expected
    assert reason in why
    check_method(method, columns, stated)


def test_every_method_has_a_limit():
    assert set(LIMITS) == set(METHODS)
    for method, most in LIMITS.items():
        check_method(method, most, Stated())
        with pytest.raises(ParameterError, match=f"at most {most} columns"):
            check_method(method, most + 1, Stated())


@pytest.mark.parametrize("method", ["mst", "privbayes", "independent"])
def test_a_workload_is_for_methods_that_go_by_it(method):
    with pytest.raises(ParameterError, match="is for methods aim and mwem"):
        check_method(method, 2, WORKLOAD)
