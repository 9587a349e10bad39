"""Noise of each step: its law, its event, and the least of it for a guarantee."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting import PLDAccountant
from sfumato.accounting.goals import AttackLimit
from sfumato.errors import ParameterError
from sfumato.learn.torch.noise.sampling import CyclicPoisson, Phases, Poisson
from sfumato.learn.torch.noise.steps import IndependentNoise, calibrated
from sfumato.privacy.events import (
    DiscreteGaussianEvent,
    GaussianEvent,
    PoissonSampledEvent,
    SelfComposedEvent,
)
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

STEP = 1 << 20
RELATIONS = (ADD_OR_REMOVE_ONE, REPLACE_ONE)


def noise(participation=Poisson("0.1"), multiplier=2, **facts):  # noqa: B008 # a frozen value
    given = {"l2_sensitivity": STEP, "steps": 50, "participation": participation} | facts
    return IndependentNoise(multiplier, **given)


def test_draws_have_the_stated_variance_and_are_fresh():
    """Type-I error below 1e-8 each: 6 standard deviations of a mean of 40,000 squares."""
    running = noise(multiplier="1.5").start(20_000)
    first, second = running.draw(), running.draw()
    assert (first.dtype, first.shape) == (np.int64, (20_000,))
    both = np.concatenate([first, second]) / (1.5 * STEP)
    assert abs((both**2).mean() - 1) <= 6 * (2 / 40_000) ** 0.5
    assert abs(both.mean()) <= 6 * 40_000**-0.5
    assert abs((first.astype(float) @ second) / (1.5 * STEP) ** 2) <= 6 * 20_000**0.5


def test_the_event_counts_every_step_and_every_sample():
    for relation, exchanged in zip(RELATIONS, (1, 2), strict=True):
        once = DiscreteGaussianEvent(Fraction(2 * STEP), Fraction(STEP))
        assert noise(neighboring_relation=relation).event == SelfComposedEvent(
            PoissonSampledEvent(Fraction(1, 10), once), 50
        )
        assert noise(Phases(8), neighboring_relation=relation).event == SelfComposedEvent(
            DiscreteGaussianEvent(Fraction(2 * STEP), Fraction(exchanged * STEP)), 7
        )
        cyclic = CyclicPoisson(period=8, probability="0.5")
        assert noise(cyclic, neighboring_relation=relation).event == SelfComposedEvent(
            PoissonSampledEvent(Fraction(1, 2), once), 7
        )


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("participation", [Poisson("0.1"), Phases(8)], ids=str)
def test_whole_numbers_cost_what_continuous_noise_costs(participation, relation):
    """A vector of any width, on a lattice so fine that it is as good as continuous."""
    made = noise(participation, neighboring_relation=relation)
    multiplier = (
        made.stddev_steps / made.l2_sensitivity / (2 if relation is REPLACE_ONE and participation.period > 1 else 1)
    )
    like = participation.event(GaussianEvent(multiplier), made.steps)
    found, wanted = (
        float(PLDAccountant(neighboring_relation=relation).compose(event).epsilon("1e-6"))
        for event in (made.event, like)
    )
    assert found == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize(
    ("participation", "relation"),
    [(Poisson("0.1"), ADD_OR_REMOVE_ONE), (CyclicPoisson(period=8, probability="0.5"), REPLACE_ONE)],
    ids=str,
)
def test_the_least_noise_meets_the_target_and_less_does_not(participation, relation):
    target = ApproxDP(2, "1e-5")

    def made(multiplier):
        return noise(participation, multiplier, neighboring_relation=relation)

    found = calibrated(made, target=target, tolerance="0.01")
    spent = [
        PLDAccountant(neighboring_relation=relation).compose(each.event).epsilon("1e-5")
        for each in (found, made(found.noise_multiplier * Fraction(98, 100)))
    ]
    assert spent[0] <= 2 < spent[1]


def test_an_account_that_has_spent_needs_more_noise():
    fresh = calibrated(lambda each: noise(Phases(8), each), target=ApproxDP(2, "1e-5"), tolerance="0.01")
    spent = PLDAccountant().compose(GaussianEvent(Fraction(4)))
    later = calibrated(
        lambda each: noise(Phases(8), each), target=ApproxDP(2, "1e-5"), accountant=spent, tolerance="0.01"
    )
    assert later.noise_multiplier > fresh.noise_multiplier
    goal = AttackLimit(blind="0.05", most="0.2")
    assert calibrated(lambda each: noise(Phases(8), each), target=goal, tolerance="0.2").noise_multiplier > 2


def test_no_step_more_is_drawn_than_the_event_counts():
    running = noise(steps=3).start(4, step=1)
    assert [len(running.draw()) for _ in range(2)] == [4, 4]
    with pytest.raises(ParameterError, match="one of the steps"):
        running.draw()
    assert noise(steps=3).start(4, step=3)
    with pytest.raises(ParameterError, match="step"):
        noise(steps=3).start(4, step=4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"multiplier": 0}, {"multiplier": Fraction(1, 1 << 16)}, {"multiplier": 1 << 31}, {"l2_sensitivity": 0},
        {"steps": 0}, {"participation": "0.1"}, {"neighboring_relation": "any"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_noise_is_refused(wrong):
    with pytest.raises(ParameterError):
        noise(**wrong)
