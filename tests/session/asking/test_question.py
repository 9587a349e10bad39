"""A question to a desk: free to plan, paid once, and the same again is the same answer."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from tests.query.planned import PEOPLE, VISITS, N, ref, relation_of
from tests.session.desk import SURE, asked, desk, rows, values
from tests.session.opened import RecordingEngine

import sfumato as sf
from sfumato.errors import BudgetExceededError, NotPrivateError, ParameterError
from sfumato.privacy.neighbors import REPLACE_ONE, UnitColumn
from sfumato.query.model.expressions import Call, Compare, Comparison, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Filter, Grouped, PeoplePart
from sfumato.query.model.schema import Limits, Table, integer
from sfumato.query.model.statement import AUTO
from sfumato.query.planning.windows import OrderKey
from sfumato.query.statistics.counts import CountDistinct, CountUnits, CountValues
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.variances import Variance
from sfumato.query.statistics.vectors import VectorSum
from sfumato.session.asking.execution import Desk

AGE = ref("age")
DATA = rows(PEOPLE, {"sex": "f", "age": 30}, {"sex": "m", "age": 50}, {"sex": "m", "age": 40}, {"sex": "x", "age": 200})
GROUPED = (N, ("m", Mean(AGE)))


def recorded(**changes):
    """A desk with an engine that keeps what it is asked."""
    plain = desk((PEOPLE, DATA), **({"budget": sf.PureDP(1)} | changes))
    engine = RecordingEngine(plain.engine)
    return Desk(policy=plain.policy, engine=engine, ledger=plain.ledger, account=plain.account), engine


def ask(*statistics, curator=None, **clauses):
    return asked(curator or recorded()[0], PEOPLE, statistics=statistics or (N,), **clauses)


def spent(curator):
    return curator.ledger.spent("test")


def test_cost_error_and_explain_touch_no_data_and_spend_nothing():
    curator, engine = recorded()
    question = ask(*GROUPED, curator=curator, keys=("sex",))
    assert question.cost(epsilon=0.5) == sf.PureDP("0.5")
    assert [forecast.column for forecast in question.error(epsilon="0.5")] == ["n", "m"]
    assert "ε 0.5, charged before data is read" in question.explain(epsilon="0.5")
    assert question.epsilon_for({"n": 10}) > 0
    assert (engine.statements, spent(curator)) == ([], sf.PureDP(0))


def test_explain_says_what_will_run_for_each_statement():
    with sf.open(DATA, name="people", columns=PEOPLE.columns, budget=sf.PureDP(1)) as people:
        question = people.query("SELECT COUNT(*) AS n, MEDIAN(age) AS m FROM people WHERE age > 30")
        explained = question.explain(sql=True)
        assert explained.startswith(question.explain())
        assert explained.count("SQL           for duckdb:\nSELECT") == 2
        assert people.spent == sf.PureDP(0)
    assert ask(curator=desk((PEOPLE, DATA))).explain(sql=True).endswith("SQL           for reference:\nnone")


def test_the_price_is_what_is_asked_hidden_counts_included():
    curator, _ = recorded()
    question = ask(("a", Mean(AGE)), ("p", Mean(ref("pay"))), N, curator=curator)
    release = question.release(epsilon="0.9")
    assert release.receipt.guarantee == question.cost(epsilon="0.9") == spent(curator) == sf.PureDP("0.9")
    assert len(release.receipt.event.events) == 5


def test_a_question_does_not_know_its_answer_and_can_be_asked_again():
    curator, engine = recorded()
    question = ask(*GROUPED, curator=curator, keys=("sex",))
    first, second = question.release(epsilon="0.5"), question.release(epsilon="0.5")
    assert (first["n"], second.reused, first.reused) == (second["n"], True, False)
    assert (len(engine.statements), spent(curator)) == (1, sf.PureDP("0.5"))


def test_another_way_to_show_an_answer_is_free():
    curator, engine = recorded()
    first = ask(curator=curator, keys=("sex",)).release(epsilon="0.5")
    shares = (("who", ref("sex")), ("twice", Call(Function.MULTIPLY, (ref("k"), Literal(Fraction(2))))))
    clauses = {"labels": ("sex",), "columns": shares, "order": (OrderKey(ref("sex"), descending=True),), "limit": 1}
    second = ask(("k", N[1]), curator=curator, keys=("sex",), **clauses).release(epsilon="0.5")
    assert second.groups == (("m",),)
    assert second["twice"][0].value == 2 * first["n"][1].value
    assert (second.reused, len(engine.statements), spent(curator)) == (True, 1, sf.PureDP("0.5"))


def test_answers_of_one_row_agree_with_each_other():
    """They are made of the same noisy numbers; a mean alone is kept within its bounds."""
    kids, data = ref("kids"), rows(PEOPLE, *[{"sex": "f", "kids": i % 5} for i in range(300)])
    statistics = (
        N, ("c", CountValues(kids)), ("s", Sum(kids)), ("m", Mean(kids)), ("v", Variance(kids)),
        ("d", Variance(kids, root=True)), ("again", Sum(kids)),
    )  # fmt: skip
    curator = desk((PEOPLE, data), budget=sf.PureDP(100))
    for epsilon in ("0.5", 1, 2, 3):
        (record,) = asked(curator, PEOPLE, statistics=statistics).release(epsilon=epsilon).records()
        assert record["n"] == record["c"]
        assert record["s"] == record["again"]
        assert record["m"] == pytest.approx(min(max(record["s"] / record["n"], 0), 9))
        assert record["d"] ** 2 == pytest.approx(record["v"])


def test_a_stored_answer_is_given_also_when_nothing_is_left_and_says_what_is_left_now():
    curator, _ = recorded()
    ask(curator=curator).release(epsilon="0.5")
    ask(("s", Sum(AGE)), curator=curator).release(epsilon="0.5")
    again = ask(curator=curator).release(epsilon="0.5")
    assert (again.reused, again.receipt.remaining) == (True, sf.PureDP(0))
    with pytest.raises(BudgetExceededError):
        ask(curator=curator).release(epsilon="0.4")


def test_chosen_bounds_are_stored_with_the_answer():
    curator, engine = recorded(budget=sf.NO_GUARANTEE)
    question = ask(("m", Mean(AGE, AUTO)), curator=curator)
    first, second = question.release(epsilon=10), question.release(epsilon=10)
    assert (first["m"], first.notes) == (second["m"], second.notes)
    assert len(engine.statements) == 2


def test_a_wider_confidence_has_a_wider_interval_of_the_same_answer():
    question = ask()
    narrow, wide = (question.release(epsilon="0.5", confidence=c)["n"][0] for c in (0.5, 0.999))
    assert narrow.value == wide.value
    assert narrow.half_width < wide.half_width


def test_an_error_may_be_asked_for_instead_of_a_price():
    question = ask(*GROUPED)
    release = question.release(error={"n": 50})
    assert release["n"][0].half_width <= 50
    assert release.receipt.guarantee.epsilon == question.epsilon_for({"n": 50})


@pytest.mark.parametrize("prices", [{}, {"epsilon": 1, "error": {"n": 5}}])
def test_a_price_is_stated_just_once(prices):
    curator, engine = recorded()
    with pytest.raises(ParameterError, match="give either epsilon=1 or"):
        ask(curator=curator).release(**prices)
    assert (engine.statements, spent(curator)) == ([], sf.PureDP(0))


def test_under_replace_one_the_number_of_records_is_public():
    table = Table(name="t", columns={"v": integer()}, keeps_rows=True)
    curator = desk((table, rows(table, {}, {}, {})), relation=REPLACE_ONE, budget=sf.PureDP(1))
    release = asked(curator, table, statistics=(N,)).release(epsilon="0.5")
    assert (release["n"][0].value, release["n"][0].half_width, spent(curator)) == (3, 0, sf.PureDP(0))


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, float("nan"), "nan", "much", Decimal("1e-500"), True])
def test_a_bad_confidence_costs_nothing(confidence):
    curator, engine = recorded()
    question = ask(("a", Mean(AGE)), curator=curator)
    for use in (question.release, question.error):
        with pytest.raises(ParameterError, match="confidence"):
            use(epsilon="0.1", confidence=confidence)
    assert (engine.statements, spent(curator)) == ([], sf.PureDP(0))


@pytest.mark.parametrize("confidence", [np.float64(0.95), "0.95", Fraction(19, 20), 1 - 2**-53])
def test_a_confidence_is_any_number_between(confidence):
    release = ask(("a", Mean(AGE))).release(epsilon="0.1", confidence=confidence)
    assert release.confidence == float(confidence)


def test_totals_that_do_not_add_up_are_refused_before_anything_is_spent():
    curator, engine = recorded()
    with pytest.raises(ParameterError, match="do not add up"):
        ask(("m", Mean(AGE)), curator=curator, keys=("sex",), sets=(("sex",), ()), consistent=True)
    assert (engine.statements, spent(curator)) == ([], sf.PureDP(0))


def test_delta_buys_less_noise_for_many_groups():
    table = Table(
        name="t", columns={"u": integer(), "k": integer(values=range(200))}, unit=UnitColumn("u"),
        limits=Limits(max_rows_per_unit=100, max_rows_per_group_per_unit=1),
    )  # fmt: skip
    question = asked(desk((table, rows(table))), table, keys=("k",), statistics=(N, ("d", CountUnits())))
    plain, with_delta = question.error(epsilon=1), question.error(epsilon=1, delta="1e-6")
    assert with_delta[0].half_width < plain[0].half_width / 3
    release = question.release(epsilon=1, delta="1e-6")
    assert (release.receipt.guarantee, len(release)) == (sf.ApproxDP(1, "1e-6"), 200)


# Every statistic, with so much budget that noise moves nothing

EVERY = [
    {"sex": "fm"[i % 2], "age": i, "pay": i / 10, "town": "xyz"[i % 3], "smokes": i % 4 == 0, "kids": i % 5}
    for i in range(60)
]


def exactly(*statistics, table=PEOPLE, data=None, **options):
    return values(table, rows(table, *(EVERY if data is None else data)), statistics, **options)


def test_counts():
    found = exactly(N, ("c", CountValues(ref("born"))), ("u", CountUnits()), ("d", CountDistinct(ref("town"))))
    assert found == {"n": 60, "c": 0, "u": 60, "d": 3}


def test_sums():
    assert exactly(("v", VectorSum((AGE, ref("pay")))), ("s", Sum(AGE, (Fraction(10), Fraction(20))))) == {
        "v_1": 1770, "v_2": 177.0, "s": 11 * 10 + sum(range(11, 20)) + 40 * 20,
    }  # fmt: skip


def test_a_histogram():
    edges = tuple(map(Fraction, (0, 10, 50, 59)))
    assert exactly(("h", Histogram(AGE, edges))) == {"h_1": 10, "h_2": 40, "h_3": 10}


def test_quantiles_and_the_most_frequent():
    found = exactly(
        ("q", Percentile(AGE, Fraction(1, 2))), ("low", Percentile(AGE, Fraction(0))),
        ("high", Percentile(AGE, Fraction(1))), ("t", TopValues(ref("smokes"), 2)),
    )  # fmt: skip
    assert found["q"] in {29, 30}
    assert (found["low"], found["high"], found["t_1"], found["t_2"]) == (0, 59, False, True)


def test_null_and_values_that_are_not_listed_are_never_the_most_frequent():
    data = [{"sex": None}] * 9 + [{"sex": "x"}] * 9 + [{"sex": "m"}] * 2 + [{"sex": "f"}]
    found = exactly(
        ("t", TopValues(ref("sex"), 2)), ("d", CountDistinct(ref("sex"))), ("n", CountValues(ref("sex"))), data=data
    )
    assert found == {"t_1": "m", "t_2": "f", "d": 3, "n": 12}


VISITORS = [
    {"who": who, "ward": ward, "ill": ill, "hours": 1.0}
    for who, ward, ill in [
        ("a", "A", "flu"), ("a", "A", "flu"), ("a", "A", "cold"), ("b", "A", "flu"), ("b", "B", "gout"),
        ("c", "B", None), (None, "A", "x"),
    ]
]  # fmt: skip


def test_of_people_with_several_rows_rows_people_and_values_are_counted_apart():
    found = exactly(N, ("u", CountUnits()), ("d", CountDistinct(ref("ill"))), table=VISITS, data=VISITORS)
    assert found == {"n": 6, "u": 3, "d": 3}
    fewer = exactly(("d", CountDistinct(ref("ill"), 1)), table=VISITS, data=VISITORS[:3])
    assert fewer == {"d": 1}


def test_groups_within_people_are_their_rows():
    per_ward = Grouped(relation_of(VISITS), ("ward",), ())
    question = asked(desk((VISITS, rows(VISITS, *VISITORS))), per_ward, statistics=(N, ("u", CountUnits())))
    (record,) = question.release(epsilon=SURE).records()
    assert (record["n"], record["u"]) == (4, 3)


def test_a_part_is_asked_alone():
    part = PeoplePart(
        child=relation_of(VISITS), by="ward", values=("A", "B"), value="B", max_parts_per_unit=2, salt="00" * 16
    )
    (record,) = asked(desk((VISITS, rows(VISITS, *VISITORS))), part, statistics=(N,)).release(epsilon=SURE).records()
    assert record["n"] == 2


def test_filters_are_applied_before_anything_is_counted():
    old = Filter(relation_of(PEOPLE), Compare(Comparison.GREATER_EQUAL, AGE, Literal(Fraction(40))))
    (record,) = asked(desk((PEOPLE, rows(PEOPLE, *EVERY))), old, statistics=(N,)).release(epsilon=SURE).records()
    assert record["n"] == 20


def test_private_keys_need_delta():
    with pytest.raises(NotPrivateError, match="δ"):
        ask(keys=("town",)).release(epsilon=1)


def test_a_question_is_shown_as_it_was_asked_with_nothing_of_its_desk():
    assert repr(ask()) == "<Question: a question>"


@pytest.mark.parametrize("size", [0, -5, 2.5, "a"])
def test_a_mean_is_presumed_to_be_over_some_values(size):
    question = ask(("m", Mean(AGE)))
    with pytest.raises(ParameterError, match="size"):
        question.error(epsilon=1, size=size)
    with pytest.raises(ParameterError, match="size"):
        question.epsilon_for({"m": 1}, size=size)
