"""The k best and their leads: the exact law over neighboring scores, ties included; why leads are no differences."""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise, permutations, product
from math import inf, nan, prod

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA

from sfumato.errors import ParameterError
from sfumato.mechanisms.selection import noisy_top_k as module
from sfumato.mechanisms.selection.noisy_top_k import NoisyTopK, TopK
from sfumato.privacy.events import PureEvent
from sfumato.privacy.secret import Secret

VECTORS = {1: list(product((0, 1, 2), repeat=3)), 2: [(0, 0, 0, 0), (1, 0, 0, 1)]}
"""By k: of as many candidates that winners and losers can move apart by all of ε."""

LEADS = range(3)
NEGLIGIBLE = Decimal("1e-9")  # what lies beyond the window of noise


@cache
def mass(scale, k):
    """P(X = k)."""
    ratio = (-1 / scale).exp()
    return (1 - ratio) / (1 + ratio) * (-abs(k) / scale).exp()


@cache
def at_most(scale, k):
    """P(X ≤ k)."""
    tail = (-abs(k + 1 if k >= 0 else k) / scale).exp() / (1 + (-1 / scale).exp())
    return 1 - tail if k >= 0 else tail


def chance(scale, scores, winners, leads):
    """P(winners, leads): of every noisy score the last winner may have, with the others where the leads put them."""
    last = winners[-1]
    losers = [index for index in range(len(scores)) if index not in winners]
    ahead = [0]  # by how much each winner's noisy score lies above the last one's, from the last to the first
    for (better, worse), lead in zip(reversed(list(pairwise(winners))), leads[-2::-1], strict=True):
        ahead.append(ahead[-1] + lead + (worse < better))
    total = Decimal(0)
    window = int(26 * scale) + max(scores) + max(leads)
    for noisy in range(-window, window + 1):
        best = [noisy - leads[-1] - (loser < last) - scores[loser] for loser in losers]  # their noise, at most
        reached = prod(at_most(scale, k) for k in best) - prod(at_most(scale, k - 1) for k in best)
        total += reached * prod(
            mass(scale, noisy + above - scores[index]) for index, above in zip(reversed(winners), ahead, strict=True)
        )
    return total


def law(mechanism, scores, leads=LEADS):
    scale = Decimal(mechanism.scale.numerator) / mechanism.scale.denominator
    return {
        (winners, margins): chance(scale, scores, winners, margins)
        for winners in permutations(range(len(scores)), mechanism.k)
        for margins in product(leads, repeat=mechanism.k)
    }


def neighbours(mechanism):
    """Scores that one unit can move to others, both ways, each by at most 1; of many, all of them by as much."""
    vectors = VECTORS[mechanism.k]
    each = (0, 1) if mechanism.monotonic else (-1, 0, 1) if mechanism.k == 1 else (-1, 1)
    steps = list(product(each, repeat=len(vectors[0])))
    pairs = [(first, tuple(a + s for a, s in zip(first, step, strict=True))) for first in vectors for step in steps]
    return {levelled(*pair) for pair in pairs + [(second, first) for first, second in pairs]}


def levelled(first, second):
    """The same number added to all scores changes nothing, so that few laws are left to work out."""
    return tuple(tuple(score - min(scores) for score in scores) for scores in (first, second))


def worst_ratio(mechanism, pairs):
    with localcontext(prec=30):
        laws = {scores: law(mechanism, scores) for scores in {scores for pair in pairs for scores in pair}}
        return max((p / laws[second][answer]).ln() for first, second in pairs for answer, p in laws[first].items())


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("monotonic", [False, True])
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(monotonic, k):
    mechanism = NoisyTopK(k=k, epsilon=2, monotonic=monotonic, utility_sensitivity=1)
    worst = worst_ratio(mechanism, neighbours(mechanism))
    assert 1 < worst <= 2 + NEGLIGIBLE


@pytest.mark.parametrize("monotonic", [False, True])
def test_half_the_noise_would_be_caught(monotonic):
    mechanism = NoisyTopK(k=2, epsilon=4, monotonic=monotonic, utility_sensitivity=1)
    assert worst_ratio(mechanism, neighbours(mechanism)) > 2


def test_a_false_claim_of_monotonic_scores_would_be_caught():
    mechanism = NoisyTopK(k=2, epsilon=2, monotonic=True, utility_sensitivity=1)
    assert worst_ratio(mechanism, {((1, 1, 0, 0), (0, 0, 1, 1))}) > 2


