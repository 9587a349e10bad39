import gzip
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pandas as pd
import pyarrow as pa
import pytest
from tests.session.opened import CANARY, COLUMNS, COUNT, DATA, SURE, opened, recorded, shop, shop_policy

import sfumato as sf
from sfumato.engines.sources.sources import open_source
from sfumato.errors import (
    BudgetExceededError,
    EngineError,
    LedgerError,
    LedgerMissingError,
    NotPrivateError,
    ParameterError,
    PolicyError,
    SfumatoError,
    UnboundedSensitivityError,
    UnsupportedEventError,
)
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import Table

BAD_QUESTIONS = [
    # question, epsilon, delta, error, what the message says to do
    (COUNT.replace("people", "nobody"), "0.1", 0, ParameterError, "people"),
    ("SELECT COUNT(nosuch) FROM people", "0.1", 0, ParameterError, "age"),
    ("SELECT COUNT(*) FROM people WHERE nosuch > 1", "0.1", 0, ParameterError, "age"),
    ("SELEKT 1", "0.1", 0, SfumatoError, "SELECT|parse"),
    ("", "0.1", 0, ParameterError, "SELECT"),
    (COUNT, -1, 0, ParameterError, "0 or more"),
    (COUNT, "-0.1", 0, ParameterError, "0 or more"),
    (COUNT, math.nan, 0, ParameterError, "finite"),
    (COUNT, math.inf, 0, ParameterError, "NO_GUARANTEE"),
    (COUNT, "inf", 0, ParameterError, "NO_GUARANTEE"),
    (COUNT, True, 0, ParameterError, "number"),
    (COUNT, None, 0, ParameterError, "give either epsilon=1 or"),
    (COUNT, "much", 0, ParameterError, "finite"),
    (COUNT, "1e-999999", 0, ParameterError, "finite"),
    ("SELECT SUM(pay) FROM people", "1e-15", 0, ParameterError, "scale"),
    (COUNT, "1e-300", 0, ParameterError, "decimal"),
    (COUNT, Fraction(1, 3), 0, ParameterError, "decimal"),
    (COUNT, "1_0", 0, ParameterError, "finite"),
    (COUNT, "١", 0, ParameterError, "finite"),
    (COUNT, "0.1", 1, ParameterError, "below 1"),
    (COUNT, "0.1", "1.5", ParameterError, "below 1"),
    (COUNT, "0.1", -1, ParameterError, "0 or more"),
    (COUNT, "0.1", math.nan, ParameterError, "finite"),
    ("SELECT SUM(free) FROM people", "0.1", 0, UnboundedSensitivityError, "bounds"),
    ("SELECT AVG(free) FROM people", "0.1", 0, UnboundedSensitivityError, "bounds"),
    ("SELECT SUM(sex) FROM people", "0.1", 0, ParameterError, "number"),
    ("SELECT free, COUNT(*) FROM people GROUP BY free", "0.1", 0, NotPrivateError, "public keys"),
    ("SELECT name, COUNT(*) FROM people GROUP BY name", "0.1", 0, NotPrivateError, "public keys"),
    ("SELECT age FROM people", "0.1", 0, NotPrivateError, "GROUP BY"),
    (COUNT, "1.01", 0, BudgetExceededError, "Lower epsilon"),
]


@pytest.mark.parametrize(("sql", "epsilon", "delta", "error", "advice"), BAD_QUESTIONS)
def test_a_bad_question_is_refused_before_data_is_touched_and_costs_nothing(sql, epsilon, delta, error, advice):
    session, engine = recorded(opened())
    with pytest.raises(error, match=advice) as caught:
        session.sql(sql, epsilon=epsilon, delta=delta)
    assert CANARY not in str(caught.value)
    assert engine.statements == []
    assert session.spent == sf.PureDP(0)


def limited(**limits):
    return {"unit": "name", "limits": sf.Limits(**limits)}


