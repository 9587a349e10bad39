"""Tiny databases, all pairs of neighbors among them, and the output law of a mechanism's own code.

The law is not taken from a formula for the mechanism: its sampler is replaced by every possible noise in turn, and the
answers of the real `release` are collected with the weight of that noise.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, fsum

import numpy as np

from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation

Database = tuple[object, ...]


def databases(rows: list, sizes: range) -> Iterator[Database]:
    """All multisets of rows of these sizes."""
    for size in sizes:
        yield from combinations_with_replacement(rows, size)


def neighbours(
    rows: list, relation: NeighboringRelation, *, sizes: range = range(4)
) -> list[tuple[Database, Database]]:
    """All ordered pairs of neighboring databases."""
    pairs = []
    for rest, row in product(databases(rows, sizes), rows):
        if relation is ADD_OR_REMOVE_ONE:
            pairs += [(rest, (*rest, row)), ((*rest, row), rest)]
        else:
            pairs += [((*rest, row), (*rest, other)) for other in rows if other != row]
    return pairs


def answers_by_noise(patch, module, sampler: str, release: Callable[[], object], noises: list[tuple]) -> dict:
    """The real answer for each vector of noise, and the parameter with which the sampler was asked."""
    found = {}
    for noise in noises:
        asked = []

        def draw(parameter, size, noise=noise, asked=asked):
            asked.append(parameter)
            assert size == len(noise)
            return np.array(noise, dtype=np.int64)

        patch.setattr(module, sampler, draw)
        patch.setattr(module, f"{sampler}_one", lambda parameter, draw=draw: int(draw(parameter, 1)[0]), raising=False)
        answer = release()
        found[noise] = (tuple(answer) if isinstance(answer, np.ndarray) else answer, asked[0])
    return found


def laplace_log_weights(answers: dict) -> dict[object, Fraction]:
    """−Σ|k|/scale for each answer, exact: the logarithm of its probability but for a constant all answers share."""
    return {answer: -sum(map(abs, noise)) / scale for noise, (answer, scale) in answers.items()}


def gaussian_probabilities(answers: dict) -> dict[object, float]:
    """The probability of each answer, from noises that hold all but a negligible mass."""
    weights = {
        answer: exp(-sum(k * k for k in noise) / (2 * float(variance))) for noise, (answer, variance) in answers.items()
    }
    total = fsum(weights.values())
    return {answer: weight / total for answer, weight in weights.items()}


def max_log_ratio(first: dict, second: dict) -> Fraction:
    """The largest log-ratio over the answers that both have."""
    common = first.keys() & second.keys()
    assert common, "the window of noise is too small for this pair"
    return max(first[answer] - second[answer] for answer in common)


def hockey_stick(first: dict, second: dict, epsilon: float) -> float:
    """Σ max(0, P(answer) − e^ε Q(answer))."""
    return fsum(max(0.0, mass - exp(epsilon) * second.get(answer, 0.0)) for answer, mass in first.items())
