"""The answers that a ledger keeps: given again byte for byte, to whom they belong, and only as they were written."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from tests.attacks_on_ledgers.census import CENSUS, COUNT, PEOPLE, asked, census, ledger_of, people
from tests.ledger.sqlite_edits import without_triggers
from tests.session.opened import recorded

import sfumato as sf
from sfumato.errors import BudgetExceededError, LedgerCorruptError
from sfumato.ledger.core.store import Chain
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.query.model.schema import integer

TENTH = sf.PureDP("0.1")
SURE = 3_000


def committed(path):
    """The answers as they lie in the file."""
    with closing(sqlite3.connect(path)) as connection:
        texts = [text for (text,) in connection.execute("SELECT text FROM record ORDER BY position")]
    return [text for text in texts if '"sections"' in text]


# 45: the same question.


@pytest.mark.parametrize("engine", ["reference", "duckdb"])
def test_45_the_same_question_has_the_same_bytes_costs_nothing_and_reads_nothing(tmp_path, engine):
    path = tmp_path / "ledger.db"
    session, recording = recorded(census(ledger=path, engine=engine))
    with session:
        first = asked(session, 30)
        before, read = committed(path), len(recording.statements)
        for _ in range(20):
            again = asked(session, 30)
            assert again.reused
            assert replace(again, reused=False, receipt=first.receipt) == first
            assert again.receipt == first.receipt
        assert (session.spent, committed(path), len(recording.statements)) == (TENTH, before, read)


def two(session):
    return (session.open_account(name, budget=sf.PureDP("0.5")) for name in ("ann", "bob"))


def test_45_another_analyst_has_it_only_where_the_policy_says_so():
    for sharing in (False, True):
        session, engine = recorded(census(shares_answers=sharing))
        with session:
            ann, bob = two(session)
            first, second = asked(ann, 30), asked(bob, 30)
            assert (ann.spent, bob.spent) == (TENTH, TENTH)
            assert session.spent == (TENTH if sharing else sf.PureDP("0.2"))
            assert len(engine.statements) == (1 if sharing else 2)
            assert not sharing or first["n"] == second["n"]


def test_45_whoever_cannot_pay_is_not_given_what_others_have():
    with census(shares_answers=True) as session:
        ann, bob = two(session)
        asked(ann, 30, epsilon="0.4")
        asked(bob, 99, epsilon="0.2")
        with pytest.raises(BudgetExceededError, match=r"ε 0\.3 remaining"):
            asked(bob, 30, epsilon="0.4")
        assert bob.spent == sf.PureDP("0.2")


@pytest.mark.usefixtures("unheard")
def test_45_the_first_answer_stays_whoever_asks_it_at_once():
    session, engine = recorded(census())
    run, others = engine.run, []

    def meanwhile(statement, *, salt):
        engine.run = run
        others.append(asked(session, 30))
        return run(statement, salt=salt)

    with session:
        engine.run = meanwhile
        release = asked(session, 30)
        assert others[0].records() == release.records() == asked(session, 30).records()
        assert session.spent == sf.PureDP("0.2")


# 47: what an answer belongs to.

NARROW = replace(PEOPLE, columns={**PEOPLE.columns, "age": integer(0, 99)})
OTHERS = {
    "data": {"data_version": "2"},
    "policy": {"version": "2"},
    "dataset": {"dataset": "another"},
    "bounds": {"tables": {"people": NARROW}},
}
AGES = "SELECT SUM(age) AS s FROM people"


@pytest.mark.parametrize("name", OTHERS)
def test_47_an_answer_is_of_its_data_policy_bounds_and_dataset(tmp_path, name):
    where = {"ledger": tmp_path / "ledger.db", "budget": sf.NO_GUARANTEE}
    with census(**where) as session:
        first = session.sql(AGES, epsilon="0.1")
    with census(**where, **OTHERS[name]) as session:
        again = session.sql(AGES, epsilon="0.1")
        assert not again.reused
        assert again.receipt.request != first.receipt.request
    with census(**where) as session:
        assert session.sql(AGES, epsilon="0.1").records() == first.records()


def test_47_an_answer_is_of_its_price_and_law():
    with census(budget=sf.NO_GUARANTEE) as session:
        question = session.query(f"{COUNT} WHERE age >= 30")
        prices = ({"epsilon": "0.1"}, {"epsilon": "0.2"}, {"epsilon": "0.1", "delta": "1e-6", "mechanism": "gaussian"})
        found = [question.release(**price) for price in prices]
        assert len({release.receipt.request for release in found}) == 3
        assert [release.reused for release in found] == [False] * 3


@pytest.mark.parametrize("first_shares", [False, True])
def test_47_an_answer_is_not_shared_with_a_dataset_below(tmp_path, first_shares):
    """The same question, declarations and versions, about fewer people."""
    where = {"ledger": tmp_path / "ledger.db", "budget": sf.NO_GUARANTEE}
    with (
        census(shares_answers=first_shares, **where) as first,
        census(people(7), dataset="survey", derived_from=("census",), shares_answers=True, **where) as second,
    ):
        assert asked(first, epsilon=SURE)["n"][0].value == 40
        assert asked(second, epsilon=SURE)["n"][0].value == 7
        ann, bob = two(second)
        found = [asked(view, 50, epsilon="0.1")["n"][0].value for view in (ann, bob)]
        assert found[0] == found[1]


def test_47_an_answer_of_one_part_of_people_is_not_that_of_another():
    with census(budget=sf.NO_GUARANTEE) as session, session.partition("people", by="sex") as parts:
        found = [view.sql(COUNT, epsilon=SURE)["n"][0].value for view in (session, parts["f"], parts["m"])]
        assert found == [40, 20, 20]


def test_47_an_answer_is_of_its_neighbours(tmp_path):
    found = []
    for number, relation in enumerate((sf.ADD_OR_REMOVE_ONE, REPLACE_ONE)):
        with census(ledger=tmp_path / f"{number}.db", neighboring_relation=relation) as session:
            found.append(session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon="0.1").receipt)
    assert found[0].event != found[1].event


# 48: what a hit tells of others.


def shown(release):
    """All that an answer says of its price."""
    receipt, (*_, last) = release.receipt, repr(release).splitlines()
    return release.reused, receipt.guarantee, receipt.spent, receipt.remaining, last


def test_48_a_shared_answer_is_shown_and_charged_as_one_that_nobody_asked_before():
    found = []
    for is_hit in (False, True):
        with census(shares_answers=True) as session:
            ann, bob = two(session)
            asked(ann, 80, epsilon="0.4")
            if is_hit:
                asked(ann, 30)
            found.append([shown(asked(bob, 30)), str(bob.spent), str(bob.remaining), shown(asked(bob, 30))])
    assert found[0] == found[1]


def test_48_a_shared_answer_says_nothing_of_who_asked_first():
    with census(shares_answers=True) as session:
        ann, bob = two(session)
        asked(ann, 80, epsilon="0.3")
        first = ann.sql(f"{COUNT} WHERE age >= 30 AND 'of ann' = 'of ann'", epsilon="0.1")
        for _ in range(2):
            second = asked(bob, 30)
            assert second["n"] == first["n"]
            assert second.receipt.request != first.receipt.request
            assert "ann" not in second.receipt.to_json()
            assert second.receipt.spent == TENTH


def test_48_an_account_tells_nothing_of_its_siblings():
    found = []
    for asks in (False, True):
        with census(budget=sf.PureDP(2)) as session:
            ann, bob = two(session)
            if asks:
                asked(ann, 30, epsilon="0.3")
            release = asked(bob, 40)
            found.append((shown(release), repr(bob)))
    assert found[0] == found[1]


# 49: noise is new in every version.


def test_49_noise_is_not_made_from_the_question_so_that_no_difference_of_versions_is_exact(tmp_path):
    """Had the question a seed, the difference of two versions of the data would be that of their exact answers."""
    differences = set()
    for version in range(12):
        sizes = (40, 41)
        values = []
        for size in sizes:
            changes = {"dataset": f"census of {size}", "data_version": str(version)}
            with census(people(size), ledger=tmp_path / f"{size}.db", budget=sf.NO_GUARANTEE, **changes) as session:
                values.append(session.sql(COUNT, epsilon="0.01")["n"][0].value)
        differences.add(values[1] - values[0])
    assert len(differences) > 2


def test_49_nor_from_the_version():
    values = {asked_anew() for _ in range(12)}
    assert len(values) > 2


def asked_anew():
    """The answer of a ledger that has never heard of the question."""
    with census(budget=sf.NO_GUARANTEE) as session:
        return asked(session, 30, epsilon="0.01")["n"][0].value


# 50: answers are as they were written.


def test_50_answers_are_not_drawn_anew_after_a_restart(tmp_path):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session:
        first = [asked(session, age, epsilon="0.01") for age in range(10)]
    for _ in range(3):
        with census(people(40), ledger=path) as session:
            assert [asked(session, age, epsilon="0.01").records() for age in range(10)] == [
                release.records() for release in first
            ]
            assert session.spent == TENTH


def with_other_answer(text):
    """A record's text whose answer says something else."""
    document = json.loads(text)
    document["entry"]["answer"]["sections"][0]["measured"] = [[[12_345]]]
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def texts_of(path):
    with closing(sqlite3.connect(path)) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM record ORDER BY position")]


