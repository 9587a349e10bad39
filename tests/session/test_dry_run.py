"""A dry run answers as a session does, from made-up rows: no source is opened, and no account is charged."""

import subprocess
import sys

import pytest
from tests.attacks_on_questions.clinic import CLINIC, VISITS
from tests.attacks_on_questions.databases import databases
from tests.attacks_on_questions.questions import QUESTIONS
from tests.session.desk import SURE, desk, rows

from sfumato.errors import BudgetExceededError, NotPrivateError, ParameterError
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.query.model.schema import PUBLIC, Table, boolean
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.session.account import AccountView
from sfumato.session.asking.planning import Planning
from sfumato.session.asking.view import relations_of
from sfumato.session.dry_run import MADE_UP, NOTE, as_made_up, dry_run_desk
from sfumato.session.opening.made_up import MadeUpTables


def gateway(policy, **more):
    """What a process has that plans and charges: a policy, of which the sources are elsewhere, and a ledger."""
    ledger = Ledger(MemoryStore())
    ledger.open_account(
        Opened(
            account=policy.dataset, budget=PureDP("0.1"), neighboring_relation=policy.neighboring_relation,
            privacy_unit=policy.unit_name,
        )
    )  # fmt: skip
    return Planning(policy=policy, ledger=ledger, account=policy.dataset, **more)


def nowhere(*tables):
    return Policy(
        dataset="d", version="1", data_version="7", unit_name="person",
        tables={table.name: table for table in tables},
        sources={table.name: SourceFacts(source="nowhere.csv") for table in tables},
    )  # fmt: skip


def dry(planning):
    return AccountView(dry_run_desk(planning), relations_of(planning.policy))


def test_no_source_is_opened():
    planning = gateway(nowhere(*CLINIC))
    made = MadeUpTables(planning.policy).rows(VISITS)
    (record,) = dry(planning).sql("SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'", epsilon=SURE).records()
    assert record["n"] == [row["ward"] for row in made].count("A") > 10


def test_no_account_is_charged_and_none_has_to_be_able_to_pay():
    planning = gateway(nowhere(*CLINIC))
    before = planning.ledger.remaining("d")
    view = dry(planning)
    for _ in range(3):
        view.sql("SELECT COUNT(*) AS n FROM visits", epsilon=5)
    with pytest.raises(BudgetExceededError):
        planning.ledger.reserve("d", event=PureEvent(1), charge=PureDP(1), question="q")
    assert (planning.ledger.spent("d"), planning.ledger.remaining("d")) == (PureDP(0), before)
    assert planning.ledger.oldest_key is None


def test_an_answer_says_that_it_is_made_up():
    release = dry(gateway(nowhere(*CLINIC))).sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    assert (release.receipt.data_version, release.reused) == (MADE_UP, False)
    assert as_made_up(release).notes == (NOTE, *release.notes)
    assert MADE_UP in repr(as_made_up(release))


def test_it_states_what_the_query_would_cost_and_err():
    planning = gateway(nowhere(*CLINIC))
    question = dry(planning).query("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward")
    release = question.release(epsilon="0.5")
    assert release.receipt.guarantee == question.cost(epsilon="0.5") == PureDP("0.5")
    (errors,) = question.error(epsilon="0.5")
    assert {round(one.half_width) for one in release["n"]} == {round(errors.half_width)}


def test_noise_is_drawn_anew():
    asked = "SELECT SUM(cost) AS s FROM visits"
    planning = gateway(nowhere(*CLINIC))
    assert len({dry(planning).sql(asked, epsilon=1)["s"][0].value for _ in range(5)}) > 1


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.name)
def test_every_kind_of_question_is_answered_as_over_real_rows(asked):
    with asked.open(databases(asked.open)["empty"], engine="reference") as session:
        view = dry(gateway(session.policy))
    assert asked.of(view).release(epsilon=1, delta="1e-6").receipt.data_version == MADE_UP


