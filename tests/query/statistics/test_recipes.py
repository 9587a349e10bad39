"""What all recipes ask for."""

import pytest
from tests.query.planned import ref
from tests.query.recipes import AGE, lowered

from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.query.model.statement import AUTO
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.variances import Variance
from sfumato.query.statistics.vectors import VectorSum


@pytest.mark.parametrize(
    "statistic", [Sum(ref("free")), Mean(ref("free")), Variance(ref("free")), VectorSum((ref("free"),))]
)
def test_nothing_is_summed_without_bounds(statistic):
    with pytest.raises(UnboundedSensitivityError, match="Declare bounds"):
        lowered(statistic)


def test_bounds_are_chosen_before_a_statistic_is_lowered():
    with pytest.raises(ParameterError, match="chosen before"):
        lowered(Sum(AGE, AUTO))
