"""Stored columns as their declared types, in SQL: what `values.typed` says, every step total."""

from sqlglot import exp

from sfumato.engines.sql_terms import column, double, function, stripped
from sfumato.engines.values import FALSE_WORDS, NUMBER_PATTERN, TRUE_WORDS
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
            return exp.cast(stored, exp.DataType.Type.VARCHAR)
        case Kind.BOOLEAN:
            return _typed_boolean(stored, storage)
        case Kind.INTEGER if storage == "BOOLEAN" or is_whole(storage):
            return exp.TryCast(this=stored, to=exp.DataType.build("BIGINT"))
        case Kind.INTEGER:
            half_up = exp.Add(this=_typed_double(stored, storage), expression=double(0.5))
            rounded = exp.Floor(this=exp.Paren(this=half_up))
            return exp.TryCast(this=rounded, to=exp.DataType.build("BIGINT"))
        case Kind.FLOAT:
            return _typed_double(stored, storage)


def is_whole(storage: str) -> bool:
    """Whether a storage type holds whole numbers."""
    return storage.endswith("INT") or storage in {"INTEGER", "BIGNUM"}


def is_number(storage: str) -> bool:
    """Whether a storage type holds numbers."""
    return is_whole(storage) or storage in {"FLOAT", "DOUBLE"} or storage.startswith("DECIMAL")


def _typed_double(stored: exp.Expr, storage: str) -> exp.Expr:
    """A binary double; NaN, and text that is no number, are NULL."""
    if storage == "VARCHAR":
        text = stripped(stored)
        is_one = function("REGEXP_FULL_MATCH", text, exp.Literal.string(NUMBER_PATTERN))
        return exp.case().when(is_one, exp.TryCast(this=text.copy(), to=exp.DataType.build("DOUBLE")))
    number = exp.TryCast(this=stored, to=exp.DataType.build("DOUBLE"))
    if storage in {"FLOAT", "DOUBLE"}:
        return exp.case().when(exp.Not(this=function("ISNAN", number)), number.copy())
    return number


def _typed_boolean(stored: exp.Expr, storage: str) -> exp.Expr:
    if storage == "BOOLEAN":
        return stored
    if storage == "VARCHAR":
        word = exp.Lower(this=stripped(stored))
        true = exp.In(this=word, expressions=[exp.Literal.string(w) for w in TRUE_WORDS])
        false = exp.In(this=word.copy(), expressions=[exp.Literal.string(w) for w in FALSE_WORDS])
        return exp.case().when(true, exp.true()).when(false, exp.false())
    return exp.NEQ(this=_typed_double(stored, storage), expression=double(0.0))
