"""Quantiles: their bins, and what they are made of."""

from fractions import Fraction

import pytest
from tests.query.planned import ref
from tests.query.recipes import AGE, PAY, WIDE, lowered

from sfumato.query.model.expressions import Call
from sfumato.query.model.functions import Function
from sfumato.query.statistics.means import Sum
from sfumato.query.statistics.quantiles import MAX_BINS, Percentile
from sfumato.query.statistics.recipes import BinQuantile
from sfumato.query.statistics.vectors import VectorSum


def test_a_quantile_has_bins_of_equal_width_over_its_lattice():
    (component,) = lowered(Percentile(PAY, Fraction(1, 4))).components
    assert isinstance(component, BinQuantile)
    assert (component.quantile, component.statement.cell.width, component.statement.cell.count) == (
        Fraction(1, 4),
        1,
        1001,
    )
    (wide,) = lowered(Percentile(ref("w"), Fraction(1, 4)), WIDE).components
    assert wide.statement.cell.count <= MAX_BINS < wide.statement.cell.count * 2


@pytest.mark.parametrize(("value", "is_whole"), [(AGE, True), (PAY, False), (Call(Function.FLOOR, (PAY,)), False)])
def test_whether_an_answer_is_whole_is_said_by_the_kind_alone(value, is_whole):
    assert lowered(Percentile(value, Fraction(1))).outputs(0)[0].is_whole is is_whole
    assert lowered(Sum(value)).outputs(0)[0].is_whole is is_whole
    assert lowered(VectorSum((value,))).outputs(0)[0].is_whole is is_whole
