"""Batches as analysts use them: one charge, one salt, answers that mean what they mean alone."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.session.desk import SURE
from tests.session.opened import CANARY, DATA, opened
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.errors import BudgetExceededError, NotPrivateError, ParameterError, ReservationError
from sfumato.ledger.core.entry import Committed, Reserved
from sfumato.privacy.guarantees import NO_GUARANTEE
from sfumato.query.planning import batch as planning
from sfumato.session.asking.batch import Batch

BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
MEANS = "SELECT sex, AVG(age) AS a, SUM(age) AS s FROM people GROUP BY sex"
ALL = "SELECT COUNT(*) AS n FROM people"
TOWN = pa.table(
    {
        "sex": ["f", "m", None, "f", "x", "m", "f"] * 3,
        "age": [1, 2, 3, None, 99, 2, 1] * 3,
        "smokes": [True, None, False, True, True, False, None] * 3,
        "born": ["2026-01-01", "2026-01-02", None, "2027-01-01", "2026-01-01", "2026-01-03", "2026-01-02"] * 3,
    }
)
COLUMNS = {
    "sex": sf.text(values=["m", "f"]), "age": sf.integer(1, 3), "smokes": sf.boolean(),
    "born": sf.date("2026-01-01", "2026-01-03"),
}  # fmt: skip
TABLES = [
    "SELECT sex, smokes, COUNT(*) AS n, SUM(age) AS s FROM town GROUP BY sex, smokes",
    "SELECT born, COUNT(*) AS n, COUNT(age) AS m, SUM(COUNT(*)) OVER (ORDER BY born) AS upto FROM town GROUP BY born",
    "SELECT age AS a, sex, COUNT(*) AS n FROM town GROUP BY age, sex",
    "SELECT sex, a, COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY sex ORDER BY a) AS u FROM later GROUP BY sex, a",
    "SELECT COUNT(*) AS n, SUM(age) AS s FROM town",
]
TABLES[3] = f"WITH later AS (SELECT sex, age + 1 AS a FROM town) {TABLES[3]}"
ALWAYS = pytest.mark.usefixtures("always")
BATCHES, MOST = (60, 16) if FULL_SIZE else (24, 10)
"""More than so many of 24 intervals of 95% miss once in 10^8 times, of 60 more seldom."""
UNSURE = {"epsilon": "0.5", "delta": "1e-6", "mechanism": "gaussian"}


def town(**changes):
    where = {"name": "town", "columns": COLUMNS, "budget": NO_GUARANTEE}
    return sf.open(TOWN, **(where | changes))


def values(release):
    """The rows of an answer without intervals, as floats where they are numbers."""
    return [
        {name: float(value) if type(value) in {int, float} else value for name, value in record.items()
         if not name.endswith(("_low", "_high"))}
        for record in release.records()
    ]  # fmt: skip


@pytest.fixture
def always(monkeypatch):
    """Everything that can be a workload is one."""
    monkeypatch.setattr(planning.Priced, "is_worth", lambda *_: True)


def events(session, kind):
    return [entry for entry in session._desk.ledger.entries() if isinstance(entry, kind)]


# What it costs


def test_a_batch_is_charged_once_whatever_it_asks():
    session = opened()
    answers = session.batch([BY_SEX, MEANS, ALL], epsilon="0.5")
    assert session.spent == sf.PureDP("0.5")
    assert len({answer.receipt.request for answer in answers}) == 1
    assert {answer.receipt.guarantee for answer in answers} == {sf.PureDP("0.5")}
    assert answers[0].receipt.question == f"{BY_SEX}; {MEANS}; {ALL}"


def test_its_cost_and_errors_are_known_before_and_free():
    session = opened()
    batch = session.queries([BY_SEX, ALL])
    assert batch.cost(epsilon="0.5") == sf.PureDP("0.5")
    (by_sex,), (total,) = batch.error(epsilon="0.5")
    assert by_sex.half_width < total.half_width < session.query(ALL).error(epsilon="0.25")[0].half_width
    assert "query         SELECT sex" in batch.explain(epsilon="0.5")
    assert session.spent == sf.PureDP(0)


def test_a_batch_beyond_the_budget_is_refused_as_a_whole():
    session = opened()
    with pytest.raises(BudgetExceededError):
        session.batch([BY_SEX, ALL], epsilon="1.5")
    assert session.spent == sf.PureDP(0)


def test_the_same_questions_in_any_order_are_the_same_batch():
    session = opened()
    first = session.batch([BY_SEX, ALL, MEANS], epsilon="0.5")
    again = session.batch([MEANS, BY_SEX, ALL], epsilon="0.5")
    assert session.spent == sf.PureDP("0.5")
    assert [one.estimates for one in again] == [first[place].estimates for place in (2, 0, 1)]
    assert all(one.reused for one in again)
    assert not any(one.reused for one in first)


def test_a_reworded_batch_is_free_and_another_price_is_not():
    session = opened()
    session.batch([BY_SEX, ALL], epsilon="0.25")
    session.batch(
        ["SELECT COUNT(*) FROM people", "SELECT sex AS s, COUNT(*) AS c FROM people GROUP BY 1"], epsilon="0.25"
    )
    assert session.spent == sf.PureDP("0.25")
    session.batch([BY_SEX, ALL], epsilon="0.5")
    assert session.spent == sf.PureDP("0.75")


@ALWAYS
def test_another_law_of_the_noise_is_another_batch():
    session = town(budget=sf.ApproxDP(9, "0.1"))
    for law in ("laplace", "gaussian"):
        session.queries(TABLES).release(epsilon=1, delta="1e-6", mechanism=law)
    assert session.spent.epsilon == 2


@ALWAYS
def test_a_workload_is_found_again_by_another_session(tmp_path):
    ledger = tmp_path / "ledger.db"
    with town(ledger=ledger) as first:
        answers = first.queries(TABLES).release(**UNSURE)
        spent = first.spent
    with town(ledger=ledger) as second:
        again = second.queries(TABLES).release(**UNSURE)
        assert second.spent == spent
    assert [one.estimates for one in again] == [one.estimates for one in answers]


def test_a_batch_with_a_key_is_charged_once_and_another_under_it_refused():
    session = opened()
    batch = session.queries([BY_SEX, ALL])
    first = batch.release(epsilon="0.25", idempotency_key="k")
    assert [one.reused for one in batch.release(epsilon="0.25", idempotency_key="k")] == [False, False]
    with pytest.raises(ReservationError):
        session.queries([ALL]).release(epsilon="0.25", idempotency_key="k")
    assert session.spent == sf.PureDP("0.25")
    assert [one.estimates for one in first] == [one.estimates for one in batch.release(epsilon="0.25")]


def test_the_ledger_has_one_reservation_with_all_events():
    session = town(budget=sf.ApproxDP(9, "0.1"))
    batch = session.queries(TABLES[:1] + TABLES[-1:])
    batch.release(epsilon=1)
    (reserved,) = events(session, Reserved)
    assert len(events(session, Committed)) == 1
    assert reserved.event == batch._prepared(1, 0, None)[0].plan.event


# What it means


@pytest.mark.parametrize("delta", [0, "0.001"])
@pytest.mark.parametrize("fitted", [False, True])
def test_answers_are_those_of_each_question_alone(monkeypatch, fitted, delta):
    """Values that no policy lists, NULL among them, are in totals and in no group, as they are alone."""
    monkeypatch.setattr(planning.Priced, "is_worth", lambda *_: fitted)
    batch = town().queries(TABLES)
    assert [one.is_fitted for one in batch._prepared(SURE, delta, None)[0].plan.sections] == [fitted] * len(TABLES)
    together = batch.release(epsilon=SURE, delta=delta)
    alone = [town().sql(one, epsilon=SURE, delta=delta) for one in TABLES]
    for one, other in zip(together, alone, strict=True):
        assert len(one) == len(other)
        for first, second in zip(values(one), values(other), strict=True):
            assert first == pytest.approx(second, abs=0.02)


def test_an_analyst_may_hand_over_questions_in_python():
    session = town()
    frame = session.table("town")
    by_sex = frame.group_by("sex").agg(n=sf.count())
    asked, total = session.batch([by_sex, "SELECT COUNT(*) AS n FROM town"], epsilon=SURE)
    assert [value.value for value in asked["n"]] == [6, 9]
    assert total["n"][0].value == 21


@ALWAYS
def test_all_statements_of_a_batch_see_one_salt():
    session = town()
    salts = []
    engine = session._desk.engine
    run = engine.run

    class Watched:
        def __getattr__(self, name):
            return getattr(engine, name)

        def run(self, statement, *, salt):
            salts.append(salt)
            return run(statement, salt=salt)

    object.__setattr__(session._desk, "engine", Watched())
    session.queries([*TABLES, "SELECT MEDIAN(age) AS m FROM town"]).release(**UNSURE)
    assert len(salts) > 2
    assert len(set(salts)) == 1


@ALWAYS
def test_fitted_numbers_agree_with_each_other():
    listed = "FROM town WHERE sex IN ('f', 'm')"
    by_both = f"SELECT sex, age, COUNT(*) AS n {listed} GROUP BY sex, age"
    by_age = f"SELECT age, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY age) AS upto {listed} GROUP BY age"
    session = town()
    both, ages = session.queries([by_both, by_age]).release(**UNSURE)
    for total, value in zip(np.cumsum([one.value for one in ages["n"]]), ages["upto"], strict=True):
        assert total == pytest.approx(value.value)
    assert str(both.to_arrow().schema.field("n").type) == "double"


@ALWAYS
def test_types_do_not_depend_on_what_was_released():
    session = town()
    schemas = {
        tuple(one.to_arrow().schema for one in session.queries(TABLES).release(epsilon=epsilon, delta="1e-6"))
        for epsilon in (1, 2)
    }
    assert len(schemas) == 1


@ALWAYS
def test_units_that_exceed_a_limit_are_bounded_once():
    """A unit of five rows counts for three in each table, and in the whole."""
    orders = pa.table({"who": [1] * 5 + [2], "kind": ["a", "b", "a", "b", "c", "a"], "day": [1, 2, 1, 2, 1, 1]})
    shop = sf.open(
        orders, name="orders", unit="who", limits=sf.Limits(max_rows_per_unit=3), budget=NO_GUARANTEE,
        columns={"who": sf.integer(), "kind": sf.text(values=["a", "b", "c"]), "day": sf.integer(1, 2)},
    )  # fmt: skip
    by_kind, by_day, total = shop.batch(
        ["SELECT kind, COUNT(*) AS n FROM orders GROUP BY kind", "SELECT day, COUNT(*) AS n FROM orders GROUP BY day",
         "SELECT COUNT(*) AS n FROM orders"], epsilon=SURE, delta="0.001",
    )  # fmt: skip
    for one in (by_kind, by_day, total):
        assert sum(value.value for value in one["n"]) == pytest.approx(4, abs=0.05)


@ALWAYS
@pytest.mark.statistical
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_intervals_hold_as_often_as_they_say(delta):
    """Of the last rows of all batches each interval misses some 5%; more come once in a million tests."""
    session = town()
    exact = [values(one) for one in session.batch(TABLES, epsilon=SURE)]
    misses = {}
    for _ in range(BATCHES):
        session = town()
        answers = session.queries(TABLES).release(epsilon="0.5", delta=delta)
        for place, (one, true) in enumerate(zip(answers, exact, strict=True)):
            record = one.records()[-1]
            for name in one.statistics:
                ends = record[f"{name}_low"], record[f"{name}_high"]
                misses.setdefault((place, name), []).append(not ends[0] <= true[-1][name] <= ends[1])
    for name, missed in misses.items():
        assert sum(missed) <= MOST, name


# What is refused


@pytest.mark.parametrize("none", [[], ()])
def test_a_batch_asks_something(none):
    with pytest.raises(ParameterError, match="at least one"):
        opened().queries(none)


@pytest.mark.parametrize("wrong", [{ALL: 1}, 5, [5]])
def test_only_questions_are_asked(wrong):
    with pytest.raises(ParameterError, match="questions"):
        opened().queries(wrong)


def test_one_text_may_hold_several_statements():
    session = opened()
    answers = session.batch(f"{BY_SEX}; SELECT COUNT(*) FILTER (WHERE sex = ';') AS n FROM people;", epsilon="0.5")
    assert [one.statistics for one in answers] == [("n",), ("n",)]
    assert session.spent == sf.PureDP("0.5")


@pytest.mark.parametrize("text", ["", ";", " ;; "])
def test_a_text_without_a_statement_is_refused(text):
    with pytest.raises(ParameterError, match=r"SELECT|at least one"):
        opened().queries(text)


def test_questions_of_another_session_are_refused():
    with pytest.raises(ParameterError, match="of one session"):
        opened().queries([ALL, opened().query(ALL)])


def test_questions_of_another_account_are_refused():
    session = opened()
    ann = session.open_account("ann", budget=sf.PureDP("0.5"))
    with pytest.raises(ParameterError, match="of one session"):
        session.queries([ALL, ann.query(ALL)])
    ann.batch([ALL, BY_SEX], epsilon="0.25")
    assert ann.spent == session.spent == sf.PureDP("0.25")


def test_a_statement_that_states_its_own_cost_is_refused():
    with pytest.raises(ParameterError, match="belongs to `sql`"):
        opened().batch(["SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) COUNT(*) FROM people"], epsilon=1)


def test_nothing_is_spent_if_one_question_cannot_be_answered():
    session = opened()
    with pytest.raises(NotPrivateError):
        session.batch([ALL, "SELECT name, COUNT(*) AS n FROM people GROUP BY name"], epsilon="0.5")
    assert session.spent == sf.PureDP(0)


def test_parts_of_a_partition_are_charged_in_parallel():
    session = opened(data=DATA)
    with session.partition("people", by="sex") as parts:
        for part in parts.values():
            part.batch([ALL, "SELECT SUM(age) AS s FROM people"], epsilon="0.5")
        with pytest.raises(ParameterError, match="part of a partition"):
            Batch([parts["f"].query(ALL), parts["m"].query(ALL)])
    assert session.spent == sf.PureDP("0.5")


def test_no_canary_is_in_anything_that_is_shown():
    session = opened()
    batch = session.queries([BY_SEX, ALL])
    assert CANARY not in f"{batch!r} {batch.explain(epsilon=1)} {batch.release(epsilon='0.5')}"


def test_a_confidence_is_checked_before_anything_is_spent():
    session = opened()
    with pytest.raises(ParameterError, match="confidence"):
        session.queries([ALL]).release(epsilon=1, confidence=2)
    assert session.spent == sf.PureDP(0)
    (wide,), (narrow,) = (session.queries([ALL]).error(epsilon=1, confidence=c)[0] for c in ("0.99", "0.5"))
    assert wide.half_width > narrow.half_width
    assert session.queries([ALL]).cost(epsilon=Fraction(1, 2)) == sf.PureDP("0.5")
