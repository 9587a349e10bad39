"""Errors, text, types, state and metadata: nothing that anybody sees besides released values depends on the data."""

import logging

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.attacks_on_questions.clinic import CLINIC, clinic, drug, ordinary, patient, visit
from tests.attacks_on_questions.databases import databases, is_listed
from tests.attacks_on_questions.drawing import Recorder, Stream
from tests.attacks_on_questions.observing import found_of, multisets, plan_of, sections_of
from tests.attacks_on_questions.questions import DELTA, QUESTIONS, by_turns
from tests.session.opened import recorded

import sfumato as sf
from sfumato.engines.base import aligned
from sfumato.engines.duckdb import engine as embedded
from sfumato.errors import EngineError, ParameterError, SfumatoError
from sfumato.noise import entropy
from sfumato.noise.tables.word_table import Supply
from sfumato.privacy.secret import Secret
from sfumato.query.statistics.measurements import Additive
from sfumato.session.asking import execution
from sfumato.session.releases.releasing import release

SALT = bytes(range(16))

# 53: the work of the sampler.


def test_as_many_numbers_of_the_same_law_are_drawn_whatever_the_data(engine, monkeypatch):
    """Catalogue 53. Of listed keys; time itself is for whoever serves answers to hide."""
    recorder = Recorder(monkeypatch)
    for asked in by_turns(QUESTIONS, engine, 5):
        drawn = []
        for held in databases(asked.open).values():
            with asked.open(held, engine=engine) as session:
                if is_listed(plan_of(asked.of(session))):
                    recorder.drawn.clear()
                    asked.of(session).release(epsilon=1, delta=DELTA)
                    drawn.append(dict(recorder.drawn))
        assert drawn == drawn[:1] * len(drawn) or "chosen" in asked.name, asked.name


def adds_noise_alone(plan):
    """Whether a plan has listed keys, and noise on its sums alone."""
    measurements = [one for section in sections_of(plan) for one in section.measurements]
    return plan.bounds is None and is_listed(plan) and all(isinstance(one, Additive) for one in measurements)


def noise_and_bytes(session, plan, monkeypatch):
    """What is added to the exact answers of the first section, and how many random bytes that takes."""
    stream, section, found = Stream(), plan.sections[0], found_of(session, plan)[0]
    exact = dict(zip(map(id, section.statements), found, strict=True))
    monkeypatch.setattr(entropy, "_read", stream)
    released = release(section, lambda statement: Secret(exact[id(statement)]))
    totals = [aligned(one, exact[id(one)], released.groups) for one in section.statements]
    noise = [
        (np.array(measured) - totals[one.statement][:, list(one.measures)].reshape(len(measured), -1)).tolist()
        for one, measured in zip(section.measurements, released.measured, strict=True)
    ]
    return noise, stream.taken


@pytest.mark.parametrize("law", [None, "gaussian"])
def test_noise_takes_as_many_random_bytes_and_is_the_same_whatever_it_is_added_to(law, monkeypatch):
    """Catalogue 53. Of one stream, so neither the time that noise takes nor its law depends on the exact answer."""
    monkeypatch.setattr(Supply, "_try_table", lambda _: None)  # no table is made between two runs
    for asked in by_turns(QUESTIONS, "duckdb", 3):
        sessions = [asked.open(held, engine="reference") for held in databases(asked.open).values()]
        plan = plan_of(asked.of(sessions[0]), law=law)
        if adds_noise_alone(plan):
            first, *others = [noise_and_bytes(session, plan, monkeypatch) for session in sessions]
            assert others == [first] * 3, asked.name


# 54: what is shown.

CANARY, NUMBER = "canary-2718281828", 27182818
BYTES = CANARY.encode()


def canaries():
    """A clinic with a canary in every text and a far number in every other cell, different for each patient."""
    who = [f"{CANARY} {i}" for i in range(30)]
    visits = [
        visit(name, NUMBER + i, ward=CANARY, ill=name, note=CANARY, cost=float(NUMBER), beds=NUMBER, hours=NUMBER / 3)
        for i, name in enumerate(who)
    ]
    return {
        "patients": [patient(name, town=CANARY, sex=CANARY) for name in who], "visits": visits,
        "drugs": [drug(row["id"], row["ill"], NUMBER) for row in visits], "wards": databases(clinic)["empty"]["wards"],
    }  # fmt: skip


def assert_clean(texts):
    assert [text for text in texts if CANARY in text or str(NUMBER) in text] == []


def test_no_canary_is_in_anything_that_is_shown_logged_printed_or_written(engine, tmp_path, caplog, capfd):
    """Catalogue 54."""
    caplog.set_level(logging.DEBUG)
    shown = []
    with clinic(canaries(), engine=engine, ledger=tmp_path / "ledger.db") as session:
        for asked in by_turns([one for one in QUESTIONS if one.open is clinic], engine, 6):
            question = asked.of(session)
            release = question.release(epsilon=1, delta="1e-12")
            shown += [repr(question), question.explain(delta=DELTA), repr(question.error(epsilon=1, delta=DELTA))]
            shown += [repr(release), release._repr_html_(), release.receipt.to_json(), repr(release.receipt)]
            shown += [repr(release.groups), str(release.notes), repr(question.cost(epsilon=1, delta=DELTA))]
        shown += [repr(session), repr(session.policy), repr(session._desk), repr(session.table("visits"))]
        shown += [repr(session._desk.engine), str(vars(session._desk.engine)), repr(session._sources)]
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert_clean([*shown, caplog.text, *capfd.readouterr()])
    assert BYTES not in written
    assert str(NUMBER).encode() not in written


