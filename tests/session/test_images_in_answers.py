"""Public keys that are computed, and dates between bounds, in answers; and answers that were bought before that."""

import datetime as dt
from fractions import Fraction

import pyarrow as pa
import pytest
from tests.query.planned import N, relation_of
from tests.session.desk import SURE, answers, asked, charge, desk, rows

import sfumato as sf
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.model.expressions import Call, ColumnRef, Literal
from sfumato.query.model.facts import Edition
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Select
from sfumato.query.model.schema import Table, date, integer, text, timestamp
from sfumato.query.planning.plan import compile_plan
from sfumato.query.planning.questions import by_first_rules, presented
from sfumato.query.printing.canonical import question_hash, question_text
from sfumato.query.statistics.histograms import histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import median
from sfumato.session.asking.answer_key import answer_key
from sfumato.session.asking.execution import execute
from sfumato.session.asking.planning import Prepared

TABLE = Table(
    name="t",
    columns={
        "age": integer(0, 120), "sex": text(values=["m", "f"], max_length=9), "few": integer(values=[1, 2, 16]),
        "d": date("2026-01-30", "2026-03-02"), "t": timestamp("2026-01-31 22:00", "2026-02-01 01:59"),
    },
)  # fmt: skip
TEN = Literal(Fraction(10))
DECADE = Call(Function.MULTIPLY, (Call(Function.DIVIDE, (ColumnRef("age"), TEN)), TEN))
DECADES = Select(relation_of(TABLE), (("k", DECADE), ("sex", ColumnRef("sex"))))
SEXES = Select(relation_of(TABLE), (("k", Call(Function.UPPER, (ColumnRef("sex"),))),))
MONTHS = Select(relation_of(TABLE), (("k", Call(Function.TRUNCATE, (ColumnRef("d"), Literal("month")))),))
BY_K = {"statistics": (N,), "keys": ("k",)}
DATABASES = {
    "nobody": rows(TABLE),
    "one person": rows(TABLE, {"age": 37, "sex": "f", "d": dt.date(2026, 2, 28)}),
    "people beyond all bounds": rows(
        TABLE, {"age": 999, "sex": "FF", "d": dt.date.min}, {"age": -70, "sex": "é", "d": dt.date.max}, {}
    ),
}


@pytest.mark.parametrize("name", DATABASES)
@pytest.mark.parametrize(
    ("child", "keys"),
    [
        (DECADES, tuple(range(0, 121, 10))),
        (SEXES, ("M", "F")),
        (MONTHS, tuple(dt.date(2026, month, 1) for month in (1, 2, 3))),
    ],
)
def test_an_answer_has_the_groups_of_the_image_and_no_others_whatever_is_stored(name, child, keys):
    curator = desk((TABLE, DATABASES[name]))
    found = asked(curator, child, **BY_K).release(epsilon=SURE)
    assert tuple(key for (key,) in found.groups) == keys
    assert sum(one.value for one in found["n"]) == (name == "one person")


def test_a_computed_key_needs_no_delta():
    assert asked(desk((TABLE, rows(TABLE))), SEXES, **BY_K).cost(epsilon=1) == sf.PureDP(1)


def test_numbers_with_public_keys_are_summed_between_the_least_and_the_greatest():
    data = rows(TABLE, {"few": 16}, {"few": 2}, {"few": 900}, {"few": -5}, {})
    few = ColumnRef("few")
    (record,) = answers(TABLE, data, (("s", Sum(few)), ("a", Mean(few))))
    assert record["s"] == 16 + 2 + 16 + 1
    assert record["a"] == pytest.approx(35 / 4, abs=0.01)


def test_dates_have_medians_and_histograms_in_their_own_kind():
    data = rows(TABLE, *({"d": day, "t": dt.datetime.combine(day, dt.time(1))} for day in DAYS))
    edges = (dt.date(2026, 1, 30), dt.date(2026, 2, 1), dt.date(2026, 3, 2))
    question = asked(
        desk((TABLE, data)), TABLE,
        statistics=(("m", median("d", interval=True)), ("t", median("t")), ("h", histogram("d", edges=edges))),
    )  # fmt: skip
    found = question.release(epsilon=SURE)
    (record,) = found.records()
    assert record["m_low"] <= record["m"] == dt.date(2026, 2, 10) <= record["m_high"]
    assert record["t"] == dt.datetime.fromisoformat("2026-02-01 01:59")  # the upper bound
    assert (record["h_1"], record["h_2"]) == (2, 3)
    schema = found.to_arrow().schema
    assert [schema.field(name).type for name in ("m", "m_low", "t")] == [pa.date32(), pa.date32(), pa.timestamp("us")]
    assert f"2026-02-10 ({record['m_low']} to {record['m_high']})" in repr(found)


DAYS = [dt.date(2026, 1, 30), dt.date(2026, 1, 31), dt.date(2026, 2, 10), dt.date(2026, 2, 20), dt.date(2026, 3, 1)]


def bought(curator, question, *, epsilon, delta=0):
    """Have the answer to a question stored as the first version of the package planned it."""
    plan = compile_plan(
        by_first_rules(question), guarantee(epsilon, delta), neighboring_relation=ADD_OR_REMOVE_ONE,
        edition=Edition.FIRST,
    )  # fmt: skip
    written = question_text(plan.question)
    key = answer_key(curator.policy, plan, written, curator.declared)
    before = Prepared(plan=plan, text="before", question=question_hash(written), key=key, part=None)
    return execute(curator, charge(curator, before))


@pytest.mark.parametrize(
    ("child", "options", "delta", "count"),
    [
        (DECADES, {}, 0, 121),
        (SEXES, {}, "1e-6", 0),
        (DECADES, {"keys": ("k", "sex"), "sets": (("k",), ("k", "sex")), "consistent": True}, 0, 121 * 3),
    ],
)
def test_an_answer_that_was_bought_by_the_first_rules_is_found_and_costs_nothing(child, options, delta, count):
    curator = desk((TABLE, rows(TABLE, {"age": 37, "sex": "f"})), budget=sf.ApproxDP(10, "1e-5"))
    clauses = BY_K | options
    bought(curator, presented(child, **clauses), epsilon=1, delta=delta)
    spent = curator.ledger.spent("test")
    again = asked(curator, child, **clauses).release(epsilon=1, delta=delta)
    assert again.reused
    assert curator.ledger.spent("test") == spent
    assert len(again) == count
    assert asked(curator, child, **clauses).release(epsilon=1, delta=delta).records() == again.records()


def test_at_another_cost_it_is_planned_by_the_latest_rules():
    curator = desk((TABLE, rows(TABLE)), budget=sf.PureDP(10))
    bought(curator, presented(DECADES, **BY_K), epsilon=1)
    assert len(asked(curator, DECADES, **BY_K).release(epsilon=2)) == 13
    assert curator.ledger.spent("test") == sf.PureDP(3)


def test_of_two_answers_the_one_by_the_latest_rules_is_returned():
    curator = desk((TABLE, rows(TABLE)), budget=sf.PureDP(10))
    assert len(asked(curator, DECADES, **BY_K).release(epsilon=1)) == 13
    bought(curator, presented(DECADES, **BY_K), epsilon=1)
    assert len(asked(curator, DECADES, **BY_K).release(epsilon=1)) == 13


def test_what_the_first_rules_refused_is_asked_by_the_latest_ones():
    curator = desk((TABLE, rows(TABLE)), budget=sf.PureDP(10))
    found = asked(curator, SEXES, **BY_K).release(epsilon=1)
    assert (found.reused, len(found)) == (False, 2)