BAD_OPENINGS = [
    ({"data": "nowhere.csv"}, ParameterError, "existing file"),
    ({"data": 7}, ParameterError, "path, or an Arrow"),
    ({"data": DATA, "name": None}, ParameterError, "must name the table"),
    ({"columns": {"nosuch": sf.integer()}}, ParameterError, "nosuch"),
    ({"columns": {"age": sf.integer(), "AGE": sf.integer()}}, ParameterError, "case"),
    ({"data": pa.table({"age": [1], "AGE": [2]}), "columns": {"age": sf.integer()}}, ParameterError, "case"),
    ({"unit": "nosuch", "limits": sf.Limits(max_rows_per_unit=1)}, ParameterError, "nosuch"),
    ({"unit": "name"}, UnboundedSensitivityError, "max_rows_per_unit"),
    ({"unit": "pay", "limits": sf.Limits(max_rows_per_unit=1)}, ParameterError, "text or whole"),
    ({"limits": sf.Limits(max_rows_per_unit=1)}, ParameterError, "unit column"),
    ({"engine": "oracle"}, ParameterError, "duckdb, reference"),
    ({"engine_options": {"nosuch": 1}}, ParameterError, "not an option of duckdb"),
    ({"matches": {"nosuch": 1}}, ParameterError, "public table|column of people"),
    ({"matches": {"age": 1}}, ParameterError, "unit column"),
    (limited(max_rows_per_unit=1) | {"matches": {("age", "age"): 1}}, ParameterError, "each once"),
    ({"ledger": "mysql://x"}, ParameterError, "sqlite"),
    ({"ledger": "postgresql://x"}, ParameterError, "SFUMATO_LEDGER_FOLDER"),
]


@pytest.mark.parametrize(("changes", "error", "advice"), BAD_OPENINGS)
def test_a_bad_declaration_is_refused_when_the_session_is_opened(changes, error, advice):
    with pytest.raises(error, match=advice) as caught:
        opened(**changes)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("declared", "error", "advice"),
    [
        (lambda: sf.integer(5, 1), ParameterError, "below"),
        (lambda: sf.integer(5, 5), ParameterError, "below"),
        (lambda: sf.integer(5), ParameterError, "both"),
        (lambda: sf.real(0, "nan"), ParameterError, "finite"),
        (lambda: sf.real(0, 1, resolution=0), ParameterError, "above 0"),
        (lambda: sf.Limits(max_rows_per_unit=0), ParameterError, "at least 1"),
        (lambda: sf.PureDP(-1), ParameterError, "0 or more"),
        (lambda: sf.PureDP(math.inf), ParameterError, "NO_GUARANTEE"),
        (lambda: sf.ApproxDP(1, 1), ParameterError, "below 1"),
        (lambda: sf.Session("nowhere.toml", budget=sf.PureDP(1)), ParameterError, "TOML"),
    ],
)
def test_a_bad_fact_is_refused_at_once(declared, error, advice):
    with pytest.raises(error, match=advice):
        declared()


@pytest.mark.parametrize("cut", [0, 1_000])
def test_a_file_that_is_no_ledger_is_refused(tmp_path, cut):
    path = tmp_path / "ledger.db"
    opened(ledger=path).close()
    path.write_bytes(path.read_bytes()[:cut] + b"this is no ledger" * 500)
    with pytest.raises(LedgerError, match="restore a good copy"):
        opened(ledger=path)


