"""Sampled sensitivities: the identity behind their number, and how often a fresh pair is farther apart."""

from fractions import Fraction
from math import ceil, log, sqrt

import numpy as np
import pytest
from tests.laws import ALPHA

from sfumato.errors import ParameterError
from sfumato.mechanisms import SampledSensitivity
from sfumato.mechanisms.stable.sampled_sensitivity import sample_plan
from sfumato.numeric.binomial import lower_limit
from sfumato.privacy.promises import RandomDP

GAMMAS = ("0.5", "0.2", "0.05", "0.01")


def drawing(seed=5, most=9):
    draws = np.random.default_rng(seed)
    return lambda count: draws.integers(0, most + 1, count).tolist()


@pytest.mark.parametrize("gamma", GAMMAS)
def test_rho_solves_its_equation(gamma):
    rho = sample_plan(gamma).rho
    assert rho * (1 - 2 * log(rho)) == pytest.approx(float(gamma), rel=1e-12)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_a_plan_has_the_fewest_samples(gamma):
    plan, level = sample_plan(gamma), float(gamma)
    needed = lambda rho: log(1 / rho) / (2 * (level - rho) ** 2)  # noqa: E731 # a formula
    assert plan.samples == ceil(needed(plan.rho))
    assert min(needed(rho) for rho in np.linspace(level / 1000, level * 0.99, 2000)) > plan.samples - 1
    rank = plan.samples * (1 - level + plan.rho + sqrt(log(1 / plan.rho) / (2 * plan.samples)))
    assert rank <= plan.rank <= plan.samples


@pytest.mark.statistical
def test_few_fresh_pairs_are_farther_apart_than_the_sampled_sensitivity():
    """Over many samplers and fresh pairs together, at most γ."""
    draw, fresh, exceeded, trials = drawing(1), drawing(2), 0, 0
    for _ in range(60):
        noisy = SampledSensitivity(max, draw, records=3, epsilon=1, gamma="0.5")
        for _ in range(40):
            records = fresh(4)
            exceeded += abs(max(records[:3]) - max([*records[:2], records[3]])) > noisy.l1_sensitivity
            trials += 1
    assert lower_limit(exceeded, trials, significance=ALPHA) <= 0.5


def test_the_sensitivity_is_the_sample_of_its_rank():
    noisy = SampledSensitivity(sum, drawing(3), records=2, epsilon=2, gamma="0.2")
    draw = drawing(3)
    apart = []
    for _ in range(noisy.plan.samples):
        records = draw(3)
        apart.append(abs(records[1] - records[2]))
    assert noisy.l1_sensitivity == sorted(apart)[noisy.plan.rank - 1]
    assert noisy.scale == noisy.l1_sensitivity / 2


def test_answers_are_numbers_or_vectors_on_the_lattice():
    mean = SampledSensitivity(np.mean, drawing(), records=4, epsilon=1, gamma="0.5", resolution="0.5")
    assert mean.release([1, 2, 3, 4]) % Fraction(1, 2) == 0
    both = SampledSensitivity(lambda rows: [min(rows), max(rows)], drawing(), records=4, epsilon=1, gamma="0.5")
    assert both.release([1, 2, 3, 4]).shape == (2,)
    assert mean.accuracy() > 0


def test_a_statistic_that_never_moves_has_one_step():
    assert SampledSensitivity(len, drawing(), records=4, epsilon=1, gamma="0.5").l1_sensitivity == 1
    fine = SampledSensitivity(len, drawing(), records=4, epsilon=1, gamma="0.5", resolution="0.1")
    assert fine.l1_sensitivity == Fraction(1, 10)


def test_the_label_is_its_own():
    noisy = SampledSensitivity(sum, drawing(), records=4, epsilon=1, gamma="0.5")
    assert noisy.guarantee == RandomDP(1, 0, "0.5")
    assert not hasattr(noisy, "event")


@pytest.mark.parametrize(
    ("change", "message"),
    [({"statistic": 5}, "statistic"), ({"draw": 5}, "draw"), ({"records": 0}, "records"), ({"epsilon": 0}, "epsilon"),
     ({"gamma": 1}, "gamma"), ({"gamma": "1e-9"}, "gamma"), ({"draw": lambda _: [1]}, "draw"),
     ({"statistic": lambda _: "x"}, "exact"), ({"resolution": 0}, "resolution")],
)  # fmt: skip
def test_what_is_out_of_range_is_refused(change, message):
    given = {"statistic": sum, "draw": drawing(), "records": 4, "epsilon": 1, "gamma": "0.5"} | change
    with pytest.raises(ParameterError, match=message):
        SampledSensitivity(given.pop("statistic"), given.pop("draw"), **given)


def test_vectors_of_unlike_lengths_are_refused():
    with pytest.raises(ParameterError, match="length"):
        SampledSensitivity(lambda rows: [1] * rows[-1], drawing(most=2), records=3, epsilon=1, gamma="0.2")