def test_no_canary_is_in_an_error(engine):
    """Catalogue 51, 54."""
    session, _ = recorded(clinic(canaries(), engine=engine), fails=True)
    errors = []
    with session:
        for sql in (
            "SELECT COUNT(*) AS n FROM visits", "SELECT nosuch FROM visits", "SELECT SUM(id) FROM visits",
            "SELECT ill, COUNT(*) FROM visits GROUP BY ill", "SELECT MAX(note) FROM visits", "SELECT ward FROM nosuch",
        ):  # fmt: skip
            with pytest.raises(SfumatoError) as caught:
                session.sql(sql, epsilon=1)
            errors += [str(caught.value), repr(caught.value), repr(vars(caught.value)), repr(caught.value.__cause__)]
    assert_clean(errors)


def test_a_source_that_is_gone_is_an_error_without_its_text(engine, tmp_path):
    """Catalogue 51, 54."""
    path = tmp_path / f"{CANARY}.parquet"
    pq.write_table(pa.table({"x": [1]}), path)
    with sf.open(path, name="t", columns={"x": sf.integer(0, 1)}, budget=sf.PureDP(1), engine=engine) as session:
        path.unlink()
        with pytest.raises(EngineError) as caught:
            session.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)
        assert session.spent == sf.PureDP(1)
    assert CANARY not in str(caught.value)


# 54, 57: plans and SQL.


@pytest.mark.essential
def test_plans_prices_forecasts_and_statements_do_not_depend_on_the_data(engine):
    """Catalogue 7, 43, 54, 57."""
    for asked in by_turns(QUESTIONS, engine, 6):
        seen = []
        for held in databases(asked.open).values():
            session, recording = recorded(asked.open(held, engine=engine))
            with session:
                question = asked.of(session)
                plan = plan_of(question)
                shown = question.explain(delta=DELTA), str(question.error(epsilon=1, delta=DELTA)), question.text
                assert recording.statements == []
                if plan.bounds is None:
                    question.release(epsilon=1, delta=DELTA)
                seen.append((plan, shown, session.policy.tables, recording.statements, session.spent))
        assert seen == [seen[0]] * len(seen), asked.name


def test_the_sql_of_a_question_does_not_depend_on_the_data(monkeypatch):
    """Catalogue 7, 54. With one salt for all, which is drawn anew for each question."""
    texts = []
    write = embedded.sql
    monkeypatch.setattr(embedded, "sql", lambda query: texts.append(write(query)) or texts[-1])
    monkeypatch.setattr(execution, "random_bytes", lambda size: SALT[:size])
    for asked in by_turns(QUESTIONS, "duckdb", 7):
        seen = []
        for held in databases(asked.open).values():
            texts.clear()
            with asked.open(held, engine="duckdb") as session:
                asked.of(session).release(epsilon=1, delta=DELTA)
            seen.append(list(texts))
        assert seen == [seen[0]] * len(seen), asked.name
        assert any("SELECT" in text for text in seen[0])


def test_the_columns_of_a_file_without_a_header_are_not_told(engine, tmp_path):
    """Catalogue 57. Its first record would be one."""
    path = tmp_path / "t.csv"
    path.write_text(f"{CANARY},{NUMBER}\nx,1\n", "utf-8")
    with pytest.raises(ParameterError) as caught:
        sf.open(path, columns={"name": sf.text()}, budget=sf.PureDP(1), engine=engine)
    assert_clean([str(caught.value), repr(caught.value)])


@pytest.mark.parametrize("statistic", ["SUM", "AVG", "MAX", "VARIANCE"])
def test_bounds_are_never_taken_from_the_data_without_being_paid_for(engine, statistic):
    """Catalogue 57."""
    errors = set()
    for held in databases(clinic).values():
        with clinic(held, engine=engine) as session, pytest.raises(SfumatoError, match="bounds") as caught:
            session.sql(f"SELECT {statistic}(id) AS s FROM visits", epsilon=1)
        errors.add(str(caught.value))
    assert len(errors) == 1


# 56: state.


KINDS = ("functions", "sequences", "schemas", "types", "indexes", "settings", "variables", "columns")


def state_of(engine):
    """Everything that an engine holds by name."""
    if not isinstance(engine, embedded.DuckDBEngine):
        return {name: id(held) for name, held in vars(engine).items()}
    queries = {kind: f"SELECT * FROM duckdb_{kind}()" for kind in KINDS}
    queries["tables"] = "SELECT database_name, schema_name, table_name, temporary, sql FROM duckdb_tables()"
    queries["views"] = "SELECT database_name, schema_name, view_name, temporary, sql FROM duckdb_views()"
    return {kind: set(map(str, engine._database.execute(query).fetchall())) for kind, query in queries.items()}


def test_no_question_leaves_anything_behind_in_the_engine(engine):
    """Catalogue 56."""
    questions = by_turns([one for one in QUESTIONS if one.open is clinic], engine, 7)
    with clinic(ordinary(), engine=engine) as session:
        for table in CLINIC:
            session.sql(f"SELECT COUNT(*) AS n FROM {table.name}", epsilon=1)  # now all tables are made
        before = state_of(session._desk.engine)
        first = [multisets(found_of(session, plan_of(asked.of(session)))) for asked in questions]
        again = [multisets(found_of(session, plan_of(asked.of(session)))) for asked in reversed(questions)]
        assert state_of(session._desk.engine) == before
    assert first == again[::-1]


def test_nothing_is_left_behind_with_buckets_either():
    """Catalogue 56."""
    with clinic(ordinary(), engine="duckdb", options={"buckets": 3}) as session:
        session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        before = state_of(session._desk.engine)
        session.sql("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward", epsilon=1)
        assert state_of(session._desk.engine) == before
