"""The exact law of a randomized function, by running its own code once for every way its samplers can fall.

Samplers are replaced by ones that take the next untried outcome and multiply its probability, to 50 digits, into the
weight of the run; the answers of all runs, with their weights, are the law.
"""

from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal, localcontext

import numpy as np


class Branches:
    """The outcomes taken in this run, and those still to be tried."""

    def __init__(self) -> None:
        self.script: list[int] = []
        self.start()

    def start(self) -> None:
        self.weight, self.taken = Decimal(1), []

    def take(self, probabilities: list[Decimal]) -> int:
        """An outcome of positive probability: the scripted one, or behind the script the first."""
        possible = [outcome for outcome, probability in enumerate(probabilities) if probability]
        at = self.script[len(self.taken)] if len(self.taken) < len(self.script) else 0
        self.taken.append((at, len(possible)))
        self.weight *= probabilities[possible[at]]
        return possible[at]

    def advance(self) -> bool:
        """Whether a run is left; if so, the script leads to it."""
        while self.taken and self.taken[-1][0] + 1 == self.taken[-1][1]:
            self.taken.pop()
        if not self.taken:
            return False
        self.script = [at for at, _ in self.taken]
        self.script[-1] += 1
        return True

    def uniform_below(self, n: int, size: int) -> np.ndarray:
        return np.array([self.take([Decimal(1) / n] * n) for _ in range(size)], dtype=np.int64)

    def exponential_choice_of(self, numerators, denominator: int, size: int, *, weights) -> np.ndarray:
        weights = [weights[index] for index in range(len(numerators))]
        least = min(n for n, weight in zip(numerators, weights, strict=True) if weight)
        masses = [
            int(weight) * (-Decimal(int(n - least)) / denominator).exp()
            for n, weight in zip(numerators, weights, strict=True)
        ]
        total = sum(masses)
        return np.array([self.take([mass / total for mass in masses]) for _ in range(size)])


def law(replaced: Callable[[Branches], None], release: Callable[[], object]) -> dict[object, Decimal]:
    """The probability of each answer of `release`, whose samplers `replaced` exchanges for those of the branches."""
    found: dict[object, Decimal] = defaultdict(Decimal)
    branches = Branches()
    replaced(branches)
    with localcontext(prec=50):
        while True:
            branches.start()
            found[release()] += branches.weight
            if not branches.advance():
                assert abs(sum(found.values()) - 1) < Decimal("1e-40"), "some way for the samplers to fall was missed"
                return dict(found)


def worst_log_ratio(laws: dict[object, dict[object, Decimal]], pairs: list) -> Decimal:
    """The largest ln(P/Q) over pairs of neighbors and answers; both must have the same answers."""
    with localcontext(prec=50):
        ratios = {p / laws[second][answer] for first, second in pairs for answer, p in laws[first].items()}
        return max(ratios).ln()
