"""Axes of a histogram: every value is in one cell, and a question asks for a cell exactly if it asks for its values."""

from datetime import date, datetime, time, timedelta
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from sfumato.mechanisms.workloads.queries import Subsets
from sfumato.query.model.expressions import And, Call, ColumnRef, Compare, Comparison, IsIn, IsNull, Literal, Not, Or
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.planning.axes import Want, axis_of, compared, parts_of
from sfumato.query.values.evaluation import evaluate

X = ColumnRef("x")
DAYS = [date(2026, 1, 1) + timedelta(days=place) for place in range(-3, 12)]
HELD = {
    Kind.INTEGER: [*range(-3, 12), 10**18],
    Kind.FLOAT: [place / 4 for place in range(-9, 30)],
    Kind.DATE: [*DAYS, date.min, date.max],
    Kind.TIMESTAMP: [datetime.combine(day, time()) + timedelta(hours=7 * (day.day % 2)) for day in DAYS],
    Kind.TEXT: ["", "a", "b", "B", "é", "other", "zz"],
    Kind.BOOLEAN: [False, True],
}
CONSTANTS = {
    **HELD,
    Kind.INTEGER: [Fraction(place, 2) for place in range(-4, 16)],
    Kind.FLOAT: [Fraction(place, 4) for place in range(-8, 28)],
    Kind.DATE: DAYS,
}
EQUAL = (Comparison.EQUAL, Comparison.NOT_EQUAL)


def condition(random, kind, *, depth=2):
    constants = [Literal(value) for value in CONSTANTS[kind]]
    match random.randrange(7 if depth else 3):
        case 0 | 1 if kind is Kind.BOOLEAN:
            return X
        case 0:
            comparison = random.choice(EQUAL if kind is Kind.TEXT else list(Comparison))
            sides = [X, random.choice(constants)]
            random.shuffle(sides)
            return Compare(comparison, *sides)
        case 1 | 2:
            return IsIn(X, tuple(random.choices(constants, k=3)))
        case 3:
            return Not(condition(random, kind, depth=depth - 1))
        case 4 | 5:
            return And(tuple(condition(random, kind, depth=depth - 1) for _ in range(2)))
        case _:
            return Or(tuple(condition(random, kind, depth=depth - 1) for _ in range(2)))


def rows_of(want, held):
    """The values that each query of a want asks for, by evaluating its conditions."""
    true = [value for value in held if all(evaluate(one, {"x": value}) is True for one in want.conditions)]
    if want.values is None:
        return [true]
    return [[value for value in true if value is not None and value == own] for own in sorted(want.values)]


def drawn(random, kind):
    """Some wants that ask for something each."""
    held = [*HELD[kind], None]
    found = []
    while len(found) < random.randrange(1, 6):
        conditions = tuple(condition(random, kind) for _ in range(random.randrange(1, 3)))
        listed = None
        if kind is not Kind.FLOAT and random.random() < 0.4:
            listed = tuple(random.sample([value for value in held if value is not None], 2))
            conditions = conditions[1:]
        want = Want(listed, conditions)
        if all(rows_of(want, held)):
            found.append(want)
    return found


@pytest.mark.parametrize("kind", HELD, ids=lambda kind: kind.value)
@pytest.mark.parametrize("seed", range(60))
def test_a_cell_is_asked_for_exactly_if_its_values_are(kind, seed):
    random, made = Random(seed), 0  # noqa: S311 # conditions of a test
    for _ in range(5):
        wants = drawn(random, kind)
        axis = axis_of(X, kind, wants)
        if axis is None:
            continue
        made += 1
        cell_of = {value: evaluate(axis.column, {"x": value}) for value in [*HELD[kind], None]}
        assert set(cell_of.values()) <= set(axis.cells)
        if axis.subsets is None:
            continue
        for want in wants:
            asked = [{value for value, cell in cell_of.items() if cell in row} for row in axis.subsets[want]]
            assert asked == [set(row) for row in rows_of(want, cell_of)]
    assert made > 0


