"""Released workloads: unbiased, consistent, of the predicted variance, and private as measured."""

from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, pld
from tests.mechanisms.exhaustive import answers_by_noise, laplace_log_weights, max_log_ratio
from tests.mechanisms.workloads.brute_force import ONE_ROW, strategy_matrix, workload_matrices
from tests.mechanisms.workloads.planned import (
    HISTOGRAM,
    WORKLOADS,
    exact_answers,
    flat,
    planned,
    without_noise,
)

from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.workloads.planning import plan_workload
from sfumato.mechanisms.workloads.queries import LinearQueries
from sfumato.mechanisms.workloads.sensitivity import CellSensitivity
from sfumato.mechanisms.workloads.workload_mechanism import WorkloadMechanism
from sfumato.privacy.events import DiscreteGaussianEvent, DiscreteLaplaceEvent
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.privacy.secret import Secret


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_without_noise_the_answers_are_exact(name, noise, monkeypatch):
    without_noise(monkeypatch)
    plan = planned(name, noise=noise)
    mechanism = WorkloadMechanism(plan, **({"rho": 1} if noise == "gaussian" else {"epsilon": 1}))
    for exact in (HISTOGRAM, HISTOGRAM.ravel().tolist(), Secret(HISTOGRAM)):
        assert flat(mechanism.release(exact).answers) == pytest.approx(flat(exact_answers(plan, HISTOGRAM)), abs=1e-6)


@pytest.mark.parametrize("name", ["marginals", "mixed", "product"])
def test_answers_are_the_least_squares_fit_of_what_was_measured(name):
    plan = planned(name)
    released = WorkloadMechanism(plan, rho="0.1").release(HISTOGRAM)
    matrix = strategy_matrix(plan.strategy.measurements).astype(float)
    fitted = np.linalg.pinv(matrix) @ released.measurements
    assert flat(released.answers) == pytest.approx(
        flat([w @ fitted for w in workload_matrices(plan)]), rel=1e-6, abs=1e-6
    )


@pytest.mark.parametrize("name", WORKLOADS)
def test_variances_and_covariances_are_those_of_the_matrices(name):
    plan = planned(name)
    mechanism = WorkloadMechanism(plan, noise_multiplier=3)
    inverse = np.linalg.pinv(strategy_matrix(plan.strategy.measurements).astype(float))
    weights = [w @ inverse for w in workload_matrices(plan)]
    variance = float(mechanism.noise.stddev) ** 2
    assert flat(mechanism.stddevs) ** 2 == pytest.approx(variance * flat([(row**2).sum(axis=1) for row in weights]))
    released = mechanism.release(HISTOGRAM)
    places = [list(np.ndindex(answer.shape)) for answer in released.answers]
    for first, second in product(range(len(places)), repeat=2):
        expected = variance * weights[first] @ weights[second].T
        for row, column in [(0, 0), (-1, -1), (0, -1)]:
            found = released.covariance((first, places[first][row]), (second, places[second][column]))
            assert found == pytest.approx(expected[row, column], abs=1e-9 * variance)


def test_answers_have_the_axes_of_the_columns_that_are_named():
    released = WorkloadMechanism(planned("mixed"), rho=1).release(HISTOGRAM)
    assert [answer.shape for answer in released.answers] == [(4, 2), (3,), (10,), ()]
    assert [deviation.shape for deviation in released.stddevs] == [(4, 2), (3,), (10,), ()]
    with pytest.raises(ValueError, match="read-only"):
        released.answers[0][0, 0] = 1


def test_answers_agree_with_each_other():
    released = WorkloadMechanism(planned("marginals"), rho="0.1").release(HISTOGRAM)
    first, second, third = released.answers
    assert first.sum(axis=1) == pytest.approx(second.sum(axis=1))
    assert second.sum(axis=0) == pytest.approx(third.sum(axis=0))


