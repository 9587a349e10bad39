"""The matrix mechanism: exhaustive privacy of its measurements, least squares, predicted errors, refusals."""

from fractions import Fraction
from functools import partial, reduce
from itertools import product
from math import exp

import numpy as np
import pytest
from tests.mechanisms.exhaustive import (
    answers_by_noise,
    gaussian_probabilities,
    hockey_stick,
    laplace_log_weights,
    max_log_ratio,
    neighbours,
)

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.additive.gaussian import Gaussian
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.matrix.matrix import MatrixMechanism, half_widths, variance
from sfumato.privacy.events import DiscreteGaussianEvent, DiscreteLaplaceEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

CELLS = 2
PLANS = {
    "identity": [[1, 0], [0, 1]],
    "workload": [[1, 2], [1, -1]],
    "tree": [[1, 1], [1, 0], [0, 1]],
    "a total": [[3, 3], [0, 1]],
}
RUNNING_TOTALS = np.tril(np.ones((64, 64), dtype=int))


def histogram(rows):
    return tuple(sum(row == cell for row in rows) for cell in range(CELLS))


def pairs(relation):
    """The histograms of all pairs of neighboring databases."""
    found = neighbours([*range(CELLS), None], relation, sizes=range(2))  # None is counted in no cell
    return {(histogram(first), histogram(second)) for first, second in found}


