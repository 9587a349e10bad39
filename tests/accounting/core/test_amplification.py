import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binom

from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.core.amplification import (
    amplified_by_poisson_sampling,
    amplified_by_sampling_without_replacement,
    amplified_by_shuffling,
    any_sampled_up,
)
from sfumato.accounting.core.finite import smallest_delta, smallest_epsilon
from sfumato.errors import ParameterError
from sfumato.privacy.events import (
    GroupEvent,
    PoissonSampledEvent,
    PureEvent,
    SampledWithoutReplacementEvent,
    SelfComposedEvent,
    TruncatedPoissonSampledEvent,
)
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

ONE = Fraction(1)
Law = list[Fraction]


def noisy_sum(values: tuple[int, ...]) -> Law:
    """Truncated geometric noise on a sum, whose mass falls by half a step: ln 2 for one step, or a little more."""
    total = sum(values)
    weights = [Fraction(1, 2) ** abs(total - answer) for answer in range(-4, 5)]
    return [weight / sum(weights) for weight in weights]


def mixed(parts: list[tuple[Fraction, Law]]) -> Law:
    return [sum((weight * law[i] for weight, law in parts), Fraction(0)) for i in range(len(parts[0][1]))]


def poisson(values: tuple[int, ...], probability: Fraction, most: int = 99) -> Law:
    """The exact law on a Poisson sample, cut down to `most` units at random."""
    parts = []
    for kept in product((False, True), repeat=len(values)):
        sample = tuple(value for value, is_kept in zip(values, kept, strict=True) if is_kept)
        weight = math.prod((probability if is_kept else 1 - probability for is_kept in kept), start=ONE)
        cuts = list(combinations(sample, min(most, len(sample))))
        parts += [(weight / len(cuts), noisy_sum(cut)) for cut in cuts]
    return mixed(parts)


def without_replacement(values: tuple[int, ...], size: int) -> Law:
    subsets = list(combinations(values, size))
    return mixed([(Fraction(1, len(subsets)), noisy_sum(subset)) for subset in subsets])


def step_epsilon(step: int) -> Fraction:
    """ε of the noisy sum when it moves by `step`."""
    sums = [(low, low + step) for low in range(-4, 5 - step)]
    return max(smallest_epsilon(noisy_sum((low,)), noisy_sum((high,))) for low, high in sums)


OTHERS = (1, -1, 1)
Q = Fraction(1, 3)


@pytest.mark.parametrize("value", [1, -1, 0])
def test_adding_one_unit_to_a_poisson_sample_costs_at_most_the_amplified_epsilon(value):
    truth = smallest_epsilon(poisson((*OTHERS, value), Q), poisson(OTHERS, Q))
    bound = amplified_by_poisson_sampling(PureDP(step_epsilon(1)), sampling_probability=Q)
    assert truth <= bound.epsilon


def test_replacing_one_unit_of_a_poisson_sample_costs_at_most_twice_that():
    truth = smallest_epsilon(poisson((*OTHERS, 1), Q), poisson((*OTHERS, -1), Q))
    bounds = [
        amplified_by_poisson_sampling(
            PureDP(step_epsilon(1)), sampling_probability=Q, neighboring_relation=relation
        ).epsilon
        for relation in (ADD_OR_REMOVE_ONE, REPLACE_ONE)
    ]
    assert bounds[0] < truth <= bounds[1] == 2 * bounds[0]


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("neighbor", [OTHERS, (*OTHERS, -1)])
def test_a_truncated_sample_costs_at_most_its_price(most, neighbor):
    relation = REPLACE_ONE if len(neighbor) > len(OTHERS) else ADD_OR_REMOVE_ONE
    truth = smallest_epsilon(poisson((*OTHERS, 1), Q, most), poisson(neighbor, Q, most))
    event = TruncatedPoissonSampledEvent(Q, 4, most, PureEvent(step_epsilon(1)))
    assert truth <= BasicAccountant(neighboring_relation=relation).compose(event).epsilon()


def test_who_enters_a_full_sample_drives_another_out():
    units, probability = (-1,) * 4, Fraction(9, 10)
    truth = smallest_epsilon(poisson((*units, 1), probability, 1), poisson(units, probability, 1))
    untruncated = amplified_by_poisson_sampling(PureDP(step_epsilon(1)), sampling_probability=probability / 4)
    assert truth > untruncated.epsilon