def test_the_event_is_that_of_the_whole_numbers_that_are_measured():
    plan = planned("mixed")
    matrix = strategy_matrix(plan.strategy.measurements).astype(object)
    squared = int((matrix**2).sum(axis=0).max())
    event = WorkloadMechanism(plan, rho="0.3").event
    assert isinstance(event, DiscreteGaussianEvent)
    assert squared <= event.l2_sensitivity**2 <= squared * (1 + Fraction(1, 2**60))
    assert (
        Fraction(3, 10) * (1 - Fraction(1, 2**29)) <= event.l2_sensitivity**2 / (2 * event.stddev**2) <= Fraction(3, 10)
    )
    assert (matrix != 0).sum(axis=0).max() <= event.l0_sensitivity <= len(matrix)
    assert WorkloadMechanism(plan, noise_multiplier="2.5").event.noise_multiplier == Fraction(5, 2)
    laplace_event = WorkloadMechanism(planned("mixed", noise="laplace"), epsilon="0.5").event
    assert isinstance(laplace_event, DiscreteLaplaceEvent)
    assert laplace_event.l1_sensitivity / laplace_event.scale == Fraction(1, 2)


def test_epsilon_and_delta_are_kept_and_used():
    mechanism = WorkloadMechanism(planned("marginals"), epsilon=1, delta="1e-6")
    assert 0.98 <= PLDAccountant().compose(mechanism.event).epsilon(delta="1e-6") <= 1.0001
    continuous = GaussianDpEvent(float(mechanism.event.noise_multiplier))
    assert pld.PLDAccountant().compose(continuous).get_epsilon(1e-6) == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize(
    "unit",
    [ONE_ROW, CellSensitivity(l0=1, linf=1, is_nonnegative=True, neighboring_relation=REPLACE_ONE)],
    ids=["add", "replace"],
)
def test_no_pair_of_neighbors_is_told_apart_by_more_than_epsilon(unit, monkeypatch):
    plan = plan_workload({"x": 2}, [LinearQueries({"x": "cells"})], unit=unit, noise="laplace")
    mechanism = WorkloadMechanism(plan, epsilon="0.7")
    noises = list(product(range(-6, 7), repeat=2))

    def weights_of(counts):
        release = partial(lambda given: mechanism.release(given).measurements, counts)
        return laplace_log_weights(answers_by_noise(monkeypatch, laplace, "discrete_laplace", release, noises))

    changed = [(1, 0), (0, 1)] if unit is ONE_ROW else [(1, 0), (1, -1), (-1, 1)]
    base = weights_of((2, 2))
    assert max(max_log_ratio(base, weights_of((2 + x, 2 + y))) for x, y in changed) == Fraction(7, 10)


def test_neighbors_differ_in_the_measured_numbers_by_a_column_of_the_strategy(monkeypatch):
    without_noise(monkeypatch)
    for name in WORKLOADS:
        mechanism = WorkloadMechanism(planned(name), rho=1)
        matrix = strategy_matrix(mechanism.plan.strategy.measurements)
        before = mechanism.release(HISTOGRAM).measurements
        for cell in range(HISTOGRAM.size):
            added = HISTOGRAM.ravel() + (np.arange(HISTOGRAM.size) == cell)
            changed = mechanism.release(added).measurements - before
            assert (changed == matrix[:, cell]).all()
            assert int((changed.astype(object) ** 2).sum()) <= mechanism.event.l2_sensitivity**2


def test_each_measured_number_has_noise_of_its_own(monkeypatch):
    mechanism = WorkloadMechanism(planned("marginals"), rho=1)
    without_noise(monkeypatch)
    exact = mechanism.release(HISTOGRAM).measurements
    monkeypatch.setattr(gaussian, "discrete_gaussian", lambda _, size: np.arange(size) + 1)
    assert (mechanism.release(HISTOGRAM).measurements - exact == np.arange(len(exact)) + 1).all()


def test_tables_are_enough(monkeypatch):
    without_noise(monkeypatch)
    mechanism = WorkloadMechanism(planned("marginals"), rho=1)
    tables = {("a", "b"): HISTOGRAM.sum(axis=2), ("a", "c"): HISTOGRAM.sum(axis=1), ("b", "c"): HISTOGRAM.sum(axis=0)}
    expected = mechanism.release(HISTOGRAM)
    for given in (tables, Secret(tables), {**tables, ("a", "b", "c"): HISTOGRAM}):
        assert (mechanism.release(given).measurements == expected.measurements).all()
    with pytest.raises(ParameterError, match="grouped by"):
        mechanism.release({key: tables[key] for key in [("a", "b"), ("a", "c")]})
    with pytest.raises(ParameterError, match="in that order"):
        mechanism.release({("b", "a"): HISTOGRAM.sum(axis=2).T})
    with pytest.raises(ParameterError, match="8 cells of b, c"):
        mechanism.release({("b", "c"): [1, 2, 3]})


