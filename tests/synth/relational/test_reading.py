"""Two tables in SQL: whom they count, with how many children, and how far one unit moves it."""

from functools import partial
from itertools import product
from math import sqrt

import numpy as np
import pytest
from tests.synth.relational.clinic import session_of

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import EACH_ROW, NeighboringRelation
from sfumato.session.training.marginals import Marginals
from sfumato.synth.relational.reading import TwoTables, unit_of

PEOPLE = [(1, 0, True), (2, 1, None), (3, 2, False)]
VISITS = [(1, "A", 0)] * 3 + [(2, "B", 1), (9, "A", 1)]
CHOSEN = {"people": ("age", "ill"), "visits": ("ward",)}


def two_of(session):
    tables = session.policy.tables
    return TwoTables(parents=tables["people"], children=tables["visits"], columns=CHOSEN)


def counted(people, visits, relation=sf.ADD_OR_REMOVE_ONE, engine="duckdb"):
    """All combinations of both, and the queries."""
    with session_of(people, visits, relation=relation, engine=engine) as session:
        two = two_of(session)
        queries = [session.marginals(sql).query for sql in (two.parents_sql(), two.children_sql())]
        found = []
        for query in queries:
            read = Marginals(query, partial(session.desk.engine.run, salt="00" * 16))
            found.append(read.counts([one.name for one in query.attributes]).open_for_noise())
        return queries, found


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_each_parent_counts_once_with_its_children_and_no_child_without_a_parent(engine):
    queries, (parents, children) = counted(PEOPLE, VISITS, engine=engine)
    assert [one.name for one in queries[0].attributes] == ["people.age", "people.ill", "number of visits"]
    assert [one.name for one in queries[1].attributes] == ["people.age", "people.ill", "visits.ward"]
    shape = [one.size for one in queries[0].attributes]
    assert shape[-1] == 3  # 0, 1 or 2: no more than the policy allows
    assert sorted(zip(*np.nonzero(parents.reshape(shape)), strict=True)) == [(0, 1, 2), (1, 2, 1), (2, 0, 0)]
    assert (parents.sum(), children.sum()) == (3, 3)


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_no_unit_moves_either_further_than_its_sensitivity(relation):
    """Over all subsets of units with all of their rows, of which two visits are kept; some unit moves as far."""
    found = {}
    for units in product((False, True), repeat=3):
        kept = {1 + at for at, is_in in enumerate(units) if is_in}
        rows = [[row for row in table if row[0] in kept] for table in (PEOPLE, VISITS)]
        queries, found[units] = counted(*rows, relation=relation)
    furthest = [0, 0]
    for one, other in product(found, repeat=2):
        differing = sum(a != b for a, b in zip(one, other, strict=True))
        if (differing, sum(one) - sum(other)) not in {(1, 1), (2, 0)}:
            continue
        if (differing == 2) != (relation is NeighboringRelation.REPLACE_ONE):
            continue
        for at, query in enumerate(queries):
            stated = query.sensitivity([own.name for own in query.attributes], relation)
            moved = found[one][at] - found[other][at]
            assert abs(moved).sum() <= stated.l1
            assert sqrt((moved**2).sum()) <= float(stated.l2) * (1 + 1e-12)
            furthest[at] = max(furthest[at], abs(moved).sum())
    factor = 2 if relation is NeighboringRelation.REPLACE_ONE else 1
    assert furthest == [factor, 2 if factor == 1 else 3]  # of two units one has two visits, and no other has


def test_parents_have_to_be_one_row_each_and_tables_to_say_whose_rows_they_have():
    with session_of([], [], limits={"people": 2}) as session, pytest.raises(ParameterError, match="max_rows_per_unit"):
        two_of(session)
    own = sf.Table(name="people", columns={"age": sf.integer(0, 9)}, unit=EACH_ROW)
    with pytest.raises(ParameterError, match="whose row"):
        unit_of(own)
