"""The heart of the matter: no neighbor moves any measure further than its `Sensitivity` says, whatever is asked."""

from collections import Counter
from dataclasses import FrozenInstanceError
from fractions import Fraction
from random import Random, SystemRandom

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engines import postgres_tables
from tests.engines.running import by_place, found
from tests.query.brute_force import (
    PREPARED,
    added,
    alone,
    answer,
    assert_all_within,
    assert_same_within,
    is_additive,
    rows_of_relation,
    tables_read,
    trial,
    units_of,
)
from tests.sizes import FULL_SIZE

from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, UnitColumn
from sfumato.query.analysis.stability import Sensitivity, moved_rows, sensitivity
from sfumato.query.model.relations import Join, PeoplePart, Source
from sfumato.query.model.schema import Limits, Table, integer, text
from sfumato.query.model.statement import KeyColumn, RowCount, Statement

MORE = 2 if FULL_SIZE else 1
PART = 1 if FULL_SIZE else 3
"""Of trials for which an engine takes long, one of so many is made."""
CHUNKS = 20
"""Trials come in so many chunks, which run on all cores."""


def trials(chunk, count, first=0):
    """Some of `count` trials; each is made of its seed, which a failure shows."""
    for seed in range(first + chunk, first + count * MORE, CHUNKS):
        yield trial(Random(seed), name=f"seed {seed}")  # noqa: S311 # a plan and its data


@pytest.mark.essential
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_unit_moves_a_measure_further_than_is_claimed_on_two_engines_which_agree(chunk):
    for drawn in trials(chunk, 1_000):
        assert_same_within(drawn, "duckdb")


@pytest.mark.random
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_unit_moves_a_measure_further_in_trials_that_no_run_has_seen(chunk):
    """In `make soak`; other runs try a few that are the same each time."""
    first, count = (10**6, 20) if settings().derandomize else (SystemRandom().randrange(10**12), 2_000)
    for drawn in trials(chunk, count, first):
        assert_same_within(drawn, "duckdb")


def test_a_limit_that_no_engine_enforces_below_a_join_bounds_no_noise():
    """A join of which no side is bounded: the rows of one visit are as many as the person has notes, not two."""
    visits = Table(
        name="visits", columns={"who": text(), "visit": integer(values=[1])}, unit=UnitColumn("who"),
        matches={("visit",): 1}, limits=Limits(max_rows_per_unit=9),
    )  # fmt: skip
    notes = Table(
        name="notes", columns={"whose": text(), "about": integer()}, unit=UnitColumn("whose"),
        limits=Limits(max_rows_per_unit=2),
    )  # fmt: skip
    asked = Statement(
        rows=Join(left=Source(visits), right=Source(notes), on=(("visit", "about"),)),
        keys=(KeyColumn(name="visit", values=(1,)),), measures=(RowCount(),), limits=Limits(max_rows_per_unit=5),
    )  # fmt: skip
    data = {
        "visits": pa.table({"who": ["ann"], "visit": [1]}),
        "notes": pa.table({"whose": ["ann"] * 4, "about": [1] * 4}),
    }
    ((count,),) = by_place(found("reference", asked, data)).values()
    claim = sensitivity(asked, RowCount(), neighboring_relation=ADD_OR_REMOVE_ONE)
    assert 2 < count <= claim.l1


@pytest.mark.parametrize("engine", ["duckdb in buckets", "duckdb" + PREPARED])
def test_no_unit_moves_a_measure_further_on_duckdb_in_buckets_or_prepared_which_gives_the_same(engine):
    for drawn in trials(1, 200 // PART):
        assert_same_within(drawn, engine)


def test_no_unit_moves_a_measure_further_on_postgres_which_gives_the_same():
    with postgres_tables.started():
        for drawn in trials(4, 1_000 // PART):
            assert_same_within(drawn, "postgres")


def test_no_unit_moves_a_measure_further_on_postgres_with_its_own_hash():
    with postgres_tables.started():
        for drawn in trials(5, 300 // PART):
            assert_all_within(drawn, "postgres with its own hash")


@pytest.mark.parametrize("stored", ["", PREPARED])
def test_no_unit_moves_a_measure_further_on_duckdb_with_its_own_hash(stored):
    for drawn in trials(2, 200 // PART):
        assert_all_within(drawn, "duckdb with its own hash" + stored)


@given(st.randoms(use_true_random=False))
@settings(max_examples=100 * MORE // PART, suppress_health_check=list(HealthCheck))
def test_no_plan_that_hypothesis_finds_moves_a_measure_further(random):
    assert_all_within(trial(random, depth=2))


@pytest.mark.parametrize("chunk", range(2))
def test_the_rows_of_a_unit_are_made_of_its_own_rows_alone(chunk):
    for drawn in trials(chunk, 1_000):
        if drawn.policy.has_owners:
            tables, relation = tables_read(drawn.policy, drawn.statement), drawn.statement.rows
            found = rows_of_relation(relation, drawn.whole, salt=drawn.salt)
            for unit in units_of(tables, drawn.whole) | {row[0] for row in found}:
                own = Counter({row: times for row, times in found.items() if row[0] == unit})
                assert rows_of_relation(relation, alone(tables, drawn.whole, unit), salt=drawn.salt) == own, drawn.name


@pytest.mark.parametrize("chunk", range(2))
def test_no_row_that_is_a_unit_moves_more_rows_than_is_claimed(chunk):
    for drawn in trials(chunk, 1_000):
        if not drawn.policy.has_owners:
            relation = drawn.statement.rows
            whole = rows_of_relation(relation, drawn.whole, salt=drawn.salt)
            for lesser in drawn.lesser:
                found = rows_of_relation(relation, lesser, salt=drawn.salt)
                assert ((whole - found) + (found - whole)).total() <= moved_rows(relation), drawn.name


@pytest.mark.parametrize("chunk", range(2))
def test_an_answer_is_the_sum_of_the_answers_to_each_unit_alone(chunk):
    for drawn in trials(chunk, 1_000):
        if drawn.policy.has_owners and is_additive(drawn.statement):
            tables, total = tables_read(drawn.policy, drawn.statement), {}
            for unit in units_of(tables, drawn.whole):
                total = added(total, answer(drawn, alone(tables, drawn.whole, unit)))
            assert answer(drawn, drawn.whole) == total, drawn.name


@pytest.mark.parametrize("chunk", range(2))
def test_a_unit_has_rows_in_at_most_so_many_parts(chunk):
    for drawn in trials(chunk, 1_000):
        for table in (table for table in tables_read(drawn.policy, drawn.statement) if table.has_owners):
            for most in (1, 2):
                assert max(parts_of_units(table, drawn, most).values(), default=0) <= most


def parts_of_units(table, drawn, most):
    """In how many parts by `j` each unit has rows."""
    values = (1, 2, 39)
    found = Counter()
    for value in values:
        part = PeoplePart(
            child=Source(table), by=f"{table.name}j", values=values, value=value, max_parts_per_unit=most,
            salt=drawn.salt,
        )  # fmt: skip
        found.update({row[0] for row in rows_of_relation(part, drawn.whole)})
    return found


def test_a_sensitivity_is_a_value():
    one = Sensitivity(l1=3, l2=Fraction(2), l0=1)
    assert one == Sensitivity(l1=3, l2=Fraction(2), l0=1)
    assert len({one, Sensitivity(l1=3, l2=Fraction(2), l0=2)}) == 2
    with pytest.raises(FrozenInstanceError):
        one.l1 = 0
