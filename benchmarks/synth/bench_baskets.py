"""Baskets of a made-up shop: how near frequent itemsets and synthetic baskets come to exact counts, and how fast.

For each ε the mean of some runs: of the twenty most frequent sets of up to two items how many are found, and how far
counts of those are off, as a share of the exact ones.

Usage: bench_baskets.py [CUSTOMERS] [RUNS]
"""

import sys
from time import process_time

import numpy as np

import sfumato as sf

EPSILONS = ("0.1", "0.3", "1", "3", "10")
TOP = 20


def opened(shop: sf.datasets.Shop) -> sf.Session:
    """A session with enough budget for all runs."""
    return sf.open(
        shop.sales,
        name="sales",
        unit="customer",
        limits=sf.Limits(max_rows_per_unit=50),
        columns={"customer": sf.integer(), "item": sf.text(values=shop.items)},
        budget=sf.PureDP(10_000),
    )


def main() -> None:
    """Measure, and print a table."""
    customers, runs = (int(one) for one in (*sys.argv[1:], *("50000", "3")[len(sys.argv) - 1 :]))
    shop = sf.datasets.shop(customers)
    exact = shop.bought_together()
    best = [items for items, _ in exact.most_common(TOP)]
    print(f"{customers:,} customers, {shop.sales.num_rows:,} rows, {len(shop.items)} items; mean of {runs} runs")
    print("ε     | counted: found, error, CPU s | baskets: found, error, kinds, total, CPU s")
    for epsilon in EPSILONS:
        counted, made = [], []
        for _ in range(runs):
            with opened(shop) as sales:
                baskets = sales.baskets("SELECT item FROM sales", item="item")
                start = process_time()
                found = sf.synth.frequent_itemsets(baskets, k=TOP, epsilon=epsilon)
                middle = process_time()
                own = sf.synth.synthetic_baskets(baskets, taxonomy=shop.categories, epsilon=epsilon)
                end = process_time()
            sets = {items: count for items, count in zip(found.itemsets, found.counts, strict=True) if items in best}
            off = [abs(count - exact[items]) / exact[items] for items, count in sets.items()]
            counted.append((len(sets), np.mean(off) if off else 1.0, middle - start))
            shown = {items for items, _ in own.frequent(TOP)} & set(best)
            errors = [abs(own.count(items) - exact[items]) / exact[items] for items in best]
            made.append((len(shown), np.mean(errors), len(own.baskets), own.total, end - middle))
        first, second = np.mean(counted, axis=0), np.mean(made, axis=0)
        print(
            f"{epsilon:5} | {first[0]:4.1f} of {TOP}, {first[1]:.3f}, {first[2]:.2f} | "
            f"{second[0]:4.1f} of {TOP}, {second[1]:.3f}, {second[2]:,.0f}, {second[3]:,.0f}, {second[4]:.2f}"
        )


if __name__ == "__main__":
    main()
