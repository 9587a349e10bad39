"""D8. Which of three diseases is the most common: the larger ε, the more often the true one is chosen.

A hundred made-up patients have influenza (40), bronchitis (35) or measles (25). At ε = 0.01 the exponential mechanism
chooses almost at random; at ε = 2 it is right 99 times out of 100.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

import sfumato as sf

EPSILONS = ("0.01", "0.1", "0.5", "1", "2")
DRAWS = 10_000


def exact_counts() -> dict[str, int]:
    """The exact counts, the most common first; only the owner knows them."""
    return dict(Counter(sf.datasets.diseases().column("disease").to_pylist()).most_common())


def chooser(epsilon: str) -> sf.mechanisms.Exponential:
    """The mechanism: a patient has one disease, and changes its count by 1."""
    return sf.mechanisms.Exponential(utility_sensitivity=1, epsilon=epsilon)


def probabilities(epsilon: str) -> NDArray[np.float64]:
    """The probability of each choice; only the owner can compute it."""
    return chooser(epsilon).probabilities(list(exact_counts().values()))


def simulated(epsilon: str, draws: int) -> NDArray[np.int64]:
    """How often each disease is chosen in a simulation outside any session."""
    return np.bincount(chooser(epsilon).release_many(list(exact_counts().values()), draws), minlength=3)


def main() -> None:
    """Choose once, then show the probabilities at several ε, and simulations."""
    print(__doc__)
    counts = exact_counts()
    print(f"counts (owner only): {', '.join(f'{disease} {count}' for disease, count in counts.items())}")
    choice = list(counts)[chooser("1").release(list(counts.values()))]
    print(f"the curator's one choice at ε = 1: {choice}; spent {sf.PureDP(1)}, remaining {sf.PureDP(0)}\n")
    print(f"probability (owner only), and how often in {DRAWS:,} draws simulated outside any session:")
    print(f"{'ε':>5}" + "".join(f"{disease:>20}" for disease in counts))
    for epsilon in EPSILONS:
        pairs = zip(probabilities(epsilon), simulated(epsilon, DRAWS), strict=True)
        print(f"{epsilon:>5}" + "".join(f"{likely:>12.1%} {number:>7,}" for likely, number in pairs))


if __name__ == "__main__":
    main()
