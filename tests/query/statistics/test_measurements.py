"""What is measured of one way to group: what each part tells, for the accountants, and where outputs point."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.query.planned import PEOPLE, N, planned, ref

from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.quantiles.quantile import Quantile as QuantileMechanism
from sfumato.mechanisms.selection.noisy_top_k import NoisyTopK
from sfumato.privacy.events import ExponentialEvent, PureEvent
from sfumato.query.analysis.stability import Sensitivity
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.measurements import LAWS, Additive, KeyChoice, QuantileChoice, TopChoice
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues

ONE = Sensitivity(l1=1, l2=Fraction(1), l0=1)


def test_noise_tells_what_its_mechanism_tells():
    noise = Laplace(l1_sensitivity=1, epsilon="0.5")
    assert Additive(statement=0, measures=(0,), sensitivity=ONE, mechanism=noise).event == noise.event


@pytest.mark.parametrize(
    ("rows", "event"), [(0, PureEvent(0)), (1, ExponentialEvent(Fraction(1, 4))), (4, PureEvent(1)), (8, PureEvent(2))]
)
def test_a_choice_tells_as_much_of_a_unit_as_of_all_its_rows(rows, event):
    mechanism = QuantileMechanism(quantile="0.5", lower=0, upper=9, epsilon="0.25")
    assert QuantileChoice(statement=0, mechanism=mechanism, rows=rows).event == event


@pytest.mark.parametrize(("rows", "price"), [(0, 0), (1, Fraction(1, 4)), (3, Fraction(3, 4))])
def test_so_does_a_choice_of_the_most_frequent(rows, price):
    mechanism = NoisyTopK(k=2, epsilon="0.25", monotonic=True, utility_sensitivity=1)
    assert TopChoice(statement=0, mechanism=mechanism, rows=rows).event == PureEvent(price)


def test_keys_of_public_rows_tell_nothing():
    assert KeyChoice(measure=0, mechanism=None).event == PureEvent(0)


def test_a_section_tells_its_keys_and_all_that_it_measures():
    (section,) = planned(PEOPLE, N, ("m", Mean(ref("age"))), keys=("town",), delta="1e-6").sections
    assert section.events == (section.selection.event, *(measurement.event for measurement in section.measurements))
    assert len(section.events) == 4
    assert len(replace(section, selection=None).events) == 3


def test_outputs_point_at_their_measurements():
    statistics = (
        N,
        ("m", Mean(ref("age"))),
        ("q", Percentile(ref("age"), Fraction(1, 2))),
        ("t", TopValues(ref("sex"))),
    )
    (section,) = planned(PEOPLE, *statistics).sections
    count, mean, median, mode = section.outputs
    assert (count.measurement, mean.count, mean.total, median.measurement, mode.measurement) == (0, 1, 2, 3, 4)
    assert [type(m) for m in section.measurements] == [Additive, Additive, Additive, QuantileChoice, TopChoice]
    assert [m.statement for m in section.measurements] == [0, 0, 0, 1, 2]


@pytest.mark.parametrize("epsilon", ["0.2", 1, 20])
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000)])
def test_the_interval_of_a_sum_around_its_middle_holds_as_often_as_it_says(epsilon, confidence):
    (section,) = planned(PEOPLE, N, ("s", Sum(ref("kids"))), epsilon=epsilon).sections
    output = section.outputs[1]
    assert output.terms == (((1, 0), 1), ((0, 0), 4))
    reach = output.reach(section, confidence)
    count, total = (float(one.mechanism.scale) for one in section.measurements)
    places = np.arange(-math.ceil(60 * (total + 4 * count)) - 9, math.ceil(60 * (total + 4 * count)) + 10)
    within = 0.0
    for n in range(-math.ceil(50 * count), math.ceil(50 * count) + 1):
        beside = np.abs(places + 4 * n) <= reach
        within += laplace_at(count, n) * float(laplace_at(total, places[beside]).sum())
    assert within >= float(confidence) - 1e-9
    assert output.forecast(section, confidence, size=1).half_width == reach
    (estimate,) = output.estimator(section, confidence)([[(7,)], [(3,)]])
    assert (estimate.value, estimate.low, estimate.high) == (31, 31 - reach, 31 + reach)


def laplace_at(scale, places):
    """P(noise = k) of discrete Laplace noise."""
    return np.exp(-np.abs(places) / scale) * math.tanh(1 / (2 * scale))


def test_there_are_two_laws_of_noise():
    assert LAWS == ("laplace", "gaussian")
