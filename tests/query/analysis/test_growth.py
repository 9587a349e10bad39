import pytest

from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.analysis.growth import MAX_ROWS_MADE, check_growth, rows_made
from sfumato.query.model.expressions import TRUE
from sfumato.query.model.relations import Bound, Filter, Grouped, Join, SemiJoin, Source, UnionAll
from sfumato.query.model.schema import PUBLIC, Limits, Table, integer


def owned(name="t", *, rows, unique=False):
    columns = {"u": integer(), f"{name}1": integer()}
    matches = {(f"{name}1",): 1} if unique else {}
    return Source(
        Table(name=name, columns=columns, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=rows), matches=matches)
    )


WARDS = Source(Table(name="w", columns={"w1": integer()}, unit=PUBLIC, matches={("w1",): 100}))
HUNDRED = owned("a", rows=100)
MANY = Source(Table(name="b", columns={"b1": integer()}, unit=EACH_ROW))


@pytest.mark.parametrize(
    ("relation", "rows"),
    [
        (HUNDRED, 100),
        (MANY, 1),
        (Join(left=HUNDRED, right=owned("c", rows=3), on=()), 300),
        (Join(left=HUNDRED, right=owned("c", rows=3, unique=True), on=(("a1", "c1"),)), 100),
        (Join(left=MANY, right=WARDS, on=(("b1", "w1"),)), 100),
        (UnionAll(HUNDRED, HUNDRED), 200),
        (Filter(HUNDRED, TRUE), 100),
        (SemiJoin(child=HUNDRED, other=owned("c", rows=3), on=()), 100),
        (Bound(HUNDRED, 7), 7),
        (Bound(HUNDRED, 700), 100),
        (Grouped(HUNDRED, (), ()), 1),
        (Grouped(HUNDRED, ("a1",), ()), 100),
    ],
)
def test_joins_multiply_rows_and_unions_add_them(relation, rows):
    assert rows_made(relation, {}) == rows


def joined(times):
    relation = MANY
    for _ in range(times):
        relation = Join(left=relation, right=WARDS, on=(("b1", "w1"),))
    return relation


def test_joins_may_make_as_many_rows_as_an_engine_holds():
    assert rows_made(joined(3), {}) == 10**6 <= MAX_ROWS_MADE
    check_growth(joined(3))


@pytest.mark.parametrize(
    "relation",
    [joined(4), Grouped(joined(4), (), ()), Bound(joined(4), 1), SemiJoin(child=MANY, other=joined(4), on=())],
)
def test_joins_that_make_more_are_refused_wherever_they_are(relation):
    with pytest.raises(ParameterError, match="100,000,000 rows of one unit"):
        check_growth(relation)