@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.FLOAT], ids=str)
@pytest.mark.parametrize("comparison", Comparison)
def test_constants_are_where_engines_see_them(kind, comparison):
    """They compare fractions with doubles: 3 with 2.9999999999999999999, and what is far out with its neighbors."""
    far = [2**53, 2**53 + 1, 2**60 + 6, 2**63 - 2, 2**63 - 1, -(2**63)]
    constants = [
        Fraction(3), 3 - Fraction(1, 10**20), Fraction(2**53), *map(Fraction, far), 2**53 + Fraction(1, 2),
        Fraction(2**63), Fraction(2**63 + 1), Fraction(2**60) + Fraction(1, 3), Fraction(3, 10),
        Fraction(3, 10) + Fraction(1, 10**17),
    ]  # fmt: skip
    held = [2, 3, 4, *far] if kind is Kind.INTEGER else [0.3, 0.1 + 0.2, 2.0, 3.0, *map(float, far)]
    for first, second in product(constants, repeat=2):
        wants = [Want(None, (Compare(comparison, X, Literal(first)),)), Want(None, (IsIn(X, (Literal(second),)),))]
        axis = axis_of(X, kind, wants)
        if axis is None:
            continue
        cell_of = {value: evaluate(axis.column, {"x": value}) for value in held}
        for want in wants:
            (row,) = axis.subsets[want]
            assert {value for value, cell in cell_of.items() if cell in row} == set(rows_of(want, held)[0])


def below(value):
    return Compare(Comparison.LESS, X, Literal(Fraction(value)))


def test_parts_that_no_question_tells_apart_are_one_cell():
    axis = axis_of(X, Kind.INTEGER, [Want(None, (below(3),)), Want(None, (Not(below(7)),))])
    assert axis.cells == (0, 1, 2)
    assert [evaluate(axis.column, {"x": value}) for value in (2, 3, 6, 7, None)] == [0, 1, 1, 2, 1]
    assert axis.queries(Want(None, (below(3),))) == Subsets([(0,)])


def test_neighboring_whole_numbers_and_days_have_nothing_between_them():
    for kind, ends in ((Kind.INTEGER, (1, 2)), (Kind.DATE, (DAYS[0], DAYS[1])), (Kind.FLOAT, (1, 2))):
        first, second = (IsIn(X, (Literal(Fraction(one) if kind is not Kind.DATE else one),)) for one in ends)
        axis = axis_of(X, kind, [Want(None, (first,)), Want(None, (second,)), Want(None, (Or((first, second)),))])
        assert len(axis.cells) == 3


def test_running_sums_are_of_the_values_of_a_key_alone():
    key, ages = Want((5, 1, 3)), Want(None, (below(3),))
    axis = axis_of(X, Kind.INTEGER, [key, ages])
    single, sums = axis.queries(key), axis.queries(key, is_running=True)
    (one,), (three,), (five,) = single.places
    assert sums == Subsets([(one,), (one, three), (one, three, five)])
    assert axis.answers(key) == 3
    assert axis.answers(ages) == 1


def test_a_key_that_all_list_alike_has_a_cell_for_each_value():
    axis = axis_of(X, Kind.INTEGER, [Want((2, 1))] * 3)
    assert (axis.cells, axis.subsets) == ((1, 2, 3), None)
    assert axis.answers(Want((2, 1))) == 3
    assert axis.queries(Want((2, 1)), is_running=True) == "prefix"


@pytest.mark.parametrize(
    ("kind", "wants"),
    [
        (Kind.DATE, [Want(None, (Compare(Comparison.LESS, X, Literal(datetime.combine(DAYS[0], time()))),))]),
        (Kind.INTEGER, [Want((1, 7), (below(3),))]),
        (Kind.INTEGER, [Want(None, (below(3), Not(below(5))))]),
    ],
    ids=["a day and a time", "a value that its condition excludes", "nothing"],
)
def test_what_cannot_be_cut_is_no_axis(kind, wants):
    assert axis_of(X, kind, wants) is None


def test_conditions_compare_one_expression_with_constants():
    sum_of_two = Call(Function.ADD, (X, ColumnRef("y")))
    about = And((Compare(Comparison.LESS, Literal(Fraction(1)), sum_of_two), IsIn(sum_of_two, (Literal(Fraction(3)),))))
    assert compared(about) == sum_of_two
    assert compared(Or((below(3), IsIn(ColumnRef("y"), (Literal(Fraction(1)),))))) is None
    assert compared(Compare(Comparison.LESS, X, ColumnRef("y"))) is None
    assert compared(IsNull(X)) is None
    assert compared(Compare(Comparison.LESS, X, Literal("b"))) is None
    assert compared(Not(X)) == X
    assert compared(And(())) is None
    assert list(parts_of(And((below(1), And((below(2), Or((below(3),)))))))) == [below(1), below(2), Or((below(3),))]
