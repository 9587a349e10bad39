"""The exact probability of every payload, as a fraction: a protocol's own code, run for every fall of its coins."""

import sys
from collections import defaultdict
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from tests.local.protocols import TINY_WORD
from tests.mechanisms.branching import Branches

SAMPLERS = ("bernoulli", "random_keys", "uniform_below", "uniform_below_each")
LENDERS = ("sfumato.local.", "sfumato.mechanisms.response.")
"""Where samplers are imported that protocols use."""


class ExactBranches(Branches):
    """Outcomes whose probabilities are rationals."""

    def start(self) -> None:
        self.weight, self.taken = Fraction(1), []

    def bernoulli(self, probability: Fraction, size: int) -> np.ndarray:
        return np.array([self.take([1 - probability, probability]) for _ in range(size)], dtype=np.bool_)

    def uniform_below(self, n: int, size: int) -> np.ndarray:
        return np.array([self.take([Fraction(1, n)] * n) for _ in range(size)], dtype=np.int64)

    def random_keys(self, count: int, word_bits: int) -> np.ndarray:
        """Functions of short words, in the top bits of long ones, which then wrap as short ones do."""
        words = self.uniform_below(1 << TINY_WORD, 2 * count).reshape(count, 2).astype(f"<u{word_bits // 8}")
        return words << (word_bits - TINY_WORD)

    def uniform_below_each(self, bounds: np.ndarray) -> np.ndarray:
        return np.array([self.uniform_below(int(n), 1)[0] for n in bounds], dtype=np.int64)


@cache
def payload_law(protocol, value) -> dict[bytes, Fraction]:
    """The probability of each payload that a value gives."""
    return law_of(lambda: bytes(protocol.randomize(protocol.inputs([value]))[0]))


def law_of(release) -> dict[object, Fraction]:
    """The probability of each answer, whichever of the samplers make it."""
    branches, found = ExactBranches(), defaultdict(Fraction)
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith(LENDERS):
                for sampler in SAMPLERS:
                    if hasattr(module, sampler):
                        patch.setattr(module, sampler, getattr(branches, sampler))
        while True:
            branches.start()
            found[release()] += branches.weight
            if not branches.advance():
                assert sum(found.values()) == 1, "some way for the coins to fall was missed"
                return dict(found)


def worst_ratio(laws: list[dict[bytes, Fraction]]) -> Fraction:
    """The largest ratio of the probabilities of one payload under two values; every value can give every payload."""
    assert all(law.keys() == laws[0].keys() for law in laws)
    return max(first[payload] / second[payload] for first in laws for second in laws for payload in first)
