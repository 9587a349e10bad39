"""F10. Baskets: what customers of a made-up shop buy together, counted privately and in made-up baskets.

Each of 50,000 customers is a unit. Half of the budget finds the twenty most frequent sets of items and counts them,
the other half makes baskets. Exact counts are shown because the shop is made up; of a real one they are the owner's.

Usage: f10_baskets.py [OUTPUT_FOLDER]
"""

import sys
from collections import Counter
from typing import Any

import sfumato as sf

CUSTOMERS, EPSILON = 50_000, 1


def released(
    shop: sf.datasets.Shop, *, epsilon: int
) -> tuple[sf.synth.FrequentItemsets, sf.synth.SyntheticBaskets, str]:
    """The frequent sets, made-up baskets, and what both cost."""
    with sf.open(
        shop.sales,
        name="sales",
        unit="customer",
        limits=sf.Limits(max_rows_per_unit=50),
        columns={"customer": sf.integer(), "item": sf.text(values=shop.items)},
        budget=sf.PureDP(2 * epsilon),
    ) as sales:
        baskets = sales.baskets("SELECT item FROM sales", item="item")
        found = sf.synth.frequent_itemsets(baskets, k=20, epsilon=epsilon)
        made = sf.synth.synthetic_baskets(baskets, taxonomy=shop.categories, epsilon=epsilon)
        return found, made, str(sales.spent)


def drawn(found: sf.synth.FrequentItemsets, made: sf.synth.SyntheticBaskets, exact: Counter[tuple[str, ...]]) -> Any:
    """A chart of the sets: counted, in made-up baskets, and exact."""
    counted = f"counted, ε = {EPSILON}"
    return sf.plots.itemset_counts(
        [", ".join(map(str, items)) for items in found.itemsets],
        {counted: found.counts, f"in made-up baskets, ε = {EPSILON}": list(map(made.count, found.itemsets))},
        exact=[exact[tuple(map(str, items))] for items in found.itemsets],
        margins={counted: found.margin},
        floor=found.margin,
        title="Made-up baskets keep the frequent sets, and lose rare kinds",
        x_label="number of customers",
    )


def main() -> None:
    """Release both, print them beside exact counts, and draw them if a folder is named."""
    print(__doc__)
    shop = sf.datasets.shop(CUSTOMERS)
    found, made, spent = released(shop, epsilon=EPSILON)
    exact = shop.bought_together()
    print(f"{'set of items':24} {'counted':>8} {'made up':>8} {'exact':>8} (owner only)")
    for items, counted in zip(found.itemsets, found.counts, strict=True):
        true = exact[tuple(map(str, items))]
        print(f"{', '.join(map(str, items)):24} {counted:8,} {made.count(items):8,} {true:8,}")
    print(f"counts are off by at most {found.margin} each (95%); {spent} was spent")
    print(f"{made.total:,} made-up baskets of {len(made.baskets):,} kinds; other customers have rare kinds")
    if len(sys.argv) > 1:
        figure = drawn(found, made, exact)
        print(f"drew {sf.plots.save(figure, f'{sys.argv[1]}/f10_baskets.png')}")


if __name__ == "__main__":
    main()
