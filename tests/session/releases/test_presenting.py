"""How answers are shown: HAVING, ORDER BY, LIMIT, and expressions with intervals that hold at once."""

import gc
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import ALPHA
from tests.query.planned import PEOPLE, VISITS, N, question, ref, relation_of
from tests.session.desk import SURE, asked, desk, rows

from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.privacy.secret import Secret
from sfumato.query.model.expressions import And, Call, Case, Compare, Comparison, IsIn, IsNull, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.planning.plan import compile_plan
from sfumato.query.planning.questions import presented
from sfumato.query.planning.windows import OrderKey
from sfumato.query.statistics.counts import CountValues
from sfumato.query.statistics.estimates import NOTHING
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.session.releases import presenting
from sfumato.session.releases.presenting import present
from sfumato.session.releases.releasing import Released

CONFIDENCE = Fraction(95, 100)
DATA = rows(
    PEOPLE, *[{"sex": "f", "smokes": True, "age": 30, "pay": 1.5}] * 3, *[{"sex": "m", "smokes": True, "age": 40}] * 5,
    *[{"sex": "m", "smokes": False, "age": 50}] * 2,
)  # fmt: skip
S = ("s", Sum(ref("age")))


def number(value):
    return Literal(Fraction(value))


def ratio(first, second):
    return Call(Function.DIVIDE, (first, second))


def answer(*statistics, epsilon=SURE, delta=0, **clauses):
    return asked(desk((PEOPLE, DATA)), PEOPLE, statistics=statistics, **clauses).release(epsilon=epsilon, delta=delta)


def shown(*statistics, **options):
    """The rows of an answer: keys and values."""
    release = answer(*statistics, **options)
    return [(*group, *(e.value for e in own)) for group, own in zip(release.groups, release.estimates, strict=True)]


def with_measured(measured, *statistics, epsilon="0.5", **clauses):
    """What is shown of made-up numbers, for one row without keys."""
    made = presented(relation_of(PEOPLE), statistics=statistics, **clauses)
    plan = compile_plan(made.child, guarantee(epsilon), neighboring_relation=ADD_OR_REMOVE_ONE)
    released = Released(groups=((),), measured=tuple(((number,),) for number in measured))
    (row,) = present(made, plan, [released], CONFIDENCE).estimates
    return row


def test_all_keys_then_all_statistics_are_shown_unless_told_otherwise():
    release = answer(N, S, keys=("sex",), labels=("who",))
    assert (release.keys, release.statistics) == (("who",), ("n", "s"))
    columns = (("s", ref("s")), ("upper", Call(Function.UPPER, (ref("sex"),))), ("one", number(1)))
    release = answer(N, S, keys=("sex",), columns=columns)
    assert (release.keys, release.groups) == (("upper", "one"), (("F", 1), ("M", 1)))
    assert [e.value for e in release["s"]] == [90, 300]


@pytest.mark.parametrize(
    ("statistics", "options"),
    [
        ((N,), {}),
        ((N, S), {"keys": ("sex", "smokes")}),
        ((N, S), {"keys": ("sex", "smokes"), "offset": 1, "limit": 2}),
        ((N, S), {"keys": ("sex",), "columns": (("s", ref("s")), ("who", ref("sex")))}),
        ((N,), {"keys": ("sex",), "columns": (("n", ref("n")),)}),
        ((N,), {"keys": ("sex",), "columns": (("sex", ref("sex")),)}),
        ((N,), {"keys": ("sex",), "epsilon": 0}),
    ],
    ids=str,
)
def test_plain_answers_are_shown_column_by_column_as_they_are_line_by_line(statistics, options, monkeypatch):
    whole = answer(*statistics, **options)
    monkeypatch.setattr(presenting, "_is_plain", lambda *_: False)
    lines = answer(*statistics, **options)
    assert (whole.keys, whole.statistics, whole.kinds) == (lines.keys, lines.statistics, lines.kinds)
    assert (whole.groups, whole.estimates) == (lines.groups, lines.estimates)


