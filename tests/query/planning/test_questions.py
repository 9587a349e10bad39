from fractions import Fraction

import pytest
from tests.query.frames import BILLS, PEOPLE, VISITS, WARDS, frame

import sfumato as sf
from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.sizes import MAX_DEPTH
from sfumato.query.model.expressions import Call, ColumnRef, Compare, Comparison, IsNull, Literal, Not
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Join
from sfumato.query.model.schema import Limits
from sfumato.query.planning.questions import MAX_COLUMNS, answer_facts, presented
from sfumato.query.planning.windows import OrderKey
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.vectors import VectorSum

people, visits, bills, wards = (frame(table).relation for table in (PEOPLE, VISITS, BILLS, WARDS))
N = ("n", sf.count())
X = ColumnRef("x")
FIVE = Literal(Fraction(5))


def asked(relation=people, *, statistics=(N,), **rest):
    return presented(relation, statistics=statistics, **rest)


def test_a_question_is_what_was_said():
    order = (OrderKey(ColumnRef("n"), descending=True),)
    having = Compare(Comparison.GREATER, ColumnRef("n"), FIVE)
    question = asked(
        keys=("sex",), labels=("s",), statistics=(N, ("p", sf.mean("pay"))), weights=(Fraction(1), Fraction(2)),
        having=having, order=order, limit=3, offset=1, columns=(("s", ColumnRef("s")), ("q", ColumnRef("p"))),
    )  # fmt: skip
    assert (question.child.child.keys, question.child.child.labels) == (("sex",), ("s",))
    assert question.child.weights == (1, 2)
    assert (question.having, question.order, question.limit, question.offset) == (having, order, 3, 1)
    assert [name for name, _ in question.columns] == ["s", "q"]


@pytest.mark.parametrize("relation", [people, visits, wards])
def test_rows_of_people_and_public_rows_may_be_asked(relation):
    assert asked(relation).child.statistics == (N,)


def test_groups_by_fractions_are_refused():
    with pytest.raises(NotPrivateError, match="GROUP BY pay"):
        asked(keys=("sex", "pay"), sets=(("sex",), ("pay",)))


def test_limits_belong_to_rows_with_owners():
    limits = Limits(max_rows_per_unit=1)
    assert asked(visits, limits=limits).child.limits == limits
    for relation in (people, wards):
        with pytest.raises(ParameterError, match="have owners"):
            asked(relation, limits=limits)


def test_a_relation_that_means_nothing_is_refused():
    with pytest.raises(NotPrivateError, match="two private tables"):
        asked(Join(left=people, right=visits, on=()))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"statistics": ()}, "statistics = 'none'"),
        ({"keys": ("nosuch",)}, "nosuch.*age"),
        ({"keys": ("sex", "sex")}, "each column once"),
        ({"keys": ("sex",), "labels": ("s", "t")}, "as many as the keys"),
        ({"keys": ("sex",), "sets": (("age",),)}, "of the keys"),
        ({"statistics": (("n", sf.sum("sex")),)}, "numbers"),
        ({"statistics": (("n", sf.sum("nosuch")),)}, "nosuch"),
        ({"weights": (Fraction(1), Fraction(1))}, "as many as statistics"),
        ({"weights": (Fraction(0),)}, "above 0"),
        ({"limit": -1}, "at least 0"),
        ({"limit": True}, "at least 0"),
        ({"offset": -1}, "at least 0"),
        ({"consistent": True}, "GROUPING SETS"),
        ({"having": ColumnRef("n")}, "HAVING.*true or false"),
        ({"having": IsNull(ColumnRef("age"))}, "age.*must be one of: n"),
        ({"order": (OrderKey(ColumnRef("age")),)}, "must be one of: n"),
        ({"columns": (("m", ColumnRef("age")),)}, "must be one of: n"),
        ({"columns": (("m", Compare(Comparison.LESS, ColumnRef("n"), Literal("x"))),)}, "one kind"),
    ],
)
def test_a_question_that_means_nothing_is_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        asked(**wrong)