def test_counts_of_any_size_are_measured_exactly(monkeypatch):
    without_noise(monkeypatch)
    mechanism = WorkloadMechanism(planned("product"), rho=1)
    matrix = strategy_matrix(mechanism.plan.strategy.measurements).astype(object)
    for large in (2**61, -(2**62), 10**40):
        counts = [large] * 23 + [1]
        assert mechanism.release(counts).measurements.tolist() == (matrix @ np.array(counts, dtype=object)).tolist()
        assert np.isfinite(flat(mechanism.release(counts).answers)).all()


def test_a_column_of_one_value_is_totaled(monkeypatch):
    without_noise(monkeypatch)
    plan = plan_workload(
        {"a": 1, "b": 3}, [LinearQueries({"a": "prefix", "b": "cells"}), LinearQueries({"a": "cells"})], unit=ONE_ROW
    )
    released = WorkloadMechanism(plan, rho=1).release([1, 2, 3])
    assert [answer.round(6).tolist() for answer in released.answers] == [[[1, 2, 3]], [6]]
    assert released.covariance((0, (0, 1)), (1, (0,))) > 0


@pytest.mark.parametrize(
    "budget",
    [{}, {"epsilon": 1}, {"delta": "1e-6"}, {"rho": 0}, {"rho": 1, "epsilon": 1}, {"noise_multiplier": -1}],
    ids=str,
)
def test_a_budget_that_is_none_is_refused(budget):
    with pytest.raises(ParameterError, match=r"epsilon|rho|noise_multiplier"):
        WorkloadMechanism(planned("marginals"), **budget)


@pytest.mark.parametrize("budget", [{}, {"epsilon": 0}, {"epsilon": 1, "delta": "1e-6"}, {"rho": 1}], ids=str)
def test_laplace_noise_has_an_epsilon_alone(budget):
    with pytest.raises(ParameterError, match="epsilon"):
        WorkloadMechanism(planned("marginals", noise="laplace"), **budget)


def test_answers_that_were_not_asked_have_no_covariance():
    released = WorkloadMechanism(planned("marginals"), rho=1).release(HISTOGRAM)
    for wrong in [(3, (0, 0)), (0, (0,)), (0, (0, 4)), (0, (-1, 0)), 0, (0, 1)]:
        with pytest.raises(ParameterError, match=r"group|place|answer"):
            released.covariance(wrong, (0, (0, 0)))


# Noise that was calibrated elsewhere


def strategy_needs(plan):
    event = WorkloadMechanism(plan, noise_multiplier=1).event
    return {"l2_sensitivity": event.l2_sensitivity, "l0_sensitivity": event.l0_sensitivity}


def test_noise_may_be_calibrated_together_with_that_of_others():
    plan = planned("marginals")
    noise = GaussianNoise(**strategy_needs(plan), stddev=10**6)
    assert WorkloadMechanism(plan, noise=noise).event == noise.event


@pytest.mark.parametrize("smaller", ["l2_sensitivity", "l0_sensitivity"])
def test_noise_for_a_smaller_sensitivity_than_the_strategy_has_is_refused(smaller):
    plan = planned("marginals")
    needs = strategy_needs(plan)
    needs[smaller] -= 1
    with pytest.raises(ParameterError, match="at least the sensitivity"):
        WorkloadMechanism(plan, noise=GaussianNoise(**needs, stddev=10**6))


def test_laplace_noise_hides_what_a_unit_changes_in_l1():
    plan = planned("product", noise="laplace")
    distance = WorkloadMechanism(plan, epsilon=1).noise.l1_sensitivity
    WorkloadMechanism(plan, noise=laplace.Laplace(l1_sensitivity=distance, epsilon=2))
    with pytest.raises(ParameterError, match="at least the sensitivity"):
        WorkloadMechanism(plan, noise=laplace.Laplace(l1_sensitivity=distance - 1, epsilon=2))


def test_noise_stands_alone():
    plan = planned("product", noise="laplace")
    noise = WorkloadMechanism(plan, epsilon=1).noise
    with pytest.raises(ParameterError, match="alone"):
        WorkloadMechanism(plan, noise=noise, epsilon=1)