def test_having_keeps_rows_by_what_was_released():
    having = Compare(Comparison.GREATER, ref("n"), number(3))
    assert shown(N, keys=("sex", "smokes"), having=having) == [("m", True, 5)]
    both = And((IsIn(ref("sex"), (Literal("m"),)), Compare(Comparison.LESS, ref("s"), number(150))))
    assert shown(N, S, keys=("sex", "smokes"), having=both) == [("m", False, 2, 100)]
    never = Compare(Comparison.GREATER, ratio(ref("n"), number(0)), number(0))
    assert shown(N, keys=("sex",), having=never) == []


def test_rows_are_sorted_by_several_keys_and_stay_in_order_where_they_are_equal():
    order = (OrderKey(ref("smokes"), descending=True), OrderKey(ref("n")))
    assert [row[:2] for row in shown(N, keys=("sex", "smokes"), order=order)] == [
        ("f", True), ("m", True), ("f", False), ("m", False),
    ]  # fmt: skip
    same = (OrderKey(number(1), descending=True),)
    assert [row[0] for row in shown(N, keys=("sex",), order=same)] == ["f", "m"]


@pytest.mark.parametrize(("descending", "expected"), [(False, ["f", "m", None]), (True, [None, "m", "f"])])
def test_null_is_the_greatest_as_in_postgresql(descending, expected):
    order = (OrderKey(ref("sex"), descending=descending),)
    found = shown(N, keys=("sex",), sets=(("sex",), ()), order=order)
    assert [row[0] for row in found] == expected


def test_rows_are_left_out_from_both_ends():
    clauses = {"keys": ("sex", "smokes"), "order": (OrderKey(ref("n"), descending=True),)}
    assert [row[2] for row in shown(N, **clauses)] == [5, 3, 2, 0]
    assert [row[2] for row in shown(N, offset=1, limit=2, **clauses)] == [3, 2]
    assert shown(N, offset=9, **clauses) == shown(N, limit=0, **clauses) == []


def test_a_key_that_a_grouping_set_does_not_have_is_null_in_every_expression_too():
    columns = (
        ("sex", ref("sex")),
        ("is_total", IsNull(ref("sex"))),
        ("age", Call(Function.ADD, (ref("kids"), number(1)))),
        ("n", ref("n")),
    )
    found = shown(N, keys=("sex", "kids"), sets=(("sex",), ("kids",)), columns=columns)
    assert found[0] == ("f", False, None, 3)
    assert found[2] == (None, True, 1, 10)
    per_key = (("x", Call(Function.MULTIPLY, (ref("n"), ref("kids")))),)
    values = shown(N, keys=("kids",), sets=(("kids",), ()), columns=per_key)
    assert values[-1] == (None,)


def test_sums_of_whole_numbers_are_whole_numbers_in_expressions():
    columns = (("whole", ratio(ref("s"), ref("n"))), ("exact", ratio(ref("p"), ref("n"))), ("mean", ref("m")))
    ((whole, exact, mean),) = shown(N, S, ("p", Sum(ref("pay"))), ("m", Mean(ref("age"))), columns=columns)
    assert (whole, exact, mean) == (39, 0.45, 39)
    assert (type(whole), type(exact), type(mean)) == (int, float, float)


def test_the_kinds_of_columns_follow_from_the_question():
    half = Case(((Compare(Comparison.GREATER, ref("n"), number(0)), number("0.5")),), number(1))
    columns = (("n", ref("n")), ("half", half), ("top", ref("t")), ("sex", ref("sex")), ("q", ref("q")))
    release = answer(
        N,
        ("t", TopValues(ref("smokes"))),
        ("q", Percentile(ref("age"), Fraction(1, 2))),
        keys=("sex",),
        columns=columns,
    )
    assert release.kinds == (Kind.TEXT, Kind.INTEGER, Kind.FLOAT, Kind.BOOLEAN, Kind.INTEGER)
    assert [e.value for e in release["half"]] == [0.5, 0.5]


