"""Half-widths of the answers to workloads, beside their errors."""

import numpy as np
import pytest
from tests.mechanisms.workloads.brute_force import ONE_ROW
from tests.mechanisms.workloads.planned import HISTOGRAM, exact_answers, flat, planned

from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.workloads import accuracy
from sfumato.mechanisms.workloads.accuracy import _of_one_length
from sfumato.mechanisms.workloads.planning import plan_workload
from sfumato.mechanisms.workloads.queries import LinearQueries
from sfumato.mechanisms.workloads.workload_mechanism import WorkloadMechanism


@pytest.mark.statistical
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_errors_are_as_large_as_predicted(noise):
    plan = planned("mixed", noise=noise)
    mechanism = WorkloadMechanism(plan, **({"rho": "0.5"} if noise == "gaussian" else {"epsilon": 1}))
    exact = flat(exact_answers(plan, HISTOGRAM))
    errors = np.array([flat(mechanism.release(HISTOGRAM).answers) - exact for _ in range(1000)])
    deviations = flat(mechanism.stddevs)
    assert errors.std(axis=0) == pytest.approx(deviations, rel=0.2)  # eight standard deviations of the estimate
    assert np.abs(errors.mean(axis=0)) == pytest.approx(0, abs=6 * deviations.max() / 1000**0.5)
    assert (np.abs(errors) <= flat(mechanism.accuracy(0.95))).mean(axis=0).min() >= 0.91


def test_half_widths_of_gaussian_noise_are_near_those_of_a_normal_distribution():
    mechanism = WorkloadMechanism(planned("mixed"), rho="0.1")
    ratios = flat(mechanism.accuracy("0.95")) / flat(mechanism.stddevs)
    assert 1.9599 < ratios.min() <= ratios.max() < 1.97
    narrow = GaussianNoise(l2_sensitivity=1, stddev="0.4")
    assert _of_one_length(narrow, 3, "0.95") == pytest.approx(0.4 * (2 * np.log(40)) ** 0.5)
    single = WorkloadMechanism(planned("separate"), rho="0.01")
    assert flat(single.accuracy("0.95")) == pytest.approx(single.noise.accuracy("0.95"))
    pure = WorkloadMechanism(planned("mixed", noise="laplace"), epsilon="0.1")
    ratios = flat(pure.accuracy("0.95")) / flat(pure.stddevs)
    assert 1.95 < ratios.min() < ratios.max() < 2.2  # a Laplace distribution has 2.12


def test_of_too_many_weights_half_widths_are_a_bound(monkeypatch):
    plan = plan_workload({"a": 100}, [LinearQueries({"a": "prefix"})], unit=ONE_ROW, noise="laplace")
    assert plan.strategy.name == "trees"
    mechanism = WorkloadMechanism(plan, epsilon="0.1")
    sharp = flat(mechanism.accuracy("0.95"))
    monkeypatch.setattr(accuracy, "are_few", lambda *_: False)
    bound = flat(mechanism.accuracy("0.95"))
    assert (bound >= sharp * (1 - 1e-9)).all()
    assert (bound > 1.5 * sharp).any()


def test_where_nothing_is_released_no_half_width_is_finite():
    plan = planned("product", noise="laplace")
    nothing = WorkloadMechanism(plan, epsilon=1).noise
    object.__setattr__(nothing, "scale", nothing.scale * 0)
    assert np.isinf(flat(WorkloadMechanism(plan, noise=nothing).accuracy())).all()


@pytest.mark.statistical
@pytest.mark.parametrize("cells", [2, 9, 60])
def test_sums_of_cells_have_half_widths_that_hold(cells):
    """Of 4,000 sums about 5% lie outside, with 8 standard deviations; by the length alone one would take more."""
    rarely = LinearQueries({}, weight="0.0001")  # so that it is not measured by itself
    plan = plan_workload({"a": cells}, [LinearQueries({"a": "cells"}), rarely], unit=ONE_ROW, noise="laplace")
    mechanism = WorkloadMechanism(plan, epsilon="0.1")
    width, alone = float(mechanism.accuracy()[1].max()), _of_one_length(mechanism.noise, 2, "0.95")
    exact = np.zeros(cells, dtype=np.int64)
    errors = np.array([abs(float(mechanism.release(exact).answers[1].sum())) for _ in range(4000)])
    assert abs((errors > width).mean() - 0.05) < 8 * (0.05 * 0.95 / 4000) ** 0.5
    assert width < alone * cells**0.5 * 0.6
