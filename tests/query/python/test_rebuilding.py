"""Trees that no frame and no statement builds are refused, and what is accepted is what frames build."""

import json
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.query.frames import VISITS as STAYS
from tests.query.frames import frame
from tests.query.planned import PEOPLE, TOWNS, VISITS
from tests.session.stored_keys import CASES, TABLES, sql
from tests.session.wire.asked import ASKED, POLICY, asked_as_sent, policy_of, refused
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.errors import ParameterError, SfumatoError
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.handles.columns import ColumnExpression
from sfumato.query.model.columns import Column
from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
    children,
    rebuilt,
)
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import (
    Distinct,
    Except,
    Filter,
    Fold,
    Folded,
    Grouped,
    Intersect,
    Join,
    Relation,
    RowFunction,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import PUBLIC, Limits
from sfumato.query.planning.plan import compile_plan
from sfumato.query.planning.questions import MAX_SHOWN
from sfumato.query.planning.windows import MAX_PLACES, OrderKey, RowsFrame, Window, WindowFunction
from sfumato.query.python.frame import Frame
from sfumato.query.statistics.counts import CountRows
from sfumato.query.statistics.deviations import AbsoluteDeviation
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.vectors import VectorSum
from sfumato.session.wire.questions import (
    CLASSES,
    QUESTIONS,
    decode_question,
    encode_question,
)

HUGE = Fraction(2**11_000)
SIMPLE = ASKED["rows"]
ROWS = Source(PEOPLE)
STAY, AGE, TWO = Source(VISITS), ColumnRef("age"), Literal(Fraction(2))
N = (("n", CountRows()),)


def of(child, *statistics, groups=None, **parts):
    """A question that nobody checked."""
    made = replace(SIMPLE, **{name: part for name, part in parts.items() if name not in {"limits", "weights"}})
    group_by = replace(SIMPLE.child.child, child=child, **(groups or {}))
    own = {name: part for name, part in parts.items() if name in {"limits", "weights"}}
    return replace(made, child=replace(SIMPLE.child, child=group_by, statistics=statistics or N, **own))


def wide(limits):
    return Source(replace(VISITS, limits=limits))


def in_order(function, **parts):
    return of(RowWindow(child=STAY, name="w", function=function, **{"order": (("hours", False),)} | parts))


def window(**parts):
    return of(ROWS, windows=(("w", Window(**parts)),))


BY_N = (OrderKey(ColumnRef("n")),)
DEEP = AGE
for _ in range(60):
    DEEP = Call(Function.NEGATE, (DEEP,))

HOSTILE = {
    "laxer limits": of(wide(Limits(max_rows_per_unit=1000))),
    "no owner": of(Source(replace(TOWNS, name="people"))),
    "a public table of people": of(Source(replace(VISITS, unit=PUBLIC, limits=Limits()))),
    "other bounds": of(Source(replace(PEOPLE, columns={**PEOPLE.columns, "age": sf.integer(0, 1)}))),
    "another table": of(Source(replace(PEOPLE, name="others"))),
    "an unknown column": of(Filter(ROWS, IsNull(ColumnRef("nowhere")))),
    "a number as a condition": of(Filter(ROWS, AGE)),
    "a condition of mixed kinds": of(Filter(ROWS, Compare(Comparison.LESS, AGE, Literal("x")))),
    "a list of mixed kinds": of(Filter(ROWS, IsIn(AGE, (TWO, Literal("x"))))),
    "text that is none": of(Filter(ROWS, Compare(Comparison.EQUAL, ColumnRef("town"), Literal("\ud800")))),
    "a name that is no text": of(Select(ROWS, (("\ud800", AGE),))),
    "a constant of thousands of digits": of(Filter(ROWS, Compare(Comparison.LESS, AGE, Literal(HUGE)))),
    "a shown constant of thousands of digits": of(ROWS, columns=(("n", Literal(HUGE)),)),
    "a sorted constant of thousands of digits": of(ROWS, order=(OrderKey(Literal(HUGE)),)),
    "too few arguments": of(Select(ROWS, (("x", Call(Function.ADD, (AGE,))),))),
    "a computed parameter": of(Select(ROWS, (("x", Call(Function.ROUND, (AGE, AGE))),))),
    "an expression on ids": of(Select(STAY, (("x", Call(Function.ADD, (ColumnRef("who"), TWO))),))),
    "no columns": of(Select(ROWS, ())),
    "names twice": of(Select(ROWS, (("x", AGE), ("X", AGE)))),
    "a deep expression": of(Select(ROWS, (("x", DEEP),))),
    "a join of people by value": of(
        Join(left=ROWS, right=Select(ROWS, (("x", AGE),)), on=(("age", "x"),))
    ),
    "a join of public rows with people": of(Join(left=Source(TOWNS), right=STAY, on=(("code", "ward"),))),
    "a join of other units": of(Join(left=STAY, right=Select(ROWS, (("x", AGE),)), on=(("beds", "x"),))),
    "a join by other kinds": of(Join(left=STAY, right=Source(TOWNS), on=(("beds", "code"),))),
    "a join of one name": of(Join(left=STAY, right=Select(Source(TOWNS), (("ward", ColumnRef("code")),)), on=())),
    "people in a condition": of(SemiJoin(child=ROWS, other=Select(ROWS, (("x", AGE),)), on=(("age", "x"),))),
    "a union of other units": of(UnionAll(Select(ROWS, (("x", AGE),)), Select(STAY, (("x", ColumnRef("beds")),)))),
    "a count of rows of a value": of(Grouped(STAY, ("ward",), (Folded("n", Fold.COUNT_ROWS, ColumnRef("nowhere")),))),
    "a fold of nothing": of(Grouped(STAY, ("ward",), (Folded("n", Fold.SUM),))),
    "an unbounded sum": of(Grouped(ROWS, ("sex",), (Folded("n", Fold.SUM, ColumnRef("free")),))),
    "units as keys of their groups": of(Grouped(STAY, ("who", "ward"), (Folded("n", Fold.COUNT_ROWS),))),
    "no order": in_order(RowFunction.RANK, order=()),
    "an order of people": of(RowWindow(child=ROWS, name="w", function=RowFunction.RANK, order=(("age", False),))),
    "a rank of a value": in_order(RowFunction.RANK, value="hours"),
    "a row before of nothing": in_order(RowFunction.LAG),
    "a row far away": in_order(RowFunction.LAG, value="hours", distance=MAX_PLACES + 1),
    "a row behind": in_order(RowFunction.LEAD, value="hours", distance=-1),
    "a rank that goes": in_order(RowFunction.RANK, distance=2),
    "ranks within units": in_order(RowFunction.RANK, within=("who",)),
    "ranks within a column twice": in_order(RowFunction.RANK, within=("ward", "ward")),
    "groups by fractions": of(ROWS, groups={"keys": ("pay",)}),
    "groups by nothing known": of(ROWS, groups={"keys": ("nowhere",)}),
    "labels as they are": of(ROWS, groups={"keys": ("sex",), "labels": ("sex",)}),
    "too few labels": of(ROWS, groups={"keys": ("sex",), "labels": ("a", "b")}),
    "sets of no keys": of(ROWS, groups={"keys": ("sex",), "sets": (("town",),)}),
    "sets without a key": of(ROWS, groups={"keys": ("sex", "smokes"), "sets": (("sex",),)}),
    "limits of nothing": of(STAY, limits=Limits()),
    "limits of rows": of(ROWS, limits=Limits(max_rows_per_unit=1)),
    "weights below zero": of(ROWS, weights=(Fraction(-1),)),
    "weights of others": of(ROWS, weights=(Fraction(1), Fraction(1))),
    "no statistics": replace(SIMPLE, child=replace(SIMPLE.child, statistics=())),
    "a sum of text": of(ROWS, ("s", Sum(ColumnRef("town")))),
    "bounds the other way": of(ROWS, ("s", Sum(AGE, (Fraction(3), Fraction(1))))),
    "bounds of thousands of digits": of(ROWS, ("s", Sum(AGE, (Fraction(1), HUGE)))),
    "a quantile beyond 1": of(ROWS, ("q", Percentile(AGE, Fraction(3, 2)))),
    "an interval of an extreme": of(ROWS, ("q", Percentile(AGE, Fraction(0), interval=True))),
    "edges the other way": of(ROWS, ("h", Histogram(AGE, (Fraction(3), Fraction(1))))),
    "edges of thousands of digits": of(ROWS, ("h", Histogram(AGE, (Fraction(3), HUGE)))),
    "a place of thousands of digits": of(ROWS, ("d", AbsoluteDeviation(AGE, HUGE))),
    "all values": of(ROWS, ("t", TopValues(ColumnRef("sex"), 10**9))),
    "the most frequent town": of(ROWS, ("t", TopValues(ColumnRef("town"), 1))),
    "a vector of nothing": of(ROWS, ("v", VectorSum(()))),
    "a column of single rows": of(ROWS, columns=(("x", AGE),)),
    "a condition on single rows": of(ROWS, having=Compare(Comparison.LESS, AGE, TWO)),
    "a number as HAVING": of(ROWS, having=ColumnRef("n")),
    "an order of single rows": of(ROWS, order=(OrderKey(AGE),)),
    "more rows than there are": of(ROWS, limit=MAX_SHOWN + 1),
    "rows before the first": of(ROWS, offset=-1),
    "a consistent total of nothing": of(ROWS, consistent=True),
    "a window without order": window(function=WindowFunction.RANK),
    "a window of nothing": window(function=WindowFunction.SUM),
    "a rank of something": window(function=WindowFunction.RANK, value=ColumnRef("n"), order=BY_N),
    "a default of a sum": window(function=WindowFunction.SUM, value=ColumnRef("n"), default=ColumnRef("n")),
    "a window of windows": window(function=WindowFunction.SUM, value=ColumnRef("w")),
    "a million parts": window(function=WindowFunction.NTILE, number=10**6, order=BY_N),
    "no parts": window(function=WindowFunction.NTILE, number=0, order=BY_N),
    "a number of a sum": window(function=WindowFunction.SUM, value=ColumnRef("n"), number=2),
    "a frame of a rank": window(function=WindowFunction.RANK, order=BY_N, frame=RowsFrame(before=1, after=1)),
    "a frame far away": window(
        function=WindowFunction.SUM, value=ColumnRef("n"), order=BY_N, frame=RowsFrame(before=10**6, after=None)
    ),
    "a frame behind": window(
        function=WindowFunction.SUM, value=ColumnRef("n"), order=BY_N, frame=RowsFrame(before=-1, after=None)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_tree_that_nothing_here_builds_is_refused(name):
    refused(HOSTILE[name])


def test_what_only_sessions_make_is_neither_written_nor_read():
    for name in ("bound", "part"):
        with pytest.raises(ParameterError, match="asked from elsewhere"):
            encode_question(CASES[name].question)
    text = encode_question(ASKED["distinct"]).replace('"class":"Distinct"', '"class":"BoundRows"')
    with pytest.raises(ParameterError, match="cannot be read"):
        decode_question(text, POLICY)


def test_a_choice_without_cases_is_none():
    with pytest.raises(ParameterError, match="WHEN"):
        Case((), AGE)


def test_a_tree_of_more_nodes_than_can_be_counted_is_refused():
    document = json.loads(encode_question(SIMPLE))
    place = next(n for n, node in enumerate(document["nodes"]) if node["class"] == "Filter")
    nodes = [document["nodes"][place - 1], *({"class": "And", "conditions": [{"node": n}] * 2} for n in range(35))]
    document["nodes"] = nodes
    with pytest.raises(ParameterError, match="cannot be read"):
        decode_question(json.dumps(document, separators=(",", ":")), POLICY)


def test_a_wide_tree_and_one_of_many_relations_are_refused():
    large = IsNull(AGE)
    for _ in range(17):
        large = And((large, large))
    refused(of(Filter(ROWS, large)), "terms")
    many = ROWS
    for _ in range(8):
        many = UnionAll(many, many)
    refused(of(many), "relations")


@pytest.mark.parametrize("text", ["", "{}", "null", "[" * 10_000, '{"version":1,"schema":"","nodes":[]}'])
def test_a_text_that_is_no_question_is_refused(text):
    with pytest.raises(ParameterError, match="cannot be read"):
        decode_question(text, POLICY)


def test_a_consistent_question_lists_its_keys_itself():
    stays = frame(STAYS)
    asked = stays.group_by("day").rollup(consistent=True).agg(n=sf.count())
    groups = asked.child.child
    others = Filter(groups.child.child, IsIn(ColumnRef("day"), (Literal(Fraction(1)),)))
    for child in (others, groups.child.child):
        forged = replace(asked, child=replace(asked.child, child=replace(groups, child=child)))
        refused(forged, policy=policy_of(STAYS))


# Trees drawn from real ones, in which something was exchanged


def parts_of(value):
    """All values in a tree that something else can stand for."""
    yield value
    if is_dataclass(value) and type(value) in CLASSES and not isinstance(value, Column):
        for field in fields(value):
            yield from parts_of(getattr(value, field.name))
    elif isinstance(value, tuple):
        for one in value:
            yield from parts_of(one)


def exchanged(value, random, pool):
    """The same tree with something else in one place of it, a few levels down."""
    own = [field.name for field in fields(value) if field.init] if is_dataclass(value) else []
    if own and random.random() < 0.9:
        name = random.choice(own)
        return replace(value, **{name: exchanged(getattr(value, name), random, pool)})
    if isinstance(value, tuple) and value and random.random() < 0.85:
        place = random.randrange(len(value))
        return (*value[:place], exchanged(value[place], random, pool), *value[place + 1 :])
    alike = [one for one in pool if type(one) is type(value) and one != value]
    anything = [one for one in pool if isinstance(one, Relation) is isinstance(value, Relation)]
    return random.choice(alike if alike and random.random() < 0.7 else anything)


SEEDS = [ASKED[name] for name in ASKED if name != "format"]
SEEDS += [
    sql("SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY ward LIMIT 2").question
]
POOL = [part for question in SEEDS for part in parts_of(question)]
POOL += [0, -1, 10**9 + 1, "nowhere", "who", "age", True, False, None, (), Limits(max_rows_per_unit=10**9), HUGE]
POOL += [Null(Kind.TEXT), Or(()), Not(AGE), *map(Source, TABLES), *(question for question in HOSTILE.values())]


@given(st.sampled_from(SEEDS), st.randoms(use_true_random=False))
@settings(max_examples=6000 if FULL_SIZE else 200, deadline=None)
def test_a_question_with_something_else_in_it_is_refused_or_one_that_is_built_here(question, random: Random):
    try:
        changed = exchanged(question, random, POOL)
        text = QUESTIONS.encode(changed)
    except SfumatoError:  # of a class that is not written, or refused as it is made
        return
    found = asked_as_sent(text, POLICY)
    if found is None:
        return
    assert framed(found.child.child.child) == found.child.child.child
    try:
        planned = compile_plan(found.child, guarantee(1, "1e-6"), neighboring_relation=ADD_OR_REMOVE_ONE)
    except SfumatoError:
        return
    of_frames = replace(found.child, child=replace(found.child.child, child=framed(found.child.child.child)))
    again = compile_plan(of_frames, guarantee(1, "1e-6"), neighboring_relation=ADD_OR_REMOVE_ONE)
    assert planned.sections == again.sections
    assert planned.event == again.event


def handle(expression, columns):
    """An expression as people write it in Python, by operators of handles."""
    match expression:
        case ColumnRef(name):
            return columns[name]
        case Literal(value):
            return sf.constant(value)
        case Null(kind):
            return ColumnExpression(expression, columns.shape.facts(Null(kind)))
        case IsIn(value, values):
            return handle(value, columns).is_in([one.value for one in values])
        case _:
            parts = [handle(one, columns) for one in children(expression)]

            def remade(*made):
                waiting = iter(made)
                return rebuilt(expression, lambda _: next(waiting))

            return ColumnExpression.made(remade, *parts)


def framed(relation):
    """The relation that the methods of frames build for one, step by step."""

    def of_child(child):
        return Frame(framed(child), lambda question: question)

    match relation:
        case Source(table):
            assert POLICY.tables[table.name] == table
            return relation
        case Filter(child, condition):
            rows = of_child(child)
            return rows.where(handle(condition, rows)).relation
        case Select(child, columns):
            rows = of_child(child)
            return rows._selected({name: handle(value, rows).expression for name, value in columns}).relation
        case Distinct(child):
            return of_child(child).distinct().relation
        case Join(left=left, right=right, on=on, kind=kind):
            assert len(dict(on)) == len(on)
            return of_child(left).join(of_child(right), on=dict(on), how=str(kind)).relation
        case SemiJoin(child=child, other=other, on=on, negated=negated):
            rows = of_child(child)
            step = rows.anti_join if negated else rows.semi_join
            return step(of_child(other), on=dict(on)).relation
        case UnionAll(left, right):
            return of_child(left).union(of_child(right)).relation
        case Intersect(left, right):
            return of_child(left).intersect(of_child(right)).relation
        case Except(left, right):
            return of_child(left).except_(of_child(right)).relation
        case Grouped(child, keys, columns):
            return Frame(Grouped(of_child(child).relation, keys, columns), None).relation
        case RowWindow():
            assert relation.order
            assert 0 <= relation.distance <= MAX_PLACES
            return Frame(replace(relation, child=of_child(relation.child).relation), None).relation
    raise AssertionError(relation)