def test_the_plain_difference_to_the_runner_up_would_cost_more_than_epsilon():
    """Index 2 wins on a tie with index 3: then 0 and 1 must lie below both, which a unit in both makes unlikely."""

    def tied(scores):
        return sum(mass(Decimal(1), k) ** 2 * at_most(Decimal(1), k - 1 - scores[0]) ** 2 for k in range(-60, 61))

    with localcontext(prec=30):
        first, second = (0, 0, 0, 0), (1, 1, 0, 0)
        assert (tied(first) / tied(second)).ln() > Decimal("1.6")  # of scale 1/ε with ε = 1
        mechanism = NoisyTopK(k=1, epsilon=1, monotonic=True, utility_sensitivity=1)
        assert Decimal("0.9") < worst_ratio(mechanism, {(first, second), (second, first)}) <= 1 + NEGLIGIBLE


def test_the_law_adds_up():
    with localcontext(prec=30):
        found = law(NoisyTopK(k=1, epsilon=2, monotonic=True, utility_sensitivity=1), (0, 1, 1), leads=range(40))
        assert abs(sum(found.values()) - 1) < NEGLIGIBLE


@pytest.mark.parametrize("monotonic", [False, True])
def test_it_is_private_of_as_many_candidates_as_winners_too(monotonic):
    mechanism = NoisyTopK(k=2, epsilon=2, monotonic=monotonic, utility_sensitivity=1)
    scale = Decimal(mechanism.scale.numerator) / mechanism.scale.denominator

    def chance_of(difference, apart):
        """P(y₁ − y₀ = difference) of scores that are `apart`: the difference decides the order and the lead."""
        return sum(mass(scale, k) * mass(scale, k + difference - apart) for k in range(-80, 81))

    with localcontext(prec=30):
        farthest = 1 if monotonic else 2  # that two scores can be moved apart
        laws = [[chance_of(difference, apart) for difference in range(-6, 7)] for apart in (0, farthest)]
        losses = [abs((p / q).ln()) for p, q in zip(*laws, strict=True)]
        assert Decimal("0.5") < max(losses) <= 2 + NEGLIGIBLE


def ranked(noisy):
    return sorted(range(len(noisy)), key=lambda index: (-noisy[index], index))


def lead(noisy, place):
    """As the definition has it: by how much the winner could be lowered and still be at its place."""
    order = ranked(noisy)
    steps = 0
    while True:
        lowered = list(noisy)
        for winner in order[: place + 1]:
            lowered[winner] -= steps + 1
        if ranked(lowered)[: place + 1] != order[: place + 1]:
            return steps
        steps += 1


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_code_ranks_and_measures_leads_as_the_definition_for_every_noise(monkeypatch, k):
    mechanism, scores = NoisyTopK(k=k, epsilon=1, utility_sensitivity=1), [1, 0, 1, 2]
    for noise in product(range(-1, 2), repeat=4):
        monkeypatch.setattr(module, "discrete_laplace", lambda _, size, noise=noise: np.array(noise[:size]))
        noisy = [score + n for score, n in zip(scores, noise, strict=True)]
        expected = TopK(tuple(ranked(noisy)[:k]), tuple(lead(noisy, place) for place in range(k)))
        assert mechanism.release(scores) == expected


def test_the_sampler_is_asked_for_the_scale_and_one_noise_a_score(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "discrete_laplace", lambda *asking: asked.append(asking) or np.zeros(4, dtype=np.int64))
    NoisyTopK(k=3, epsilon="0.1", monotonic=True, utility_sensitivity=1).release([0] * 4)
    NoisyTopK(k=3, epsilon="0.1", utility_sensitivity=2).release([0] * 4)
    NoisyTopK(k=1, epsilon=1, utility_sensitivity="1.5", resolution="0.4").release([0] * 4)
    assert asked == [(Fraction(30), 4), (Fraction(120), 4), (Fraction(8), 4)]


@pytest.mark.statistical
def test_releases_follow_the_exact_law():
    mechanism, scores = NoisyTopK(k=2, epsilon=4, monotonic=True, utility_sensitivity=1), (2, 0, 1)
    with localcontext(prec=30):
        expected = law(mechanism, scores, leads=range(3))
    draws = [mechanism.release(scores) for _ in range(3000)]
    for (winners, leads), probability in expected.items():
        assert binomtest(draws.count(TopK(winners, leads)), 3000, float(probability)).pvalue >= ALPHA


