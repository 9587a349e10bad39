"""The smallest pieces of Polars queries: types, constants, values under a name; and expressions with their kinds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

import polars as pl

from sfumato.query.kinds import Kind

MICROSECONDS: Final = pl.Datetime("us")

TYPES: Final[Mapping[Kind, pl.DataType]] = {
    Kind.INTEGER: pl.Int64(),
    Kind.FLOAT: pl.Float64(),
    Kind.TEXT: pl.String(),
    Kind.BOOLEAN: pl.Boolean(),
    Kind.DATE: pl.Date(),
    Kind.TIMESTAMP: MICROSECONDS,
}
"""What the values of each kind are held in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """An expression of Polars with its kind, and what its doubles may be, as `sql.kinds.Term` is one of SQL.

    Attributes:
        value: It.
        kind: Of its values.
        pending: Whether a double that is infinite or NaN stands for NULL here. Sums, differences, products and roots of
            such doubles are such ones again, so that a chain of them is checked once, where something else reads it.
        infinite: Whether a double may be infinite as a value: in a column, or as a constant.
    """

    value: pl.Expr
    kind: Kind
    pending: bool = False
    infinite: bool = False

    @property
    def settled(self) -> pl.Expr:
        """The expression with NULL for what stands for it."""
        return guarded(self.value, lambda x: x.is_finite()) if self.pending else self.value

    @property
    def as_double(self) -> pl.Expr:
        """A number as a double, of which those that stand for NULL still do."""
        return self.value if self.kind is Kind.FLOAT else self.value.cast(pl.Float64)


def of_column(name: str, kind: Kind) -> Term:
    """A column."""
    return Term(value=pl.col(name), kind=kind, infinite=kind is Kind.FLOAT)


def computed(value: pl.Expr) -> Term:
    """A double just computed, which may have overflowed."""
    return Term(value=value, kind=Kind.FLOAT, pending=True)


def whole(value: pl.Expr) -> Term:
    """A 64-bit integer."""
    return Term(value=value, kind=Kind.INTEGER)


def constant(value: float | str | date) -> pl.Expr:
    """A constant of the type of its kind; an `int` is a 64-bit integer.

    Raises:
        UnicodeEncodeError: Text that is not Unicode, which Polars would change.
    """
    match value:
        case bool():
            return pl.lit(value, pl.Boolean)
        case str():
            value.encode()
            return pl.lit(value, pl.String)
        case int():
            return pl.lit(value, pl.Int64)
        case float():
            return pl.lit(value, pl.Float64)
        case datetime():
            return pl.lit(value, MICROSECONDS)
        case _:
            return pl.lit(value, pl.Date)


def null(kind: Kind) -> pl.Expr:
    """NULL of a kind."""
    return pl.lit(None, TYPES[kind])


def named(value: pl.Expr, body: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
    """What `body` makes of a value, perhaps of several copies of it; see `named_together`."""
    return named_together((value,), body)


def named_together(values: tuple[pl.Expr, ...], body: Callable[..., pl.Expr]) -> pl.Expr:
    """What `body` makes of several values.

    Each is computed once, as a field of a struct, so that expressions do not grow with the power of their depth. A body
    sees these fields alone, so it must not hold another body that reads them.
    """
    if all(value.meta.is_column() or value.meta.is_literal() for value in values):
        return body(*values)
    names = [f"x{place}" for place in range(len(values))]
    fields = pl.struct(value.alias(name) for name, value in zip(names, values, strict=True))
    made = body(*(pl.field(name) for name in names)).alias("made")
    return fields.struct.with_fields(made).struct.field("made")


def guarded(value: pl.Expr, condition: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
    """A value where a condition on it holds, else NULL."""
    return named(value, lambda x: pl.when(condition(x)).then(x))