def rewritten(path):
    """Put another answer into the file, and compute the whole chain anew, as anybody can who has the file."""
    chain, statements = Chain(), []
    for text in texts_of(path):
        record = chain.link(with_other_answer(text) if '"sections"' in text else text)
        chain = chain.follow(record)
        written = record.text.replace("'", "''")
        statements.append(
            f"UPDATE record SET text = '{written}', previous = '{record.previous}', hash = '{record.hash}' "
            f"WHERE position = {record.index}"
        )
    without_triggers(path, *statements)


def edited(path):
    """Put another answer into the file, and nothing else."""
    (text,) = (text for text in texts_of(path) if '"sections"' in text)
    written, old = (one.replace("'", "''") for one in (with_other_answer(text), text))
    without_triggers(path, f"UPDATE record SET text = '{written}' WHERE text = '{old}'")


@pytest.mark.parametrize("change", [edited, rewritten])
def test_50_an_answer_that_somebody_changed_is_refused_and_not_shown(tmp_path, change):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session:
        asked(session, 30)
    change(path)
    with pytest.raises(LedgerCorruptError), census(ledger=path) as session:
        asked(session, 30)


def test_50_an_answer_that_is_bent_to_another_question_is_refused(tmp_path):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session:
        asked(session, 30)
        asked(session, 40)
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = next(name for name in tables if "pointer" in name)
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        answers = connection.execute(f"SELECT name FROM {table} WHERE name LIKE 'answer%' ORDER BY position").fetchall()
    assert {"name", "position"} <= set(columns)
    (first,), (second,) = answers
    without_triggers(
        path,
        f"UPDATE {table} SET position = (SELECT position FROM {table} WHERE name = '{second}') WHERE name = '{first}'",
    )
    with pytest.raises(LedgerCorruptError, match="index entries were changed"):
        census(ledger=path)


def test_50_the_ledger_knows_which_of_its_data_it_speaks_of(tmp_path):
    """Fingerprints, answers and keys lie in the file, and no cell of the data does."""
    path, canary = tmp_path / "ledger.db", "canary-3141592653"
    data = CENSUS.set_column(2, "town", [[canary] * len(CENSUS)])
    with census(data, ledger=path) as session:
        asked(session, 30)
        ledger_of(session).checkpoint()
    assert all(canary.encode() not in file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