def test_a_policy_that_says_something_impossible_is_refused(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text("version = 1", "utf-8")
    with pytest.raises(PolicyError, match="policy, at"):
        sf.Session(path, budget=sf.PureDP(1))


def test_a_float_is_taken_by_its_shortest_decimal():
    session = opened()
    session.sql(COUNT, epsilon=0.1)
    assert session.spent == sf.PureDP(Fraction(1, 10))


def test_ten_tenths_are_exactly_one_and_nothing_is_left():
    session = opened()
    for age in range(10):
        session.sql(
            f"SELECT COUNT(*) AS n FROM people WHERE age > {age}", epsilon=[0.1, "0.1", Decimal("0.1")][age % 3]
        )
    assert (session.spent, session.remaining) == (session.budget, sf.PureDP(0))
    with pytest.raises(BudgetExceededError):
        session.sql("SELECT COUNT(*) FROM people WHERE age > 99", epsilon="1e-9")


def test_a_refused_question_leaves_the_budget_to_the_next():
    session, engine = recorded(opened())
    with pytest.raises(BudgetExceededError):
        session.sql(COUNT, epsilon=2)
    session.sql(COUNT, epsilon=1)
    assert len(engine.statements) == 1


def test_an_empty_table_is_answered_with_noise_at_the_normal_price():
    session = opened(DATA.slice(0, 0))
    release = session.sql("SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY sex", epsilon="0.5")
    assert (len(release), session.spent) == (2, sf.PureDP("0.5"))


def test_two_sessions_on_one_ledger_share_one_account(tmp_path):
    ledger = tmp_path / "ledger.db"
    with opened(ledger=ledger) as first, opened(ledger=f"sqlite:///{ledger}") as second:
        first.sql(COUNT, epsilon="0.7")
        assert second.spent == sf.PureDP("0.7")
        with pytest.raises(BudgetExceededError):
            second.sql("SELECT SUM(age) FROM people", epsilon="0.4")
        assert second.sql(COUNT, epsilon="0.7").reused
    with opened(ledger=ledger) as third:
        assert third.remaining == sf.PureDP("0.3")


@pytest.mark.parametrize(
    "changed", [{"budget": sf.PureDP(2)}, {"neighboring_relation": sf.REPLACE_ONE}, limited(max_rows_per_unit=1)]
)
def test_a_session_with_another_promise_cannot_use_the_account(tmp_path, changed):
    opened(ledger=tmp_path / "ledger.db").close()
    with pytest.raises(LedgerError, match="was opened with"):
        opened(ledger=tmp_path / "ledger.db", **changed)


WIDE = Table(
    name="t", unit=UnitColumn("u"), limits=sf.Limits(max_rows_per_unit=20, max_rows_per_group_per_unit=1),
    columns={"u": sf.text(), "k": sf.integer(values=range(40))},
)  # fmt: skip
HISTOGRAM = "SELECT k, COUNT(*) AS n FROM t GROUP BY k"


def wide(budget):
    data = pa.table({"u": ["a", "b"], "k": [3, 4]})
    return opened(
        data, name="t", columns=WIDE.columns, unit=WIDE.unit, limits=WIDE.limits, budget=budget
    )  # fmt: skip


def test_with_delta_the_gaussian_is_taken_where_it_errs_less_and_the_charge_carries_delta():
    session = wide(sf.ApproxDP(1, "1e-6"))
    question = session.query(HISTOGRAM)
    pure, approximate = (question.error(epsilon=1, delta=delta)[0].half_width for delta in (0, "1e-6"))
    assert approximate < 0.8 * pure
    question.release(epsilon=1, delta="1e-6")
    assert session.spent == sf.ApproxDP(1, "1e-6")


def test_a_pure_budget_refuses_a_charge_with_delta_and_says_why():
    session, engine = recorded(wide(sf.PureDP(2)))
    with pytest.raises(UnsupportedEventError, match="no δ"):
        session.sql(HISTOGRAM, epsilon=1, delta="1e-6")
    assert (engine.statements, session.spent) == ([], sf.PureDP(0))


def test_delta_that_no_column_takes_is_not_charged():
    session = opened()
    assert session.query(COUNT).cost(epsilon="0.5", delta="1e-9") == sf.PureDP("0.5")


def test_no_guarantee_is_a_budget_by_name_that_still_counts():
    session = opened(budget=sf.NO_GUARANTEE)
    session.sql(COUNT, epsilon=1_000)
    assert (session.spent, session.remaining) == (sf.PureDP(1_000), sf.NO_GUARANTEE)


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_nothing_private_is_shown_anywhere(engine):
    session = opened(engine=engine)
    question = session.query("SELECT sex, COUNT(*) AS n, SUM(age) AS s, AVG(pay) AS m FROM people GROUP BY sex")
    release = question.release(epsilon="0.5")
    shown = [repr(session), repr(question), question.explain(), repr(question.error(epsilon=1)), repr(release)]
    shown += [
        release._repr_html_(),
        release.receipt.to_json(),
        repr(release.receipt),
        repr(session._desk),
        repr(session.policy),
    ]
    shown += [repr(open_source(DATA)), repr(session.table())]
    assert [text for text in shown if CANARY in text or "31415926" in text] == []


def test_a_session_says_what_it_has_spent_and_whether_that_lasts(tmp_path):
    assert repr(opened()) == (
        "<Session on people: spent ε 0 of ε 1, remaining ε 1 (no ledger file: forgotten on exit)>"
    )  # fmt: skip
    with opened(ledger=tmp_path / "ledger.db") as session:
        assert repr(session) == "<Session on people: spent ε 0 of ε 1, remaining ε 1>"


def test_a_unit_column_that_is_not_declared_is_text():
    columns = {"age": COLUMNS["age"]}
    session = opened(columns=columns, **limited(max_rows_per_unit=1))
    assert session.policy.unit_name == "name"
    assert session.query(COUNT).cost(epsilon=1) == sf.PureDP(1)


def test_a_csv_file_is_called_by_its_stem(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("sex,age\nm,3\n", "utf-8")
    session = sf.open(path, columns={"age": COLUMNS["age"]}, budget=sf.PureDP(1))
    assert session.sql(COUNT, epsilon=1).statistics == ("n",)


def test_the_source_of_a_closed_session_answers_no_more():
    with opened() as session:
        pass
    with pytest.raises((EngineError, LedgerError)):
        session.sql(COUNT, epsilon="0.1")


def test_a_pandas_frame_with_any_objects_is_opened_without_an_error():
    frame = pd.DataFrame({"age": pd.Series([1, "x", None, {"a": 1}, "\ud800", float("nan")], dtype=object)})
    session = opened(frame, columns={"age": COLUMNS["age"]})
    assert len(session.sql(COUNT, epsilon=1)) == 1


def answered(session, sql):
    """The rows of an answer without its intervals."""
    release = session.sql(sql, epsilon=SURE)
    values = zip(*(release[name] for name in release.statistics), strict=True)
    return {group: tuple(e.value for e in row) for group, row in zip(release.groups, values, strict=True)}


OF_CUSTOMERS = "SELECT COUNT(*) AS n FROM orders AS o JOIN customers AS c ON o.customer = c.customer WHERE nation = 'x'"
OF_REGIONS = "SELECT region, SUM(amount) AS a FROM lines JOIN nations ON nation = code GROUP BY region"
OF_NATIONS = "SELECT nation, COUNT(*) AS n, SUM(amount) AS a FROM lines GROUP BY nation"


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
@pytest.mark.parametrize(
    ("sql", "expected"),
    [  # order 30 is there twice and counts once; the line of an order that nobody made is nobody's
        ("SELECT COUNT(*) AS n FROM orders", {(): (4,)}),
        (OF_CUSTOMERS, {(): (3,)}),
        (OF_NATIONS, {("x",): (2, 4), ("y",): (3, 11)}),
        (OF_REGIONS, {("east",): (4,), ("west",): (11,)}),
    ],
)
def test_several_tables_are_about_the_same_people(engine, sql, expected):
    with shop(engine=engine) as session:
        assert answered(session, sql) == expected


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_keys_are_taken_from_a_public_table(engine):
    with shop(engine=engine) as session:
        assert session.policy.tables["lines"].column("nation") == sf.text(values=["x", "y"])
        sources = dict(session.policy.sources)
    sources["nations"] = replace(sources["nations"], source=sources["nations"].source.slice(0, 0))
    with pytest.raises(PolicyError, match="at least one key"):
        shop(engine=engine, sources=sources)


def test_a_view_is_asked_like_a_table_in_sql_and_in_python():
    views = {
        "busy": "SELECT customer, COUNT(*) AS orders FROM orders GROUP BY customer",
        "busiest": "SELECT customer FROM busy WHERE orders > 1",
    }
    with shop(views=views) as session:
        assert answered(session, "SELECT COUNT(*) AS n FROM busiest") == {(): (1,)}
        release = session.table("busy").agg(mean=sf.mean("orders", bounds=(0, 10))).release(epsilon=SURE)
        assert release["mean"][0].value == pytest.approx(4 / 3, abs=0.01)


def test_what_is_public_is_free():
    with shop(budget=sf.PureDP(1)) as session:
        assert answered(session, "SELECT COUNT(*) AS n FROM nations") == {(): (2,)}
        assert session.spent == sf.PureDP(0)


def test_a_view_that_means_nothing_is_refused_before_an_account_is_opened(tmp_path):
    session = shop(budget=sf.PureDP(1))
    policy = replace(session.policy, views={"broken": "SELECT nosuch FROM orders"})
    with pytest.raises(PolicyError, match="nosuch"):
        sf.Session(policy, budget=sf.PureDP(2), ledger=tmp_path / "ledger.db")
    sf.Session(session.policy, budget=sf.PureDP(1), ledger=tmp_path / "ledger.db").close()


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
@pytest.mark.parametrize(("matches", "count"), [(None, 4), ({"day": 1}, 3), ({("day",): 2}, 4), ({("day", "k"): 1}, 4)])
def test_no_more_matches_than_declared_are_read(engine, matches, count):
    data = pa.table({"u": ["a", "a", "a", "b"], "day": [1, 1, 2, 1], "k": [1, 2, 3, 4]})
    facts = {"columns": {"day": sf.integer(), "k": sf.integer()}, "unit": "u", "limits": sf.Limits(max_rows_per_unit=9)}
    with opened(data, engine=engine, matches=matches, budget=sf.NO_GUARANTEE, **facts) as session:
        assert answered(session, COUNT) == {(): (count,)}


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_answers_are_the_same_from_prepared_tables_and_the_owner_hears_what_breaks_the_claims(engine):
    with shop(engine=engine) as session:
        preparation = session.prepare()
        counts = {name: list(claims.values()) for name, claims in preparation.violations.items()}
        assert counts == {"lines": [1], "orders": [0, 1], "customers": [1], "nations": [1]}
        assert answered(session, OF_NATIONS) == {("x",): (2, 4), ("y",): (3, 11)}
        assert answered(session, OF_CUSTOMERS) == {(): (3,)}


def test_one_table_is_prepared_by_its_name():
    with shop() as session:
        assert list(session.prepare("nations").violations) == ["nations"]
        with pytest.raises(ParameterError, match="lines, orders, customers, nations"):
            session.prepare("nosuch")


def test_a_ledger_that_has_to_be_there_is_not_made(tmp_path):
    path = tmp_path / "ledger.db"
    with pytest.raises(LedgerMissingError, match="does not exist"):
        opened(ledger=sf.ExistingLedger(path))
    with pytest.raises(LedgerMissingError, match="does not exist"):
        sf.Session(shop_policy(), budget=sf.PureDP(1), ledger=path, must_exist=True)
    assert not path.exists()
    opened(ledger=path).close()
    opened(ledger=sf.ExistingLedger(path)).close()
    sf.Session(shop_policy(), budget=sf.PureDP(1), ledger=path, must_exist=True).close()


@pytest.mark.parametrize("ledger", [None, "memory:"])
def test_what_goes_with_the_process_cannot_be_there_already(ledger):
    with pytest.raises(ParameterError, match="exists only in its process"):
        opened(ledger=sf.ExistingLedger(ledger))


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
@pytest.mark.parametrize("name", ["visits.csv", "visits.csv.gz", "visits.CSV.GZ", "visits.gz"])
def test_a_file_as_people_have_it_is_a_table_of_its_name(tmp_path, engine, name):
    written = "Patient;Tag;Kosten\n" + "".join(f"p{i};{1 + i}.5.2026;{i}.000,5\n" for i in range(9))
    data = written.encode("utf-16")
    (tmp_path / name).write_bytes(gzip.compress(data) if name.lower().endswith("gz") else data)
    file = sf.csv(tmp_path / name, delimiter=";", encoding="utf-16", decimal=",", thousands=".", dates="%d.%m.%Y")
    columns = {"Kosten": sf.real(0, 9_999), "Tag": sf.date()}
    with sf.open(file, columns=columns, budget=sf.NO_GUARANTEE, engine=engine) as session:
        sql = "SELECT SUM(Kosten) AS sum, COUNT(*) AS n FROM visits WHERE Tag >= DATE '2026-05-05'"
        (record,) = session.sql(sql, epsilon=10**6).records()
    assert record["n"] == 5
    assert record["sum"] == pytest.approx(30_002.5, abs=1)  # 50 times the scale of the noise
