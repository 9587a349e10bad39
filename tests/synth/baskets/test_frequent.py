"""Frequent itemsets: what they cost, how far a unit moves what they are made of, and how far off they are."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from tests.synth.baskets.small import counts_of

import sfumato as sf
from sfumato.accounting import PLDAccountant
from sfumato.audit import audit
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.synth.baskets.frequent import ItemsetPlan, frequent_itemsets
from sfumato.synth.baskets.itemsets import itemset_counts

ITEMS = ["tea", "milk", "rye", "salt"]


def sales_of(rows, *, budget=2, relation=ADD_OR_REMOVE_ONE):
    data = pa.table(
        {
            "who": pa.array([who for who, _ in rows], pa.int64()),
            "item": pa.array([item for _, item in rows], pa.string()),
        }
    )
    sales = sf.open(
        data, name="sales", unit="who", limits=sf.Limits(max_rows_per_unit=9), budget=sf.PureDP(budget),
        columns={"who": sf.integer(), "item": sf.text(values=ITEMS)}, neighboring_relation=relation,
    )  # fmt: skip
    return sales, sales.baskets("SELECT item FROM sales", item="item")


ROWS = [(who, item) for who in range(900) for item in ("tea", "milk", "tea")] + [(who, "rye") for who in range(400)]


def plan_of(epsilon=1, relation=ADD_OR_REMOVE_ONE, k=2):
    return ItemsetPlan(items=4, k=k, size=2, epsilon=Fraction(epsilon), relation=relation)


def test_the_most_frequent_sets_are_found_and_counted():
    sales, baskets = sales_of(ROWS)
    found = frequent_itemsets(baskets, k=4, epsilon=2)
    assert set(found.itemsets[:3]) == {("tea",), ("milk",), ("tea", "milk")}
    assert all(abs(count - 900) < 100 for count in found.counts[:3])
    assert (str(sales.spent), found.margin, found.missed_by > 2 * found.margin) == ("ε 2", 12, True)
    table = found.to_arrow()
    assert table.column_names == ["items", "count"]
    assert table["count"].to_pylist() == list(found.counts)
    again = frequent_itemsets(baskets, k=4, epsilon=2)
    assert again.counts == found.counts
    assert str(sales.spent) == "ε 2"


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("epsilon", ["1/10", "1", "7/3"])
def test_the_event_costs_what_is_charged(relation, epsilon):
    plan = plan_of(epsilon, relation, k=3)
    assert plan.choice.epsilon + plan.counting.epsilon == plan.charge.epsilon == Fraction(epsilon)
    cost = PLDAccountant(neighboring_relation=relation).compose(plan.event).epsilon(0)
    assert cost <= float(plan.charge.epsilon) * (1 + 1e-6)


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_a_basket_moves_each_count_by_one_and_added_ones_all_up(relation):
    kinds = [set(one) for size in range(5) for one in combinations(range(4), size)]
    rest = [{0}, {0, 1}, {1, 2, 3}]
    for basket in kinds:
        more = itemset_counts(counts_of([*rest, basket]), 4, 2)
        for other in kinds if relation is REPLACE_ONE else [None]:
            less = itemset_counts(counts_of(rest if other is None else [*rest, other]), 4, 2)
            assert abs(more - less).max() <= 1
            assert other is not None or (more >= less).all()
    assert plan_of(relation=relation).choice.monotonic is (relation is ADD_OR_REMOVE_ONE)
    assert plan_of(relation=relation, k=5).counting.l1_sensitivity == 5


def test_choices_are_noisy():
    """Of two sets that five units and four have, the one that four have is chosen now and then."""
    plan = ItemsetPlan(items=2, k=1, size=1, epsilon=Fraction(1), relation=ADD_OR_REMOVE_ONE)
    rows = Secret(counts_of([{0}] * 5 + [{1}] * 4, 2))
    assert {plan.release(rows)["sets"][0][0] for _ in range(100)} == {0, 1}


@pytest.mark.statistical
def test_it_is_not_refuted_but_one_of_a_larger_cost_is():
    """The basket with all items is there or not: all counts are told."""
    few, more = counts_of([]), counts_of([{0, 1, 2, 3}])

    def refuted(epsilon):
        plan = ItemsetPlan(items=2, k=3, size=2, epsilon=Fraction(epsilon), relation=ADD_OR_REMOVE_ONE)

        def told(rows):
            return sum(count for _, count in plan.release(Secret(rows))["sets"])

        return audit(told, [(few, more)], epsilon="1/2", samples=150).is_refuted

    assert not refuted("1/2")
    assert refuted(60)


def test_what_cannot_be_found_is_refused_before_it_is_charged():
    sales, baskets = sales_of(ROWS[:9], budget=1)
    wrong = [{"k": 0}, {"k": 11}, {"k": 5, "size": 1}, {"size": 5}, {"size": 0}, {"epsilon": 0}, {"epsilon": 10**9}]
    for arguments in wrong:
        with pytest.raises(ParameterError):
            frequent_itemsets(baskets, **({"k": 2, "epsilon": 1} | arguments))
    with pytest.raises(BudgetExceededError):
        frequent_itemsets(baskets, k=2, epsilon=2)
    with pytest.raises(ParameterError, match="baskets of a session"):
        frequent_itemsets(sales, k=1, epsilon=1)
    assert str(sales.spent) == "ε 0"
    assert np.isfinite(frequent_itemsets(sales_of([])[1], k=2, epsilon=1).counts).all()
