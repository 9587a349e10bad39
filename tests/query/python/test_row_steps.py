import copy

import pytest
from tests.query.frames import BILLS, PEOPLE, VISITS, WARDS, frame

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.sizes import MAX_DEPTH
from sfumato.query.model.expressions import And, ColumnRef, IsNull
from sfumato.query.model.relations import Distinct, Except, Filter, Intersect, SemiJoin, UnionAll
from sfumato.query.model.schema import Limits
from sfumato.query.python.row_steps import column_name

people, visits, bills, wards = map(frame, (PEOPLE, VISITS, BILLS, WARDS))


def names(rows):
    return list(rows.shape.columns)


def test_columns_are_reached_by_attribute_and_by_name():
    assert people.age.expression == people["age"].expression == ColumnRef("age")
    assert people.select(filter="age")["filter"].expression == ColumnRef("filter")
    assert {"age", "smoker", "filter"} <= set(dir(people))


def test_an_unknown_attribute_is_an_attribute_error_with_the_columns():
    with pytest.raises(AttributeError, match="age, sex"):
        _ = people.nosuch
    with pytest.raises(ParameterError, match="nosuch"):
        people["nosuch"]


def test_a_frame_can_be_copied():
    assert names(copy.copy(people)) == names(people)


def test_filters_hold_one_condition_or_all_of_several():
    assert people.filter(people.smoker).relation == Filter(people.relation, ColumnRef("smoker"))
    both = people.where(people.smoker, people.age.is_null()).relation
    assert both.condition == And((ColumnRef("smoker"), IsNull(ColumnRef("age"))))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: people.filter("age > 5"), "must be a condition"),
        (lambda: people.filter(people.age), "true or false"),
        (lambda: people.filter(visits.hours > 1), "hours"),
        (lambda: people.select(), "at least one"),  # noqa: PLW0108 # one shape for all
        (lambda: people.select("nosuch"), "nosuch"),
        (lambda: people.select(people.age + 1), "must have a name"),
        (lambda: people.select(age=3), "name of a column"),
        (lambda: people.with_columns(x=visits.hours), "hours"),
        (lambda: people.drop("nosuch"), "nosuch"),
        (lambda: people.drop(*PEOPLE.columns), "at least one"),
        (lambda: people.rename(nosuch="x"), "nosuch"),
        (lambda: people.rename(age="pay"), "differ"),
        (lambda: visits.join("bills", on="visitor"), "another frame"),
        (lambda: visits.join(bills, on="visitor"), "suffix"),
        (lambda: visits.join(bills, on="nosuch", suffix="_b"), "nosuch"),
        (lambda: visits.semi_join(bills, on="hours"), "hours"),
        (lambda: visits.union(bills), "as many on both sides"),
        (lambda: visits.join(wards, on={"hours": "code"}), "one kind"),
    ],
)
def test_a_wrong_step_is_refused_at_once(wrong, message):
    with pytest.raises(ParameterError, match=message):
        wrong()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: people.join(people.rename(**{name: f"{name}2" for name in PEOPLE.columns}), on={"age": "age2"}),
        lambda: wards.join(visits, on={"code": "ward"}),
        lambda: people.semi_join(people, on="age"),
        lambda: visits.union(wards.select(a="code", b="code", c="beds", d="beds")),
    ],
)
def test_rows_of_two_units_never_meet(wrong):
    with pytest.raises(NotPrivateError):
        wrong()


def test_columns_are_chosen_computed_replaced_dropped_and_renamed():
    assert names(people.select("age", people.pay, year=people.born.year)) == ["age", "pay", "year"]
    assert names(people.with_columns(one="pay", two=people.age + 1)) == [*PEOPLE.columns, "one", "two"]
    doubled = people.with_columns(age=people.age * 2)
    assert names(doubled) == list(PEOPLE.columns)
    assert doubled.age.facts.interval.upper == 200
    assert names(people.drop("born", "seen")) == ["age", "sex", "smoker", "pay"]
    assert names(people.rename(age="years", sex="gender")) == ["years", "gender", "smoker", "pay", "born", "seen"]
    assert people.rename().relation is people.relation


def test_two_names_may_be_exchanged():
    swapped = people.rename(age="pay", pay="age")
    assert swapped.relation.columns[0] == ("pay", ColumnRef("age"))


def test_joins_know_their_columns():
    assert names(visits.join(bills, on=["visitor", "day"])) == ["visitor", "ward", "day", "hours", "amount"]
    assert names(visits.join(bills, on=(), suffix="_b"))[-3:] == ["visitor_b", "day_b", "amount"]
    left = visits.join(wards, on={"ward": "code"}, how="left")
    assert left.beds.facts.nullable
    assert names(wards.join(wards, on="code", suffix="_2")) == ["code", "beds", "beds_2"]


def test_partners_only_decide_which_rows_stay():
    some = visits.semi_join(bills, on="day").relation
    assert some == SemiJoin(child=visits.relation, other=bills.relation, on=(("day", "day"),))
    assert visits.anti_join(wards, on={"ward": "code"}).relation.negated


def test_rows_are_united_compared_and_made_different():
    days = visits.select("visitor", "day"), bills.select("visitor", "day")
    for step, relation in (("union", UnionAll), ("intersect", Intersect), ("except_", Except)):
        assert getattr(days[0], step)(days[1]).relation == relation(days[0].relation, days[1].relation)
    assert days[0].distinct().relation == Distinct(days[0].relation)


def test_frames_are_not_changed_by_their_steps():
    before = people.relation
    people.filter(people.age > 3).with_columns(x="age").distinct()
    assert people.relation is before


def test_limits_go_along_with_rows_but_not_into_others():
    limited = visits.per_unit(rows=3)
    assert limited.filter(limited.day > 1).select("day").rename(day="d").limits == Limits(max_rows_per_unit=3)
    for wrong in (
        limited.distinct,
        lambda: limited.join(bills, on=["visitor", "day"]),
        lambda: bills.join(limited, on=["visitor", "day"]),
        lambda: limited.union(visits),
        lambda: visits.semi_join(limited, on="day"),
    ):
        with pytest.raises(ParameterError, match="must come after it"):
            wrong()


def test_a_long_chain_is_wide_and_not_deep():
    where = people.age > 0
    for number in range(1_000):
        where = where & (people.age > -number)
    assert len(people.filter(where).relation.condition.conditions) == 1_001


@pytest.mark.parametrize("nested", ["filters", "conditions", "columns"])
def test_what_is_nested_too_deeply_is_refused_before_it_costs_anything(nested):
    asked, where, computed = people, people.age > 0, people.age
    with pytest.raises(ParameterError, match="too many"):  # noqa: PT012 # one of the steps
        for _ in range(MAX_DEPTH + 1):
            asked = asked.filter(where) if nested == "filters" else asked
            where = ~where if nested == "conditions" else where
            computed = computed + computed if nested == "columns" else computed
        asked.filter(where).with_columns(x=computed)


def test_a_name_is_that_of_a_column():
    assert column_name("age") == column_name(people.age) == "age"


@pytest.mark.parametrize("name", ["relation", "shape", "ask", "limits", "age", "other"])
def test_a_frame_does_not_change(name):
    before = people.relation
    with pytest.raises(AttributeError, match="with_columns"):
        setattr(people, name, None)
    assert people.relation is before
