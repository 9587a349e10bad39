"""Charge, then run: a refused question never reaches the engine, and after the charge nothing is refunded."""

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.query.planned import PEOPLE, VISITS, N, ref, relation_of
from tests.session.desk import SURE, asked, charge, desk, rows
from tests.session.opened import RecordingEngine

import sfumato as sf
from sfumato.errors import BudgetExceededError, EngineError, LedgerError, NotPrivateError, ParameterError
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.query.model.csv_format import CsvFormat
from sfumato.query.model.expressions import And, Compare, Comparison, Literal, Not
from sfumato.query.model.relations import Filter, Select
from sfumato.query.model.schema import Limits, Table, integer, real, text
from sfumato.query.model.statement import AUTO
from sfumato.query.planning.questions import presented
from sfumato.query.planning.windows import OrderKey
from sfumato.query.policy.policy import SourceFacts
from sfumato.query.statistics.counts import CountDistinct, CountRows
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.session.asking.execution import execute
from sfumato.session.asking.planning import prepare, stored

AGE, PAY = ref("age"), ref("pay")
DATA = rows(PEOPLE, {"age": 30, "sex": "f", "pay": 1.5}, {"age": 50, "sex": "m"})


def recorded(*, fails=False, budget=None, **changes):
    """A desk with an engine that keeps what it is asked."""
    curator = desk((PEOPLE, DATA), (VISITS, rows(VISITS)), budget=budget or sf.PureDP(1), **changes)
    engine = RecordingEngine(curator.engine, fails=fails)
    return replace(curator, engine=engine), engine


def prepared(curator, *statistics, child=PEOPLE, epsilon="0.1", delta=0, law=None, **clauses):
    named = tuple(one if isinstance(one, tuple) else ("x", one) for one in statistics or (N,))
    made = presented(relation_of(child), statistics=named, **clauses)
    return prepare(curator, made.child, text="text", total=guarantee(epsilon, delta), law=law)


def spent(curator):
    return curator.ledger.spent("test")


def test_the_cost_is_in_the_ledger_before_the_engine_runs():
    curator, engine = recorded()
    seen = []
    run = engine.run
    engine.run = lambda statement, *, salt: (seen.append(spent(curator)), run(statement, salt=salt))[1]
    asked(curator, PEOPLE, statistics=(N,)).release(epsilon="0.25")
    assert seen == [sf.PureDP("0.25")]


def test_preparing_and_charging_touch_no_data():
    curator, engine = recorded()
    ticket = charge(curator, prepared(curator))
    assert engine.statements == []
    assert (ticket.reservation.spent, ticket.reservation.left) == (sf.PureDP("0.1"), sf.PureDP("0.9"))
    execute(curator, ticket)
    assert len(engine.statements) == 1


WITHOUT_DATA = """
import sys
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Table, integer
from sfumato.query.planning.questions import presented
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.query.statistics.counts import CountRows
from sfumato.session.asking.planning import Planning, Ticket, charge, prepare

people = Table(name="people", columns={"age": integer(17, 90)})
policy = Policy(
    dataset="people", version="1", data_version="1", unit_name="row", tables={"people": people},
    sources={"people": SourceFacts(source="people.csv")},
)
ledger = Ledger(MemoryStore())
ledger.open_account(
    Opened(account="people", budget=PureDP(1), neighboring_relation=ADD_OR_REMOVE_ONE, privacy_unit="row")
)
gateway = Planning(policy=policy, ledger=ledger, account="people")
question = presented(Source(people), statistics=(("n", CountRows()),))
prepared = prepare(gateway, question.child, text="how many?", total=PureDP("0.1"))
assert isinstance(charge(gateway, prepared), Ticket)
assert str(ledger.spent("people")) == "ε 0.1"
loaded = {name.partition(".")[0] for name in sys.modules}
assert not loaded & {"duckdb", "pyarrow", "pandas", "polars", "sqlglot"}, loaded
engines = {name for name in sys.modules if name.startswith("sfumato.engines.")}
assert engines == {"sfumato.engines.base"}, engines
"""


