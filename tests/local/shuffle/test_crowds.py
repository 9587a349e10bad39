"""Crowds: the pair of the theorem, that of a uniform blanket, and all reports of few people, by their definitions."""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, exp, factorial

import mpmath
import numpy as np
import pytest

from sfumato.local import DirectEncoding
from sfumato.local.core.odds import odds
from sfumato.local.shuffle import crowds
from sfumato.local.shuffle.crowds import binomial_masses, crowd_epsilon, crowd_of, dominating_event

SHARES = (0, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 0.95, 0.999)
"""Of the ε of one report: where the bound is compared with the truth."""


def above(pairs, ratio):
    """Σ max(0, P − e^ε·Q)."""
    return sum(max(p - ratio * q, 0) for p, q in pairs)


def of_event(event):
    return list(zip(event.p, event.q, strict=True))


def theorem(epsilon, reports):
    """The pair of theorem 3.1 of Feldman, McMillan and Talwar, every outcome by its definition."""
    clone, truth = exp(-epsilon), exp(epsilon) / (exp(epsilon) + 1)
    held, other = defaultdict(float), defaultdict(float)
    for clones in range(reports):
        mass = comb(reports - 1, clones) * clone**clones * (1 - clone) ** (reports - 1 - clones)
        for first in range(clones + 1):
            share = mass * comb(clones, first) / 2**clones
            for one, weight in ((1, truth), (0, 1 - truth)):
                held[first + one, clones - first + 1 - one] += share * weight
                other[first + 1 - one, clones - first + one] += share * weight
    return [(held[outcome], other[outcome]) for outcome in held]


def blanket(protocol, reports):
    """One true report among those who answer uniformly, by (a, b, all of them): the pair that the proof reduces to."""
    p, q = map(float, protocol.support_probabilities)
    size = len(protocol.domain)
    pairs = []
    for uniform in range(reports):
        mass = comb(reports - 1, uniform) * (size * q) ** uniform * (1 - size * q) ** (reports - 1 - uniform)
        total = uniform + 1
        for a in range(total + 1):
            for b in range(total + 1 - a):
                rest = total - a - b
                ways = factorial(uniform) / (factorial(a) * factorial(b) * factorial(rest)) / size**uniform
                ways *= (size - 2) ** (rest - 1) if rest else 1 / (size - 2) if size > 2 else 1
                if size == 2 and rest:
                    continue
                others = q * rest * (size - 2) if size > 2 else 0
                scale = (size - 2) if size > 2 else 1
                pairs.append(
                    (
                        mass * ways * (scale * (p * a + q * b) + others),
                        mass * ways * (scale * (q * a + p * b) + others),
                    )
                )
    return pairs


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("reports", [1, 2, 7, 60, 300])
def test_the_event_of_clones_dominates_the_pair_of_the_theorem_and_is_near_to_it(epsilon, reports):
    stated, exact = of_event(dominating_event(crowd_of(epsilon, reports=reports))), theorem(epsilon, reports)
    for share in SHARES:
        truth = above(exact, exp(share * epsilon))
        bound = float(above(stated, Fraction(exp(share * epsilon))))
        assert truth <= bound + 1e-12
        assert bound <= truth + 2e-3


@pytest.mark.parametrize("size", [2, 3, 10])
@pytest.mark.parametrize(("epsilon", "reports"), [(1, 1), (1, 2), (3, 25), (2, 60)])
def test_the_event_of_direct_encoding_dominates_its_blanket_and_is_near_to_it(size, epsilon, reports):
    protocol = DirectEncoding(size, epsilon=epsilon)
    exact = blanket(protocol, reports)
    assert sum(p for p, _ in exact) == pytest.approx(1)
    stated = of_event(dominating_event(crowd_of(protocol, reports=reports)))
    for share in SHARES:
        truth = above(exact, exp(share * epsilon))
        bound = float(above(stated, Fraction(exp(share * epsilon))))
        assert truth <= bound + 1e-12
        assert bound <= truth * 1.01 + 2e-3


def shuffled_law(protocol, values):
    """The weight of each multiset of reports of people with these values, in whole numbers, and their sum."""
    ratio, size = odds(protocol.epsilon), len(protocol.domain)
    law = {(0,) * size: 1}
    for value in values:
        grown = defaultdict(int)
        for counts, weight in law.items():
            for said in range(size):
                more = ratio.numerator if said == value else ratio.denominator
                grown[(*counts[:said], counts[said] + 1, *counts[said + 1 :])] += weight * more
        law = grown
    return law, (ratio.numerator + (size - 1) * ratio.denominator) ** len(values)


