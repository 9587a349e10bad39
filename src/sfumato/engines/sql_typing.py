"""Stored columns as their declared types, in SQL: what `values.typed` says, every step total."""

from sqlglot import exp

from sfumato.engines.sql_terms import column, double, function, stripped
from sfumato.engines.values import FALSE_WORDS, MAX_WHOLE_DOUBLE, NUMBER_PATTERN, TRUE_WORDS, WHOLE_PATTERN
from sfumato.query.schema import Kind


def lower_typed(name: str, kind: Kind, storage: str) -> exp.Expr:
    """`values.typed` in SQL: a stored column as its declared type, NULL where it does not convert.

    Args:
        name: The column.
        kind: Its declared kind.
        storage: The engine's name for the type it is stored in.
    """
    stored: exp.Expr = column(name)
    if not is_number(storage) and storage not in {"BOOLEAN", "VARCHAR"}:
        stored, storage = exp.TryCast(this=stored, to=exp.DataType.build("VARCHAR")), "VARCHAR"
    match kind:
        case Kind.TEXT:
            return _typed_text(stored, storage)
        case Kind.BOOLEAN:
            return _typed_boolean(stored, storage)
        case Kind.INTEGER if storage == "BOOLEAN" or is_whole(storage):
            return exp.TryCast(this=stored, to=exp.DataType.build("BIGINT"))
        case Kind.INTEGER:
            return _typed_integer(stored, storage)
        case Kind.FLOAT:
            return _typed_double(stored, storage)


def is_whole(storage: str) -> bool:
    """Whether a storage type holds whole numbers."""
    return storage.endswith("INT") or storage in {"INTEGER", "UINTEGER", "BIGNUM"}


def is_number(storage: str) -> bool:
    """Whether a storage type holds numbers."""
    return is_whole(storage) or storage in {"FLOAT", "DOUBLE"} or storage.startswith("DECIMAL")


def _typed_double(stored: exp.Expr, storage: str) -> exp.Expr:
    """A binary double; NaN, and text that is no number, are NULL."""
    if storage == "VARCHAR":
        text = stripped(stored)
        number = exp.TryCast(this=text.copy(), to=exp.DataType.build("DOUBLE"))
        cases = exp.case().when(_matches(text, NUMBER_PATTERN), number)
        word = exp.Lower(this=text.copy())
        for name, value in (("true", 1.0), ("false", 0.0)):
            cases = cases.when(exp.EQ(this=word.copy(), expression=exp.Literal.string(name)), double(value))
        return cases
    number = exp.TryCast(this=stored, to=exp.DataType.build("DOUBLE"))
    if storage in {"FLOAT", "DOUBLE"}:
        return exp.case().when(exp.Not(this=function("ISNAN", number)), number.copy())
    return number


def _typed_integer(stored: exp.Expr, storage: str) -> exp.Expr:
    """A 64-bit integer: whole numbers in text exactly, all else through a double, half up."""
    half_up = exp.Add(this=_typed_double(stored, storage), expression=double(0.5))
    rounded = exp.TryCast(this=exp.Floor(this=exp.Paren(this=half_up)), to=exp.DataType.build("BIGINT"))
    if storage != "VARCHAR":
        return rounded
    text = stripped(stored)
    whole = exp.TryCast(this=text.copy(), to=exp.DataType.build("BIGINT"))
    return exp.case().when(_matches(text, WHOLE_PATTERN), whole).else_(rounded)


def _typed_text(stored: exp.Expr, storage: str) -> exp.Expr:
    """Text; of a double that is whole, without the point."""
    if storage not in {"FLOAT", "DOUBLE"}:
        return exp.cast(stored, exp.DataType.Type.VARCHAR)
    number = exp.cast(stored, exp.DataType.Type.DOUBLE)
    is_whole_number = exp.and_(
        exp.EQ(this=function("FLOOR", number.copy()), expression=number.copy()),
        exp.LT(this=function("ABS", number.copy()), expression=double(float(MAX_WHOLE_DOUBLE))),
    )
    whole = exp.cast(exp.TryCast(this=number.copy(), to=exp.DataType.build("BIGINT")), exp.DataType.Type.VARCHAR)
    cases = exp.case().when(function("ISNAN", number), exp.Null()).when(is_whole_number, whole)
    return cases.else_(exp.cast(number.copy(), exp.DataType.Type.VARCHAR))


def _matches(text: exp.Expr, pattern: str) -> exp.Expr:
    return function("REGEXP_FULL_MATCH", text, exp.Literal.string(pattern))


def _typed_boolean(stored: exp.Expr, storage: str) -> exp.Expr:
    if storage == "BOOLEAN":
        return stored
    if storage == "VARCHAR":
        word = exp.Lower(this=stripped(stored))
        true = exp.In(this=word, expressions=[exp.Literal.string(w) for w in TRUE_WORDS])
        false = exp.In(this=word.copy(), expressions=[exp.Literal.string(w) for w in FALSE_WORDS])
        return exp.case().when(true, exp.true()).when(false, exp.false())
    return exp.NEQ(this=_typed_double(stored, storage), expression=double(0.0))
