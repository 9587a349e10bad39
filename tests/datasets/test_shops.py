"""The made-up shop: the same sales for a seed, about the shares that are stated."""

import pytest

from sfumato.datasets.shops import CATEGORIES, shop
from sfumato.errors import ParameterError


def test_it_has_120_items_in_twelve_categories():
    made = shop(50)
    assert [len(own) for own in made.categories.values()] == [10] * 12
    assert len(set(made.items)) == 120
    assert list(made.categories) == list(CATEGORIES)
    assert set(made.sales["item"].to_pylist()) <= set(made.items)


def test_a_seed_gives_the_same_sales():
    assert shop(300, seed=5).sales.equals(shop(300, seed=5).sales)
    assert not shop(300, seed=5).sales.equals(shop(300, seed=6).sales)


def test_customers_buy_what_is_stated():
    made = shop(20_000).sales
    owners, items = made["customer"].to_pylist(), made["item"].to_pylist()
    assert owners == sorted(owners)
    pairs = set(zip(owners, items, strict=True))
    assert abs(len(owners) / len(pairs) - 1.1) < 0.02
    milk = {owner for owner, item in pairs if item == "milk"}
    coffee = {owner for owner, item in pairs if item == "coffee"}
    assert 0.2 < len(milk) / 20_000 < 0.3
    assert len(milk & coffee) > len(milk) * len(coffee) / 20_000 * 2


def test_sets_are_counted_by_customers_not_by_rows():
    made = shop(200)
    found = made.bought_together()
    pairs = set(zip(made.sales["customer"].to_pylist(), made.sales["item"].to_pylist(), strict=True))
    assert found["milk",] == sum(item == "milk" for _, item in pairs)
    assert found["milk", "coffee"] == len({who for who, item in pairs if item == "milk" and (who, "coffee") in pairs})


@pytest.mark.parametrize("customers", [0, -1, 1.5, 3_000_000])
def test_other_numbers_of_customers_are_refused(customers):
    with pytest.raises(ParameterError):
        shop(customers)
