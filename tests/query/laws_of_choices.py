"""The exact laws of the choices that a plan makes, from their definitions, and how far neighbors move them apart."""

import math
from collections import Counter
from itertools import permutations, product

from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.mechanisms.quantiles.joint import JointQuantiles
from sfumato.mechanisms.selection.noisy_top_k import NoisyTopK


def law_of(mechanism, counts):
    """The law of what a mechanism chooses, for so many rows in each cell."""
    if isinstance(mechanism, NoisyTopK):
        return top_law(mechanism, counts)
    if isinstance(mechanism, JointQuantiles):
        return joint_law(mechanism, counts)
    return extreme_law(mechanism, counts) if isinstance(mechanism, Extreme) else quantile_law(mechanism, counts)


def extreme_law(mechanism, counts):
    """Points in random order, of which each is taken with a chance of exp(−ε·(distance(x) − the least)/2)."""
    distances = [_distance(mechanism, counts, x) for x in range(len(counts))]
    takes = [math.exp(-float(mechanism.epsilon) * (distance - min(distances)) / 2) for distance in distances]
    orders = list(permutations(range(len(counts))))
    law = [0.0] * len(counts)
    for order in orders:
        left = 1 / len(orders)
        for x in order:
            law[x] += left * takes[x]
            left *= 1 - takes[x]
    return law


def _distance(mechanism, counts, x):
    """max(0, #{v > x} − (t − 1), t − #{v ≥ x}), or its mirror image for the smallest."""
    beyond = sum(counts[x + 1 :]) if mechanism.largest else sum(counts[:x])
    return max(0, beyond - (mechanism.rank - 1), mechanism.rank - beyond - counts[x])


def quantile_law(mechanism, counts):
    """P(x) ∝ exp(−ε·distance(x)/W) of each bin x, for so many values in each bin."""
    n, q = sum(counts), float(mechanism.quantile)
    weights = []
    for x in range(len(counts)):
        below, up_to = sum(counts[:x]), sum(counts[: x + 1])
        distance = max(0, below - q * n, q * n - up_to)
        weights.append(math.exp(-float(mechanism.epsilon / mechanism.rank_range) * distance))
    return [weight / sum(weights) for weight in weights]


def joint_law(mechanism, counts):
    """P(x) ∝ exp(−ε·largest distance/2) of each tuple of bins, of which the answer is in ascending order."""
    n, weights = sum(counts), Counter()
    for chosen in product(range(len(counts)), repeat=len(mechanism.quantiles)):
        farthest = 0
        for q, move, x in zip(mechanism.quantiles, mechanism.moves, chosen, strict=True):
            below, up_to = sum(counts[:x]), sum(counts[: x + 1])
            farthest = max(farthest, math.ceil(max(below - q * n, q * n - up_to) / move * 1024))
        weights[tuple(sorted(chosen))] += math.exp(-float(mechanism.epsilon) / 2 * farthest / 1024)
    return [weights[answer] / weights.total() for answer in sorted(weights)]


def top_law(mechanism, counts):
    """P(i₁, …, i_k) of the winners in order, the larger noisy count first, of equal ones the smaller index."""
    reach = max(counts) + math.ceil(40 * float(mechanism.scale))
    lows = [[_below(mechanism.scale, v - c) for v in range(-reach, reach + 2)] for c in counts]
    return [
        _ranked(mechanism, counts, lows, reach, order) for order in product(range(len(counts)), repeat=mechanism.k)
    ]  # fmt: skip


def _ranked(mechanism, counts, lows, reach, order):
    """The chance of an order of at most two winners."""
    *first, last = order
    if len(set(order)) < len(order):
        return 0.0
    chance = 0.0
    for place, v in enumerate(range(-reach, reach + 1)):
        here = _below(mechanism.scale, v + 1 - counts[last]) - lows[last][place]
        for rival in range(len(counts)):
            loses = lows[rival][place + (rival > last)]  # below v, or at most v where a tie is lost
            here *= (1 - loses) if rival in first else 1 if rival == last else loses
        chance += here
    return chance


def _below(scale, k):
    """P(noise < k) of discrete Laplace noise."""
    q = math.exp(-1 / float(scale))
    return 1 - q**k / (1 + q) if k >= 1 else q ** (1 - k) / (1 + q)


def contributions(groups, cells, *, rows, per_group=None, most_groups=None):
    """All that one unit may have of the cells of groups: at most so many rows, in all and in a group, and groups."""
    for flat in product(range(rows + 1), repeat=groups * cells):
        own = [flat[cells * g : cells * (g + 1)] for g in range(groups)]
        touched = [sum(group) for group in own if sum(group)]
        if sum(flat) <= rows and len(touched) <= (most_groups or groups) and all(
            count <= (per_group or rows) for count in touched
        ):  # fmt: skip
            yield own


def loss(law, first, second):
    """ln of the largest ratio of the joint probabilities of what is chosen from all groups."""
    return sum(
        max(math.log(p / q) for p, q in zip(law(one), law(other), strict=True) if p > 0 or q > 0)
        for one, other in zip(first, second, strict=True)
    )


def joined(rows, contribution):
    """The counts of a database and of one unit more."""
    return [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(rows, contribution, strict=True)]
