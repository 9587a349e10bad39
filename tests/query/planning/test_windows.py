import pytest

from sfumato.errors import ParameterError
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.facts import Facts
from sfumato.query.model.kinds import Kind
from sfumato.query.planning.windows import OrderKey, RowsFrame, Window, WindowFunction, window_facts, window_sql
from sfumato.query.printing.expression_sql import expression_sql

COLUMNS = {"day": Facts(kind=Kind.DATE), "n": Facts(kind=Kind.INTEGER), "x": Facts(kind=Kind.FLOAT)}
N, X, DAY = map(ColumnRef, ("n", "x", "day"))


@pytest.mark.parametrize(
    ("function", "value", "kind"),
    [
        (WindowFunction.RANK, None, Kind.INTEGER),
        (WindowFunction.COUNT, N, Kind.INTEGER),
        (WindowFunction.SUM, N, Kind.FLOAT),
        (WindowFunction.AVG, X, Kind.FLOAT),
        (WindowFunction.PERCENT_RANK, None, Kind.FLOAT),
        (WindowFunction.MAX, N, Kind.INTEGER),
        (WindowFunction.LAG, DAY, Kind.DATE),
        (WindowFunction.FIRST_VALUE, X, Kind.FLOAT),
    ],
)
def test_a_window_has_a_kind_whatever_is_released(function, value, kind):
    facts = window_facts(Window(function=function, value=value, order=(OrderKey(DAY),)), COLUMNS)
    assert facts.kind is kind
    assert facts.nullable


def test_a_default_of_another_kind_makes_a_float_or_is_refused():
    assert window_facts(Window(function=WindowFunction.LAG, value=N, default=X), COLUMNS).kind is Kind.FLOAT
    with pytest.raises(ParameterError, match="one kind"):
        window_facts(Window(function=WindowFunction.LAG, value=N, default=DAY), COLUMNS)


@pytest.mark.parametrize(
    "window",
    [
        Window(function=WindowFunction.SUM, value=DAY),
        Window(function=WindowFunction.RANK, order=(OrderKey(ColumnRef("y")),)),
        Window(function=WindowFunction.COUNT, partition=(ColumnRef("y"),)),
    ],
)
def test_it_reads_what_there_is_and_adds_numbers(window):
    with pytest.raises(ParameterError):
        window_facts(window, COLUMNS)


@pytest.mark.parametrize(
    ("window", "text"),
    [
        (Window(function=WindowFunction.COUNT), "COUNT(*) OVER ()"),
        (
            Window(function=WindowFunction.NTILE, number=4, order=(OrderKey(N, True),)),
            "NTILE(4) OVER (ORDER BY n DESC)",
        ),
        (
            Window(function=WindowFunction.LAG, value=N, number=2, default=X, partition=(DAY,), order=(OrderKey(N),)),
            "LAG(n, 2, x) OVER (PARTITION BY day ORDER BY n)",
        ),
        (Window(function=WindowFunction.LAG, value=N, order=(OrderKey(N),)), "LAG(n) OVER (ORDER BY n)"),
        (
            Window(function=WindowFunction.SUM, value=N, frame=RowsFrame(before=2, after=None)),
            "SUM(n) OVER (ROWS BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING)",
        ),
        (
            Window(function=WindowFunction.SUM, value=N, frame=RowsFrame(before=None, after=0)),
            "SUM(n) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
        ),
    ],
)
def test_a_window_as_people_read_it(window, text):
    assert window_sql(window, expression_sql) == text
