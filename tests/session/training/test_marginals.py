"""Marginals: no unit moves one further than its sensitivity says, and each counts every row that is kept once."""

from functools import partial
from itertools import combinations, product
from math import prod, sqrt

import numpy as np
import pyarrow as pa
import pytest
from tests.session.opened import opened

import sfumato as sf
from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.model.schema import Limits
from sfumato.query.sql.questions import parse_view
from sfumato.session.training.marginals import Marginals, marginal_query, passes

VISITS = {"who": sf.text(), "age": sf.integer(0, 2), "ill": sf.boolean()}
RECORDS = (
    [("a", 1, True)] * 3 + [("a", 2, False)] * 2 + [("b", 1, True), ("c", 2, None), ("c", 1, True), ("c", 7, None)]
)
SCHEMA = pa.schema([("who", pa.string()), ("age", pa.int64()), ("ill", pa.bool_())])
ASKED = (("age",), ("ill",), ("age", "ill"), ("ill", "age"))


def marginals_of(records, *, unit="who", limits=None, engine="duckdb"):
    data = pa.table({name: [row[place] for row in records] for place, name in enumerate(VISITS)}, schema=SCHEMA)
    limited = {} if limits is None else {"limits": limits}
    with sf.open(
        data, name="visits", columns=VISITS, unit=unit, budget=sf.PureDP(1), engine=engine, **limited
    ) as visits:
        query = marginal_query(parse_view("SELECT age, ill FROM visits", visits._tables))
        read = Marginals(query, partial(visits.desk.engine.run, salt="00" * 16))
        return query, {names: read.counts(names).open_for_noise() for names in ASKED}


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
@pytest.mark.parametrize("relation", NeighboringRelation)
def test_no_unit_moves_a_marginal_further_than_its_sensitivity(engine, relation):
    """Over all subsets of units, with all of their rows, of which two are kept; some unit moves half as far."""
    found = {}
    for units in (units for size in range(4) for units in combinations("abc", size)):
        records = [record for record in RECORDS if record[0] in units]
        query, found[units] = marginals_of(records, limits=Limits(max_rows_per_unit=2), engine=engine)
    assert query.rows_per_unit == 2
    for names in ASKED:
        stated, furthest = query.sensitivity(names, relation), 0
        for one, other in product(found, repeat=2):
            is_added = len(set(one) ^ set(other)) == 1
            is_replaced = len(one) == len(other) and len(set(one) ^ set(other)) == 2
            if is_replaced if relation is NeighboringRelation.REPLACE_ONE else is_added:
                moved = found[one][names] - found[other][names]
                assert abs(moved).sum() <= stated.l1
                assert sqrt((moved**2).sum()) <= stated.l2 * (1 + 1e-12)
                furthest = max(furthest, abs(moved).sum())
        assert furthest >= stated.l1 / 2


def test_merged_cells_move_no_further_than_is_said():
    """Three rows in three cells are three in one, once these are added up; one row stays one."""
    query, _ = marginals_of(RECORDS, limits=Limits(max_rows_per_unit=3, max_rows_per_group_per_unit=3))
    for relation, furthest in ((NeighboringRelation.ADD_OR_REMOVE_ONE, 3), (NeighboringRelation.REPLACE_ONE, 6)):
        assert query.merged_l2(relation) == furthest
    query, _ = marginals_of(RECORDS, unit=sf.EACH_ROW)
    assert query.merged_l2(NeighboringRelation.ADD_OR_REMOVE_ONE) == 1
    assert float(query.merged_l2(NeighboringRelation.REPLACE_ONE)) == pytest.approx(sqrt(2))


def test_where_each_row_is_a_unit_every_row_is_counted_once():
    query, found = marginals_of(RECORDS, unit=sf.EACH_ROW)
    assert [one.size for one in query.attributes] == [4, 3]
    together = found["age", "ill"].reshape(4, 3)
    assert together.tolist() == [[0, 0, 0], [0, 5, 0], [2, 0, 2], [0, 0, 0]]  # 7 counts as the largest, 2
    assert together.sum(axis=1).tolist() == found["age",].tolist()
    assert together.sum(axis=0).tolist() == found["ill",].tolist()
    assert np.array_equal(found["ill", "age"].reshape(3, 4), together.T)
    assert query.sensitivity(["age"], NeighboringRelation.ADD_OR_REMOVE_ONE).l1 == 1
    assert query.sensitivity(["age"], NeighboringRelation.REPLACE_ONE).l1 == 2


@pytest.mark.parametrize("most", [1, 12, 24, 100, 10**6])
def test_each_group_is_counted_in_one_pass_and_is_part_of_it(most):
    sizes = {"a": 2, "b": 3, "c": 4, "d": 9, "e": 50}
    asked = [names[::-1] if place % 2 else names for place, names in enumerate(combinations(sizes, 2))]
    found = list(passes([*asked, ("a",), ("c", "d", "e")], sizes, most=most))
    assert sorted(own for _, groups in found for own in groups) == sorted([*asked, ("a",), ("c", "d", "e")])
    for names, groups in found:
        assert all(set(own) <= set(names) for own in groups)
        assert prod(sizes[name] for name in names) <= most or any(set(names) == set(own) for own in groups)
    assert len(found) == {1: 8, 12: 8, 24: 6, 100: 5, 10**6: 1}[most]


