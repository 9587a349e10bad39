"""Every function on the values on which libraries differ, and no expression that raises or leaves its kind."""

import math
import re
from datetime import date, datetime
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.function_edges import BIG, DAY, EDGES, LEAST, MOST, TIME
from tests.expressions_of import CALLS, COLUMNS, INEXACT, expressions, rows

from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.expressions import (
    FALSE,
    TRUE,
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
    columns_of,
)
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.values.cells import MAX_INT64, MIN_INT64
from sfumato.query.values.evaluation import compared, evaluate, holds, is_like, substring

NOT_STRICT = {Function.LEAST, Function.GREATEST, Function.COALESCE, Function.NULL_IF}
COMPARISONS = [
    (2**53 + 1, float(2**53), "="), (1, 1.0, "="), (MOST, 2.0**63, "="), (1, BIG, "<"), ("Z", "a", "<"),
    ("é", "z", ">"), ("\U00010000", "\uffff", ">"), ("a", "a ", "<"), (False, True, "<"),
    (date(2026, 1, 1), DAY, ">"), (BIG, BIG, "="),
]  # fmt: skip
TRUTHS = (True, False, None)
AND = {(True, True): True, (True, None): None, (None, True): None, (None, None): None}
OR = {(False, False): False, (False, None): None, (None, False): None, (None, None): None}
A, B, V = ColumnRef("a"), ColumnRef("b"), ColumnRef("v")
FACTS = {name: Facts(kind=kind) for name, kind in COLUMNS.items()}
TYPES = {
    Kind.INTEGER: int, Kind.FLOAT: float, Kind.TEXT: str, Kind.BOOLEAN: bool, Kind.DATE: date, Kind.TIMESTAMP: datetime,
}  # fmt: skip


def called(function, *arguments):
    row = {str(place): argument for place, argument in enumerate(arguments) if not isinstance(argument, Fraction)}
    terms = [ColumnRef(name) for name in row] + [Literal(a) for a in arguments if isinstance(a, Fraction)]
    return evaluate(Call(function, tuple(terms)), row)


def same(first, second):
    return type(first) is type(second) and first == second and str(first) == str(second)  # −0.0 is not 0.0


@pytest.mark.parametrize(("function", "edge"), [(f, edge) for f, edges in EDGES.items() for edge in edges], ids=str)
def test_a_function_means_what_it_says_at_its_edges(function, edge):
    *arguments, result = edge
    assert same(called(function, *arguments), result)


def test_every_function_is_tried():
    assert set(EDGES) == set(Function)
    drawn = {call[0] for calls in (*CALLS.values(), INEXACT) for call in calls}
    assert drawn | NOT_STRICT == set(Function)


@pytest.mark.parametrize("function", sorted(set(Function) - NOT_STRICT))
def test_a_function_of_null_is_null_whichever_argument_it_is(function):
    arguments = EDGES[function][0][:-1]
    for place in range(len(arguments)):
        assert called(function, *arguments[:place], None, *arguments[place + 1 :]) is None


@pytest.mark.parametrize(("first", "second", "sign"), COMPARISONS)
def test_cells_are_compared_exactly_and_mixed_numbers_as_doubles(first, second, sign):
    holding = {"=": {"=", "<=", ">="}, "<": {"<", "<=", "<>"}, ">": {">", ">=", "<>"}}[sign]
    assert {c.value for c in Comparison if compared(c, first, second)} == holding


@pytest.mark.parametrize("comparison", Comparison)
def test_a_comparison_with_null_is_null(comparison):
    one = Literal(Fraction(1))
    assert [evaluate(Compare(comparison, *sides), {"v": None}) for sides in ((V, one), (one, V), (V, V))] == [None] * 3


@pytest.mark.parametrize(("a", "b"), list(product(TRUTHS, TRUTHS)))
def test_the_tables_of_truth_are_those_of_sql(a, b):
    row = {"a": a, "b": b}
    assert evaluate(And((A, B)), row) is AND.get((a, b), False)
    assert evaluate(Or((A, B)), row) is OR.get((a, b), True)


@pytest.mark.parametrize(("a", "opposite"), [(True, False), (False, True), (None, None)])
def test_not_turns_truth_around_and_leaves_null(a, opposite):
    assert evaluate(Not(A), {"a": a}) is opposite


def test_of_nothing_and_is_true_and_or_is_false():
    assert (evaluate(TRUE, {}), evaluate(FALSE, {})) == (True, False)


def test_only_what_is_true_holds():
    assert [holds(A, {"a": truth}) for truth in TRUTHS] == [True, False, False]


