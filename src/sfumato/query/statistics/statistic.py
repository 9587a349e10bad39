"""`Statistic`: all that the rest of the package asks of one, from its spelling in SQL to what it is made of.

A statistic is one frozen dataclass in a file of its own, or of its family, listed in `registry`. Beside the class stand
its outputs, if it needs other than those there are, and the functions by which frames ask for it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Any, ClassVar, Protocol, Self, TypeAlias

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.numeric.rationals import Number, decimal_text, exact
from sfumato.privacy.stored_names import Names
from sfumato.query.analysis.folding import folded
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import Shape
from sfumato.query.handles.columns import ColumnExpression
from sfumato.query.handles.conditions import clamped
from sfumato.query.model.expressions import Expression, Literal
from sfumato.query.model.facts import Facts
from sfumato.query.model.kinds import NUMBERS, TIMES, Kind
from sfumato.query.model.relations import Folded
from sfumato.query.model.schema import Key
from sfumato.query.model.statement import AUTO, Bounds
from sfumato.query.statistics.measurements import Output
from sfumato.query.statistics.recipes import GroupedRows, Recipe

Value: TypeAlias = str | ColumnExpression
"""The name of a column, or what is computed of columns."""

StatedBounds: TypeAlias = tuple[Number, Number] | str | None
"""What values are clamped to: a pair, or "auto" for bounds chosen privately; None for what the policy says."""


class Statistic(ABC):
    """What is released of each group, as one column of the answer or several.

    Attributes:
        stored: The names by which it is hashed into what is stored; what is `unwritten` of it are the fields that hold
            its expressions, which are hashed before the others.
        spellings: The functions of SQL that mean it.
        outputs: The classes of outputs that only it has.
        of_numbers: Whether it reads numbers alone.
        of_times: Whether it reads dates and timestamps too, if it reads numbers.
        adds_up: Whether that of a group is the sum of those of its parts.
    """

    __slots__ = ()
    stored: ClassVar[Names]
    spellings: ClassVar[tuple["Spelling", ...]] = ()
    outputs: ClassVar[tuple[type[Output], ...]] = ()
    of_numbers: ClassVar[bool] = False
    of_times: ClassVar[bool] = False
    adds_up: ClassVar[bool] = False

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What it reads of each row."""
        fields = [getattr(self, field) for field in self.stored.unwritten]
        return tuple(chain.from_iterable(held if isinstance(held, tuple) else (held,) for held in fields))

    def folded(self, shape: Shape) -> "Statistic":
        """The same statistic of folded expressions, or a simpler one that is equal to it on all rows."""
        if not self.stored.unwritten:
            return self
        held = {field: getattr(self, field) for field in self.stored.unwritten}
        new = {
            field: tuple(folded(one, shape.columns) for one in value)
            if isinstance(value, tuple)
            else folded(value, shape.columns)
            for field, value in held.items()
        }
        return self if new == held else replace(self, **new)  # type: ignore[type-var]

    @abstractmethod
    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """What it is made of: components that are measured, and outputs that are made of them.

        Raises:
            UnboundedSensitivityError: Nothing bounds what it sums.
            ParameterError: It reads values of a kind that it cannot.
            NotPrivateError: It needs public values that nobody listed.
        """

    @abstractmethod
    def sql(self, values: Sequence[str]) -> str:
        """How people read it: SQL over its expressions as SQL, with what that has no words for in comments."""

    def columns(self, name: str) -> tuple[str, ...]:
        """What its columns are called: by its name, or numbered from 1 where it has several."""
        return (name,)

    def facts(self, shape: Shape) -> tuple[Facts, ...]:
        """What is known of each of its columns, whatever the data; NULL is what an ε of 0 releases."""
        return (number_facts(Kind.FLOAT),)

    def check(self, name: str, shape: Shape) -> None:
        """Refuse it if it means nothing for rows of this shape.

        Raises:
            ParameterError: A column does not exist or is of the wrong kind, or a parameter is out of range.
        """
        facts = [facts_of(value, shape.columns) for value in self.expressions]
        for known in facts:
            if self.of_numbers and known.kind not in (NUMBERS | TIMES if self.of_times else NUMBERS):
                requirement = "must be of numbers, dates or timestamps" if self.of_times else "must be of numbers"
                raise ParameterError(name, f"{self.stored.tag} of a {known.kind}", requirement)
        self.check_parameters(name, shape, facts)

    def check_parameters(self, name: str, shape: Shape, facts: Sequence[Facts]) -> None:  # noqa: B027 # most have none
        """What `check` asks besides; `facts` are those of its expressions."""

    def fold(self, name: str, shape: Shape) -> Folded | None:
        """The exact fold of the rows of one group that it stands for in a sub-query; None if there is none."""
        return None

    def wide_columns(self, name: str, shape: Shape) -> tuple[str, ...]:
        """Its columns that are FLOATs, though of whole numbers, because 64 bits may not hold them."""
        return ()

    def listed_values(self, columns: Mapping[str, Facts]) -> tuple[Key, ...] | None:
        """The public values among which it chooses, which then belong to the query."""
        return None

    @property
    def has_bought_interval(self) -> bool:
        """Whether a part of its cost goes to an interval."""
        return False

    def with_bought_interval(self) -> "Statistic":
        """The same with such an interval, where it can have one."""
        return self


