from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

import pandas as pd
import pytest
from tests.query.frames import PEOPLE, frame

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.handles.conditions import between, clamped, literal
from sfumato.query.model.expressions import And, ColumnRef, Compare, Comparison, Literal

AGE = ColumnRef("age")
NOON = datetime.fromisoformat("2026-01-31T12:00")


class Word(StrEnum):
    SAID = "said"


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        (Decimal("0.10"), Fraction(1, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
        ("x", "x"),
        (Word.SAID, "said"),
        (True, True),
        (False, False),
        (date(2026, 1, 31), date(2026, 1, 31)),
        (NOON, NOON),
        (pd.Timestamp("2026-01-31 12:00"), NOON),
    ],
)
def test_constants_are_exact_and_of_their_plain_types(value, meant):
    assert literal(value) == Literal(meant)
    assert type(literal(value).value) is type(meant)


@pytest.mark.parametrize("value", [[1], {}, object(), b"x", float("nan"), float("inf"), "\ud800", 10**4000])
def test_what_is_no_constant_is_refused(value):
    with pytest.raises(ParameterError, match="literal"):
        literal(value)


def test_a_time_with_a_zone_is_refused():
    with pytest.raises(ParameterError, match="UTC"):
        literal(datetime(2026, 1, 31, tzinfo=UTC))


def test_null_is_no_constant():
    with pytest.raises(NotPrivateError, match="IS NULL"):
        literal(None)


def test_between_holds_both_ends():
    low, high = literal(1), literal(2)
    ends = Compare(Comparison.GREATER_EQUAL, AGE, low), Compare(Comparison.LESS_EQUAL, AGE, high)
    assert between(AGE, low, high) == And(ends)


def test_a_value_that_is_never_null_is_clamped_without_a_case():
    facts = frame(PEOPLE).age.is_null().cast("integer").facts
    assert not facts.nullable
    ends = Literal(Fraction(0)), Literal(Fraction(1))
    assert clamped(AGE, *ends, facts).function.value == "least"