def test_in_is_null_only_for_null_and_is_null_never():
    listed = IsIn(V, (Literal(Fraction(1, 2)), Literal(Fraction(2**53 + 1))))
    assert [evaluate(listed, {"v": v}) for v in (0.5, 2.0**53, 2**53, 2**53 + 1, None)] == [
        True,
        True,
        False,
        True,
        None,
    ]
    assert [evaluate(IsNull(V), {"v": v}) for v in (2, None)] == [False, True]


@pytest.mark.parametrize(
    ("a", "b", "value"), [(True, True, 1), (None, True, 2), (False, None, None), (False, False, None)]
)
def test_case_takes_the_first_branch_that_is_true(a, b, value):
    branches = ((A, Literal(Fraction(1))), (B, Literal(Fraction(2))))
    assert evaluate(Case(branches, Null(Kind.INTEGER)), {"a": a, "b": b}) == value


@pytest.mark.parametrize(
    ("constant", "figure"),
    [
        (Fraction(3), 3),
        (Fraction(1, 2), 0.5),
        (Fraction(MOST), MOST),
        (Fraction(LEAST), LEAST),
        (Fraction(2**63), 2.0**63),
        (Fraction(BIG), BIG),
        (Fraction(-1, 10**400), 0.0),
    ],
)
def test_a_constant_is_a_machine_number(constant, figure):
    assert same(evaluate(Literal(constant), {}), figure)


@pytest.mark.parametrize("constant", ["x", True, DAY, TIME])
def test_a_constant_of_another_kind_is_itself(constant):
    assert evaluate(Literal(constant), {}) is constant


@given(st.sampled_from(list(Kind)).flatmap(lambda k: st.tuples(st.just(k), expressions(k, inexact=True))), rows())
def test_an_expression_has_a_cell_of_its_kind_or_is_null_whatever_the_row(typed, row):
    kind, expression = typed
    assert facts_of(expression, FACTS).kind is kind
    cell = evaluate(unmixed(expression, FACTS), row)
    if cell is None:
        return
    assert type(cell) is TYPES[kind]
    if kind is Kind.INTEGER:
        assert MIN_INT64 <= cell <= MAX_INT64
    if kind is Kind.FLOAT:
        assert abs(cell) <= BIG
        assert not (cell == 0 and math.copysign(1, cell) < 0)


@given(st.sampled_from(list(Kind)).flatmap(lambda k: expressions(k, inexact=True)), rows(), rows())
def test_an_expression_reads_only_the_columns_it_names(expression, row, other):
    named = columns_of(expression)
    mixed = {name: (row if name in named else other)[name] for name in row}
    plain = unmixed(expression, FACTS)
    assert evaluate(plain, row) == evaluate(plain, mixed)


LETTERS = st.text("ab%_\\\n", max_size=8)


def as_regex(pattern):
    """The pattern as a regular expression, by another road."""
    taken = re.findall(r"\\.|\\$|.", pattern, re.DOTALL)
    terms = {"%": ".*", "_": "."}
    return "".join(terms.get(term) or re.escape(term[1:] if len(term) > 1 else term) for term in taken)


@given(LETTERS, LETTERS)
def test_a_pattern_is_the_regular_expression_that_it_stands_for(text, pattern):
    assert is_like(text, pattern) == bool(re.fullmatch(as_regex(pattern), text, re.DOTALL))


@given(st.text(max_size=8))
def test_escaped_text_is_like_itself_and_like_nothing_else(text):
    pattern = re.sub(r"([%_\\])", r"\\\1", text)
    assert is_like(text, pattern)
    assert not is_like(text + "a", pattern)


@pytest.mark.parametrize(
    ("pattern", "texts"), [("%a%a%", ("aa", "aba")), ("a%a", ("aa", "aba")), ("%ab%b", ("abb", "aabb"))]
)
def test_no_character_of_the_text_is_used_twice(pattern, texts):
    assert all(is_like(text, pattern) for text in texts)
    assert not is_like("a" if "b" not in pattern else "ab", pattern)


@pytest.mark.parametrize("pattern", ["%a" * 40 + "%b", "_%" * 40])
def test_a_pattern_of_many_runs_takes_no_time(pattern):
    assert is_like("a" * 5_000, pattern) == pattern.startswith("_")


@given(st.text(max_size=8), st.integers(1, 10), st.integers(0, 10) | st.just(2**62))
def test_a_substring_starts_at_its_place_and_is_no_longer_than_asked(text, start, length):
    piece = substring(text, start, length)
    assert len(piece) == max(0, min(length, len(text) - start + 1))
    assert text[start - 1 :].startswith(piece)
