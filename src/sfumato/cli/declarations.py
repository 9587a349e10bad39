"""Columns and keys as they are written on the command line."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from typing import Final

from sfumato.errors import ParameterError
from sfumato.query.model import schema
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Column, Key

_COLUMN_FORMS: Final = (
    "must look like age=int:17:90, hours=float:0:100:0.01, sex=text, member=bool, day=date or at=timestamp"
)
_KEY_FORMS: Final = "must look like education=Bachelors,Masters"
_BOOLEANS: Final = {"true": True, "false": False}


def declared_columns(columns: Sequence[str], keys: Sequence[str]) -> dict[str, Column]:
    """The columns that --column and --keys declare; one that only has keys is text.

    Args:
        columns: Such as ``"age=int:17:90"``.
        keys: Such as ``"education=Bachelors,Masters"``; a key with a comma stands in double quotes.

    Raises:
        ParameterError: Another form, a column twice, or an impossible value; the error shows the declaration.

    Example:
        >>> declared_columns(["age=int:17:90"], ["sex=Female,Male"])["sex"].values
        ('Female', 'Male')
    """
    declared: dict[str, Column] = {}
    for name, words in _by_name("column", columns, _COLUMN_FORMS).items():
        with _shown("column", f"{name}={words}"):
            declared[name] = _column(words.split(":"))
    for name, words in _by_name("keys", keys, _KEY_FORMS).items():
        column = declared.get(name, schema.text())
        with _shown("keys", f"{name}={words}"):
            declared[name] = replace(column, values=tuple(_key(key, column.kind) for key in separated(words)))
    return declared


def separated(words: str) -> tuple[str, ...]:
    """The parts of a list with commas; a part with a comma stands in double quotes.

    Example:
        >>> separated('a, b,"c,d"')
        ('a', 'b', 'c,d')
    """
    (parts,) = csv.reader([words], skipinitialspace=True)
    return tuple(part.strip() for part in parts)


def _by_name(option: str, declarations: Sequence[str], forms: str) -> Mapping[str, str]:
    """What stands behind each name's "="."""
    found: dict[str, str] = {}
    for declaration in declarations:
        name, sign, words = declaration.partition("=")
        if not (name and sign and words):
            raise ParameterError(option, declaration, forms)
        if name in found:
            raise ParameterError(option, declaration, f"must be stated once; {name} was declared before")
        found[name] = words
    return found


def _column(words: Sequence[str]) -> Column:
    match words:
        case ("int",):
            return schema.integer()
        case ("int", lower, upper):
            return schema.integer(lower, upper)
        case ("float",):
            return schema.real()
        case ("float", lower, upper):
            return schema.real(lower, upper)
        case ("float", lower, upper, resolution):
            return schema.real(lower, upper, resolution=resolution)
        case ("text",):
            return schema.text()
        case ("bool",):
            return schema.boolean()
        case ("date",):
            return schema.date()
        case ("timestamp",):
            return schema.timestamp()
        case _:
            raise ParameterError("", words, _COLUMN_FORMS)


def _key(word: str, kind: Kind) -> Key:
    """A key of the column's own type; where there is none, the word, which the column refuses."""
    try:
        return _KEYS[kind](word)
    except ValueError:
        raise ParameterError(word, word, f"is no {kind}, as keys of this column are") from None
    except LookupError:
        return word


_KEYS: Final[Mapping[Kind, Callable[[str], Key]]] = {
    Kind.INTEGER: int,
    Kind.BOOLEAN: lambda word: _BOOLEANS[word.lower()],
    Kind.DATE: date.fromisoformat,
    Kind.TIMESTAMP: datetime.fromisoformat,
}


@contextmanager
def _shown(option: str, declaration: str) -> Iterator[None]:
    """Let an error show the whole declaration, so that its writer finds it again."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(option, declaration, f"{error.name} {error.requirement}".strip()) from None