def worst(protocol, people, ratios):
    """For each ratio, the largest δ over all that the others may hold, and over two values in either order."""
    found = [Fraction(0)] * len(ratios)
    size = len(protocol.domain)
    for others in combinations_with_replacement(range(size), people - 1):
        (first, total), (second, _) = (shuffled_law(protocol, (value, *others)) for value in (0, 1))
        for pairs in (
            [(mass, second[counts]) for counts, mass in first.items()],
            [(mass, first[counts]) for counts, mass in second.items()],
        ):
            for at, ratio in enumerate(ratios):
                whole = sum(max(ratio.denominator * p - ratio.numerator * q, 0) for p, q in pairs)
                found[at] = max(found[at], Fraction(whole, ratio.denominator * total))
    return found


@pytest.mark.parametrize("epsilon", ["0.3", "1", "3"])
@pytest.mark.parametrize("people", range(1, 7))
@pytest.mark.parametrize("size", [2, 3, 4])
def test_all_shuffled_answers_of_few_people_reveal_no_more_than_the_event(size, people, epsilon):
    """Every multiset of reports, for everything that the others may hold and for both orders of the values, exactly."""
    protocol = DirectEncoding(size, epsilon=epsilon)
    event = of_event(dominating_event(crowd_of(protocol, reports=people)))
    ratios = [Fraction(exp(share * float(epsilon))).limit_denominator(10**6) for share in SHARES]
    for ratio, truth in zip(ratios, worst(protocol, people, ratios), strict=True):
        assert truth <= above(event, ratio)
    # At ε = 0 it is the distance of both distributions, and the bound is near to it.
    distance = float(worst(protocol, people, [Fraction(1)])[0])
    assert float(above(event, Fraction(1))) <= 1.15 * distance


def test_counts_of_the_two_values_alone_would_promise_too_much():
    """What the blanket adds: who is seen at a third value. A pair without it is below the truth from 4 values on."""
    protocol, people = DirectEncoding(4, epsilon=2), 4
    pairs = defaultdict(lambda: [0.0, 0.0])
    p, q = map(float, protocol.support_probabilities)
    for clones in range(people):
        mass = comb(people - 1, clones) * (2 * q) ** clones * (1 - 2 * q) ** (people - 1 - clones)
        for first in range(clones + 1):
            share = mass * comb(clones, first) / 2**clones
            for at, chances in (((1, 0), (p, q)), ((0, 1), (q, p)), ((0, 0), (1 - p - q, 1 - p - q))):
                both = pairs[first + at[0], clones - first + at[1]]
                both[0] += share * chances[0]
                both[1] += share * chances[1]
    ratio = Fraction(13, 2)
    (truth,) = worst(protocol, people, [ratio])
    assert above(pairs.values(), 6.5) < 0.1 * truth
    assert truth <= above(of_event(dominating_event(crowd_of(protocol, reports=people))), ratio)


def test_a_crowd_of_its_own_hides_better_and_that_of_more_values_better_still():
    found = [crowd_epsilon(crowd_of(DirectEncoding(size, epsilon=2), reports=10**4), 1e-6) for size in (2, 5, 50)]
    assert found == sorted(found, reverse=True)
    assert found[0] < 0.75 * crowd_epsilon(crowd_of(2, reports=10**4), 1e-6)


@pytest.mark.parametrize(
    ("trials", "probability"), [(10**4, 0.5), (10**6, 0.01), (10**8, 0.5), (10**8, 0.37), (10**8, 1e-7), (30, 0.999)]
)
def test_the_masses_of_binomials_are_right_to_far_less_than_is_taken_off(trials, probability):
    first, masses = binomial_masses(trials, probability)
    assert abs(masses.sum() - 1) < 1e-13
    with mpmath.workdps(40):
        share = mpmath.mpf(probability)
        for at in np.linspace(0, len(masses) - 1, 7).astype(int).tolist():
            count = first + at
            exact = mpmath.binomial(trials, count) * share**count * (1 - share) ** (trials - count)
            assert abs(masses[at] / exact - 1) < 2e-11


@pytest.mark.parametrize("reported", [2, DirectEncoding(3, epsilon=2), DirectEncoding(10, epsilon=2)], ids=str)
def test_coarser_steps_are_further_above_and_never_below(reported, monkeypatch):
    """Steps of large crowds, forced on small ones: several numbers of people count as one."""
    crowd = crowd_of(reported, reports=40)
    exact = theorem(2, 40) if reported == 2 else blanket(reported, 40)
    before = None
    for steps in (100, 6, 2, 1):
        for name in ("_ROWS", "_FEWER_ROWS", "_COLUMNS"):
            monkeypatch.setattr(crowds, name, steps)
        stated = of_event(dominating_event(crowd))
        bounds = [float(above(stated, Fraction(exp(share * 2)))) for share in SHARES]
        assert all(above(exact, exp(share * 2)) <= bound + 1e-12 for share, bound in zip(SHARES, bounds, strict=True))
        assert before is None or all(bound >= finer - 1e-9 for bound, finer in zip(bounds, before, strict=True))
        before = bounds
    assert sum(before) > 1.02 * sum(above(exact, exp(share * 2)) for share in SHARES)