def test_the_numbers_are_those_of_an_engine_over_the_same_rows():
    policy = nowhere(*CLINIC)
    made = MadeUpTables(policy)
    real = desk(*((table, rows(table, *made.rows(table))) for table in CLINIC))
    asked = """
        SELECT sex, COUNT(*) AS n, SUM(dose) AS d, AVG(cost) AS c FROM drugs JOIN visits ON visit = id
        JOIN patients USING (patient) GROUP BY sex"""
    views = [dry(gateway(policy)), AccountView(real, relations_of(real.policy))]
    counts, again = ([row["n"] for row in view.sql(asked, epsilon=SURE).records()] for view in views)
    assert counts == again
    assert sum(counts) > 100


def test_what_is_refused_is_refused():
    view = dry(gateway(nowhere(*CLINIC)))
    with pytest.raises(NotPrivateError):
        view.sql("SELECT ill, COUNT(*) AS n FROM visits GROUP BY ill", epsilon=1)
    apart = gateway(nowhere(*CLINIC), places={"patients": "a", "visits": "b", "drugs": "b", "wards": "b"})
    with pytest.raises(NotPrivateError, match="different engines"):
        dry(apart).sql("SELECT COUNT(*) AS n FROM patients JOIN visits USING (patient)", epsilon=1)


def test_a_join_that_makes_many_rows_is_refused_before_it_makes_them():
    flags = Table(name="flags", columns={"urgent": boolean()}, unit=PUBLIC, matches={("urgent",): 1_000})
    view = dry(gateway(nowhere(*CLINIC, flags)))
    joins = [f"JOIN flags AS f{n} ON f{n}.urgent = v.urgent" for n in range(2)]
    assert view.sql(f"SELECT COUNT(*) AS n FROM visits AS v {joins[0]}", epsilon=1)
    with pytest.raises(ParameterError, match="too large for a dry run"):
        view.sql(f"SELECT COUNT(*) AS n FROM visits AS v {' '.join(joins)}", epsilon=1)


IN_A_GATEWAY = """
import sys
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Table, integer, text
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.session.asking.planning import Planning
from sfumato.session.account import AccountView
from sfumato.session.dry_run import as_made_up, dry_run_desk

people = Table(name="people", columns={"age": integer(17, 90), "sex": text(values=["f", "m"])})
policy = Policy(
    dataset="people", version="1", data_version="1", unit_name="row", tables={"people": people},
    sources={"people": SourceFacts(source="people.csv")},
)
ledger = Ledger(MemoryStore())
ledger.open_account(
    Opened(account="people", budget=PureDP(1), neighboring_relation=ADD_OR_REMOVE_ONE, privacy_unit="row")
)
gateway = Planning(policy=policy, ledger=ledger, account="people")
view = AccountView(dry_run_desk(gateway), {"people": Source(people)})
asked = "SELECT sex, COUNT(*) AS n, AVG(age) AS a, MEDIAN(age) AS m FROM people GROUP BY sex ORDER BY n"
release = as_made_up(view.sql(asked, epsilon=9))
first, second = view.batch([asked, "SELECT COUNT(*) AS n FROM people"], epsilon=9)
assert len(release) == 2 and len(second) == 1
assert "made-up rows" in release.notes[0]
assert str(ledger.spent("people")) == "ε 0"
loaded = {name.partition(".")[0] for name in sys.modules}
assert not loaded & {"duckdb", "pyarrow", "pandas", "polars", "pydantic"}, loaded
"""


def test_a_dry_run_that_computes_too_much_is_refused(monkeypatch):
    monkeypatch.setattr("sfumato.session.dry_run.MOST_CELLS", 1_000)
    count = dry(gateway(nowhere(*CLINIC))).query("SELECT COUNT(*) AS n FROM visits")
    assert [len(count.release(epsilon=cost)) for cost in (1, 2)] == [1, 1]
    with pytest.raises(ParameterError, match="too much for one dry run"):
        [count.release(epsilon=cost) for cost in range(3, 10)]


def test_a_process_that_has_neither_duckdb_nor_pyarrow_can_do_it():
    done = subprocess.run([sys.executable, "-c", IN_A_GATEWAY], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
