from dataclasses import replace

import pytest
from tests.query.frames import BILLS, PEOPLE, VISITS, WARDS, frame

from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.analysis.sizes import (
    MAX_DEPTH,
    MAX_RELATIONS,
    MAX_ROWS_MADE,
    MAX_SIZE,
    check_growth,
    check_size,
    rows_made,
)
from sfumato.query.model.expressions import TRUE, And, ColumnRef, IsNull, Literal, Not
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Fold,
    Folded,
    Grouped,
    Intersect,
    Join,
    PeoplePart,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import PUBLIC, Limits, Table, integer

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
        lambda child, deep: BoundRows(Filter(child, deep), 1),
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
    part = PeoplePart(child=people.relation, by="sex", values=("m",), value="m", max_parts_per_unit=1, salt="")
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


def owned(name="t", *, rows, unique=False):
    columns = {"u": integer(), f"{name}1": integer()}
    matches = {(f"{name}1",): 1} if unique else {}
    return Source(
        Table(name=name, columns=columns, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=rows), matches=matches)
    )


CODES = Source(Table(name="w", columns={"w1": integer()}, unit=PUBLIC, matches={("w1",): 100}))
HUNDRED = owned("a", rows=100)
MANY = Source(Table(name="b", columns={"b1": integer()}, unit=EACH_ROW))


@pytest.mark.parametrize(
    ("relation", "rows"),
    [
        (HUNDRED, 100),
        (MANY, 1),
        (Join(left=HUNDRED, right=owned("c", rows=3), on=()), 300),
        (Join(left=HUNDRED, right=owned("c", rows=3, unique=True), on=(("a1", "c1"),)), 100),
        (Join(left=MANY, right=CODES, on=(("b1", "w1"),)), 100),
        (UnionAll(HUNDRED, HUNDRED), 200),
        (Filter(HUNDRED, TRUE), 100),
        (SemiJoin(child=HUNDRED, other=owned("c", rows=3), on=()), 100),
        (BoundRows(HUNDRED, 7), 7),
        (BoundRows(HUNDRED, 700), 100),
        (Grouped(HUNDRED, (), ()), 1),
        (Grouped(HUNDRED, ("a1",), ()), 100),
    ],
)
def test_joins_multiply_rows_and_unions_add_them(relation, rows):
    assert rows_made(relation, {}) == rows


def joined(times):
    relation = MANY
    for _ in range(times):
        relation = Join(left=relation, right=CODES, on=(("b1", "w1"),))
    return relation


def test_joins_may_make_as_many_rows_as_an_engine_holds():
    assert rows_made(joined(3), {}) == 10**6 <= MAX_ROWS_MADE
    check_growth(joined(3))


@pytest.mark.parametrize(
    "relation",
    [joined(4), Grouped(joined(4), (), ()), BoundRows(joined(4), 1), SemiJoin(child=MANY, other=joined(4), on=())],
)
def test_joins_that_make_more_are_refused_wherever_they_are(relation):
    with pytest.raises(ParameterError, match="100,000,000 rows of one unit"):
        check_growth(relation)