def test_alternatives_of_two_kinds_are_floats_whichever_is_taken():
    mixed = Case(((Compare(Comparison.LESS, ref("n"), number(0)), number("0.5")),), ref("n"))
    ((value,),) = shown(N, columns=(("x", mixed),))
    assert (value, type(value)) == (10, float)


def test_expressions_may_compare_what_was_chosen():
    is_m = Compare(Comparison.EQUAL, ref("t"), Literal("m"))
    flag = Case(((is_m, number(1)),), number(0))
    assert shown(("t", TopValues(ref("sex"))), N, columns=(("is_m", is_m), ("flag", flag))) == [(True, 1)]
    assert shown(
        ("t", TopValues(ref("smokes"))), columns=(("x", Case(((ref("t"), Literal("y")),), Literal("n"))),)
    ) == [("y",)]
    release = answer(("t", TopValues(ref("sex"))), columns=(("flag", flag),))
    assert (release["flag"][0].low, release["flag"][0].high) == (0, 1)


def test_an_interval_over_several_numbers_holds_all_of_them_at_once():
    difference = Call(Function.SUBTRACT, (ref("n"), ref("k")))
    other = ("k", CountValues(ref("age")))
    count, minus = with_measured((100, 30), N, other, columns=(("n", ref("n")), ("d", difference)))
    assert minus.value == 70
    assert count.half_width < minus.half_width < 2 * count.half_width  # two intervals of 97.5% would be 32
    twice = Call(Function.ADD, (ref("n"), ref("n")))
    count, double = with_measured((100,), N, columns=(("n", ref("n")), ("d", twice)))
    assert double.half_width == 2 * count.half_width


def test_a_quotient_by_what_may_be_zero_has_no_interval():
    share = (("x", ratio(ref("p"), ref("n"))),)
    (found,) = with_measured((2, -900), ("p", Sum(ref("pay"))), N, columns=share)
    assert (found.value, found.low, found.high) == (0.5, None, None)
    (found,) = with_measured((0, 100), ("p", Sum(ref("pay"))), N, columns=share)
    assert found.value is None
    assert math.isinf(found.half_width)


def test_numbers_beyond_doubles_are_no_errors():
    power = ref("s")
    for _ in range(6):
        power = Call(Function.MULTIPLY, (power, power))
    (found,) = with_measured((10**9,), ("s", Sum(ref("pay"))), columns=(("x", power),))
    assert found.value is None
    whole = Call(Function.MULTIPLY, (ref("s"), ref("s")))
    (found,) = with_measured((10**12,), S, columns=(("x", whole),))
    assert (found.value, found.high) == (None, None)


@pytest.mark.parametrize(
    "expression",
    [
        ref("n"), ratio(ref("s"), ref("n")), Call(Function.ADD, (ref("n"), number("0.5"))),
        Case(((Compare(Comparison.GREATER, ref("n"), number(0)), ref("n")),), number(0)),
    ],
)  # fmt: skip
def test_of_nothing_released_expressions_show_nothing(expression):
    assert with_measured((0, 0), N, S, columns=(("x", expression),), epsilon=0) == (NOTHING,)


def test_having_and_order_of_nothing_released_are_of_null():
    clauses = {"keys": ("sex",), "having": Compare(Comparison.GREATER, ref("n"), number(-100))}
    assert shown(N, epsilon=0, **clauses) == []
    assert shown(N, epsilon=0, keys=("sex",), order=(OrderKey(ref("n")),)) == [("f", None), ("m", None)]


@pytest.mark.parametrize("labels", [("n",), ("n_low",), ("s_high",)])
def test_labels_that_are_called_like_statistics_are_refused(labels):
    with pytest.raises(ParameterError, match="names that differ"):
        question(PEOPLE, N, S, keys=("sex",), labels=labels)


