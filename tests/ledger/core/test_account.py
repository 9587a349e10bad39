from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.stories import account, amounts, time, ward

from sfumato.accounting.adaptive.amounts import NOTHING
from sfumato.errors import ParameterError
from sfumato.ledger.core.account import AccountState, PartitionedSpending, PartitionSpending
from sfumato.ledger.core.entry import PartitionPart
from sfumato.ledger.core.windows import DAY, CalendarWindow, RollingWindow
from sfumato.privacy.budgets import ZCDP, RenyiDP
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

NOON = time("2024-11-21T12:00")
TENTH = amounts(epsilon="0.1")


def opened(budget=None, window=None):
    return AccountState.of(account(budget=budget, window=window), ("people",))


def charged(state, *times, price=TENTH, part=None):
    for at in times:
        state.charge(price, part, at)
    return state


@pytest.mark.parametrize(
    ("budget", "tenth", "least"),
    [
        (PureDP(1), amounts(epsilon="0.1"), amounts(epsilon="1e-15")),
        (ApproxDP(5, "1e-5"), amounts(epsilon="0.1", delta="1e-6"), amounts(delta="1e-50")),
        (ZCDP(1), amounts(rho="0.1"), amounts(rho="1e-24")),
        (ZCDP(5, "1e-5"), amounts(rho="0.1", delta="1e-6"), amounts(delta="1e-50")),
        (RenyiDP((2, 8), (1, 5)), amounts(D_2="0.1", D_8="0.1"), amounts(D_2="1e-24")),
        (RenyiDP((2, 8), (5, 1)), amounts(D_2="0.1", D_8="0.1"), amounts(D_8="1e-24")),
        (RenyiDP((2,), (5,), "1e-5"), amounts(D_2="0.1", delta="1e-6"), amounts(delta="1e-50")),
    ],
    ids=str,
)
def test_ten_tenths_fill_every_measure_to_the_last_digit(budget, tenth, least):
    state = charged(opened(budget), *range(9), price=tenth)
    assert state.fits(tenth, None, 9)
    charged(state, 9, price=tenth)
    assert state.fits(amounts(), None, 9)
    assert not state.fits(least, None, 9)
    assert not state.fits(tenth, None, 9)


def test_a_budget_without_a_promise_holds_everything_and_counts():
    state = charged(opened(NO_GUARANTEE), *range(3), price=amounts(epsilon=10**9, delta="0.9"))
    assert state.fits(amounts(epsilon=10**9), None, 3)
    assert state.spent(3) == amounts(epsilon=3 * 10**9, delta="2.7")
    assert state.left(3) == NO_GUARANTEE


def test_below_what_was_spent_nothing_is_left_and_not_even_nothing_fits():
    state = charged(opened(), 0, 0)
    state.budget = PureDP("0.1")
    assert state.left(0) == PureDP(0)
    assert not state.fits(amounts(epsilon=0), None, 0)


def test_a_part_that_another_outweighs_fits_a_full_account():
    state = charged(opened(), 0, price=amounts(epsilon=1), part=ward("A"))
    assert state.fits(amounts(epsilon=1), ward("B"), 0)
    assert not state.fits(amounts(epsilon="0.1"), ward("A"), 0)
    assert state.increase(amounts(epsilon="1.2"), ward("B"), 0)["epsilon"] == amounts(e="0.2")["e"]


def test_without_a_window_nothing_comes_back():
    state = charged(opened(), 0)
    assert state.spent(10**6 * DAY) == TENTH
    assert not state.recent


def test_a_rolling_window_forgets_a_charge_just_when_so_many_days_have_passed():
    state = charged(opened(window=RollingWindow(30)), NOON)
    assert state.spent(NOON + 30 * DAY - 1)["epsilon"] == TENTH["epsilon"]
    assert state.spent(NOON + 30 * DAY)["epsilon"] == 0
    assert state.lifetime.total() == TENTH