def test_planning_and_charging_load_neither_an_engine_nor_what_reads_data():
    done = subprocess.run([sys.executable, "-c", WITHOUT_DATA], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_refused_charge_never_reaches_the_engine():
    curator, engine = recorded()
    with pytest.raises(BudgetExceededError):
        charge(curator, prepared(curator, epsilon=2))
    assert (engine.statements, spent(curator)) == ([], sf.PureDP(0))


@pytest.mark.parametrize("statistics", [(N,), (("m", Mean(AGE, AUTO)),)])
def test_an_engine_that_fails_after_the_charge_is_not_refunded_and_nothing_is_stored(statistics):
    curator, engine = recorded(fails=True)
    for times in (1, 2):
        with pytest.raises(EngineError):
            asked(curator, PEOPLE, statistics=statistics).release(epsilon="0.1")
        assert len(engine.statements) == times
    assert spent(curator) == sf.PureDP("0.2")


@pytest.mark.usefixtures("unheard")
def test_a_question_that_is_asked_twice_at_once_is_drawn_twice_and_shown_once():
    curator, engine = recorded()
    run, others = engine.run, []

    def meanwhile(statement, *, salt):
        engine.run = run
        others.append(asked(curator, PEOPLE, statistics=(N,)).release(epsilon="0.001"))
        return run(statement, salt=salt)

    engine.run = meanwhile
    release = asked(curator, PEOPLE, statistics=(N,)).release(epsilon="0.001")
    assert [one["n"][0].value for one in others] == [release["n"][0].value]
    assert spent(curator) == sf.PureDP("0.002")


def test_of_two_answers_that_were_paid_for_outside_of_a_flight_both_show_the_first():
    """As older versions on the same ledger may."""
    curator, _ = recorded()
    tickets = [charge(curator, prepared(curator, N, epsilon="0.001")) for _ in range(2)]
    first, second = (execute(curator, ticket) for ticket in tickets)
    assert first == second


def test_all_statements_of_a_question_share_a_fresh_salt():
    curator, engine = recorded()
    for _ in range(3):
        execute(
            curator,
            charge(curator, prepared(curator, ("m", Mean(AGE, AUTO)), N, ("t", TopValues(ref("sex"))))),
        )
    assert len(engine.salts) == 9
    assert len(set(engine.salts)) == 3
    assert all(len(bytes.fromhex(salt)) == 16 for salt in engine.salts)


def test_the_bounds_are_released_before_anything_else_is_asked():
    curator, engine = recorded(budget=sf.PureDP(SURE))
    answer = execute(curator, charge(curator, prepared(curator, ("m", Mean(AGE, AUTO)), epsilon=1000)))
    first, second = engine.statements
    assert (first.cell.count, second.cell) == (82, None)
    (counts,) = answer["bounds"]["measured"][0]
    assert (len(counts), sum(count > 0 for count in counts)) == (82, 2)
    assert [steps.steps.lower for steps in second.measures[1:]] == [16]


def test_a_stored_answer_that_cannot_be_read_is_refused():
    curator, _ = recorded()
    first = prepared(curator)
    curator.ledger.commit(charge(curator, first).reservation, key=first.key, answer="from the future")
    with pytest.raises(LedgerError, match="newer version"):
        stored(curator, first)
    assert stored(curator, prepared(curator, Sum(AGE))) is None


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), "1e-16", "1e10"])
def test_prices_that_an_account_does_not_keep_are_refused_first(epsilon):
    curator, _ = recorded()
    with pytest.raises(ParameterError, match="epsilon"):
        prepared(curator, epsilon=epsilon)


def test_a_table_of_another_desk_is_refused():
    curator, _ = recorded()
    laxer = replace(VISITS, limits=Limits(max_rows_per_unit=100))
    with pytest.raises(ParameterError, match="must belong to this session"):
        prepared(curator, child=laxer)


def test_private_keys_without_delta_are_refused_for_nothing():
    curator, engine = recorded()
    with pytest.raises(NotPrivateError):
        asked(curator, PEOPLE, keys=("town",), statistics=(N,)).release(epsilon=1)
    assert (engine.statements, spent(curator)) == ([], sf.PureDP(0))


# The key of a stored answer

OLD = Compare(Comparison.GREATER_EQUAL, AGE, Literal(Fraction(60)))


def key_of(*statistics, curator=None, **options):
    return prepared(curator or recorded()[0], *statistics, **options).key


SAME = {
    "names of statistics": ({"statistics": (("other", Sum(AGE)),)}),
    "labels": {"keys": ("sex",), "labels": ("who",)},
    "columns": {"columns": (("twice", ref("x")),)},
    "having and order": {
        "having": Compare(Comparison.GREATER, ref("x"), Literal(Fraction(0))),
        "order": (OrderKey(ref("x")),),
    },
    "limits of rows shown": {"limit": 3, "offset": 1},
    "columns computed before": {
        "child": Select(relation_of(PEOPLE), (("a", AGE), ("sex", ref("sex")))),
        "value": ref("a"),
    },
    "a filter of nothing": {"child": Filter(relation_of(PEOPLE), And(()))},
}


@pytest.mark.parametrize("name", SAME)
def test_ways_to_write_and_show_a_question_share_one_answer(name):
    change = dict(SAME[name])
    keys = change.get("keys", ())
    statistics = change.pop("statistics", (Sum(change.pop("value", AGE)),))
    assert key_of(*statistics, **change) == key_of(Sum(AGE), keys=keys)


def test_ways_to_write_a_condition_share_one_answer():
    young = Not(Compare(Comparison.LESS, AGE, Literal(Fraction(60))))
    rows_of = [Filter(relation_of(PEOPLE), condition) for condition in (OLD, young)]
    assert key_of(Sum(AGE), child=rows_of[0]) == key_of(Sum(AGE), child=rows_of[1]) != key_of(Sum(AGE))


def test_keys_of_another_name_share_one_answer():
    renamed = Select(relation_of(PEOPLE), (("who", ref("sex")), ("age", AGE)))
    assert key_of(Sum(AGE), child=renamed, keys=("who",)) == key_of(Sum(AGE), keys=("sex",))


