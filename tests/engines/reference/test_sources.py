"""Who owns a row, and how many rows may match."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.reference.relations import source_rows
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, integer, real, text

ONE = Limits(max_rows_per_unit=1)
PEOPLE = Table(name="people", columns={"id": text(), "code": text(), "n": integer()}, unit=UnitColumn("id"), limits=ONE)
VISITS = Table(
    name="visits", columns={"of": text(), "n": integer()}, unit=UnitPath("of", PEOPLE, "code"), limits=ONE
)  # fmt: skip
DRUGS = Table(
    name="drugs", columns={"visit": integer(), "x": real()}, unit=UnitPath("visit", VISITS, "n"), limits=ONE
)  # fmt: skip
FEW = st.sampled_from(["a", "b", "c", None])


def people(*rows):
    return [dict(zip(("id", "code", "n"), row, strict=True)) for row in rows]


def visits(*rows):
    return [dict(zip(("of", "n"), row, strict=True)) for row in rows]


def owned(table, **data):
    """Units and cells, of which the order means nothing."""
    return sorted(((unit, *row.values()) for unit, row in source_rows(table, lambda t: data[t.name])), key=repr)


@pytest.mark.parametrize("unit", [EACH_ROW, PUBLIC])
def test_rows_without_owners_are_all_there(unit):
    table = Table(name="t", columns={"v": integer()}, unit=unit)
    assert owned(table, t=[{"v": 1}, {"v": None}, {"v": 1}]) == [(None, 1), (None, 1), (None, None)]


def test_rows_belong_to_the_value_of_the_unit_column_and_without_one_to_nobody():
    rows = people(("a", "x", 1), (None, "x", 2), ("", "x", 3))
    assert owned(PEOPLE, people=rows) == [("", "", "x", 3), ("a", "a", "x", 1)]


def test_a_path_gives_each_different_owner_a_copy():
    owners = people(("a", "x", 1), ("a", "x", 2), ("b", "x", 1), ("c", "y", 1), (None, "y", 1), ("d", None, 1))
    found = owned(VISITS, people=owners, visits=visits(("x", 7), ("y", 8), ("nobody's", 9), (None, 10)))
    assert found == [("a", "x", 7), ("b", "x", 7), ("c", "y", 8)]


def test_a_path_may_lead_over_several_tables():
    data = {"people": people(("a", "x", 1), ("b", "y", 1)), "visits": visits(("x", 7), ("y", 7), ("y", 8))}
    found = owned(DRUGS, **data, drugs=[{"visit": 7, "x": 0.5}, {"visit": 8, "x": 1.5}, {"visit": 9, "x": 0.0}])
    assert found == [("a", 7, 0.5), ("b", 7, 0.5), ("b", 8, 1.5)]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_more_rows_of_a_unit_match_than_are_declared(most):
    table = Table(name="people", columns=PEOPLE.columns, unit=UnitColumn("id"), limits=ONE, matches={("code",): most})
    rows = people(*(("a", "x", n) for n in range(9)), ("a", "y", 0), ("b", "x", 0), *(("a", None, 5) for _ in range(4)))
    found = Counter((unit, code) for unit, _, code, _ in owned(table, people=rows))
    assert found == {("a", "x"): most, ("a", "y"): 1, ("b", "x"): 1, ("a", None): 4}


def test_rows_of_a_public_table_match_over_all_rows():
    table = Table(name="t", columns={"code": text(), "n": integer()}, unit=PUBLIC, matches={("code",): 1, ("n",): 1})
    rows = [{"code": code, "n": n} for code in ("x", "y") for n in (1, 2)]
    found = owned(table, t=rows)
    assert len({code for _, code, _ in found}) == len(found) == len({n for _, _, n in found})
    assert found == owned(table, t=rows[::-1])


def test_declared_matches_are_taken_one_after_the_other():
    def left(names, pairs):
        matches = {(name,): 1 for name in names}
        table = Table(name="t", columns={"a": text(), "b": text()}, unit=PUBLIC, matches=matches)
        return [a + b for _, a, b in owned(table, t=[dict(zip("ab", pair, strict=True)) for pair in pairs])]

    pairs = ["x1", "x3", "z1", "z2"]  # of which it makes a difference
    assert left("ab", pairs) == left("b", left("a", pairs)) == ["x1"]
    assert left("ba", pairs) == left("a", left("b", pairs)) == ["x1", "z2"]


MATCHED = Table(
    name="people", columns=PEOPLE.columns, unit=UnitColumn("id"), limits=ONE, matches={("code",): 2, ("code", "n"): 1}
)


@given(st.lists(st.tuples(FEW, FEW, st.integers(0, 3)), max_size=12), st.randoms(use_true_random=False))
def test_what_is_left_of_a_unit_depends_on_its_own_rows_and_not_on_their_order(rows, random):
    shuffled = random.sample(rows, len(rows))
    found = owned(MATCHED, people=people(*rows))
    assert found == owned(MATCHED, people=people(*shuffled))
    alone = owned(MATCHED, people=people(*(row for row in rows if row[0] == "a")))
    assert [row for row in found if row[0] == "a"] == alone