@pytest.mark.parametrize(("size", "neighbor"), [(1, (1, -1)), (2, (1, -1, -1)), (2, (1, -1, 1, 1))])
def test_a_subset_costs_at_most_the_amplified_epsilon_of_replacing(size, neighbor):
    units = (1, -1, 1)
    truth = smallest_epsilon(without_replacement(units, size), without_replacement(neighbor, size))
    bound = amplified_by_sampling_without_replacement(PureDP(step_epsilon(2)), sample_size=size, source_size=3)
    assert truth <= bound.epsilon


def test_groups_of_sampled_units_cost_at_most_their_price():
    event = GroupEvent(PoissonSampledEvent(Q, PureEvent(step_epsilon(1))), 2)
    truth = smallest_epsilon(poisson((*OTHERS, 1, 1), Q), poisson(OTHERS, Q))
    assert truth <= BasicAccountant().compose(event).epsilon()
    subset = GroupEvent(SampledWithoutReplacementEvent(2, 4, PureEvent(step_epsilon(2))), 2)
    truth = smallest_epsilon(without_replacement((1, 1, 1, 1), 2), without_replacement((1, 1, -1, -1), 2))
    assert truth <= BasicAccountant(neighboring_relation=REPLACE_ONE).compose(subset).epsilon()


@pytest.mark.parametrize("epsilon", ["1e-9", "0.1", 1, 10, 690, 710, 5000])
@pytest.mark.parametrize("probability", ["1e-9", "0.01", "0.5", "0.999"])
def test_the_amplified_epsilon_is_the_formula_rounded_up(epsilon, probability):
    import flint

    flint.ctx.prec = 12_000
    bound = amplified_by_poisson_sampling(PureDP(epsilon), sampling_probability=probability).epsilon
    exact, q = Fraction(str(epsilon)), Fraction(probability)
    growth = (flint.arb(exact.numerator) / exact.denominator).exp() - 1
    truth = (1 + growth * q.numerator / q.denominator).log()
    excess = float(flint.arb(bound.numerator) / bound.denominator / truth - 1)
    assert 0 <= excess < 2e-12


def test_delta_shrinks_with_the_sample():
    bound = amplified_by_poisson_sampling(ApproxDP(1, "1e-6"), sampling_probability="0.01")
    assert bound.delta == Fraction(1, 10**8)
    assert float(bound.epsilon) == pytest.approx(math.log1p(0.01 * math.expm1(1)))


def test_an_exact_answer_about_a_sample_fails_with_its_probability():
    assert amplified_by_poisson_sampling(NO_GUARANTEE, sampling_probability="0.01") == ApproxDP(0, "0.01")
    assert amplified_by_poisson_sampling(NO_GUARANTEE, sampling_probability=1) == NO_GUARANTEE


def test_a_sample_of_everybody_amplifies_nothing_and_of_nobody_everything():
    assert amplified_by_poisson_sampling(ApproxDP(1, "0.1"), sampling_probability=1) == ApproxDP(1, "0.1")
    assert amplified_by_poisson_sampling(PureDP(1), sampling_probability=0) == PureDP(0)


def test_many_answers_on_one_sample_are_composed_before_they_are_amplified():
    ten = SelfComposedEvent(PureEvent(1), 10)
    on_one_sample = BasicAccountant().compose(PoissonSampledEvent("0.001", ten)).epsilon()
    on_fresh_samples = BasicAccountant().compose(PoissonSampledEvent("0.001", PureEvent(1)), count=10).epsilon()
    assert float(on_one_sample) == pytest.approx(math.log1p(1e-3 * math.expm1(10)))
    assert float(on_one_sample) == pytest.approx(3.1366008, abs=1e-6)
    assert float(on_fresh_samples) == pytest.approx(0.01716808, abs=1e-6)


@pytest.mark.parametrize("probability", [Fraction(1, 10**12), Fraction(1, 100), Fraction(999, 1000)])
@pytest.mark.parametrize("size", [1, 2, 50])
def test_that_any_of_a_group_is_sampled_is_rounded_up(probability, size):
    truth = 1 - (1 - probability) ** size
    assert truth <= any_sampled_up(probability, size) <= truth * (1 + Fraction(2, 10**12))


def test_a_huge_group_is_sampled_almost_surely():
    assert any_sampled_up(Fraction(1, 2), 10**9) == 1
    assert any_sampled_up(1 - Fraction(1, 10**30), 2) == 1