class BoundedStatistic(Statistic):
    """A statistic of one number, which is clamped to `bounds` that may be left to a mechanism."""

    __slots__ = ()
    of_numbers = True
    value: Expression
    bounds: Bounds

    @abstractmethod
    def with_bounds(self, bounds: tuple[Fraction, Fraction]) -> Self:
        """The statistic with other bounds."""

    def check_parameters(self, name: str, shape: Shape, facts: Sequence[Facts]) -> None:
        """Refuse bounds in the wrong order, or of thousands of digits."""
        bounds = stated(self.bounds)
        if bounds is not None and bounds is not AUTO and not bounds[0] < bounds[1]:
            shown = (str(bounds[0]), str(bounds[1]))
            raise ParameterError(f"bounds of {name}", shown, "must have the lower bound below the upper bound")


class SqlReader(Protocol):
    """What a `Spelling` may ask about the parsed call of an aggregate, and about the rows that it is asked of."""

    @property
    def is_filtered(self) -> bool:
        """Whether FILTER leaves rows out."""
        ...

    def single(self, node: Any) -> Expression:
        """The `value` of the only argument of a call, which has no DISTINCT and no ORDER."""
        ...

    def value(self, node: Any) -> Expression:
        """The value that an argument means; NULL in rows that FILTER leaves out."""
        ...

    def unfiltered(self, node: Any) -> Expression:
        """The value that an argument means in all rows."""
        ...

    def filtered(self, value: Expression) -> Expression:
        """A value in rows that FILTER keeps, else NULL."""
        ...

    def number(self, node: Any) -> Fraction | None:
        """The constant number that an argument is; None if it is another constant."""
        ...

    def holds_unit(self, value: Expression) -> bool:
        """Whether a value tells the privacy unit of its row."""
        ...

    def require_only(self, node: Any, *arguments: str) -> None:
        """Refuse a node of which the parser noted more than some arguments."""
        ...

    def shown(self, node: Any) -> str:
        """A node as errors show it."""
        ...

    def refusal(self, node: Any, reason: str, suggestion: str) -> NotPrivateError:
        """The error that shows a node, why it is refused and what to write instead."""
        ...


Read: TypeAlias = Callable[[type[Any], SqlReader, Any], Statistic]
"""The statistic of a class that a call means."""


@dataclass(frozen=True, slots=True)
class Ordering:
    """WITHIN GROUP (ORDER BY value), perhaps DESC."""

    value: Expression
    descending: bool


