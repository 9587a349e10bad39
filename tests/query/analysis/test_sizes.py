from dataclasses import replace

import pytest
from tests.query.frames import BILLS, PEOPLE, VISITS, WARDS, frame

from sfumato.errors import ParameterError
from sfumato.query.analysis.sizes import MAX_DEPTH, MAX_RELATIONS, MAX_SIZE, check_size
from sfumato.query.model.expressions import And, ColumnRef, IsNull, Literal, Not
from sfumato.query.model.relations import (
    Bound,
    Distinct,
    Except,
    Filter,
    Fold,
    Folded,
    Grouped,
    Intersect,
    Join,
    Part,
    Select,
    SemiJoin,
    UnionAll,
)

people, visits, bills, wards = map(frame, (PEOPLE, VISITS, BILLS, WARDS))
SMOKER = ColumnRef("smoker")


def nested(depth):
    condition = SMOKER
    for _ in range(depth):
        condition = Not(condition)
    return condition


def test_what_is_just_deep_enough_passes():
    check_size(nested(MAX_DEPTH))
    check_size(Filter(people.relation, nested(MAX_DEPTH - 1)))


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_what_is_nested_too_deeply_is_refused_whatever_its_depth(depth):
    condition = nested(depth)
    with pytest.raises(ParameterError, match="too many levels"):
        check_size(condition)
    while isinstance(condition, Not):  # taken apart from outside, as the stack is too short to do it from inside
        condition = condition.condition


@pytest.mark.parametrize(
    "wrap",
    [
        lambda child, deep: Filter(child, deep),  # noqa: PLW0108 # one shape for all
        lambda child, deep: Select(child, (("x", deep),)),
        lambda child, deep: Grouped(child, (), (Folded("x", Fold.COUNT, deep),)),
        lambda child, deep: Distinct(Filter(child, deep)),
        lambda child, deep: Bound(Filter(child, deep), 1),
        lambda child, deep: UnionAll(child, Filter(child, deep)),
        lambda child, deep: Intersect(child, Filter(child, deep)),
        lambda child, deep: Except(Filter(child, deep), child),
        lambda child, deep: Join(left=child, right=Filter(child, deep), on=()),
        lambda child, deep: SemiJoin(child=child, other=Filter(child, deep), on=()),
    ],
)
def test_every_relation_is_looked_into(wrap):
    check_size(wrap(people.relation, nested(3)))
    with pytest.raises(ParameterError, match="too many levels"):
        check_size(wrap(people.relation, nested(MAX_DEPTH)))


def test_a_condition_may_be_wide():
    check_size(And((IsNull(SMOKER),) * 10_000))
    with pytest.raises(ParameterError, match="too many terms"):
        check_size(And((SMOKER,) * MAX_SIZE))


def test_relations_that_share_their_branches_are_counted_as_if_they_did_not():
    part = Part(child=people.relation, by="sex", values=("m",), value="m", max_parts_per_unit=1, salt="")
    doubled = part
    for _ in range(MAX_DEPTH - 2):
        doubled = UnionAll(doubled, doubled)
    with pytest.raises(ParameterError, match=f"at most {MAX_RELATIONS} relations"):
        check_size(doubled)


def test_expressions_that_share_their_branches_are_counted_as_if_they_did_not():
    doubled = SMOKER
    for _ in range(MAX_DEPTH):
        doubled = And((doubled, doubled))
    with pytest.raises(ParameterError, match="too many terms"):
        check_size(Literal("x"), doubled)


def test_nothing_of_the_question_is_shown():
    with pytest.raises(ParameterError) as caught:
        check_size(replace(Filter(people.relation, nested(90))))
    assert "smoker" not in str(caught.value)