ZERO_TO = tuple((Fraction(0), Fraction(end)) for end in (5, 6))
BASE = {"statistics": (("a", Sum(AGE)), N), "delta": "1e-6"}
DIFFERENT = {
    "statistic": ({"statistics": (("a", Sum(AGE)), ("n", CountDistinct(AGE)))}, {}),
    "order of statistics": ({"statistics": (N, ("a", Sum(AGE)))}, {}),
    "bounds": tuple({"statistics": (("a", Sum(AGE, bounds)),)} for bounds in ZERO_TO),
    "automatic bounds": ({"statistics": (("a", Sum(AGE, AUTO)),)}, {"statistics": (("a", Sum(AGE)),)}),
    "epsilon": ({"epsilon": "0.2"}, {}),
    "delta": ({"keys": ("town",)}, {"keys": ("town",), "delta": "2e-6"}),
    "law": ({"law": "gaussian"}, {"law": "laplace"}),
    "weights": ({"weights": (Fraction(1), Fraction(2))}, {"weights": (Fraction(2), Fraction(1))}),
    "keys": ({"keys": ("sex",)}, {"keys": ("smokes",)}),
    "order of keys": ({"keys": ("sex", "smokes")}, {"keys": ("smokes", "sex")}),
    "grouping sets": ({"keys": ("sex",), "sets": (("sex",), ())}, {"keys": ("sex",)}),
    "rows": ({"child": Filter(relation_of(PEOPLE), OLD)}, {}),
    "consistency": (
        {"keys": ("sex",), "sets": (("sex",), ()), "consistent": True}, {"keys": ("sex",), "sets": (("sex",), ())},
    ),
    "quantile": tuple({"statistics": (("q", Percentile(AGE, Fraction(q, 4))),)} for q in (1, 2)),
    "edges": tuple({"statistics": (("h", Histogram(AGE, edges)),)} for edges in ZERO_TO),
    "k": tuple({"statistics": (("t", TopValues(ref("sex"), k)),)} for k in (1, 2)),
    "law after chosen bounds": tuple(
        {"statistics": (("a", Sum(AGE, AUTO)),), "law": law} for law in ("laplace", "gaussian")
    ),
    "weights after chosen bounds": tuple(
        {"statistics": (("a", Sum(AGE, AUTO)), N, ("p", Sum(PAY))), "weights": weights}
        for weights in ((Fraction(1), Fraction(2), Fraction(3)), (Fraction(1), Fraction(3), Fraction(2)))
    ),
    "most values": tuple(
        {"child": VISITS, "statistics": (("d", CountDistinct(ref("ill"), most)),)} for most in (1, 2)
    ),
    "limits of a person": tuple(
        {"child": VISITS, "statistics": (N,), "limits": limits} for limits in (None, Limits(max_rows_per_unit=2))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_whatever_an_answer_depends_on_is_in_its_key(name):
    first, second = (
        key_of(*(options := {**BASE, **change}).pop("statistics"), **options) for change in DIFFERENT[name]
    )
    assert first != second


def keyed(table, *, value="v", **policy):
    """The key of the same question about another table of the same name."""
    curator = desk((table, rows(table)), **policy)
    return prepare(
        curator,
        presented(relation_of(table), statistics=(("s", Sum(ref(value))), N)).child,
        text="",
        total=sf.PureDP(1),
    ).key


PLAIN = Table(name="t", columns={"v": integer(0, 9), "w": text()})
OTHER_FACTS = {
    "bounds": {"v": integer(0, 8), "w": text()},
    "nullability": {"v": integer(0, 9, nullable=False), "w": text()},
    "resolution": {"v": real(0, 9, resolution=1), "w": text()},
    "values": {"v": integer(0, 9), "w": text(values=["a"])},
}


@pytest.mark.parametrize("name", OTHER_FACTS)
def test_facts_of_tables_are_in_the_key(name):
    assert keyed(Table(name="t", columns=OTHER_FACTS[name])) != keyed(PLAIN)


@pytest.mark.parametrize("policy", [{"version": "2"}, {"data_version": "2"}, {"relation": REPLACE_ONE}])
def test_versions_and_the_neighboring_relation_are_in_the_key(policy):
    assert keyed(PLAIN, **policy) != keyed(PLAIN) == keyed(PLAIN)


def test_how_a_csv_file_is_written_is_in_the_key_and_what_is_not_stated_is_not():
    """Stored answers of versions that knew no formats are found again."""
    formats = [None, CsvFormat(), CsvFormat(decimal=","), CsvFormat(null="NA"), CsvFormat(skip_lines=1)]
    first, second, *others = [keyed(PLAIN, sources={"t": SourceFacts(source=None, csv=csv)}) for csv in formats]
    assert first == second == keyed(PLAIN)
    assert len({first, *others}) == 4


def test_names_of_automatic_statistics_make_no_difference():
    first, second = (key_of((name, Sum(AGE, AUTO)), (f"{name}2", CountRows())) for name in ("a", "b"))
    assert first == second
