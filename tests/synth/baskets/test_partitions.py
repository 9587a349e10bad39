"""Partitions of baskets: the law of what is kept, what one basket can change of it, and what is enforced."""

from fractions import Fraction
from itertools import combinations, product
from math import exp, log

import numpy as np
import pytest
from scipy.stats import chisquare
from tests.synth.baskets.small import PAIRS, RAGGED, counts_of

from sfumato.session.training.baskets import BasketCounts
from sfumato.synth.baskets import partitions
from sfumato.synth.baskets.partitions import LAST, Division, Partitioning, kept_parts, limited
from sfumato.synth.baskets.taxonomy import ItemTree, subsets_up_to


def at(value, scale):
    ratio = exp(-1 / float(scale))
    return (1 - ratio) / (1 + ratio) * ratio ** abs(value)


def below(value, scale):
    """P(X < value)."""
    ratio = exp(-1 / float(scale))
    return 1 - ratio**value / (1 + ratio) if value >= 1 else ratio ** (1 - value) / (1 + ratio)


# The law


@pytest.mark.statistical
@pytest.mark.parametrize("counts", [{}, {0b01: 2}, {0b11: 5, 0b10: 1}])
def test_the_law_is_that_of_noise_on_each_part(counts):
    """All three sets of two members, with each noisy count: below the threshold, at it, one above, or more."""
    step = Division(node=0, most=2, epsilon=Fraction(1), scale=Fraction(3, 2), parts=3, threshold=2)
    runs, places = 700, {mask: place for place, mask in enumerate((0b01, 0b10, 0b11))}
    seen = dict.fromkeys(product(range(4), repeat=3), 0)
    for _ in range(runs):
        cell = [0, 0, 0]
        kept = kept_parts(np.array(list(counts), dtype=np.int64), np.array(list(counts.values()), np.int64), step, 2)
        assert kept == sorted(kept)
        for mask, noisy in kept:
            cell[places[mask]] = min(noisy - 2, 2) + 1
        seen[tuple(cell)] += 1
    law = {}
    for cell in seen:
        law[cell] = 1.0
        for mask, place in places.items():
            own = counts.get(mask, 0)
            chances = [below(2 - own, step.scale), at(2 - own, step.scale), at(3 - own, step.scale)]
            law[cell] *= [*chances, 1 - sum(chances)][cell[place]]
    assert sum(law.values()) == pytest.approx(1)
    usual = [cell for cell in seen if law[cell] * runs >= 10]
    observed = [seen[cell] for cell in usual] + [runs - sum(seen[cell] for cell in usual)]
    expected = [runs * law[cell] for cell in usual] + [runs * (1 - sum(law[cell] for cell in usual))]
    assert chisquare(observed, expected).pvalue >= 1e-6


def test_each_empty_part_is_kept_as_often():
    """Ten sets of four members, none with a basket: each of 300 runs keeps about a third of them."""
    step = Division(node=0, most=2, epsilon=Fraction(1), scale=Fraction(5), parts=10, threshold=2)
    nothing = np.zeros(0, dtype=np.int64)
    kept = [mask for _ in range(300) for mask, _ in kept_parts(nothing, nothing, step, 4)]
    chance = 1 - below(2, 5)
    tallies = [kept.count(mask) for mask in range(1, 16) if mask.bit_count() <= 2]
    assert sum(tallies) == len(kept)
    assert max(abs(tally - 300 * chance) for tally in tallies) <= 6 * np.sqrt(300 * chance * (1 - chance))


# What one basket can change


def loss(own, cut, left, one, other):
    """The largest log-ratio of the probabilities of any outcome, part by part, over all outcomes."""
    if sorted(map(sorted, one)) == sorted(map(sorted, other)):
        return 0.0
    step, total = own.division(cut, left), 0.0
    children = own.tree.children[step.node]
    for size in range(1, step.most + 1):
        for chosen in combinations(children, size):
            within = [
                [basket for basket in side if shape(own.tree, basket, children) == set(chosen)] for side in (one, other)
            ]
            part = tuple(sorted([node for node in cut if node != step.node] + list(chosen)))
            total += part_loss(own, part, left - step.epsilon, step, *within)
    return total


def shape(tree, basket, children):
    return {child for child in children if set(tree.members[child]) & set(basket)}


def part_loss(own, part, left, step, one, other):
    most = log(below(step.threshold - len(one), step.scale) / below(step.threshold - len(other), step.scale))
    beyond = 0.0
    if any(own.tree.children[node] for node in part):
        beyond = loss(own, part, left, one, other)
    elif left:
        beyond = abs(len(one) - len(other)) * float(left) / own.moved  # counted again with a scale of moved/left
    for noisy in {*range(step.threshold, step.threshold + 9), max(step.threshold, len(one), len(other))}:
        ratio = (abs(noisy - len(other)) - abs(noisy - len(one))) / float(step.scale)
        most = max(most, ratio + beyond)
    return most


def partitioning(tree, epsilon, moved, most=2):
    return Partitioning(tree=tree, epsilon=Fraction(epsilon), moved=moved, most_items=most)


