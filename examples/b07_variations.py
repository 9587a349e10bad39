"""B7. Variations on Laplace and exponential: which mechanism fits which query.

The data are hours in hospital of 2,000 patients, each a whole number from 0 to 100. All mechanisms here use ε = 3.
Their errors differ because they protect different things. A sum must hide the longest possible stay. A median must hide
only what one person can change in these data. A choice releases no number at all.
"""

import numpy as np

import sfumato as sf
from sfumato.mechanisms import (
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyTopK,
    PermuteAndFlip,
    Quantile,
    SmoothMedian,
    SparseVector,
    Staircase,
)

HOURS = tuple(12 + (i * 7919) % 25 + (40 if i % 19 == 0 else 0) for i in range(2_000))
WARDS = {"north": 700, "south": 690, "east": 410, "west": 200}
PER_DAY = (3, 5, 2, 8, 61, 4, 7, 3, 72, 5)
EPSILON = 3
LONG = 50

TOTAL: dict[str, Laplace | Gaussian | Staircase] = {
    "discrete Laplace": Laplace(l1_sensitivity=100, epsilon=EPSILON),
    "discrete Gaussian": Gaussian(l2_sensitivity=100, epsilon=EPSILON, delta="1e-6"),
    "staircase": Staircase(linf_sensitivity=100, epsilon=EPSILON),
}
MEDIAN: dict[str, Quantile | SmoothMedian] = {
    "exponential over a grid": Quantile(quantile="1/2", lower=0, upper=100, epsilon=EPSILON),
    "smooth sensitivity": SmoothMedian(lower=0, upper=100, epsilon=EPSILON, resolution="0.1"),
}
LARGEST: dict[str, Exponential | PermuteAndFlip] = {
    "exponential": Exponential(utility_sensitivity=1, epsilon="0.02", monotonic=True),
    "permute-and-flip": PermuteAndFlip(utility_sensitivity=1, epsilon="0.02", monotonic=True),
}
LONG_STAYS = Geometric(lower=0, upper=2_000, epsilon=EPSILON, l1_sensitivity=1)
RANKING = NoisyTopK(k=2, epsilon=EPSILON, utility_sensitivity=1, monotonic=True)
ALARM = SparseVector(epsilon=EPSILON, cutoff=2, linf_sensitivity=1, monotonic=True)


def expected_loss(mechanism: Exponential | PermuteAndFlip) -> float:
    """By how many patients the chosen ward is smaller than the largest, on average; only the owner can compute it."""
    sizes = np.array(list(WARDS.values()))
    return float(mechanism.probabilities(sizes) @ (sizes.max() - sizes))


def main() -> None:
    """One release of each, beside the exact value."""
    print(__doc__)
    cost = f"spent {sf.PureDP(EPSILON)}"
    print(f"total hours: {sum(HOURS):,} (owner only)")
    for name, mechanism in TOTAL.items():
        delta = ", δ 1e-06" if isinstance(mechanism, Gaussian) else ""
        print(f"  {name:<24} {mechanism.release(sum(HOURS)):>9,} ± {mechanism.accuracy()}; {cost}{delta}")
    print(f"median stay: {sorted(HOURS)[len(HOURS) // 2 - 1]} (owner only)")
    for name, middle in MEDIAN.items():
        print(f"  {name:<24} {float(middle.release(HOURS)):>9}; {cost}")
    long = sum(hours > LONG for hours in HOURS)
    print(f"stays above {LONG} hours: {long} (owner only)")
    print(f"  {'clamped geometric':<24} {LONG_STAYS.release(long):>9}; {cost}")
    print("largest ward: north, by 10 patients (owner only)")
    for name, choice in LARGEST.items():
        chosen = list(WARDS)[choice.release(list(WARDS.values()))]
        loss = expected_loss(choice)
        print(f"  {name:<24} {chosen:>9}, {loss:.1f} patients fewer on average; spent {sf.PureDP('0.02')}")
    top = RANKING.release(list(WARDS.values()))
    names = " before ".join(list(WARDS)[index] for index in top.indexes)
    print(f"  {'noisy top 2 with leads':<24} {names}, by {top.leads[0]}; {cost}")
    print(f"days with more than 50 arrivals: the 5th and the 9th of {len(PER_DAY)} (owner only)")
    said = ALARM.release(PER_DAY, threshold=50)
    days = [str(day) for day, above in enumerate(said, start=1) if above]
    print(f"  {'sparse vector':<24} days {', '.join(days)}, after {len(said)} days; {cost}")


if __name__ == "__main__":
    main()