ReadOrdered: TypeAlias = Callable[[type[Any], SqlReader, Any, Ordering], Statistic]
"""The same of a call WITHIN GROUP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """A function of SQL that means a statistic.

    Attributes:
        names: How it is written, in capitals; with each name it means the same.
        node: What sqlglot calls the class of its calls; a new one for a function that sqlglot does not know.
        arguments: The fields of such a call, in the order in which they are written.
        optional: How many of the last ones may be left out.
        read: What a call means; None if it must be written WITHIN GROUP.
        ordered: What it means with WITHIN GROUP (ORDER BY …); None if it cannot be written so.
        is_fold: Whether a sub-query may have it, as an exact fold.
    """

    names: tuple[str, ...]
    node: str
    arguments: tuple[str, ...] = ("this",)
    optional: int = 0
    read: Read | None = None
    ordered: ReadOrdered | None = None
    is_fold: bool = False


def of_one(*names: str, node: str, is_fold: bool = False, **fields: object) -> Spelling:
    """The spelling of a function of one value; `fields` are the others of the statistic."""

    def read(statistic: type[Any], sql: SqlReader, call: Any) -> Statistic:
        made: Statistic = statistic(sql.single(call.this), **fields)
        return made

    return Spelling(names=names, node=node, read=read, is_fold=is_fold)


def of_two(*names: str, node: str, **fields: object) -> Spelling:
    """The spelling of a function of two values."""

    def read(statistic: type[Any], sql: SqlReader, call: Any) -> Statistic:
        made: Statistic = statistic(sql.value(call.this), sql.unfiltered(call.expression), **fields)
        return made

    return Spelling(names=names, node=node, arguments=("this", "expression"), read=read)


def number_facts(kind: Kind) -> Facts:
    """What is known of a column of numbers that are released."""
    return Facts(kind=kind, resolution=None if kind is Kind.FLOAT else Fraction(1))


def numbered(name: str, count: int) -> tuple[str, ...]:
    """The names of several columns of one statistic."""
    return tuple(f"{name}_{number}" for number in range(1, count + 1))


def stated(bounds: StatedBounds) -> Bounds:
    """Bounds as a frame states them.

    Raises:
        ParameterError: They are no pair, and not "auto".
    """
    match bounds:
        case None:
            return None
        case str("auto"):  # an array of NumPy compares each of its elements
            return AUTO
        case (lower, upper) if isinstance(bounds, tuple | list):  # NumPy 2.5 makes an array a sequence
            return exact(lower, "bounds"), exact(upper, "bounds")
        case _:
            raise ParameterError("bounds", bounds, 'must be a pair such as (0, 100), or "auto"')


def bounds_sql(bounds: Bounds) -> str:
    """Bounds as a comment in SQL, which has no words for them."""
    if bounds is None:
        return ""
    ends = "auto" if bounds is AUTO else f"{number_sql(bounds[0])} to {number_sql(bounds[1])}"
    return f" /* bounds: {ends} */"


def number_sql(number: Fraction) -> str:
    """A number with as few digits as say it; what has no end, with 17.

    Example:
        >>> number_sql(Fraction(9, 10)), number_sql(Fraction(2**53 + 1)), number_sql(Fraction(1, 3))
        ('0.9', '9007199254740993', '0.33333333333333331')
    """
    if number.denominator == 1:
        return str(number)
    texts = [decimal_text(number, digits=digits) for digits in (6, 12, 15, 17)]
    return next((text for text in texts if not text.startswith("≈")), texts[-1].removeprefix("≈"))


def clamped_to(value: Expression, bounds: Bounds, shape: Shape) -> Expression:
    """A value moved into bounds that are stated; as it is where none are."""
    if bounds is None or bounds is AUTO:
        return value
    lower, upper = bounds
    return clamped(value, Literal(lower), Literal(upper), facts_of(value, shape.columns))
