"""D6. A city votes for a sport, and the exponential mechanism announces the winner.

The votes are Football 49, Volleyball 25, Basketball 6, Swimming 2. Each person has one vote, so one person changes the
votes of a sport by at most 1. At ε = 1 the choice is Football except with probability six in a million. At ε = 0.1 it
often is another sport.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

import sfumato as sf

DRAWS = 100_000


def exact_votes() -> dict[str, int]:
    """What only the owner knows."""
    return dict(Counter(sf.datasets.votes().column("sport").to_pylist()).most_common())


def chooser(epsilon: str) -> sf.mechanisms.Exponential:
    """The mechanism that chooses a sport with Pr[sport] ∝ exp(ε · votes / 2)."""
    return sf.mechanisms.Exponential(utility_sensitivity=1, epsilon=epsilon)


def probabilities(epsilon: str) -> NDArray[np.float64]:
    """The probability of each choice; only the owner can compute it."""
    return chooser(epsilon).probabilities(list(exact_votes().values()))


def main() -> None:
    """Announce one winner, then show the probabilities and a simulation."""
    print(__doc__)
    votes, budget = exact_votes(), sf.PureDP(1)
    winner = list(votes)[chooser("1").release(list(votes.values()))]
    print(f"the curator's one choice at ε = 1: {winner}; spent {sf.PureDP(1)} of {budget}, remaining {sf.PureDP(0)}")
    for epsilon in ("1", "0.1"):
        drawn = np.bincount(chooser(epsilon).release_many(list(votes.values()), DRAWS), minlength=len(votes))
        print(f"\nε = {epsilon}: probabilities, and {DRAWS:,} draws simulated outside any session")
        print("sport        votes (owner only)   probability (owner only)     drawn")
        for sport, count, likely, number in zip(votes, votes.values(), probabilities(epsilon), drawn, strict=True):
            print(f"{sport:<12} {count:>18} {likely:>26.3g} {number:>9,}")


if __name__ == "__main__":
    main()