@pytest.mark.parametrize(
    "names",
    [
        {"statistics": (N, N)},
        {"keys": ("sex",), "statistics": (("sex", sf.count()),)},
        {"keys": ("sex",), "labels": ("n",)},
        {"statistics": (N, ("n_low", sf.count()))},
        {"keys": ("sex",), "labels": ("n_high",)},
        {"statistics": (("h", sf.histogram("age", edges=[0, 1, 2])), ("h_2", sf.count()))},
        {"statistics": (("\ud800", sf.count()),)},
        {"keys": ("sex",), "labels": ("\ud800",)},
        {"columns": (("a", ColumnRef("n")), ("a", ColumnRef("n")))},
        {"keys": ("sex",), "columns": (("a", ColumnRef("sex")), ("a", ColumnRef("n")))},
        {"columns": (("a", ColumnRef("n")), ("a_low", ColumnRef("n")))},
    ],
)
def test_names_differ_and_leave_room_for_the_ends_of_intervals(names):
    with pytest.raises(ParameterError, match=r"differ|Unicode"):
        asked(**names)


def test_keys_have_no_intervals_and_so_any_other_name():
    columns = (("n", ColumnRef("n")), ("m", ColumnRef("sex")), ("m_low", ColumnRef("smoker")))
    assert asked(keys=("sex", "smoker"), columns=columns).columns == columns


def test_a_key_may_stand_in_the_answer_by_the_name_that_a_hidden_column_has_in_the_table():
    assert asked(keys=("sex",), labels=("age",)).child.child.labels == ("age",)


def test_columns_of_statistics_are_numbered_where_there_are_several():
    edges = (Fraction(0), Fraction(1), Fraction(2))
    assert Histogram(X, edges).columns("h") == ("h_1", "h_2")
    assert VectorSum((X, X, X)).columns("v") == ("v_1", "v_2", "v_3")
    assert TopValues(X, 2).columns("t") == ("t_1", "t_2")
    assert TopValues(X).columns("t") == sf.sum("x").columns("t") == ("t",)


def test_too_many_columns_are_refused():
    with pytest.raises(ParameterError, match="at most 1000"):
        asked(statistics=(("h", sf.histogram("age", edges=range(MAX_COLUMNS + 2))),))


def test_what_is_too_deep_is_refused_wherever_it_stands():
    deep = IsNull(ColumnRef("n"))
    for _ in range(MAX_DEPTH):
        deep = Not(deep)
    for place in ({"having": deep}, {"order": (OrderKey(deep),)}, {"columns": (("c", deep),)},
                  {"statistics": (("n", sf.count()), ("d", type(sf.count("x"))(deep)))}):  # fmt: skip
        with pytest.raises(ParameterError, match="too many levels"):
            asked(**place)


def test_counts_and_sums_of_whole_numbers_are_whole_and_all_else_may_be_a_fraction():
    statistics = (
        N, ("w", sf.sum("age")), ("d", sf.count_distinct("sex")), ("h", sf.histogram("age", edges=[0, 1])),
        ("s", sf.mean("age")), ("q", sf.median("pay")), ("m", sf.mode("sex")),
    )  # fmt: skip
    facts = answer_facts(asked(keys=("sex",), labels=("s2",), statistics=statistics).child)
    kinds = {name: own.kind for name, own in facts.items()}
    assert kinds == {
        "s2": Kind.TEXT, "n": Kind.INTEGER, "w": Kind.INTEGER, "d": Kind.INTEGER, "h_1": Kind.INTEGER, "s": Kind.FLOAT,
        "q": Kind.FLOAT, "m": Kind.TEXT,
    }  # fmt: skip
    assert not facts["n"].interval.is_bounded  # noise has no bounds


def test_keys_may_be_null_only_where_there_are_totals():
    sets = (("sex", "smoker"), ("sex",))
    facts = answer_facts(asked(keys=("sex", "smoker"), sets=sets).child)
    assert (facts["sex"].nullable, facts["smoker"].nullable) == (False, True)


def test_columns_are_computed_of_what_is_released():
    share = Call(Function.DIVIDE, (ColumnRef("s"), ColumnRef("n")))
    question = asked(statistics=(N, ("s", sf.sum("pay"))), columns=(("share", share),))
    assert question.columns == (("share", share),)