def test_a_calendar_window_forgets_at_the_turn_of_the_month():
    state = charged(opened(window=CalendarWindow("month")), time("2024-02-29T23:59:59"), time("2024-02-29T23:59:59"))
    assert state.left(time("2024-02-29T23:59:59")) == PureDP("0.8")
    assert state.left(time("2024-03-01T00:00")) == PureDP(1)


def test_of_charges_at_one_time_all_stay_or_none():
    state = charged(opened(window=RollingWindow(1)), *[NOON] * 5, NOON + 1)
    assert state.spent(NOON + DAY - 1)["epsilon"] == 6 * TENTH["epsilon"]
    assert state.spent(NOON + DAY)["epsilon"] == TENTH["epsilon"]


def test_parts_leave_a_window_too():
    state = opened(window=RollingWindow(1))
    charged(state, NOON, price=amounts(epsilon=1), part=ward("A"))
    charged(state, NOON + 5, price=TENTH, part=ward("B"))
    assert state.spent(NOON + 5)["epsilon"] == 1
    assert state.spent(NOON + DAY)["epsilon"] == TENTH["epsilon"]
    assert state.fits(amounts(epsilon="0.9"), ward("B"), NOON + DAY)
    assert not state.fits(amounts(epsilon="1"), ward("B"), NOON + DAY)


def test_in_every_window_the_whole_budget_fits_again_and_no_more():
    state = opened(window=CalendarWindow("day"))
    for day in range(5):
        at = NOON + day * DAY
        assert state.fits(amounts(epsilon=1), None, at)
        charged(state, at, price=amounts(epsilon=1))
        assert not state.fits(amounts(epsilon="1e-15"), None, at)
    assert state.lifetime.total() == amounts(epsilon=5)


def test_what_a_part_costs_beside_a_dearer_one_is_not_forgotten_when_it_becomes_the_dearest():
    state = opened()
    for value in "ABB":
        charged(state, 0, price=amounts(epsilon="0.5"), part=ward(value))
    assert state.spent(0)["epsilon"] == 1


PRICES = st.builds(
    lambda epsilon, delta: amounts(epsilon=epsilon, delta=delta),
    st.sampled_from([Fraction(n, 10) for n in range(5)]),
    st.sampled_from([Fraction(n, 10**6) for n in range(3)]),
)
PARTS = st.none() | st.builds(
    lambda partition, value: PartitionPart(partition=partition[0], value=value, max_parts_per_unit=partition[1]),
    st.sampled_from([("ward", 1), ("day", 2)]),
    st.sampled_from("ABCD"),
)
CHARGES = st.lists(st.tuples(PRICES, PARTS), max_size=12)


def filled(charges, relation=ADD_OR_REMOVE_ONE):
    spending = PartitionedSpending(relation)
    for price, part in charges:
        spending.add(price, part)
    return spending


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
    assert PartitionedSpending(ADD_OR_REMOVE_ONE).total() == NOTHING


def test_ten_tenths_are_exactly_one():
    assert epsilon_of(*[("0.1", None)] * 10) == 1


def test_a_partition_costs_its_dearest_part():
    assert epsilon_of((1, ward("A")), (3, ward("B")), (1, ward("A"))) == 3


def test_who_may_lie_in_two_parts_pays_for_the_two_dearest():
    assert epsilon_of((1, ward("A", 2)), (3, ward("B", 2)), (5, ward("C", 2))) == 8


def test_exchanging_a_person_touches_twice_as_many_parts():
    assert epsilon_of((1, ward("A")), (3, ward("B")), (5, ward("C")), relation=REPLACE_ONE) == 8


def test_each_number_has_dearest_parts_of_its_own():
    spending = filled([(amounts(epsilon=3, delta=1), ward("A")), (amounts(epsilon=1, delta=2), ward("B"))])
    assert spending.total() == amounts(epsilon=3, delta=2)


def test_partitions_and_the_rest_add_up():
    assert epsilon_of((1, ward("A")), (2, PartitionPart(partition="day", value="A")), (4, None)) == 7


