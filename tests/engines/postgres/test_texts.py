import pyarrow as pa
import pytest
from sqlglot import exp
from tests.engines.in_postgres import values_of

from sfumato.engines.sql.expressions.terms import column, constant, function, null, operation, text
from sfumato.query.model.functions import MAX_TEXT
from sfumato.query.model.kinds import Kind

V = column("v")


@pytest.mark.parametrize(
    ("idiom", "constants"),
    [("double_of_text", {"1e400": None, "-1e400": None, "1e-400": 0.0, "-2.5E-400": 0.0, "2.5": 2.5}),
     ("whole_of_text", {"9" * 30: None, "+7": 7}),
     ("time_of_text", {"2026-02-30": None})],
)  # fmt: skip
def test_constants_are_not_cast_before_it_is_known_that_they_can_be(idiom, constants):
    found = values_of([function(idiom, text(shown)) for shown in constants], pa.table({"v": [1]}))
    assert [value for (value,) in found] == list(constants.values())


@pytest.mark.parametrize("idiom", ["double_of_text", "whole_of_text", "time_of_text", "whole_of_double"])
def test_null_is_null(idiom):
    kind = Kind.FLOAT if idiom == "whole_of_double" else Kind.TEXT
    assert values_of([function(idiom, null(kind))], pa.table({"v": [1]})) == [[None]]


def test_text_that_is_made_is_compared_by_code_points_too():
    numbers = pa.table({"v": [-7, 10, 9]})
    shown = function("text_of_whole", V)
    below = operation(exp.LT, shown, text("1"))
    upper = function("upper_ascii", function("joined", text("a"), shown))
    (smaller, least) = values_of([below, operation(exp.LT, upper, text("a"))], numbers)
    assert smaller == [True, False, False]
    assert least == [True, True, True]
    assert values_of([operation(exp.LT, constant("B"), constant("a"))], pa.table({"v": [1]})) == [[True]]


def test_many_texts_are_joined():
    terms = [function("joined_within", *[V] * 150), function("joined", text("x"), *[V] * 150)]
    ((within,), (joined,)) = values_of(terms, pa.table({"v": ["é"]}))
    assert (within, joined) == ("é" * 150, "x" + "é" * 150)
    assert values_of([function("joined_within", V, V)], pa.table({"v": ["a" * MAX_TEXT]})) == [[None]]