def test_clear_winners_are_reported_as_ints_in_order():
    top = NoisyTopK(k=2, epsilon=1, monotonic=True, utility_sensitivity=1).release(Secret([10**9, 0, 10**6, 3 * 10**9]))
    assert top.indexes == (3, 0)
    assert {type(number) for number in (*top.indexes, *top.leads)} == {int}
    assert [round(lead, -8) for lead in top.leads] == [2 * 10**9, 10**9]


def test_leads_of_real_scores_are_on_the_lattice():
    top = NoisyTopK(k=2, epsilon=1000, resolution="0.1", utility_sensitivity=1).release(
        np.array([nan, -inf, 7.0, 3.0, inf])
    )
    assert top.indexes == (4, 2)
    assert top.leads[1] == 4
    assert isinstance(top.leads[1], Fraction)


def test_of_as_many_candidates_as_winners_the_last_has_no_lead():
    top = NoisyTopK(k=2, epsilon=1, utility_sensitivity=1).release([0, 10**6])
    assert top.indexes == (1, 0)
    assert len(top.leads) == 1
    assert NoisyTopK(k=1, epsilon=1, utility_sensitivity=1).release([5]) == TopK((0,), ())


def test_epsilon_zero_names_the_first():
    mechanism = NoisyTopK(k=2, epsilon=0, utility_sensitivity=1)
    assert mechanism.release([0, 10**9, 10**9]) == TopK((0, 1), (0, 0))
    assert (mechanism.event, mechanism.scale, mechanism.accuracy(candidates=3)) == (PureEvent(Fraction(0)), 0, inf)


@pytest.mark.parametrize("huge", [2**63 - 1, 2**100])
def test_huge_scores_do_not_wrap(huge):
    top = NoisyTopK(k=2, epsilon=1, utility_sensitivity=1).release([0, huge, -huge])
    assert top.indexes == (1, 0)
    assert round(top.leads[0] / huge) == 1


def test_the_event_is_pure_and_for_all_winners():
    assert NoisyTopK(k=7, epsilon="0.1", utility_sensitivity=1).event == PureEvent(Fraction(1, 10))


def test_the_accuracy_holds_with_its_confidence():
    mechanism, scores = NoisyTopK(k=2, epsilon=4, monotonic=True, utility_sensitivity=1), (6, 5, 0)
    shortfall = mechanism.accuracy("0.9", candidates=3)
    assert shortfall == 2 * 1  # P(|noise| > 1) = 0.032 < 0.1/3 < P(|noise| > 0)
    with localcontext(prec=30):
        near = law(mechanism, scores, leads=range(16))
        assert sum(p for (winners, _), p in near.items() if set(winners) == {0, 1}) > Decimal("0.9")


def test_on_a_lattice_the_accuracy_covers_the_rounding_too():
    whole, halves = (
        NoisyTopK(k=2, epsilon=4, utility_sensitivity=1),
        NoisyTopK(k=2, epsilon=4, resolution=1, utility_sensitivity=1),
    )
    assert halves.accuracy(candidates=9) == whole.accuracy(candidates=9) + 1


@pytest.mark.parametrize("scores", [[], [1, 2]])
def test_too_few_candidates_are_an_error(scores):
    with pytest.raises(ParameterError, match="at least k = 3"):
        NoisyTopK(k=3, epsilon=1, utility_sensitivity=1).release(scores)


@pytest.mark.parametrize("scores", [[1.5, 2], ["a"]])
def test_what_is_no_integer_is_an_error(scores):
    with pytest.raises(ParameterError, match="integer"):
        NoisyTopK(k=1, epsilon=1, utility_sensitivity=1).release(scores)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("k", {"k": 0}),
        ("k", {"k": 1.5}),
        ("epsilon", {"epsilon": -1}),
        ("utility_sensitivity", {"utility_sensitivity": 0}),
        ("resolution", {"resolution": 0}),
        ("scale", {"epsilon": 2001}),
        ("scale", {"k": 2**60}),
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(name, wrong):
    with pytest.raises(ParameterError, match=name):
        NoisyTopK(**{"k": 1, "epsilon": 1, "utility_sensitivity": 1} | wrong)