def test_a_part_that_another_outweighs_costs_nothing_more():
    spending = filled([(amounts(epsilon=3), ward("A"))])
    assert spending.increase(amounts(epsilon=2), ward("B"))["epsilon"] == 0
    assert spending.increase(amounts(epsilon=4), ward("B"))["epsilon"] == 1
    assert spending.increase(amounts(epsilon=1), ward("A"))["epsilon"] == 1


def test_asking_what_a_price_would_add_changes_nothing():
    spending = PartitionedSpending(ADD_OR_REMOVE_ONE)
    spending.increase(amounts(epsilon=2), ward("A", 2))
    spending.add(amounts(epsilon=1), ward("A", 1))
    assert spending.total() == amounts(epsilon=1)


@pytest.mark.parametrize("use", [PartitionedSpending.add, PartitionedSpending.increase])
def test_a_partition_keeps_the_number_of_parts_it_was_declared_with(use):
    spending = filled([(amounts(epsilon=1), ward("A"))])
    with pytest.raises(ParameterError, match="declared with 1"):
        use(spending, amounts(epsilon=1), ward("B", 2))
    assert spending.total() == amounts(epsilon=1)


@given(CHARGES, st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE]))
def test_the_total_is_that_of_a_plain_sum(charges, relation):
    total = filled(charges, relation).total()
    for name in ("epsilon", "delta"):
        assert total[name] == expected(charges, relation, name)


@given(CHARGES, PRICES, PARTS, st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE]))
def test_the_increase_is_what_the_total_grows_by_and_never_below_0(charges, price, part, relation):
    spending = filled(charges, relation)
    before, increase = spending.total(), spending.increase(price, part)
    spending.add(price, part)
    for name in ("epsilon", "delta"):
        assert spending.total()[name] == before[name] + increase[name]
        assert increase[name] >= 0


@given(CHARGES, CHARGES)
def test_what_has_left_a_window_was_never_there(earlier, later):
    spending = filled([*earlier, *later])
    for price, part in earlier:
        spending.take(price, part)
    for name in ("epsilon", "delta"):
        assert spending.total()[name] == filled(later).total()[name]


@given(CHARGES, CHARGES, st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE]))
def test_what_is_taken_again_is_as_if_it_had_never_been_added(first, second, relation):
    spending = filled([*first, *second], relation)
    for price, part in first:
        spending.take(price, part)
    for name in ("epsilon", "delta"):
        assert spending.total()[name] == expected(second, relation, name)


@given(CHARGES)
def test_a_tally_that_was_written_down_goes_on_with_the_same_total(charges):
    spending = filled(charges)
    again = PartitionedSpending(spending.relation, spending.outside, spending.partitions)
    for name in ("epsilon", "delta"):
        assert again.total()[name] == spending.total()[name]


def test_a_charge_looks_at_no_partition_but_its_own(monkeypatch):
    spending = filled(
        [(amounts(epsilon="0.1"), PartitionPart(partition=f"{number}", value="A")) for number in range(50)]
    )
    looked, total = [], PartitionSpending.total
    monkeypatch.setattr(PartitionSpending, "total", lambda self, *found: looked.append(self) or total(self, *found))
    spending.add(amounts(epsilon="0.1"), ward("A"))
    assert spending.total()["epsilon"] == Fraction(51, 10)
    assert len(looked) <= 4


@given(charges=CHARGES, price=PRICES, part=PARTS, other=PRICES)
def test_what_a_price_would_add_up_to_is_what_it_then_does(charges, price, part, other):
    spending = filled(charges)
    before = spending.total()
    spending.total_with(other, None)  # what was asked about and not charged leaves nothing behind
    forecast = spending.total_with(price, part)
    assert spending.total() == before
    spending.add(price, part)
    assert all(forecast[name] == spending.total()[name] for name in ("epsilon", "delta"))
    spending.take(price, part)
    assert all(spending.total_with(other, None)[name] == before[name] + other[name] for name in ("epsilon", "delta"))
