from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.stories import amounts, ward

from sfumato.accounting.adaptive.amounts import NOTHING
from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Part
from sfumato.ledger.core.tallies import PartitionTally, Tally
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

PRICES = st.builds(
    lambda epsilon, delta: amounts(epsilon=epsilon, delta=delta),
    st.sampled_from([Fraction(n, 10) for n in range(5)]),
    st.sampled_from([Fraction(n, 10**6) for n in range(3)]),
)
PARTS = st.none() | st.builds(
    lambda partition, value: Part(partition=partition[0], value=value, max_parts_per_unit=partition[1]),
    st.sampled_from([("ward", 1), ("day", 2)]),
    st.sampled_from("ABCD"),
)
CHARGES = st.lists(st.tuples(PRICES, PARTS), max_size=12)


def filled(charges, relation=ADD_OR_REMOVE_ONE):
    tally = Tally(relation)
    for price, part in charges:
        tally.add(price, part)
    return tally


def epsilon_of(*charges, relation=ADD_OR_REMOVE_ONE):
    """What (ε, part) pairs add up to."""
    return filled([(amounts(epsilon=epsilon), part) for epsilon, part in charges], relation).total()["epsilon"]


def expected(charges, relation, name):
    """All outside of partitions, and of each partition the dearest parts, as a plain sum."""
    factor = 2 if relation is REPLACE_ONE else 1
    found = sum(price[name] for price, part in charges if part is None)
    for partition, most in (("ward", 1), ("day", 2)):
        sums = [
            sum(price[name] for price, part in charges if part and (part.partition, part.value) == (partition, value))
            for value in "ABCD"
        ]
        found += sum(sorted(sums, reverse=True)[: most * factor])
    return found


def test_nothing_adds_up_to_nothing():
    assert Tally(ADD_OR_REMOVE_ONE).total() == NOTHING


def test_ten_tenths_are_exactly_one():
    assert epsilon_of(*[("0.1", None)] * 10) == 1


def test_a_partition_costs_its_dearest_part():
    assert epsilon_of((1, ward("A")), (3, ward("B")), (1, ward("A"))) == 3


def test_who_may_lie_in_two_parts_pays_for_the_two_dearest():
    assert epsilon_of((1, ward("A", 2)), (3, ward("B", 2)), (5, ward("C", 2))) == 8


def test_exchanging_a_person_touches_twice_as_many_parts():
    assert epsilon_of((1, ward("A")), (3, ward("B")), (5, ward("C")), relation=REPLACE_ONE) == 8


def test_each_number_has_dearest_parts_of_its_own():
    tally = filled([(amounts(epsilon=3, delta=1), ward("A")), (amounts(epsilon=1, delta=2), ward("B"))])
    assert tally.total() == amounts(epsilon=3, delta=2)


def test_partitions_and_the_rest_add_up():
    assert epsilon_of((1, ward("A")), (2, Part(partition="day", value="A")), (4, None)) == 7


def test_a_part_that_another_outweighs_costs_nothing_more():
    tally = filled([(amounts(epsilon=3), ward("A"))])
    assert tally.increase(amounts(epsilon=2), ward("B"))["epsilon"] == 0
    assert tally.increase(amounts(epsilon=4), ward("B"))["epsilon"] == 1
    assert tally.increase(amounts(epsilon=1), ward("A"))["epsilon"] == 1


def test_asking_what_a_price_would_add_changes_nothing():
    tally = Tally(ADD_OR_REMOVE_ONE)
    tally.increase(amounts(epsilon=2), ward("A", 2))
    tally.add(amounts(epsilon=1), ward("A", 1))
    assert tally.total() == amounts(epsilon=1)


@pytest.mark.parametrize("use", [Tally.add, Tally.increase])
def test_a_partition_keeps_the_number_of_parts_it_was_declared_with(use):
    tally = filled([(amounts(epsilon=1), ward("A"))])
    with pytest.raises(ParameterError, match="declared with 1"):
        use(tally, amounts(epsilon=1), ward("B", 2))
    assert tally.total() == amounts(epsilon=1)


@given(CHARGES, st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE]))
def test_the_total_is_that_of_a_plain_sum(charges, relation):
    total = filled(charges, relation).total()
    for name in ("epsilon", "delta"):
        assert total[name] == expected(charges, relation, name)


@given(CHARGES, PRICES, PARTS, st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE]))
def test_the_increase_is_what_the_total_grows_by_and_never_below_0(charges, price, part, relation):
    tally = filled(charges, relation)
    before, increase = tally.total(), tally.increase(price, part)
    tally.add(price, part)
    for name in ("epsilon", "delta"):
        assert tally.total()[name] == before[name] + increase[name]
        assert increase[name] >= 0


@given(CHARGES, CHARGES)
def test_what_has_left_a_window_was_never_there(earlier, later):
    tally = filled([*earlier, *later])
    for price, part in earlier:
        tally.take(price, part)
    for name in ("epsilon", "delta"):
        assert tally.total()[name] == filled(later).total()[name]


@given(CHARGES, CHARGES, st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE]))
def test_what_is_taken_again_is_as_if_it_had_never_been_added(first, second, relation):
    tally = filled([*first, *second], relation)
    for price, part in first:
        tally.take(price, part)
    for name in ("epsilon", "delta"):
        assert tally.total()[name] == expected(second, relation, name)


@given(CHARGES)
def test_a_tally_that_was_written_down_goes_on_with_the_same_total(charges):
    tally = filled(charges)
    again = Tally(tally.relation, tally.outside, tally.partitions)
    for name in ("epsilon", "delta"):
        assert again.total()[name] == tally.total()[name]


def test_a_charge_looks_at_no_partition_but_its_own(monkeypatch):
    tally = filled([(amounts(epsilon="0.1"), Part(partition=f"{number}", value="A")) for number in range(50)])
    looked, total = [], PartitionTally.total
    monkeypatch.setattr(PartitionTally, "total", lambda self, *found: looked.append(self) or total(self, *found))
    tally.add(amounts(epsilon="0.1"), ward("A"))
    assert tally.total()["epsilon"] == Fraction(51, 10)
    assert len(looked) <= 4


@given(charges=CHARGES, price=PRICES, part=PARTS, other=PRICES)
def test_what_a_price_would_add_up_to_is_what_it_then_does(charges, price, part, other):
    tally = filled(charges)
    before = tally.total()
    tally.total_with(other, None)  # what was asked about and not charged leaves nothing behind
    forecast = tally.total_with(price, part)
    assert tally.total() == before
    tally.add(price, part)
    assert all(forecast[name] == tally.total()[name] for name in ("epsilon", "delta"))
    tally.take(price, part)
    assert all(tally.total_with(other, None)[name] == before[name] + other[name] for name in ("epsilon", "delta"))
