"""D4. The ages of the Adult census in ten equal bins from 17 to 90, exact and private side by side.

The owner adds the bin of each person as a public column. A person is in one bin, so the whole histogram costs what one
count costs. At ε = 0.01 the noise of each bar has a standard deviation of 141. That is little beside thousands of
people, but more than some bins of fewer than 300 people. Analysts may set negative bars to 0; that costs nothing.

Usage: d04_age_histogram.py [OUTPUT_FOLDER]
"""

import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa

import sfumato as sf

LOWER, UPPER, BINS = 17, 90, 10
EPSILON = "0.01"


def bin_of(age: int) -> int:
    """The number of the bin; each is 7.3 years wide, and the last one holds 90."""
    return min(BINS - 1, (age - LOWER) * BINS // (UPPER - LOWER))


def labels() -> list[str]:
    """The whole ages that each bin holds."""
    ages = [[age for age in range(LOWER, UPPER + 1) if bin_of(age) == number] for number in range(BINS)]
    return [f"{inside[0]}-{inside[-1]}" for inside in ages]


def bands() -> list[str]:
    """The bin of each person of adult.data, by its label."""
    names = labels()
    return [names[bin_of(age)] for age in sf.datasets.load_adult().column("age").to_pylist()]


def exact_counts() -> list[int]:
    """What only the owner knows."""
    counts = Counter(bands())
    return [counts[label] for label in labels()]


def curator() -> sf.Session:
    """A session on adult.data with the owner's column of bins."""
    table = sf.datasets.load_adult().append_column("age_band", pa.array(bands()))
    return sf.open(table, name="adult", columns={"age_band": sf.text(values=labels())}, budget=sf.PureDP(1))


def main(output: Path = Path("example-output")) -> None:
    """Release the histogram, print it and draw it."""
    print(__doc__)
    exact = exact_counts()
    with curator() as adult:
        release = adult.sql("SELECT age_band, COUNT(*) AS n FROM adult GROUP BY age_band", epsilon=EPSILON)
        private = [estimate.value or 0 for estimate in release["n"]]
        errors = [estimate.half_width for estimate in release["n"]]
        print("age     exact (owner only)   private")
        for label, count, noisy, error in zip(labels(), exact, private, errors, strict=True):
            verdict = "   below its error" if count < error else ""
            print(f"{label:<6} {count:>19,} {noisy:>9,} ± {error:,.0f}{verdict}")
        print(f"spent {adult.spent} of {adult.budget}, remaining {adult.remaining}")
    figure = sf.plots.histogram(
        labels(), exact, private, errors, title=f"Ages in the Adult census, ε = {EPSILON}", x_label="age in years"
    )
    print(f"picture: {sf.plots.save(figure, output / 'd04_age_histogram.png')}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