CASES = {
    "difference": (Call(Function.SUBTRACT, (ref("a"), ref("b"))), lambda a, b: a - b),
    "quotient": (ratio(ref("a"), ref("b")), lambda a, b: a / b),
    "product": (Call(Function.MULTIPLY, (ref("a"), ref("b"))), lambda a, b: a * b),
    "larger": (Call(Function.GREATEST, (ref("a"), ref("b"), number(3))), lambda a, b: max(a, b, 3)),
    "distance": (Call(Function.ABS, (Call(Function.SUBTRACT, (ref("b"), ref("a"))),)), lambda a, b: abs(b - a)),
    "rounded": (Call(Function.ROUND, (ratio(ref("a"), ref("b")), number(1))), lambda a, b: round(a / b, 1)),
    "rest": (Call(Function.MODULO, (ref("n"), number(7))), None),
}  # fmt: skip


@pytest.mark.statistical
@pytest.mark.parametrize("name", CASES)
def test_intervals_of_expressions_hold_as_often_as_they_say(name):
    """Of two sums of pay, 300.5 and 20.25, with noise of an ε of 1 each."""
    expression, exact = CASES[name]
    a, b = (Sum(ref("pay"), (Fraction(cents, 100), Fraction(10))) for cents in (1, 2))  # which share nothing
    statistics = (("a", a), ("b", b), N)
    made = presented(relation_of(PEOPLE), statistics=statistics, columns=(("x", expression),))
    plan = compile_plan(made.child, guarantee(3), neighboring_relation=ADD_OR_REMOVE_ONE)
    runs = 500
    draws = [
        m.mechanism.release(np.full(runs, part)).tolist()
        for m, part in zip(plan.sections[0].measurements, (30050, 2025, 50), strict=True)
    ]
    released = [
        Released(groups=((),), measured=tuple(((number,),) for number in run)) for run in zip(*draws, strict=True)
    ]
    found = [present(made, plan, [one], CONFIDENCE).estimates[0][0] for one in released]
    true = 50 % 7 if exact is None else exact(300.5, 20.25)
    hits = sum((one.low is None or one.low <= true) and (one.high is None or true <= one.high) for one in found)
    assert binom.cdf(hits, runs, 0.95) >= ALPHA


def reachable(*roots):
    """All objects that can be reached from some, but for modules, classes and functions."""
    seen, waiting = {}, list(roots)
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type) or callable(one) or type(one).__name__ == "module":
            continue
        seen[id(one)] = one
        waiting += gc.get_referents(one)
    return seen.values()


def test_what_is_shown_reaches_no_secret_and_no_engine():
    release = answer(N, ("m", Mean(ref("age"))), ("t", TopValues(ref("sex"))), keys=("town",), delta="1e-6")
    found = list(reachable(release, release.to_arrow()))
    assert any(one is release.receipt for one in found)
    assert not any(isinstance(one, Secret | ReferenceEngine) for one in found)
    assert not any("DataSource" in type(one).__name__ or "ArrowData" in type(one).__name__ for one in found)


def test_the_walk_would_find_a_secret():
    assert any(isinstance(one, Secret) for one in reachable({"a": [Secret(1)]}))


def test_presenting_reads_released_numbers_alone():
    """The same numbers are shown in the same way, whatever the rows were."""
    made = presented(relation_of(VISITS), keys=("ward",), statistics=(N,), order=(OrderKey(ref("n")),))
    plan = compile_plan(made.child, guarantee(1), neighboring_relation=ADD_OR_REMOVE_ONE)
    released = Released(groups=(("A",), ("B",), ("C",)), measured=(((3,), (1,), (2,)),))
    first, second = (present(made, plan, [released], CONFIDENCE) for _ in range(2))
    assert first == second
    assert first.groups == (("B",), ("C",), ("A",))
