"""Keys that are images, and days between bounds: what every engine computes of rows within bounds and beyond them."""

import datetime as dt
from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest
from tests.engines.running import by_place, found, statement

from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.analysis.shape import shape_of
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.facts import Edition
from sfumato.query.model.relations import GroupBy, Source
from sfumato.query.model.schema import Table, boolean, date, integer, real, text, timestamp
from sfumato.query.planning.questions import Aggregate
from sfumato.query.planning.sections import draft
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.values.cells import typed
from sfumato.query.values.evaluation import clamped_steps, evaluate

TABLE = Table(
    name="t",
    columns={
        "age": integer(0, 120), "few": integer(values=[1, 2, 16]), "sex": text(values=["m", "fé", "ß"]), "b": boolean(),
        "x": real(0, 1000), "d": date("2025-11-15", "2026-02-10"),
        "t": timestamp("2025-12-31 22:30", "2026-01-01 01:10"),
    },
)  # fmt: skip
ROWS = [
    {"age": age, "few": few, "sex": sex, "b": b, "x": x, "d": None if d is None else dt.date.fromisoformat(d),
     "t": None if t is None else dt.datetime.fromisoformat(t)}
    for age, few, sex, b, x, d, t in (
        (0, 1, "m", True, 0.0, "2025-11-15", "2025-12-31 22:30"),
        (119, 2, "fé", False, 999.99, "2026-02-10", "2025-12-31 23:59:59.999999"),
        (120, 16, "ß", None, 1000.0, "2026-01-01", "2026-01-01 00:00"),
        (39, None, None, True, None, None, None),
        (121, 3, "M", False, -0.5, "2025-11-14", "2025-12-31 22:29:59"),
        (-11, 17, "mm", True, 1e9, "2026-02-11", "2026-01-01 01:10:00.000001"),
        (2**62, -1, "", None, -1e9, "0001-01-01", "0001-01-01 00:00"),
        (None, 1, "FÉ", True, 12.5, "9999-12-31", "9999-12-31 23:59:59"),
        (65, 2, "m", True, 499.999, "2025-12-31", "2026-01-01 01:10"),
    )
]  # fmt: skip
"""Rows at the bounds, within and beyond them, and such as are in no list."""

TYPES = pa.schema(
    {
        "age": pa.int64(), "few": pa.int64(), "sex": pa.string(), "b": pa.bool_(), "x": pa.float64(), "d": pa.date32(),
        "t": pa.timestamp("us"),
    }
)  # fmt: skip
DATA = pa.Table.from_pylist(ROWS, TYPES)

IMAGES = (
    "age / 10 * 10", "few + 0", "few * few - 3", "UPPER(LEFT(sex, 2))", "LEFT(sex, 1) || '/' || CAST(b AS text)",
    "LENGTH(sex)", "COALESCE(sex, '?') || '!'", "CAST(FLOOR(x / 100) AS integer) * 100", "age % 7 * 3",
    "CAST(SQRT(age) AS integer)", "ROUND(age / 3.0) = 7", "EXTRACT(YEAR FROM d) * 100 + EXTRACT(MONTH FROM d)",
    "DATE_TRUNC('month', d)", "DATE_TRUNC('week', d)", "d + 3", "d - DATE '2026-01-01'", "EXTRACT(ISODOW FROM d)",
    "LEFT(CAST(d AS text), 7)", "DATE_TRUNC('hour', t)", "CAST(t AS date)", "EXTRACT(HOUR FROM t)", "d",
    "CASE WHEN age < 18 THEN 'child' WHEN age >= 65 THEN 'old' ELSE 'adult' END",
)  # fmt: skip
"""Keys that have public values, though no column lists them."""


def key_of(asked):
    """The expression that a statement groups by, over columns of the table."""
    name = asked.keys[0].name
    if isinstance(asked.rows, Source):
        return ColumnRef(name)
    return unmixed(dict(asked.rows.columns)[name], shape_of(asked.rows.child).columns)


def as_read(row):
    """A row of the table as every engine reads it."""
    return {name: typed(row[name], column) for name, column in TABLE.columns.items()}


class ImagesContract:
    @pytest.mark.parametrize("key", IMAGES)
    def test_rows_are_in_the_group_of_their_key_if_it_is_one_of_the_image_and_else_in_none(self, engine, key):
        asked = statement(f"SELECT {key}, COUNT(*) FROM t GROUP BY 1", TABLE, edition=Edition.LATEST)
        (listed,) = (column.values for column in asked.keys)
        keys = Counter(evaluate(key_of(asked), as_read(row)) for row in ROWS)
        expected = {(value,): [count] for value, count in keys.items() if value is not None and value in listed}
        assert by_place(found(engine, asked, DATA)) == expected

    @pytest.mark.parametrize("key", IMAGES)
    def test_which_groups_there_are_depends_on_no_row(self, engine, key):
        asked = statement(f"SELECT {key}, COUNT(*) FROM t GROUP BY 1", TABLE, edition=Edition.LATEST)
        assert asked.keys[0].values
        assert by_place(found(engine, asked, DATA.slice(0, 0))) == {}

    @pytest.mark.parametrize("name", ["d", "t"])
    def test_days_and_times_are_clamped_to_their_bounds_and_null_is_none_of_them(self, engine, name):
        share = Percentile(ColumnRef(name), Fraction(1, 2))
        asked = Aggregate(GroupBy(Source(TABLE), ()), (("m", share),))
        (own,) = draft(asked, (), neighboring_relation=ADD_OR_REMOVE_ONE).statements
        steps, cells = own.cell.steps, Counter()
        for row in map(as_read, ROWS):
            point = clamped_steps(evaluate(steps.value, row), steps)
            assert (point is None) is (row[name] is None)
            if point is not None:
                cells[(point - steps.lower) // own.cell.width] += 1
        assert (cells[0], cells[own.cell.count - 1]) == (3, 3)  # at the bound, and two beyond it
        assert by_place(found(engine, own, DATA)) == {(cell,): [count] for cell, count in cells.items()}
