"""OVER above GROUP BY: what windows over released numbers mean, and which are none."""

from fractions import Fraction

import pytest
from tests.query.asking import SOURCES, parsed, rows

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import ColumnRef, IsNull, Literal
from sfumato.query.model.relations import RowFunction, RowWindow, Select
from sfumato.query.planning.windows import OrderKey, RowsFrame, Window, WindowFunction

WARD, COUNT = ColumnRef("ward"), ColumnRef("count")
BY_WARD, BY_COUNT = (OrderKey(WARD),), (OrderKey(COUNT, descending=True),)


def asked(window, more=""):
    return parsed(f"SELECT ward, {window} AS x FROM visits GROUP BY ward {more}")


def window_of(window):
    ((_, made),) = asked(window).windows
    return made


def of(function, **more):
    return Window(function=function, **more)


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        ("SUM(COUNT(*)) OVER ()", of(WindowFunction.SUM, value=COUNT)),
        ("AVG(COUNT(*)) OVER (PARTITION BY ward)", of(WindowFunction.AVG, value=COUNT, partition=(WARD,))),
        ("SUM(COUNT(*)) OVER (ORDER BY ward)", of(WindowFunction.SUM, value=COUNT, order=BY_WARD)),
        ("COUNT(*) OVER ()", of(WindowFunction.COUNT)),
        ("COUNT(ward) OVER ()", of(WindowFunction.COUNT, value=WARD)),
        ("MAX(COUNT(*)) OVER ()", of(WindowFunction.MAX, value=COUNT)),
        ("RANK() OVER (ORDER BY COUNT(*) DESC)", of(WindowFunction.RANK, order=BY_COUNT)),
        ("DENSE_RANK() OVER (ORDER BY ward)", of(WindowFunction.DENSE_RANK, order=BY_WARD)),
        ("ROW_NUMBER() OVER (ORDER BY ward)", of(WindowFunction.ROW_NUMBER, order=BY_WARD)),
        ("PERCENT_RANK() OVER (ORDER BY ward)", of(WindowFunction.PERCENT_RANK, order=BY_WARD)),
        ("CUME_DIST() OVER (ORDER BY ward)", of(WindowFunction.CUME_DIST, order=BY_WARD)),
        ("NTILE(4) OVER (ORDER BY ward)", of(WindowFunction.NTILE, number=4, order=BY_WARD)),
        ("LAG(COUNT(*)) OVER (ORDER BY ward)", of(WindowFunction.LAG, value=COUNT, order=BY_WARD)),
        (
            "LEAD(COUNT(*), 2, 0) OVER (ORDER BY ward)",
            of(WindowFunction.LEAD, value=COUNT, number=2, default=Literal(Fraction(0)), order=BY_WARD),
        ),
        ("FIRST_VALUE(ward) OVER (ORDER BY COUNT(*) DESC)", of(WindowFunction.FIRST_VALUE, value=WARD, order=BY_COUNT)),
        (
            "SUM(COUNT(*)) OVER (ORDER BY ward ROWS 2 PRECEDING)",
            of(WindowFunction.SUM, value=COUNT, order=BY_WARD, frame=RowsFrame(before=2, after=0)),
        ),
        (
            "SUM(COUNT(*)) OVER (ORDER BY ward ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
            of(WindowFunction.SUM, value=COUNT, order=BY_WARD, frame=RowsFrame(before=0, after=None)),
        ),
        (
            "SUM(COUNT(*)) OVER (ORDER BY ward RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
            of(WindowFunction.SUM, value=COUNT, order=BY_WARD),
        ),
        (
            "RANK() OVER (ORDER BY COUNT(*) NULLS FIRST)",
            of(WindowFunction.RANK, order=(OrderKey(IsNull(COUNT), descending=True), OrderKey(COUNT))),
        ),
    ],
)
def test_a_window_reads_what_is_released(sql, meaning):
    assert window_of(sql) == meaning


def test_windows_alike_are_one_and_stand_inside_of_expressions():
    question = asked(
        "100.0 * COUNT(*) / SUM(COUNT(*)) OVER () + SUM(COUNT(*)) OVER ()", "ORDER BY SUM(COUNT(*)) OVER ()"
    )
    assert len(question.windows) == 1
    assert question.order == (OrderKey(ColumnRef(question.windows[0][0])),)


