"""Expressions of Polars on a few rows, by both of its engines: for tests alone."""

import polars as pl
import pyarrow as pa

from sfumato.engines.frames.terms import TYPES
from sfumato.query.kinds import Kind

ENGINES = ("in-memory", "streaming")


def frame(cells):
    """Columns by name, each an Arrow array or a list, as a lazy frame."""
    return pl.DataFrame(pl.from_arrow(pa.table(cells))).lazy()


def typed(cells, kinds):
    """Columns of cells by name, of kinds."""
    return pl.LazyFrame(cells, schema={name: TYPES[Kind(kind)] for name, kind in kinds.items()})


def values_of(expression, cells=None):
    """What an expression is on every row of a table: of columns by name; of none on one row."""
    rows = frame(cells or {"nothing": [0]}).with_columns(expression.alias("made")).select("made")
    first, second = (rows.collect(engine=engine)["made"].to_list() for engine in ENGINES)
    assert first == second
    return first


def value_of(expression):
    """What an expression without columns is."""
    (value,) = values_of(expression)
    return value


def rows_of(lazy):
    """The rows of a frame, in no order."""
    first, second = (sorted(lazy.collect(engine=engine).rows(), key=repr) for engine in ENGINES)
    assert first == second
    return first
