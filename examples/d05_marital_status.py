"""D5. The most common marital status of the Adult census, chosen by the exponential mechanism.

The data are the 48,842 people of both files, with utility = count / 1000 and ε = 1 for a claimed sensitivity of 1. But
one person changes that utility by only 1/1000. So the same mechanism has sensitivity 1/1000 and ε = 1/1000. A draw
costs ε = 0.001, and 10,000 draws cost at most 10, not 10,000. The many draws are a simulation that shows the
distribution; a curator draws once.
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
    """The exact counts, the most common first; only the owner knows them."""
    return dict(Counter(sf.datasets.load_adult("all").column("marital_status").to_pylist()).most_common())


def utilities(counts: dict[str, int]) -> list[Fraction]:
    """The utility of each status: a thousandth of its count."""
    return [count * SCALE for count in counts.values()]


def total_cost(draws: int) -> Fraction | float:
    """The cost of so many draws by sequential composition."""
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
    remaining = sf.PureDP(budget.epsilon - spent)
    print(f"\nthe curator's one choice: {choice}; spent {sf.PureDP(spent)} of {budget}, remaining {remaining}")
    print(f"the {DRAWS:,} draws of the simulation would cost at most ε = {total_cost(DRAWS)}")


if __name__ == "__main__":
    main()
