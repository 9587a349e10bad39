"""A made-up shop: 120 items in twelve categories, and what its customers bought in a week."""

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets.draws import Floats, uniforms
from sfumato.numeric.rationals import positive_integer

CATEGORIES: Final = {
    "bakery": "rye bread,white bread,rolls,baguette,toast,croissants,pretzels,cake,muffins,biscuits",
    "dairy": "milk,butter,yogurt,cream,cheddar,gouda,feta,mozzarella,quark,kefir",
    "fruit": "apples,bananas,oranges,lemons,pears,grapes,plums,cherries,melons,berries",
    "vegetables": "potatoes,carrots,onions,tomatoes,cucumbers,lettuce,peppers,spinach,beans,leeks",
    "drinks": "water,juice,cola,lemonade,beer,wine,cider,iced tea,tonic,malt beer",
    "hot drinks": "coffee,espresso,black tea,green tea,herbal tea,cocoa,chai,mate,rooibos,fruit tea",
    "pantry": "rice,flour,sugar,salt,oil,vinegar,lentils,oats,honey,jam",
    "pasta": "spaghetti,penne,lasagna,noodles,pesto,tomato sauce,gnocchi,ravioli,couscous,bulgur",
    "meat and fish": "chicken,minced meat,sausages,ham,salami,salmon,tuna,trout,shrimps,bacon",
    "sweets": "chocolate,gummies,ice cream,chips,nuts,popcorn,crackers,mints,caramels,wafers",
    "household": "soap,shampoo,toothpaste,tissues,sponges,bin bags,candles,batteries,foil,detergent",
    "pets": "cat food,dog food,cat litter,bird seed,dog treats,fish food,hay,chew bones,cat treats,straw",
}
"""The categories, and the items of each, the more popular first."""

_VISITS: Final = (
    "milk", "coffee,milk", "rolls", "bananas,apples", "beer,chips", "rye bread,butter", "water",
    "spaghetti,tomato sauce", "chocolate", "potatoes,onions,carrots", "cat food", "rolls,butter,jam", "milk,yogurt",
    "wine,gouda", "tissues,soap", "tomatoes,mozzarella", "chicken,rice", "croissants,coffee", "apples", "cola,chips",
    "toast,ham", "oats,milk,bananas", "dog food", "flour,sugar,butter", "lettuce,cucumbers,tomatoes",
    "black tea,lemons", "salmon,potatoes", "ice cream", "penne,pesto", "minced meat,onions,lasagna",
)  # fmt: skip
"""What customers come for, the more usual first."""

_MOST: Final = 2_000_000
_KEPT, _EXTRA, _TWICE = 0.92, 0.45, 0.1  # shares of what is bought as planned, on top of it, and twice


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """What was bought.

    Attributes:
        sales: Columns customer, a number from 0, and item; one row an item that was bought, some of them twice.
        categories: The items of each category.
        items: All items, category by category.
    """

    sales: pa.Table
    categories: dict[str, list[str]]
    items: list[str]

    def bought_together(self) -> Counter[tuple[str, ...]]:
        """How many customers bought each item and each pair of items, exactly: the shop is made up.

        Example:
            >>> shop(100).bought_together()["milk",] > 10
            True
        """
        owned: dict[int, set[str]] = {}
        for customer, item in zip(self.sales["customer"].to_pylist(), self.sales["item"].to_pylist(), strict=True):
            owned.setdefault(customer, set()).add(item)
        places = {item: place for place, item in enumerate(self.items)}
        found: Counter[tuple[str, ...]] = Counter()
        for basket in owned.values():
            items = sorted(basket, key=places.__getitem__)
            found.update((item,) for item in items)
            found.update(combinations(items, 2))
        return found


def shop(customers: int = 20_000, *, seed: int = 2011) -> Shop:
    """Sales of a shop in a week, made up: each customer comes for one of thirty usual lists of one to three items.

    The list of rank r is as likely as 1/(r + 2). Of a list 92 items in 100 are bought, and 45 customers in 100 buy
    another item: any of the 120, of a category the first ones more often. One row in ten is there twice.

    Args:
        customers: The number of customers, at most two million.
        seed: The same seed gives the same sales, on every platform.

    Raises:
        ParameterError: The number is not whole, not at least 1, or too large.

    Example:
        >>> made = shop(100)
        >>> len(made.items), made.sales.column_names, made.categories["bakery"][:2]
        (120, ['customer', 'item'], ['rye bread', 'white bread'])
    """
    count = positive_integer(customers, "customers", most=_MOST)
    categories = {name: items.split(",") for name, items in CATEGORIES.items()}
    items = [item for own in categories.values() for item in own]
    lists = [[items.index(item) for item in visit.split(",")] for visit in _VISITS]
    ranks = np.cumsum(1 / np.arange(3, 3 + len(lists)))
    chosen = np.searchsorted(ranks, uniforms(seed, "list", count) * ranks[-1], side="right")
    owners, bought = [], []
    for place in range(max(map(len, lists))):
        planned = np.array([own[place] if place < len(own) else -1 for own in lists])[chosen]
        is_bought = (planned >= 0) & (uniforms(seed, f"bought {place}", count) < _KEPT)
        owners.append(np.flatnonzero(is_bought))
        bought.append(planned[is_bought])
    extra = np.flatnonzero(uniforms(seed, "extra", count) < _EXTRA)
    owners.append(extra)
    bought.append(_any_item(seed, len(extra), [len(own) for own in categories.values()]))
    owner, item = np.concatenate(owners), np.concatenate(bought)
    times = 1 + (uniforms(seed, "twice", len(owner)) < _TWICE).astype(np.int64)
    owner, item = np.repeat(owner, times), np.repeat(item, times)
    order = np.lexsort((item, owner))
    names = np.array(items, dtype=object)[item[order]]
    sales = pa.table({"customer": owner[order], "item": pa.array(names, pa.string())})
    return Shop(sales=sales, categories=categories, items=items)


def _any_item(seed: int, count: int, sizes: list[int]) -> NDArray[np.int64]:
    """Items of any category: the square of a uniform number points to the first ones of it more often."""
    category = np.floor(uniforms(seed, "category", count) * len(sizes)).astype(np.int64)
    steep: Floats = uniforms(seed, "item", count)
    within = np.floor(steep * steep * np.array(sizes)[category]).astype(np.int64)
    found: NDArray[np.int64] = np.cumsum([0, *sizes])[category] + within
    return found
