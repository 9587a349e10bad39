"""Laplace noise on a number with a slope: its exact ratio between two inputs at any distance."""

from fractions import Fraction
from math import floor

import pytest

from sfumato.errors import ParameterError
from sfumato.geo.metrics import lipschitz as module
from sfumato.geo.metrics.lipschitz import LipschitzLaplace
from sfumato.privacy.promises import MetricDP
from sfumato.privacy.secret import Secret


def shift_of(mechanism, first, second, monkeypatch):
    """By how many lattice steps of the noise two inputs lie apart, from the mechanism's own answers without noise."""
    monkeypatch.setattr(module, "discrete_laplace_one", lambda _: 0)
    apart = mechanism.release(first) - mechanism.release(second)
    return abs(Fraction(apart) / (mechanism.resolution or 1))


@pytest.mark.parametrize("resolution", [None, "0.25", "0.1"])
@pytest.mark.parametrize("slope", [1, 3])
def test_the_loss_is_within_epsilon_times_the_distance_and_the_offset(resolution, slope, monkeypatch):
    """f(x) = slope·x on a fine lattice of x: the loss of discrete Laplace noise is shift/scale."""
    mechanism = LipschitzLaplace(lipschitz=slope, epsilon="0.2", unit="meter", resolution=resolution)
    worst = Fraction(0)
    inputs = [Fraction(n, 1 if resolution is None else 20) for n in range(-9, 10)]
    for first in inputs:
        for second in inputs:
            loss = shift_of(mechanism, slope * first, slope * second, monkeypatch) / mechanism.scale
            allowed = mechanism.guarantee.loss(abs(first - second))
            assert loss <= allowed
            worst = max(worst, loss - Fraction("0.2") * abs(first - second))
    assert (worst > 0) == (resolution is not None)  # the offset is needed where numbers are rounded


def test_the_guarantee_has_its_unit_and_offset():
    fine = LipschitzLaplace(lipschitz=2, epsilon="0.5", unit="kilometer", resolution="0.01")
    assert fine.guarantee == MetricDP("0.5", "kilometer", Fraction("0.0025"))
    assert LipschitzLaplace(lipschitz=2, epsilon="0.5", unit="kilometer").guarantee.offset == 0
    assert fine.scale == 400


def test_answers_are_on_the_lattice():
    fine = LipschitzLaplace(lipschitz=1, epsilon="0.5", unit="meter", resolution="0.25")
    answer = fine.release(Secret(10.1))
    assert floor(answer * 4) == answer * 4
    assert isinstance(LipschitzLaplace(lipschitz=1, epsilon=1, unit="meter").release(5), int)
    assert fine.accuracy("0.5") < fine.accuracy("0.99")


def test_a_vector_is_refused():
    with pytest.raises(ParameterError, match="one number"):
        LipschitzLaplace(lipschitz=1, epsilon=1, unit="meter").release([1, 2])


@pytest.mark.parametrize(
    "change", [{"lipschitz": 0}, {"epsilon": 0}, {"unit": 5}, {"unit": ""}, {"resolution": 0}, {"epsilon": "1e-30"}]
)
def test_what_is_out_of_range_is_refused(change):
    given = {"lipschitz": 1, "epsilon": 1, "unit": "meter"} | change
    with pytest.raises(ParameterError):
        LipschitzLaplace(**given)
