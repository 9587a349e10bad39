"""D5. The most common marital status of the Adult census, chosen by the exponential mechanism.

Among the 48,842 people of both files, utility = count / 1000 and ε = 1 for a claimed sensitivity of 1. But a person
moves that utility by 1/1000 only, so the same mechanism is that of sensitivity 1/1000 and ε = 1/1000: a draw costs
ε = 0.001, and 10,000 draws cost 10 at most, not 10,000. That many draws are a simulation for looking at the law; a
curator makes one.
"""

from collections import Counter
from fractions import Fraction

import numpy as np

import sfumato as sf
from sfumato.accounting.composition.basic import BasicAccountant

DRAWS = 10_000
SCALE = Fraction(1, 1000)
CLAIMED = sf.mechanisms.Exponential(utility_sensitivity=1, epsilon=1)
TRUE = sf.mechanisms.Exponential(utility_sensitivity=SCALE, epsilon=SCALE)


def exact_counts() -> dict[str, int]:
    """What only the owner knows, the most common first."""
    return dict(Counter(sf.datasets.load_adult("all").column("marital_status").to_pylist()).most_common())


def utilities(counts: dict[str, int]) -> list[Fraction]:
    """A thousandth of each count."""
    return [count * SCALE for count in counts.values()]


def price(draws: int) -> Fraction | float:
    """What this many draws cost by sequential composition."""
    return BasicAccountant().compose(TRUE.event, count=draws).epsilon()


def main() -> None:
    """Print expected and drawn numbers of choices."""
    print(__doc__)
    counts = exact_counts()
    expected = DRAWS * TRUE.probabilities(utilities(counts))
    drawn = np.bincount(TRUE.release_many(utilities(counts), DRAWS), minlength=len(counts))
    print(f"status                    count (owner only)   expected in {DRAWS:,}   drawn (simulation)")
    for status, count, mean, number in zip(counts, counts.values(), expected, drawn, strict=True):
        print(f"{status:<24} {count:>19,} {mean:>20,.2f} {number:>20,}")
    choice = list(counts)[TRUE.release(utilities(counts))]
    budget, spent = sf.PureDP(1), TRUE.epsilon
    left = sf.PureDP(budget.epsilon - spent)
    print(f"\nthe curator's one choice: {choice}; spent {sf.PureDP(spent)} of {budget}, left {left}")
    print(f"the {DRAWS:,} draws of the simulation would cost ε = {price(DRAWS)} at most")


if __name__ == "__main__":
    main()
