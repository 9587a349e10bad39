"""The smallest pieces of emitted SQL: quoted names, typed constants, calls."""

from fractions import Fraction

from sqlglot import exp

from sfumato.engines.conditions import number
from sfumato.query.expressions import Value
from sfumato.query.schema import Key


def column(name: str) -> exp.Column:
    """A quoted name, as the catalogue has it."""
    return exp.column(exp.to_identifier(name, quoted=True))


def function(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A call by the engine's own name."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def constant(value: Value | Key) -> exp.Expr:
    """A constant of a column's type."""
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        return exp.Literal.string(value)
    figure = number(Fraction(value))
    if isinstance(figure, int):
        return exp.cast(exp.Literal.number(figure), exp.DataType.Type.BIGINT)
    return exp.cast(exp.Literal.string(repr(figure)), exp.DataType.Type.DOUBLE)


def whole(value: int) -> exp.Expr:
    """A 64-bit integer."""
    return exp.cast(exp.Literal.number(value), exp.DataType.Type.BIGINT)


def double(value: float) -> exp.Expr:
    """A binary double, by its shortest decimal."""
    return exp.cast(exp.Literal.string(repr(value)), exp.DataType.Type.DOUBLE)


def stripped(text: exp.Expr) -> exp.Expr:
    """Text without spaces around it, of which engines would otherwise take other kinds off too."""
    return exp.Trim(this=text, expression=exp.Literal.string(" "))


def present(name: str) -> exp.Expr:
    """Whether a column is not NULL."""
    return exp.Not(this=exp.Is(this=column(name), expression=exp.Null()))
