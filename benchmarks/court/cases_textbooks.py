"""Mechanisms as papers and textbooks print them, which are no library's, at ε = 1."""

import operator
import sys
from functools import reduce
from math import exp
from pathlib import Path

import numpy as np
from docket import DOCKET, TEXTBOOK, Case, Events, Sensitivity, case, pair

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.audit.zoo import BROKEN_SPARSE_VECTORS, RIGHT

from sfumato.audit import Verdict, small_pairs
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

SAMPLES = {
    "sparse vector 4: noise without the cutoff": 200_000,
    "sparse vector, noise for counts on other queries": 60_000,
}
"""Where the usual number does not suffice."""

RNG = np.random.default_rng(2017)
EPSILON = 1
LARGEST_POWER = 50
LEAVES = pair([2, 1], [3, 1], "one more record with the majority's label")
FLOATS = tuple(small_pairs((2.0**53, 1.0, 3.0), largest=2, relation=ADD_OR_REMOVE_ONE))


def smooth_leaf(counts, n):
    """Is the label of a leaf that of the minority? With chance 1/(1 + exp(ε·e^(jε)/2)) at a majority of j."""
    majority = abs(counts[0] - counts[1])
    power = min(EPSILON * exp(majority * EPSILON) / 2, LARGEST_POWER)
    return RNG.random(n) < (1 / (1 + exp(power)) if majority else 1 / 2)


def flipped_leaf(counts, n):
    """The same by permute and flip on counts."""
    return RNG.random(n) < exp(-EPSILON * abs(counts[0] - counts[1])) / 2


def float_laplace(exact, n):
    return RNG.laplace(exact, 1 / EPSILON, n)


def float_sum(values, n):
    return [reduce(operator.add, values, 0.0)] * n


def integer_sum(values, n):
    return [sum(map(int, values))] * n


@case(TEXTBOOK, smooth_leaf, expects=Verdict.PRIVACY_VIOLATION)
def leaf():
    """Leaf of a smooth random tree.

    Fletcher and Islam 2017: the exponential mechanism at the smooth sensitivity, which itself tells neighbors apart.
    """
    return Events(pairs=LEAVES, epsilon=EPSILON, samples=10_000)


@case(TEXTBOOK, smooth_leaf, expects=Verdict.PRIVACY_VIOLATION)
def leaf_with_delta():
    """Leaf of a smooth random tree, were a δ of 0.12 granted.

    The same rule, whose δ at ε = 1 is 0.138.
    """
    return Events(pairs=LEAVES, epsilon=EPSILON, delta="0.12", samples=400_000)


@case(TEXTBOOK, flipped_leaf)
def right_leaf():
    """Leaf by permute and flip.

    The control: the rule that replaces it.
    """
    return Events(pairs=LEAVES, epsilon=EPSILON, samples=100_000)


@case(TEXTBOOK, float_laplace, expects=Verdict.PRIVACY_VIOLATION)
def numpy_laplace():
    """Laplace noise of NumPy.

    Mironov 2012: the bits of the output tell what it was added to.
    """
    return Events(pairs=pair(0, 1, "one more"), epsilon=EPSILON, samples=10_000)


@case(TEXTBOOK, float_sum, expects=Verdict.SENSITIVITY_BUG)
def added_floats():
    """Sum of floats, one after another, in [0, 2^53].

    Casacuberta and others 2022: rounding moves it by more than the largest value.
    """
    return Sensitivity(pairs=FLOATS, claimed=2**53)


@case(TEXTBOOK, integer_sum)
def added_integers():
    """Sum of integers in [0, 2^53].

    The control, which does not round.
    """
    return Sensitivity(pairs=FLOATS, claimed=2**53)


def try_sparse_vectors() -> None:
    """Those that Lyu, Su and Li found broken, and the right one."""
    tried = [(specimen, Verdict.PRIVACY_VIOLATION) for specimen in BROKEN_SPARSE_VECTORS]
    tried += [(specimen, Verdict.NOTHING_FOUND) for specimen in RIGHT if specimen.name.startswith("sparse vector")]
    for specimen, expects in tried:
        samples = SAMPLES.get(specimen.name, 30_000)
        trial = Events(pairs=(specimen.neighbors,), epsilon=EPSILON, delta=specimen.delta, samples=samples)
        name = specimen.name[0].upper() + specimen.name[1:]
        source = "Lyu, Su and Li 2017, by the number of the algorithm."
        DOCKET.append(
            Case(name=name, source=source, peer=TEXTBOOK, asks=specimen.mechanism, expects=expects, trial=trial)
        )


try_sparse_vectors()