def laws(mechanism, module, sampler, weigh, noises):
    """The law of the noisy measurements, of which the answers are made, for each histogram."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for counts in product(range(4), repeat=CELLS):
            measured = partial(mechanism._measured, counts)
            found[counts] = weigh(answers_by_noise(patch, module, sampler, measured, noises))
    return found


def worst_ratio(mechanism, relation):
    noises = list(product(range(-7, 8), repeat=len(mechanism.strategy)))
    found = laws(mechanism, laplace, "discrete_laplace", laplace_log_weights, noises)
    return max(max_log_ratio(found[first], found[second]) for first, second in pairs(relation))


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("strategy", PLANS.values(), ids=PLANS)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(strategy, relation):
    mechanism = MatrixMechanism([[1, 0], [1, 1]], epsilon="0.7", strategy=strategy, neighboring_relation=relation)
    assert worst_ratio(mechanism, relation) == Fraction(7, 10)  # never more, and no noise is wasted


def test_the_noise_for_adding_would_not_do_for_replacing():
    mechanism = MatrixMechanism([[1, 0]], epsilon=1, strategy="identity", neighboring_relation=ADD_OR_REMOVE_ONE)
    assert worst_ratio(mechanism, REPLACE_ONE) == 2


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("strategy", [[[1, 0], [0, 1]], [[1, 2], [1, -1]]], ids=str)
def test_gaussian_measurements_stay_within_delta(strategy, relation):
    mechanism = MatrixMechanism(
        [[1, 0], [1, 1]], epsilon=4, delta="0.05", strategy=strategy, neighboring_relation=relation
    )
    reach = int(6 * mechanism.noise.stddev) + 1
    noises = list(product(range(-reach, reach + 1), repeat=2))
    found = laws(mechanism, gaussian, "discrete_gaussian", gaussian_probabilities, noises)
    worst = max(hockey_stick(found[first], found[second], 4.0) for first, second in pairs(relation))
    assert 0.002 < worst <= 0.05


@pytest.mark.parametrize("strategy", ["identity", "workload", "hierarchical", PLANS["a total"]], ids=str)
def test_without_noise_the_answers_would_be_exact(strategy, monkeypatch):
    monkeypatch.setattr(laplace, "discrete_laplace", lambda _, size: np.zeros(size, dtype=np.int64))
    workload = [["1/2", 0], [1, 1], [0, 0], ["-0.3", 5]]
    mechanism = MatrixMechanism(workload, epsilon=1, strategy=strategy)
    assert mechanism.release(Secret([40, 2])) == pytest.approx([20, 42, 0, -2], abs=1e-9)


def test_answers_are_the_least_squares_fit_of_the_measurements(monkeypatch):
    noise = np.array([5, -3, 1])
    monkeypatch.setattr(laplace, "discrete_laplace", lambda _, size: noise[:size])
    mechanism = MatrixMechanism([[1, 0], [0, 1]], epsilon=1, strategy=PLANS["tree"])
    fit = np.linalg.lstsq(np.array(PLANS["tree"]), np.array(PLANS["tree"]) @ [10, 20] + noise)[0]
    assert mechanism.release([10, 20]) == pytest.approx(fit)


def test_answers_are_consistent():
    workload = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0]]
    for strategy in ("identity", "workload", "hierarchical"):
        answers = MatrixMechanism(workload, epsilon=1, strategy=strategy).release([5, 6, 7, 8])
        assert answers[0] + answers[1] == pytest.approx(answers[2])
        assert answers[0] == pytest.approx(answers[4])


def test_each_measurement_gets_noise_of_its_own(monkeypatch):
    monkeypatch.setattr(laplace, "discrete_laplace", lambda _, size: np.arange(size) + 1)
    assert MatrixMechanism(np.eye(3), epsilon=1).release([10, 20, 30]) == pytest.approx([11, 22, 33])


@pytest.mark.statistical
@pytest.mark.parametrize("delta", [None, "1e-4"])
def test_errors_are_as_large_as_predicted(delta):
    mechanism = MatrixMechanism(np.tril(np.ones((4, 4), dtype=int)), epsilon=1, delta=delta, strategy="hierarchical")
    exact = np.cumsum([1, 2, 3, 4])
    errors = np.array([mechanism.release([1, 2, 3, 4]) - exact for _ in range(4000)])
    assert errors.std(axis=0) == pytest.approx(mechanism.stddevs, rel=0.15)  # eight standard deviations of the estimate
    within = (np.abs(errors) <= mechanism.accuracy(0.95)).mean(axis=0)
    assert within.min() > 0.95 - 5.1 * 0.0035  # standard deviations of the estimate
    assert within.max() < 0.97


def test_the_best_strategy_is_the_one_with_the_least_predicted_error():
    for workload, delta, rows in [
        (RUNNING_TOTALS, "1e-6", 127),
        (RUNNING_TOTALS, None, 64),
        (np.ones((3, 9)), None, 3),
    ]:
        names = ["identity", "workload", "hierarchical"]
        plans = [MatrixMechanism(workload, epsilon=1, delta=delta, strategy=name) for name in names]
        best = MatrixMechanism(workload, epsilon=1, delta=delta)
        assert (best.stddevs**2).sum() == pytest.approx(min((plan.stddevs**2).sum() for plan in plans))
        assert len(best.strategy) == rows


def test_a_workload_too_fine_to_be_measured_is_answered_by_another_strategy():
    workload = [["1/1048583", "1/1299709"]]
    assert MatrixMechanism(workload, epsilon=1).strategy == ((1, 0), (0, 1))
    with pytest.raises(ParameterError, match="strategy"):
        MatrixMechanism(workload, epsilon=1, strategy="workload")


def test_the_event_describes_the_noise_and_what_one_unit_moves():
    tree = MatrixMechanism(np.eye(4), epsilon="0.5", strategy="hierarchical")
    assert tree.event == DiscreteLaplaceEvent(Fraction(6), Fraction(3))
    assert (tree.noise, tree.epsilon) == (Laplace(l1_sensitivity=3, epsilon="0.5"), Fraction(1, 2))
    rounded = MatrixMechanism([[1, 2], [2, 0]], epsilon=1, delta="1e-6", strategy="workload")
    assert isinstance(rounded.noise, Gaussian)
    assert isinstance(rounded.event, DiscreteGaussianEvent)
    assert (rounded.event.l0_sensitivity, float(rounded.event.l2_sensitivity)) == (2, pytest.approx(5**0.5))


@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_what_no_unit_moves_is_released_exactly(delta):
    mechanism = MatrixMechanism([[0, 0, 0]], epsilon=1, delta=delta, strategy="workload")
    assert mechanism.release([10, 20, 12]) == pytest.approx([0])
    assert (mechanism.event, mechanism.stddevs.tolist()) == (PureEvent(Fraction(0)), [0])


def test_a_replaced_unit_may_have_been_in_no_cell():
    total = MatrixMechanism([[1, 1, 1]], epsilon=1, strategy="workload", neighboring_relation=REPLACE_ONE)
    assert total.noise == Laplace(l1_sensitivity=1, epsilon=1)


@pytest.mark.parametrize("strategy", [np.eye(2, dtype=int), [[1, 0], [0, 1]]], ids=["array", "lists"])
def test_a_strategy_may_be_given_as_an_array(strategy):
    assert MatrixMechanism([[1, 1]], epsilon=1, strategy=strategy).strategy == ((1, 0), (0, 1))


@pytest.mark.parametrize("counts", [[2**62, 2**62, -(2**62), 0], [10**400, -(10**400), 0, 1]], ids=["2^62", "10^400"])
def test_no_count_is_too_large(counts):
    mechanism = MatrixMechanism(np.tril(np.ones((4, 4), dtype=int)), epsilon=1, strategy="workload")
    answers = mechanism.release(counts)
    assert np.isfinite(answers).all()
    assert np.sign(answers[:1]) == 1


def test_sums_of_large_counts_do_not_wrap():
    answers = MatrixMechanism([[1, 1]], epsilon=1, strategy="workload").release([2**62, 2**62])
    assert answers == pytest.approx([2.0**63])


def test_equal_parameters_make_equal_mechanisms():
    first, second = (MatrixMechanism([[1, 0], [1, 1]], epsilon=epsilon) for epsilon in (0.1, "1/10"))
    assert (first, hash(first)) == (second, hash(second))
    with pytest.raises(ValueError, match="read-only"):
        first._weights[0, 0] = 7


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"workload": [[1], [1, 2]]}, "workload"),
        ({"strategy": [[1, 1]]}, "each row of the workload"),
        ({"strategy": [[1, 0, 0]]}, "2 whole numbers"),
        ({"strategy": "optimal"}, 'must be "best"'),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"delta": 0}, "delta"),
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong, named):
    parameters = {"workload": [[1, 0], [1, 1]], "epsilon": 1} | wrong
    with pytest.raises(ParameterError, match=named):
        MatrixMechanism(parameters.pop("workload"), **parameters)


@pytest.mark.parametrize("histogram", [[1], [1, 2, 3], [1.5, 2]], ids=str)
def test_what_is_no_histogram_of_the_cells_is_refused(histogram):
    with pytest.raises(ParameterError, match=r"cells|integer"):
        MatrixMechanism([[1, 0], [1, 1]], epsilon=1).release(histogram)


def test_who_gives_too_few_numbers_hears_how_many_cells_there_are():
    queries = [[1, 0], [1, 1], [0, 1]]
    with pytest.raises(ParameterError, match="must have one for each of 2 cells"):
        MatrixMechanism(queries, strategy=queries, epsilon=1).release([1])


NOISES = {
    "laplace": Laplace(l1_sensitivity=3, epsilon=1),
    "narrow laplace": Laplace(l1_sensitivity=1, epsilon=2),
    "gaussian": Gaussian(l2_sensitivity=2, epsilon=1, delta="1e-3"),
    "narrow gaussian": Gaussian(l2_sensitivity=1, epsilon=9, delta="0.1"),
}
WEIGHTS = [[1, 0, 0], [0, -3, 0], [1, 1, 0], [1, -2, 5], [4, 4, 4], [0, 0, 0]]
REACH = 200


def mass(noise):
    ks = np.arange(-REACH, REACH + 1)
    if isinstance(noise, Laplace):
        weights = np.exp(-np.abs(ks) / float(noise.scale))
    else:
        weights = np.exp(-(ks**2) / (2 * float(noise.stddev) ** 2))
    return weights / weights.sum()


def law(noise, weights):
    """The exact law of Σ w·noise for whole weights, centered in its array."""

    def stretched(weight):
        spread = np.zeros(2 * REACH * abs(weight) + 1)
        spread[:: abs(weight)] = mass(noise)
        return spread

    return reduce(np.convolve, [stretched(weight) for weight in weights if weight], np.ones(1))


def smallest_half_width(noise, weights, confidence):
    masses = law(noise, weights)
    distances = np.abs(np.arange(len(masses)) - len(masses) // 2)
    covered = np.cumsum(np.bincount(distances, weights=masses))
    return int(np.argmax(covered >= confidence))


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_the_variance_is_that_of_the_law_or_just_above(noise):
    ks = np.arange(-REACH, REACH + 1)
    exact = float((mass(noise) * ks**2).sum())
    assert exact * (1 - 1e-9) <= variance(noise)
    assert variance(noise) == pytest.approx(exact, rel=1e-6) or variance(noise) < 1 / 4  # a Gaussian within one step


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_a_half_width_is_never_too_small_and_at_high_confidence_at_most_twice_as_large_and_two_steps(
    noise, weights, confidence
):
    needed = smallest_half_width(noise, weights, confidence)
    found = half_widths(np.array([weights], dtype=float), noise, confidence=confidence)[0]
    assert needed <= found
    assert confidence < 0.95 or found <= 2 * needed + 2 * max(map(abs, weights))


def test_one_weight_is_exact():
    widths = half_widths(np.array([[0.0, 2.0], [1.0, 0.0]]), NOISES["laplace"], confidence="0.95")
    assert widths == pytest.approx([2 * NOISES["laplace"].accuracy(), NOISES["laplace"].accuracy()], rel=1e-9)


def test_without_noise_there_is_no_error():
    silent = Laplace(l1_sensitivity=0, epsilon=1)
    assert variance(silent) == 0
    assert half_widths(np.ones((2, 3)), silent, confidence="0.95").tolist() == [0, 0]


def test_the_moments_that_the_bounds_rest_on_dominate_those_of_the_discrete_laws():
    for name, tilt in [("laplace", 0.2), ("narrow laplace", 1.5), ("gaussian", 0.4), ("narrow gaussian", 1.5)]:
        noise = NOISES[name]
        moment = float((mass(noise) * np.exp(tilt * np.arange(-REACH, REACH + 1))).sum())
        if isinstance(noise, Laplace):
            assert moment <= 1 / (1 - tilt**2 * float(noise.scale) ** 2)
        else:
            assert moment <= exp(tilt**2 * float(noise.stddev) ** 2 / 2) * (1 + 1e-12)


@pytest.mark.parametrize("confidence", [0, 1, -1])
def test_a_confidence_outside_is_refused(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        half_widths(np.ones((1, 1)), NOISES["laplace"], confidence=confidence)
