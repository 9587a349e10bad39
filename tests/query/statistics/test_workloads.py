"""Where the numbers of a section are in a histogram that others share."""

from fractions import Fraction

import numpy as np
import pytest
from tests.query.planned import PEOPLE, relation_of

from sfumato.mechanisms.workloads.planning import plan_workload
from sfumato.mechanisms.workloads.queries import LinearQueries
from sfumato.mechanisms.workloads.sensitivity import CellSensitivity
from sfumato.mechanisms.workloads.workload_mechanism import WorkloadMechanism
from sfumato.query.model.statement import KeyColumn, RowCount, Statement
from sfumato.query.statistics.measurements import FittedOutput, LinearOutput, Section
from sfumato.query.statistics.workloads import FittedCells, Workload

KEYS = (KeyColumn(name="a", values=("x", "y", "?")), KeyColumn(name="b", values=(0, 1, 2)))
PLAN = plan_workload(
    {"a": 3, "b": 3}, [LinearQueries({"a": "cells", "b": "cells"}), LinearQueries({"a": "cells"}), LinearQueries({})],
    unit=CellSensitivity(l0=1, linf=1, is_nonnegative=True),
)  # fmt: skip
WORKLOAD = Workload(
    statement=Statement(rows=relation_of(PEOPLE), keys=KEYS, measures=(RowCount(),)),
    mechanism=WorkloadMechanism(PLAN, rho=2),
)
TABLE = np.arange(9.0).reshape(3, 3)


def cells(*axes, group=0):
    return FittedCells(statement=0, workload=WORKLOAD, axes=axes, group=group)


@pytest.mark.parametrize(
    ("axes", "keys", "expected"),
    [
        ((0, 1), [("x", "y"), (False, True)], [0, 1, 3, 4]),
        ((0, 1), [("y", "x"), (True,)], [4, 1]),
        ((1, 0), [(True, False), ("x", "y")], [1, 4, 0, 3]),
    ],
    ids=["as they are", "in another order", "with axes exchanged"],
)
def test_numbers_come_in_the_order_of_the_sections_own_groups(axes, keys, expected):
    columns = [KeyColumn(name=f"{place}", values=values) for place, values in enumerate(keys)]
    assert cells(*axes).by_group(TABLE, columns) == expected


def test_a_section_of_one_key_reads_one_axis_and_one_without_keys_the_total():
    assert cells(0, group=1).by_group(np.array([5.0, 6.0, 7.0]), KEYS[:1]) == [5, 6, 7]
    assert cells(group=2).by_group(np.array(9.0), ()) == [9]


def section(*outputs):
    return Section(
        keys=(), selection=None, statements=(WORKLOAD.statement,), outputs=outputs,
        measurements=(cells(group=2), cells(group=2)),
    )  # fmt: skip


def test_a_sum_around_its_middle_has_the_errors_of_both_of_its_parts():
    plain, centered = (
        FittedOutput(name="s", terms=terms, resolution=Fraction(1, 2)) for terms in (((0, 1),), ((0, 1), (1, -3)))
    )
    own, both = (one.reaches(section(plain), Fraction(19, 20))[0] for one in (plain, centered))
    assert own == pytest.approx(float(WORKLOAD.widths(Fraction(19, 20))[2]) / 2)
    assert both == pytest.approx(4 * float(WORKLOAD.widths(Fraction(39, 40))[2]) / 2)
    (value,) = centered.estimator(section(centered), Fraction(19, 20))([[(10.0,)], [(2.0,)]])
    assert (value.value, value.high - value.value) == (2.0, pytest.approx(both))
    assert centered.forecast(section(centered), Fraction(19, 20), size=1).half_width == pytest.approx(both)


def test_a_fitted_number_is_no_measurement_of_its_own():
    plain = LinearOutput(name="n", measurement=0)
    assert section(plain).is_fitted
    assert section(plain).events == (WORKLOAD.event, WORKLOAD.event)
    with pytest.raises(TypeError, match="additive"):
        plain.forecast(section(plain), Fraction(19, 20), size=1)