@pytest.mark.parametrize("unit", ["who", sf.EACH_ROW])
def test_marginals_that_are_counted_together_are_as_those_that_are_counted_alone(unit):
    """In one pass where each row is a unit; where units have several rows sums move further, so that each is alone."""
    data = pa.table({name: [row[place] for row in RECORDS] for place, name in enumerate(VISITS)}, schema=SCHEMA)
    limits = {} if unit is sf.EACH_ROW else {"limits": Limits(max_rows_per_unit=3)}
    with sf.open(data, name="visits", columns=VISITS, unit=unit, budget=sf.PureDP(1), **limits) as visits:
        query, ran = marginal_query(parse_view("SELECT age, ill FROM visits", visits._tables)), []

        def run(statement):
            ran.append(statement)
            return visits.desk.engine.run(statement, salt="00" * 16)

        read = Marginals(query, run)
        together = {names: counts.open_for_noise().tolist() for names, counts in read.each(ASKED)}
        assert len(ran) == (1 if unit is sf.EACH_ROW else 4)
        assert together == {names: read.counts(names).open_for_noise().tolist() for names in ASKED}
    assert list(Marginals(query, run).each([])) == []


@pytest.mark.parametrize("unit", ["who", sf.EACH_ROW])
def test_merged_values_are_added_up(unit):
    data = pa.table({name: [row[place] for row in RECORDS] for place, name in enumerate(VISITS)}, schema=SCHEMA)
    limits = {} if unit is sf.EACH_ROW else {"limits": Limits(max_rows_per_unit=3)}
    merging = {"age": np.array([1, 0, 1, 0]), "ill": np.array([0, 0, 0])}
    with sf.open(data, name="visits", columns=VISITS, unit=unit, budget=sf.PureDP(1), **limits) as visits:
        query = marginal_query(parse_view("SELECT age, ill FROM visits", visits._tables))
        read = Marginals(query, partial(visits.desk.engine.run, salt="00" * 16))
        alone = {names: counts.open_for_noise() for names, counts in read.each(ASKED)}
        found = {names: counts.open_for_noise() for names, counts in read.each(ASKED, merging=merging)}
    sizes = {"age": 2, "ill": 1}
    for names in ASKED:
        expected = np.zeros([sizes[name] for name in names], dtype=np.int64)
        places = product(*(merging[name] for name in names))
        for place, count in zip(places, alone[names].tolist(), strict=True):
            expected[place] += count
        assert found[names].tolist() == expected.reshape(-1).tolist()


def test_different_rows_are_the_marginal_without_what_no_row_has():
    data = pa.table({name: [row[place] for row in RECORDS] for place, name in enumerate(VISITS)}, schema=SCHEMA)
    with sf.open(data, name="visits", columns=VISITS, budget=sf.PureDP(1)) as visits:
        query = marginal_query(parse_view("SELECT age, ill FROM visits", visits._tables))
        read = Marginals(query, partial(visits.desk.engine.run, salt="00" * 16))
        codes, amounts = read.different_rows(("ill", "age")).open_for_noise()
        counts = np.zeros(query.size(("ill", "age")), dtype=np.int64)
        counts[codes[:, 0] * query.size(["age"]) + codes[:, 1]] = amounts
        assert counts.tolist() == read.counts(("ill", "age")).open_for_noise().tolist()
        assert (amounts > 0).all()
        assert len({tuple(row) for row in codes.tolist()}) == len(codes)


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_of_units_with_one_row_that_is_kept_sums_move_no_further_either(relation):
    """Units have several rows, of which one is kept; over all subsets of them, counted together in one pass."""
    found = {}
    for units in (units for size in range(4) for units in combinations("abc", size)):
        rows = [record for record in RECORDS if record[0] in units]
        data = pa.table({name: [row[place] for row in rows] for place, name in enumerate(VISITS)}, schema=SCHEMA)
        limits = Limits(max_rows_per_unit=1)
        with sf.open(data, name="visits", columns=VISITS, unit="who", budget=sf.PureDP(1), limits=limits) as visits:
            query = marginal_query(parse_view("SELECT age, ill FROM visits", visits._tables))
            read = Marginals(query, partial(visits.desk.engine.run, salt="00" * 16))
            found[units] = {names: counts.open_for_noise() for names, counts in read.each(ASKED)}
    assert query.rows_per_unit == 1
    for one, other in product(found, repeat=2):
        is_added = len(set(one) ^ set(other)) == 1
        is_replaced = len(one) == len(other) and len(set(one) ^ set(other)) == 2
        if is_replaced if relation is NeighboringRelation.REPLACE_ONE else is_added:
            for names in ASKED:
                stated, moved = query.sensitivity(names, relation), found[one][names] - found[other][names]
                assert abs(moved).sum() <= stated.l1
                assert sqrt((moved**2).sum()) <= stated.l2 * (1 + 1e-12)


def test_an_empty_table_has_counts_of_zero():
    _, found = marginals_of([], unit=sf.EACH_ROW)
    assert {tuple(counts.shape) for counts in found.values()} == {(4,), (3,), (12,)}
    assert not any(counts.any() for counts in found.values())


def test_all_marginals_see_as_many_rows_of_a_unit():
    records = [("a", age, ill) for age in range(3) for ill in (True, False, None)]
    _, found = marginals_of(records, limits=Limits(max_rows_per_unit=4))
    assert found["age", "ill"].sum() == found["age",].sum() == found["ill",].sum() == 4


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(UnboundedSensitivityError, match="name"):
        opened().marginals("SELECT name, age FROM people")
    people = sf.open(pa.table({"age": [1]}), name="people", columns={"age": sf.integer(0, 9)}, budget=sf.PureDP(1))
    for bins in ({"year": 3}, {7: 3}):
        with pytest.raises(ParameterError, match="columns of the query"):
            marginal_query(parse_view("SELECT age FROM people", people._tables), bins=bins)
