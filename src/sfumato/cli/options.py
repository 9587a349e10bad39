"""Options of queries as they are typed: the data and its columns, the cost and the budget, the ledger."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import ApproxDP, Guarantee, PureDP, guarantee
from sfumato.query.model import schema
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Column, Key

_COLUMN_FORMS: Final = (
    "must look like age=int:17:90, hours=float:0:100:0.01, sex=text, member=bool, day=date, "
    "day=date:2020-01-01:2026-12-31 or at=timestamp"
)
_KEY_FORMS: Final = "must look like education=Bachelors,Masters"
_BOOLEANS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions:
    """The data: a policy file, or the declarations of one table and the format of its file."""

    policy: str | None
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    unit: str | None
    names: str | None
    name: str | None
    max_rows_per_unit: int | None
    max_groups_per_unit: int | None
    max_rows_per_group_per_unit: int | None
    csv: Mapping[str, Any] = field(default_factory=dict)

    @property
    def of_a_table(self) -> tuple[str, ...]:
        """The given options that declare a table, which a policy would do itself."""
        facts = {
            "--column": self.columns or None, "--keys": self.keys or None, "--unit": self.unit, "--names": self.names,
            "--name": self.name, "--max-rows-per-unit": self.max_rows_per_unit,
            "--max-groups-per-unit": self.max_groups_per_unit,
            "--max-rows-per-group-per-unit": self.max_rows_per_group_per_unit,
            **{f"--{name.replace('_', '-')}": value for name, value in self.csv.items()},
        }  # fmt: skip
        return tuple(option for option, value in facts.items() if value is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostOptions:
    """The cost of a query and the budget, as numbers in text."""

    epsilon: str | None
    delta: str
    budget: str | None
    budget_delta: str | None

    @property
    def asked(self) -> PureDP | ApproxDP:
        """The cost of this query; there is no default."""
        if self.epsilon is None:
            raise ParameterError("--epsilon", None, "must be given: the cost of this query, such as 0.1")
        return guarantee(self.epsilon, self.delta)

    @property
    def stated_budget(self) -> Guarantee | None:
        """The budget; None if none was given."""
        if self.budget is not None:
            return guarantee(self.budget, self.budget_delta or 0)
        if self.budget_delta is not None:
            raise ParameterError("--budget-delta", self.budget_delta, "needs --budget too")
        return None


@dataclass(frozen=True, slots=True)
class LedgerOptions:
    """The ledger, and whether it must exist already."""

    ledger: str | None
    must_exist: bool = False

    def __post_init__(self) -> None:
        if self.must_exist and self.ledger is None:
            raise ParameterError("--existing", True, "needs --ledger too")


def declared_columns(columns: Sequence[str], keys: Sequence[str]) -> dict[str, Column]:
    """The columns that --column and --keys declare; a column with keys only is text.

    Args:
        columns: Declarations such as ``"age=int:17:90"``.
        keys: Declarations such as ``"education=Bachelors,Masters"``; a key with a comma is in double quotes.

    Raises:
        ParameterError: A declaration is malformed, repeats a column or has an impossible value; the error shows it.

    Example:
        >>> declared_columns(["age=int:17:90"], ["sex=Female,Male"])["sex"].values
        ('Female', 'Male')
    """
    declared: dict[str, Column] = {}
    for name, words in by_name("column", columns, _COLUMN_FORMS).items():
        with _shown("column", f"{name}={words}"):
            declared[name] = _column(words.split(":"))
    for name, words in by_name("keys", keys, _KEY_FORMS).items():
        column = declared.get(name, schema.text())
        with _shown("keys", f"{name}={words}"):
            declared[name] = replace(column, values=tuple(_key(key, column.kind) for key in separated(words)))
    return declared


def separated(words: str) -> tuple[str, ...]:
    """The parts of a comma-separated list; a part with a comma is in double quotes.

    Example:
        >>> separated('a, b,"c,d"')
        ('a', 'b', 'c,d')
    """
    (parts,) = csv.reader([words], skipinitialspace=True)
    return tuple(part.strip() for part in parts)


def by_name(option: str, declarations: Sequence[str], forms: str) -> Mapping[str, str]:
    """The text after "=" of each name.

    Args:
        option: What is given, for errors.
        declarations: What was typed.
        forms: What it must look like.

    Raises:
        ParameterError: A declaration has no name or no text, or repeats a name.

    Example:
        >>> by_name("bins", ["age=10"], "must look like age=10")
        {'age': '10'}
    """
    found: dict[str, str] = {}
    for declaration in declarations:
        name, sign, words = declaration.partition("=")
        if not (name and sign and words):
            raise ParameterError(option, declaration, forms)
        if name in found:
            raise ParameterError(option, declaration, f"must be given once; {name} was declared before")
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
        case ("date", lower, upper):
            return schema.date(lower, upper)
        case ("timestamp",):
            return schema.timestamp()
        case _:
            raise ParameterError("", words, _COLUMN_FORMS)


def _key(word: str, kind: Kind) -> Key:
    """A key of the column's type; for a type without keys the word itself, which the column refuses."""
    try:
        return _KEYS[kind](word)
    except ValueError:
        raise ParameterError(word, word, f"must be {kind}, as the column is") from None
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
    """Let an error show the whole declaration."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(option, declaration, f"{error.name} {error.requirement}".strip()) from None