@pytest.mark.parametrize("tree", [PAIRS, RAGGED, ItemTree.even(range(6), members=2)])
@pytest.mark.parametrize("epsilon", ["1/2", "3"])
def test_no_basket_changes_a_probability_by_more_than_its_price(tree, epsilon):
    """Over small databases, all their neighbors under both relations, and all outcomes; some reach nine tenths."""
    kinds = [set(one) for size in (1, 2) for one in combinations(range(len(tree.items)), size)]
    many = [{0}] * 150 + [{3}] * 150  # above every threshold
    furthest = {1: 0.0, 2: 0.0}
    for base in ([], [{0, 1}] * 3 + [{3}, {2, 3}], many):
        for basket in [{0}] if base is many else kinds:
            pairs = [(1, [*base, basket], base), (1, base, [*base, basket])]
            others = [{3}] if base is many else kinds[::4]
            pairs += [(2, [*base, basket], [*base, other]) for other in others if other != basket]
            for moved, one, other in pairs:
                own = partitioning(tree, epsilon, moved)
                found = loss(own, (0,), own.epsilon, one, other)
                assert found <= float(own.epsilon) * (1 + 1e-9)
                furthest[moved] = max(furthest[moved], found)
    assert min(furthest.values()) >= 0.9 * float(Fraction(epsilon))


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("tree", [PAIRS, RAGGED, ItemTree.even(range(30), members=3)])
def test_what_is_left_is_never_less_than_nothing_and_no_noise_is_too_wide(tree, most):
    own = partitioning(tree, 1, 2, most)
    waiting, ends = [((0,), own.epsilon, Fraction(0))], 0
    for cut, left, spent in waiting:  # which grows
        step = own.division(cut, left)
        assert 0 < step.epsilon <= left
        assert spent + left == 1
        assert own.moved / step.epsilon <= step.scale <= own.widest * (1 + Fraction(1, 2**30))
        rest = tuple(node for node in cut if node != step.node)
        for chosen in (own.tree.children[step.node][:1], own.tree.children[step.node][: step.most]):
            part = tuple(sorted(rest + chosen))
            if any(tree.children[node] for node in part):
                waiting.append((part, left - step.epsilon, spent + step.epsilon))
            elif tree is not RAGGED:
                ends += 1
                assert left == step.epsilon  # the last takes all, unless items lie at several depths
        if len(waiting) > 4000:
            break
    assert ends or tree is RAGGED


def test_the_threshold_keeps_few_empty_parts():
    own = partitioning(ItemTree.even(range(120)), 1, 1, most=4)
    step = own.division((0,), own.epsilon)
    assert step.epsilon == Fraction(1, own.tree.expansions([0], 4) - 1 + LAST)
    for threshold, is_few in ((step.threshold, True), (step.threshold - 1, False)):
        assert (step.parts * (1 - below(threshold, step.scale)) <= 1 / 8) is is_few
    assert step.parts == subsets_up_to(2, 2)


# What comes out


def test_frequent_baskets_come_out_with_about_their_counts():
    own = partitioning(PAIRS, 5, 1)
    baskets = counts_of([{0}] * 4000 + [{1, 2}] * 3000 + [{2, 3}] * 2000 + [{1}] * 3)
    found = dict(own.leaves(baskets))
    assert {(0,), (1, 2), (2, 3)} <= set(found)
    assert abs(found[0,] - 4000) < 40
    assert abs(found[1, 2] - 3000) < 40


def test_items_of_several_depths_come_out_too():
    own = partitioning(RAGGED.placed(range(6)), 5, 1, most=3)
    found = dict(own.leaves(counts_of([{2}] * 900 + [{0, 3, 5}] * 800, 6)))
    assert abs(found[2,] - 900) < 60
    assert abs(found[0, 3, 5] - 800) < 60


def test_baskets_that_nobody_has_come_out_as_often_as_noise_says(monkeypatch):
    """Without a basket, each of the ten baskets of two items comes out; as often as its two or three steps let it."""
    monkeypatch.setattr(partitions, "EMPTY_KEPT", 1.0)  # else it takes many thousands of runs to see all
    own = partitioning(PAIRS, 2, 1)
    first = own.division((0,), own.epsilon)
    wide = 1 - below(first.threshold, first.scale)
    found = [items for _ in range(700) for items, _ in own.leaves(counts_of([]))]
    step = own.division((1,), own.epsilon - first.epsilon)
    expected = 700 * wide * (1 - below(step.threshold, step.scale)) * step.parts
    singles = sum(set(items) <= {0, 1} for items in found)
    assert abs(singles - expected) <= 6 * np.sqrt(expected) + 1
    assert {item for items in found for item in items} == {0, 1, 2, 3}


def test_at_most_so_many_partitions_are_divided(monkeypatch):
    own = partitioning(PAIRS, 500, 1)  # no empty partition is kept
    baskets = counts_of([{0}] * 4000 + [{2}] * 3000)
    monkeypatch.setattr(partitions, "MOST_DIVIDED", 2)
    assert [items for items, _ in own.leaves(baskets)] == [(0,)]


# What is enforced


def test_large_baskets_are_cut_unit_by_unit():
    baskets = BasketCounts(
        words=np.concatenate([counts_of([{0, 1, 2, 3, 41}, {1}, set(), {0, 41}], 42).words]),
        counts=np.array([900, 2, 5, 3]),
    )
    found = limited(baskets, 42, 2)
    sizes = sum(found.has(item).astype(int) for item in range(42))
    assert found.counts.sum() == 905
    assert set(sizes.tolist()) == {1, 2}
    kept = [int(found.counts[found.has(item)].sum()) for item in (0, 1, 2, 3, 41)]
    assert sum(kept) == 900 * 2 + 2 + 3 * 2
    more = (3, 2, 0, 0, 3)  # of the other baskets
    assert all(abs(number - other - 360) <= 6 * np.sqrt(900 * 0.24) for number, other in zip(kept, more, strict=True))
    assert limited(counts_of([]), 4, 2).counts.tolist() == []
