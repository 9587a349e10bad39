"""Keys, rows, types and text of answers: their shape tells nothing but what was paid for."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import binom
from tests.attacks_on_questions.clinic import clinic, ordinary, town, visit
from tests.attacks_on_questions.databases import databases, is_listed
from tests.attacks_on_questions.neighbors_of import NEWCOMERS, clinics, towns
from tests.attacks_on_questions.observing import by_place, found_of, plan_of
from tests.attacks_on_questions.questions import QUESTIONS, by_turns
from tests.attacks_on_questions.releasing import released_often
from tests.attacks_on_questions.small_clinics import clinic_of

import sfumato as sf
from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
from sfumato.privacy.secret import Secret

ALPHA = 1e-6
RUNS = 1_000
BY_ILL = "SELECT ill, COUNT(*) AS n, SUM(beds) AS s FROM visits GROUP BY ill"
ALONE = [visit("heavy", i, ill=f"ill {i}") for i in range(300)]


# 23: keys that nobody listed.


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("delta", ["1e-9", "1e-6", "0.01", "0.2"])
def test_a_patient_who_is_alone_in_several_groups_is_shown_in_any_with_less_than_delta(engine, groups, delta):
    """Catalogue 23. Exactly: 1 − (1 − π(1))^groups ≤ δ, and nobody is never shown."""
    with clinic_of(ALONE, engine=engine) as session:
        question = session.table("visits").per_unit(groups=groups).group_by("ill").agg(n=sf.count(), s=sf.sum("cost"))
        (section,) = plan_of(question, delta=delta).sections
    mechanism = section.selection.mechanism
    shown = mechanism.keep_probability(1)
    assert mechanism.max_groups_per_unit == groups
    assert 0 < 1 - (1 - shown) ** groups <= mechanism.delta <= Fraction(delta)
    assert mechanism.keep_probability(0) == 0


@pytest.mark.statistical
def test_a_patient_who_is_alone_in_her_groups_is_seen_no_more_often_than_delta(engine):
    """Catalogue 23. In so many runs, more often than that once in a million tests."""
    with clinic_of(ALONE, engine=engine) as session:
        plan = plan_of(session.query(BY_ILL), delta="0.4")
        seen = sum(len(one.groups) > 0 for one in released_often(session, plan, RUNS))
    limit = float(plan.sections[0].selection.mechanism.delta)
    assert binom.sf(seen - 1, RUNS, limit) > ALPHA
    assert seen > 0


def test_numbers_are_drawn_for_selected_keys_alone(engine, monkeypatch):
    """Catalogue 23."""
    drawn = []
    noise = sf.mechanisms.Laplace.release

    def recorded(self, exact):
        drawn.append(len(exact))
        return noise(self, exact)

    def every_second(_, counts):
        return Secret(np.arange(len(counts)) % 2 == 0)

    monkeypatch.setattr(sf.mechanisms.Laplace, "release", recorded)
    monkeypatch.setattr(TruncatedGeometricSelection, "kept", every_second)
    visits = [visit(f"p{i}", i, ill=f"ill {i % 5}") for i in range(50)]
    with clinic_of(visits, engine=engine) as session:
        release = session.query(BY_ILL).release(epsilon=1, delta="1e-6", mechanism="laplace")
    assert len(release) == 3
    assert drawn == [3, 3]
    assert list(release.groups) == sorted(release.groups)


def test_a_key_without_units_is_never_shown_however_it_comes_into_the_data(engine):
    """Catalogue 23. Of nobody, behind a filter, or above the limit of groups of the one patient who has it."""
    visits = [visit(f"p{i}", i) for i in range(30)] + [visit(None, 100, ill="nobody's")] * 30
    visits += [visit(f"p{i}", 200 + i, ill="filtered", cost=1.0) for i in range(30)]
    visits += [visit(f"p{i}", 300 + i, ill=None) for i in range(30)]
    with clinic_of(visits, engine=engine) as session:
        statistics = "COUNT(*) AS n, COUNT(DISTINCT note) AS d, MEDIAN(beds) AS m"
        release = session.sql(
            f"SELECT ill, {statistics} FROM visits WHERE cost > 2 GROUP BY ill", epsilon=100, delta="0.5"
        )  # fmt: skip
    assert release.groups == (("flu",),)


def test_a_count_of_a_selected_key_has_noise_of_its_own(engine):
    """Catalogue 23. A noisy count may be below any threshold: whether a key is shown does not depend on its noise."""
    visits = [visit(f"p{i}", i) for i in range(12)]
    with clinic_of(visits, engine=engine) as session:
        plan = plan_of(session.query("SELECT ill, COUNT(*) AS n FROM visits GROUP BY ill"), epsilon=1, delta="0.1")
        released = released_often(session, plan, 400)
    shown = [one.measured[0][0][0] for one in released if one.groups]
    assert min(shown) < 0
    assert len(set(shown)) > 20


# 24: keys that are listed.


def test_listed_keys_are_all_there_in_the_order_of_the_policy_whatever_the_data_and_no_others(engine):
    """Catalogue 24."""
    for asked in by_turns(QUESTIONS, engine, 1):
        sessions = [asked.open(rows, engine=engine) for rows in databases(asked.open).values()]
        question = asked.of(sessions[0]).relation
        plan = plan_of(asked.of(sessions[0]))
        if is_listed(plan) and question.having is None and not question.order:
            expected = [
                tuple(product(*(key.values for key in section.keys))) for section in plan.sections
            ]  # fmt: skip
            found = {asked.of(session).release(epsilon=1, delta="1e-6").groups for session in sessions}
            assert len(found) == 1, asked.name
            assert len(*found) == sum(map(len, expected)), asked.name
        for session in sessions:
            session.close()


def test_keys_of_the_data_that_are_not_listed_are_not_even_found(engine):
    """Catalogue 24."""
    with clinic(clinics("poison")[1], engine=engine) as session:
        plan = plan_of(session.query("SELECT ward, urgent, COUNT(*) AS n FROM visits GROUP BY ward, urgent"))
        found = by_place(found_of(session, plan)[0][0])
    assert found.keys() <= set(product("ABC", (False, True)))


# 25: rows, types and names.


def shape(release):
    """What anybody sees of an answer but its values."""
    arrow, pandas, polars = release.to_arrow(), release.to_pandas(), release.to_polars()
    return (
        arrow.schema, arrow.schema.metadata, tuple(map(str, pandas.dtypes)), tuple(pandas.columns), polars.schema,
        release.keys, release.statistics, release.kinds, release.notes if not release.notes else len(release.notes),
        release.confidence, release.receipt.guarantee, release.receipt.event, release.receipt.plan_hash,
    )  # fmt: skip


def test_types_names_and_rows_of_an_answer_do_not_depend_on_the_data(engine):
    """Catalogue 25. The rows of listed keys, too; those of others are selected, and nothing else is."""
    for asked in by_turns(QUESTIONS, engine, 2):
        shapes, sizes = [], []
        for rows in databases(asked.open).values():
            with asked.open(rows, engine=engine) as session:
                release = asked.of(session).release(epsilon=1, delta="1e-6")
                listed = is_listed(plan_of(asked.of(session))) and asked.of(session).relation.having is None
            shapes.append(shape(release))
            sizes.append(len(release) if listed else None)
        assert shapes == [shapes[0]] * len(shapes), asked.name
        assert len(set(sizes)) == 1, asked.name


@pytest.mark.parametrize("epsilon", [0, "0.001", 1])
def test_whether_a_value_is_missing_depends_on_the_price_alone(engine, epsilon):
    """Catalogue 25."""
    sql = "SELECT ward, COUNT(*) AS n, AVG(cost) AS a, SUM(beds) AS b, STDDEV(hours) AS h FROM visits GROUP BY ward"
    missing = []
    for rows in (ordinary(), clinics("poison")[1], {**ordinary(), "visits": []}):
        with clinic(rows, engine=engine) as session:
            table = session.sql(sql, epsilon=epsilon).to_arrow()
            missing.append([table.column(name).null_count for name in table.column_names])
    assert missing == [missing[0]] * 3


# 26: how values are written.


def test_sums_are_points_of_the_public_lattice_and_nothing_between(engine):
    """Catalogue 26."""
    with clinic(ordinary(), engine=engine) as session:
        sql = "SELECT ward, SUM(cost) AS c, SUM(hours) AS h, SUM(beds) AS b, COUNT(*) AS n FROM visits GROUP BY ward"
        question = session.query(sql)
        resolutions = [float(output.resolution) for output in plan_of(question).sections[0].outputs]
        for epsilon in (0.1, 1, 10):
            for row in question.release(epsilon=epsilon).estimates:
                for estimate, resolution in zip(row, resolutions, strict=True):
                    assert estimate.value == pytest.approx(round(estimate.value / resolution) * resolution, abs=1e-9)
                    assert math.isfinite(estimate.value)


def test_categories_that_are_not_shown_are_in_no_bytes_of_an_answer(engine, tmp_path):
    """Catalogue 26. Dictionaries of the source, with an entry that no row has, do not reach what is released."""
    wards = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, None], pa.int8()), ["A", "undisclosed", "B", "hidden"])
    data = pa.table({"ward": wards, "x": [1, 2, 3, 4]})
    with sf.open(
        data, name="t", columns={"ward": sf.text(), "x": sf.integer(0, 9)}, budget=sf.NO_GUARANTEE, engine=engine
    ) as session:
        release = session.sql("SELECT ward, COUNT(*) AS n FROM t GROUP BY ward", epsilon=1, delta="1e-9")
        listed = session.table("t").group_by(known=session.table("t").ward == "A").agg(n=sf.count()).release(epsilon=1)
    for number, one in enumerate((release, listed)):
        table = one.to_arrow()
        assert not any(pa.types.is_dictionary(field.type) for field in table.schema)
        pq.write_table(table, tmp_path / f"{number}.parquet")
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        written = sink.getvalue().to_pybytes() + (tmp_path / f"{number}.parquet").read_bytes()
        assert b"undisclosed" not in written
        assert b"hidden" not in written


@pytest.mark.parametrize("name", ["ordinary", *NEWCOMERS])
def test_private_keys_come_sorted_in_every_order_of_rows(engine, name):
    """Catalogue 24, 26."""
    _, whole = towns(name if name != "ordinary" else "missing")
    people = [dict(person, town=f"{place % 7}") for place, person in enumerate(whole["people"] * 20)]
    for order in (people, people[::-1]):
        with town({**whole, "people": order}, engine=engine) as session:
            release = session.sql("SELECT town, COUNT(*) AS n FROM people GROUP BY town", epsilon=50, delta="1e-3")
        assert release.groups == tuple((f"{place}",) for place in range(7))