def clone_delta(epsilon_local: float, reports: int, epsilon: float) -> float:
    """δ of the pair that shuffled reports are post-processed from (Feldman, McMillan and Talwar 2021, Theorem 3.2)."""
    true = math.exp(epsilon_local) / (1 + math.exp(epsilon_local))
    clones = np.arange(reports)
    weights = binom.pmf(clones, reports - 1, math.exp(-epsilon_local))
    p, q = np.zeros((reports + 1, reports + 2)), np.zeros((reports + 1, reports + 2))
    for count, weight in zip(clones, weights, strict=True):
        heads = binom.pmf(np.arange(count + 1), count, 0.5) * weight
        for law, chance in ((p, true), (q, 1 - true)):
            law[count, 1 : count + 2] += chance * heads
            law[count, : count + 1] += (1 - chance) * heads
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize(("epsilon_local", "reports"), [(0.1, 400), (0.5, 600), (1.0, 800)])
def test_shuffling_is_never_below_the_clones(epsilon_local, reports):
    epsilon = float(amplified_by_shuffling(epsilon_local=epsilon_local, reports=reports, delta="1e-3"))
    assert clone_delta(epsilon_local, reports, epsilon) <= 1e-3


def test_shuffling_has_the_value_of_its_closed_form():
    epsilon = float(amplified_by_shuffling(epsilon_local=2, reports=10**6, delta="1e-8"))
    odds = math.exp(2)
    closeness = 8 * math.sqrt(odds * math.log(4e8) / 1e6) + 8 * odds / 1e6
    assert epsilon == pytest.approx(math.log1p((odds - 1) / (odds + 1) * closeness), rel=1e-12)


@pytest.mark.parametrize(("epsilon_local", "reports"), [(1, 100), (10, 10**6), (31, 10**30), (0, 10**6)])
def test_without_amplification_the_local_epsilon_is_returned(epsilon_local, reports):
    assert amplified_by_shuffling(epsilon_local=epsilon_local, reports=reports, delta="1e-6") == epsilon_local


def test_exact_shuffles_of_randomized_responses_keep_the_bound():
    reports = 4
    true = Fraction(11, 21)
    laws: list[dict[int, Fraction]] = []
    for first in (0, 1):
        law: dict[int, Fraction] = {}
        for answers in product((0, 1), repeat=reports):
            truths = (first, *(0,) * (reports - 1))
            chance = math.prod((true if a == t else 1 - true for a, t in zip(answers, truths, strict=True)), start=ONE)
            law[sum(answers)] = law.get(sum(answers), Fraction(0)) + chance
        laws.append(law)
    p, q = ([law[total] for total in range(reports + 1)] for law in laws)
    epsilon = amplified_by_shuffling(epsilon_local=Fraction(math.log(1.1)), reports=reports, delta="0.01")
    assert smallest_delta(p, q, epsilon=epsilon) <= Fraction(1, 100)


@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        (amplified_by_poisson_sampling, {"guarantee": PureDP(1), "sampling_probability": 2}, "sampling_probability"),
        (
            amplified_by_sampling_without_replacement,
            {"guarantee": PureDP(1), "sample_size": 3, "source_size": 2},
            "sample_size",
        ),
        (amplified_by_shuffling, {"epsilon_local": 1, "reports": 0, "delta": "0.1"}, "reports"),
        (amplified_by_shuffling, {"epsilon_local": 1, "reports": 5, "delta": 0}, "delta"),
    ],
)
def test_parameters_are_checked_by_name(function, arguments, name):
    with pytest.raises(ParameterError, match=name):
        function(**arguments)


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 2**1074), Fraction(1, 10**400), Fraction(1, 10**16), Fraction(1, 10**15)]
)
@pytest.mark.parametrize("probability", [Fraction(1, 10**300), Fraction(1, 3), 1 - Fraction(1, 10**12)])
def test_tiny_epsilons_are_amplified_upward(epsilon, probability):
    bound = amplified_by_poisson_sampling(PureDP(epsilon), sampling_probability=probability).epsilon
    least = probability * epsilon  # below the logarithm of a mean of 1 and e^ε, by Jensen's inequality
    assert least < bound <= min(least * (1 + Fraction(1, 10**11)), epsilon)


@pytest.mark.parametrize("probability", ["1e-350", "1e-320", "1e-300"])
@pytest.mark.parametrize("size", [2, 10**6, 10**15])
def test_chances_below_the_floats_add_up(probability, size):
    share = Fraction(probability)
    assert size * share * (1 - size * share) <= any_sampled_up(share, size) <= size * share


@pytest.mark.parametrize("probability", [Fraction(1, 10**20), Fraction(1, 10**15), Fraction(1, 7**9)])
def test_groups_of_any_size_are_sampled(probability):
    found = any_sampled_up(probability, 10**15)
    truth = -math.expm1(10**15 * math.log1p(-float(probability)))
    assert truth <= float(found) <= truth * (1 + 1e-11)