def test_a_window_has_a_name():
    named = parsed("SELECT SUM(COUNT(*)) OVER w AS s FROM visits GROUP BY ward WINDOW w AS (ORDER BY ward)")
    assert named.windows[0][1] == window_of("SUM(COUNT(*)) OVER (ORDER BY ward)")
    with pytest.raises(ParameterError, match="named behind WINDOW"):
        parsed("SELECT SUM(COUNT(*)) OVER v AS s FROM visits GROUP BY ward WINDOW w AS (ORDER BY ward)")


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SUM(hours) OVER ()", "single rows are never released"),
        ("RANK() OVER (ORDER BY hours)", "single rows are never released"),
        ("SUM(SUM(COUNT(*)) OVER ()) OVER ()", "window of windows"),
        ("MEDIAN(COUNT(*)) OVER ()", "no window over released numbers"),
        ("COUNT(DISTINCT ward) OVER ()", "no window over released numbers"),
        ("SUM(COUNT(*)) OVER (ORDER BY ward RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "RANGE"),
        ("SUM(COUNT(*)) OVER (ORDER BY ward ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)", "its own row"),
        ("RANK() OVER (ORDER BY ward ROWS 1 PRECEDING)", "no frame"),
    ],
)
def test_other_windows_are_refused(sql, reason):
    with pytest.raises(NotPrivateError, match=reason):
        asked(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "RANK() OVER ()", "LAG(COUNT(*)) OVER ()", "NTILE(0) OVER (ORDER BY ward)", "SUM(ward) OVER ()",
        "LAG(COUNT(*), 1001) OVER (ORDER BY ward)", "SUM(COUNT(*)) OVER (ORDER BY ward ROWS 101 PRECEDING)",
        "LAG(COUNT(*), 1, ward) OVER (ORDER BY ward)",
    ],
)  # fmt: skip
def test_windows_have_an_order_and_numbers_in_their_range(sql):
    with pytest.raises(ParameterError):
        asked(sql)


def test_a_window_over_single_rows_is_refused():
    for sql in (
        "SELECT RANK() OVER (ORDER BY hours) FROM visits",
        "SELECT SUM(hours) OVER (PARTITION BY patient) FROM visits",
    ):
        with pytest.raises(NotPrivateError, match="rows of several people"):
            parsed(sql)


def in_rows(sql, table="visits"):
    return rows(f"SELECT {sql} AS w FROM {table}")


@pytest.mark.parametrize(
    ("sql", "window"),
    [
        ("ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day)", {"function": RowFunction.ROW_NUMBER}),
        ("LAG(hours) OVER (PARTITION BY patient ORDER BY day)", {"function": RowFunction.LAG, "value": "hours"}),
        (
            "LEAD(hours, 2) OVER (PARTITION BY patient, ward ORDER BY day)",
            {"function": RowFunction.LEAD, "value": "hours", "distance": 2, "within": ("ward",)},
        ),
    ],
)
def test_a_window_in_a_sub_query_is_over_the_rows_of_a_unit(sql, window):
    name = sql.partition("(")[0].lower()
    made = RowWindow(child=SOURCES["visits"], name=name, order=(("day", False),), **window)
    assert in_rows(sql) == Select(made, (("w", ColumnRef(name)),))
    with pytest.raises(NotPrivateError, match=r"rows of several people.*Add visits\.patient to PARTITION BY"):
        in_rows(sql.replace("patient", "ward"))


def test_a_window_in_a_sub_query_reads_expressions():
    made = in_rows("LAG(hours * 2) OVER (PARTITION BY patient ORDER BY LOWER(ward) DESC NULLS LAST)")
    assert isinstance(made.child, RowWindow)
    assert [descending for _, descending in made.child.order] == [False, True]


@pytest.mark.parametrize(
    "sql",
    [
        "SUM(hours) OVER (PARTITION BY patient)", "LAG(hours, 1, 0) OVER (PARTITION BY patient ORDER BY day)",
        "ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day ROWS 1 PRECEDING)",
    ],
)  # fmt: skip
def test_other_windows_in_sub_queries_are_refused(sql):
    with pytest.raises(NotPrivateError):
        in_rows(sql)


def test_a_window_in_a_sub_query_has_an_order():
    with pytest.raises(ParameterError, match="order of rows"):
        in_rows("ROW_NUMBER() OVER (PARTITION BY patient)")


def test_public_rows_are_put_in_order_whatever_they_are():
    assert isinstance(in_rows("RANK() OVER (ORDER BY beds)", "wards").child, RowWindow)


def test_windows_in_sub_queries_and_in_having_are_refused():
    with pytest.raises(NotPrivateError, match="rows of several people"):
        parsed("SELECT SUM(r) FROM (SELECT patient, RANK() OVER (ORDER BY hours) AS r FROM visits) v")
    with pytest.raises(NotPrivateError, match="rows of several people"):
        parsed("SELECT SUM(r) FROM (SELECT patient, SUM(COUNT(*)) OVER () AS r FROM visits GROUP BY patient) v")
    with pytest.raises(NotPrivateError, match="after HAVING"):
        asked("COUNT(*)", "HAVING SUM(COUNT(*)) OVER () > 3")


def test_a_named_window_is_written_out():
    named = parsed("SELECT SUM(COUNT(*)) OVER w AS s FROM visits GROUP BY ward WINDOW w AS (ORDER BY ward)")
    assert named == parsed("SELECT SUM(COUNT(*)) OVER (ORDER BY ward) AS s FROM visits GROUP BY ward")
