"""Synthetic baskets from end to end: what they cost, what they are, and that an audit does not refute them."""

from fractions import Fraction

import pyarrow as pa
import pytest
from tests.synth.baskets.small import PAIRS, counts_of
from tests.synth.baskets.test_frequent import ITEMS, ROWS, sales_of

from sfumato.audit import audit
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.privacy.events import PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret
from sfumato.synth.baskets.partitions import Partitioning
from sfumato.synth.baskets.release import BasketPlan, moved_baskets, synthetic_baskets
from sfumato.synth.baskets.taxonomy import ItemTree

GROUPS = {"drinks": ["milk", "tea"], "food": ["salt", "rye"]}


def plan_of(epsilon, tree=PAIRS, moved=1):
    return BasketPlan(partitioning=Partitioning(tree=tree, epsilon=Fraction(epsilon), moved=moved, most_items=2))


@pytest.mark.parametrize("taxonomy", [GROUPS, ItemTree.of(GROUPS), None])
def test_frequent_baskets_are_made(taxonomy):
    sales, baskets = sales_of(ROWS)
    made = synthetic_baskets(baskets, epsilon=2, taxonomy=taxonomy, max_items=3)
    found = {frozenset(items): count for items, count in made.baskets}
    assert abs(found[frozenset({"tea", "milk"})] - 500) < 60
    assert abs(found[frozenset({"tea", "milk", "rye"})] - 400) < 60
    assert str(sales.spent) == "ε 2"
    assert made.total == sum(found.values())
    assert made.count(["tea", "milk"]) >= made.count(["rye", "tea"]) > 300
    assert {items for items, _ in made.frequent(3)} == {("tea",), ("milk",), ("tea", "milk")}
    again = synthetic_baskets(baskets, epsilon=2, taxonomy=taxonomy, max_items=3)
    assert again.baskets == made.baskets
    assert str(sales.spent) == "ε 2"


def test_rows_are_a_long_table():
    _, baskets = sales_of(ROWS)
    made = synthetic_baskets(baskets, epsilon=2, taxonomy=GROUPS)
    rows = made.rows()
    assert rows.num_rows == sum(len(items) * count for items, count in made.baskets)
    assert rows["basket"].to_pylist() == sorted(rows["basket"].to_pylist())
    assert len(set(rows["basket"].to_pylist())) == made.total
    assert set(rows["item"].to_pylist()) <= set(ITEMS)
    empty = type(made)(items=made.items, baskets=(), charge=made.charge, receipt=made.receipt)
    assert empty.rows().schema.field("item").type == pa.string()
    assert empty.frequent(1)[0][1] == 0


def test_replaced_units_have_twice_the_noise():
    plan, twice = plan_of(1), plan_of(1, moved=2)
    one, two = (own.partitioning.division((0,), Fraction(1)) for own in (plan, twice))
    assert two.scale == 2 * one.scale
    assert (moved_baskets(ADD_OR_REMOVE_ONE), moved_baskets(REPLACE_ONE)) == (1, 2)
    assert plan.event == twice.event == PureEvent(1)
    assert plan.document() != twice.document()
    _, baskets = sales_of(ROWS, relation=REPLACE_ONE)
    assert abs(synthetic_baskets(baskets, epsilon=2, taxonomy=GROUPS).count(["tea", "milk"]) - 900) < 160


def test_items_that_nobody_has_are_found_as_noise_says(monkeypatch):
    """The tree is declared: where all have the same item, other baskets come out of noise all the same."""
    monkeypatch.setattr("sfumato.synth.baskets.partitions.EMPTY_KEPT", 1.0)  # of each division
    plan, rows = plan_of(2, ItemTree.of([0, 1, 2, 3])), Secret(counts_of([{0}] * 500))
    found = {item for _ in range(400) for items, _ in plan.release(rows)["baskets"] for item in items}
    assert found == {0, 1, 2, 3}


@pytest.mark.statistical
def test_it_is_not_refuted_but_one_of_a_larger_cost_is():
    """The basket of one unit is there or not beside nine like it: its count is told, or that it has none."""
    few, more = counts_of([{0}] * 9), counts_of([{0}] * 10)

    def refuted(epsilon):
        plan = plan_of(epsilon, ItemTree.of([0, 1]).placed((0, 1)))

        def told(rows):
            return sum(count for items, count in plan.release(Secret(rows))["baskets"] if items == [0])

        return audit(told, [(few, more)], epsilon="1/2", samples=150).is_refuted

    assert not refuted("1/2")
    assert refuted(60)


def test_what_cannot_be_made_is_refused_before_it_is_charged():
    sales, baskets = sales_of(ROWS[:9], budget=1)
    wrong = [
        {"taxonomy": {"drinks": ["tea"]}}, {"taxonomy": ["tea"]}, {"max_items": 0}, {"max_items": 33},
        {"epsilon": 0}, {"epsilon": Fraction(1, 10**16)},
    ]  # fmt: skip
    for arguments in wrong:
        with pytest.raises(ParameterError):
            synthetic_baskets(baskets, **({"epsilon": 1} | arguments))
    with pytest.raises(BudgetExceededError):
        synthetic_baskets(baskets, epsilon=2)
    with pytest.raises(ParameterError, match="baskets of a session"):
        synthetic_baskets(sales, epsilon=1)
    made = synthetic_baskets(baskets, epsilon=1)
    with pytest.raises(ParameterError, match="declared items"):
        made.count(["gin"])
    assert sum(count for _, count in synthetic_baskets(sales_of([])[1], epsilon=1).baskets) < 500
