"""The keys of a question: their public values, of a column as the policy lists them, of an expression as their image.

Lists, truths, and whole numbers and days between bounds are public if they are few. What an expression makes of them,
combination by combination, is public then too: `UPPER(sex)`, `age / 10 * 10`, the months between two dates. Expressions
are evaluated by `values.evaluation`, whose meaning every engine keeps; over columns where those are few, else over
their parts that are.

**Guarantee**: values follow from the policy and the question alone, whatever is stored. Nothing relies on them to be
all that rows have: engines leave out a row whose key is not listed (`Statement`, step 1), as where a stored value is
outside of the bounds, or where another library rounds a logarithm in another way.

Proof: proofs/query/analysis/keys.md.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from functools import lru_cache, partial
from itertools import product
from math import ceil, floor, prod
from typing import Any, Final, TypeAlias

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.numeric.rationals import positive_integer
from sfumato.query.analysis.shape import Itself, Shape, shape_of
from sfumato.query.analysis.simplify import text_of
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.expressions import (
    Call,
    ColumnRef,
    Expression,
    Literal,
    Null,
    children,
    columns_of,
    rebuilt,
)
from sfumato.query.model.facts import Edition, Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import YEARS, date_at, place_of
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    GroupBy,
    Grouped,
    Intersect,
    Join,
    PeoplePart,
    Relation,
    Select,
    SemiJoin,
    UnionAll,
)
from sfumato.query.model.schema import Key
from sfumato.query.model.statement import KeyColumn
from sfumato.query.values.cells import Cell
from sfumato.query.values.dates import PARTS, days_added, months_added, seconds_added, truncated
from sfumato.query.values.evaluation import constant, evaluate

MAX_GROUPS: Final = 1_000_000
"""So many public groups an answer can hold; every listed one is in it."""

MAX_LISTED: Final = 1_000
"""Whole numbers between declared bounds are public values, if there are at most so many of them."""

MAX_IMAGE: Final = 4_000
"""So many days between declared bounds are public values, and so many values that an expression has."""

MAX_WORK: Final = 100_000
"""So many columns, constants and functions are evaluated at most to find them."""

_MOST_TERMS: Final = 1_000
"""Larger expressions are not evaluated."""

Domain: TypeAlias = tuple[Cell, ...]
"""All values of an expression, NULL among them if it may be NULL."""


def key_columns(
    rows: Relation, names: tuple[str, ...], edition: Edition = Edition.LATEST
) -> tuple[KeyColumn, ...]:  # fmt: skip
    """Columns to group by, with their public keys where they have any.

    Args:
        rows: What is grouped.
        names: The columns.
        edition: By which rules.

    Raises:
        NotPrivateError: A column of fractions, whose equal values may look different.
        ParameterError: There are more public groups than an answer can hold.
    """
    columns = tuple(KeyColumn(name=name, values=_listed(rows, name, edition)) for name in names)
    count = 1
    for column in columns:
        count *= len(column.values or (None,))
        if count > MAX_GROUPS:
            shown = f"{count:,} groups or more"
            raise ParameterError(
                "GROUP BY", shown, f"must make at most {MAX_GROUPS:,}; the answer contains every listed group"
            )
    return columns


def grouping_sets(groups: GroupBy) -> tuple[tuple[str, ...], ...]:
    """The keys of each way to group."""
    return groups.sets or (groups.keys,)


def candidates(name: str, facts: Facts, k: int) -> tuple[Key, ...]:
    """The public values that the k most frequent ones are chosen from.

    Raises:
        NotPrivateError: There are none.
        ParameterError: There are fewer than k.
    """
    values = listed_values(facts)
    if not values:
        raise NotPrivateError(
            f"the most frequent of {name}",
            "which values exist would reveal who is in the data",
            "List the public values in the policy: values = [...].",
        )
    if positive_integer(k, "k") > len(values):
        raise ParameterError("k", k, f"must be at most {len(values)}, the number of public values")
    return values


def _listed(rows: Relation, name: str, edition: Edition) -> tuple[Key, ...] | None:
    if shape_of(rows, edition).column(name).kind is Kind.FLOAT:
        raise NotPrivateError(
            f"GROUP BY {name}",
            "floats cannot be group keys, because equal numbers may differ in the last digit",
            f"Group by a whole number: CAST(FLOOR({name}) AS INTEGER).",
        )
    return public_values(rows, name, edition)


def listed_values(facts: Facts, *, most: int = MAX_LISTED) -> tuple[Key, ...] | None:
    """The public values of what has these facts: those that are listed, or whole numbers or days between near bounds.

    Args:
        facts: What is known of it.
        most: How many whole numbers are near; of days it is `MAX_IMAGE`.

    Example:
        >>> from sfumato.query.model.facts import of_column
        >>> from sfumato.query.model.schema import date
        >>> len(listed_values(of_column(date("2026-01-01", "2026-12-31"))) or ())
        365
    """
    if facts.values is not None:
        return facts.values
    lower, upper = facts.certain_interval.lower, facts.certain_interval.upper
    if lower is None or upper is None or upper < lower:
        return None
    first, last = ceil(lower), floor(upper)
    if facts.kind is Kind.INTEGER and upper - lower < most:
        return tuple(range(first, last + 1))
    if facts.kind is Kind.DATE and upper - lower < MAX_IMAGE:
        return tuple(date.fromordinal(place) for place in range(first, last + 1))
    return None


def public_values(relation: Relation, name: str, edition: Edition = Edition.LATEST) -> tuple[Key, ...] | None:
    """The public values of a column of a relation, in the order in which answers list them; None if there are none.

    Args:
        relation: The rows.
        name: The column.
        edition: By which rules; the first ones have no images.

    Raises:
        ParameterError: There is no such column.

    Example:
        >>> from fractions import Fraction
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> people = Source(Table(name="people", columns={"age": integer(17, 90)}))
        >>> age, ten = ColumnRef("age"), Literal(Fraction(10))
        >>> decade = Call(Function.MULTIPLY, (Call(Function.DIVIDE, (age, ten)), ten))
        >>> public_values(Select(people, (("decade", decade),)), "decade")
        (10, 20, 30, 40, 50, 60, 70, 80, 90)
    """
    if edition is Edition.FIRST:
        return listed_values(shape_of(relation, edition).column(name))
    return _public_values(Itself(relation), name)


@lru_cache(maxsize=1024)  # one question asks for its keys again and again, and nothing about them can change
def _public_values(itself: Itself, name: str) -> tuple[Key, ...] | None:
    relation = itself.relation
    facts, found = shape_of(relation).column(name), None
    match relation:
        case Select(child, columns):
            image = _of_expression(dict(columns)[name], child)
            found = image and (tuple(filter(partial(_is_within, facts), image)) or image)  # a condition may say more
        case Join(left=left, right=right):
            found = public_values(left if name in shape_of(left).columns else right, name)
        case UnionAll(left, right):
            place = list(shape_of(left).columns).index(name)
            sides = [public_values(left, name), public_values(right, list(shape_of(right).columns)[place])]
            found = tuple(dict.fromkeys(v for side in sides for v in side or ())) if None not in sides else None
        case Filter(child, _):
            found = public_values(child, name)
            if found is not None and facts != shape_of(child).column(name):
                found = tuple(filter(partial(_is_within, facts), found))
        case Grouped(child, keys, _) if name in keys:
            found = public_values(child, name)
        case Distinct(child) | BoundRows(child, _) | PeoplePart(child=child) | SemiJoin(child=child):
            found = public_values(child, name)
        case Intersect(left, _) | Except(left, _):
            found = public_values(left, name)
        case _:
            pass
    return found or listed_values(facts)


def _of_expression(expression: Expression, rows: Relation) -> tuple[Key, ...] | None:
    """The values of an expression over some rows: as they are where they are listed already, else its image."""
    if isinstance(expression, ColumnRef):
        return public_values(rows, expression.name)
    facts = shape_of(rows).facts(expression)
    is_part = isinstance(expression, Call) and expression.function in PARTS
    if facts.kind is Kind.FLOAT or (facts.values is not None and not is_part) or _size(expression) > _MOST_TERMS:
        return None
    image = _Images(rows).of(unmixed(expression, shape_of(rows).columns))
    keys = [cell for cell in image or () if cell is not None and not isinstance(cell, float)]
    if not 0 < len(keys) <= MAX_IMAGE:
        return None
    return tuple(keys if facts.kind is Kind.TEXT else sorted(keys))


def _is_within(facts: Facts, value: Key) -> bool:
    """Whether a condition that narrowed the facts of a column leaves a value."""
    place = place_of(value)
    is_listed = facts.values is None or value in facts.values
    return is_listed and (place is None or facts.certain_interval.holds(place))


class _Images:
    """The images of expressions over the rows of a relation, which share one limit of work."""

    def __init__(self, rows: Relation) -> None:
        self._rows = rows
        self._shape: Shape = shape_of(rows)
        self._left = MAX_WORK

    def of(self, expression: Expression) -> Domain | None:
        """All values of an expression without mixed numbers; None where they are not public, or too many."""
        match expression:
            case ColumnRef(name):
                facts = self._shape.column(name)
                return _with_null(public_values(self._rows, name) or listed_values(facts, most=MAX_IMAGE), facts)
            case Literal(value):
                return (constant(value),)
            case Null():
                return (None,)
            case _:
                found = self._of_moments(expression) or self._over_columns(expression) or self._over_parts(expression)
                facts = self._shape.facts(expression)
                return found or _with_null(listed_values(facts), facts)

    def _of_moments(self, expression: Expression) -> Domain | None:
        """Of a part or a start of days or times between bounds: it changes where a unit begins."""
        if not isinstance(expression, Call) or expression.function not in _UNITS:
            return None
        moment, *parameters = expression.arguments
        facts = self._shape.facts(moment)
        unit = parameters[0].value if parameters and isinstance(parameters[0], Literal) else _UNITS[expression.function]
        moments = None if facts.values is not None else _with_null(_starts(facts, str(unit)), facts)
        return self._evaluated(Call(expression.function, (_ref(0), *parameters)), {_ref(0).name: moments})

    def _over_columns(self, expression: Expression) -> Domain | None:
        """Of what an expression makes of all values of the columns that it reads."""
        return self._evaluated(expression, {name: self.of(ColumnRef(name)) for name in sorted(columns_of(expression))})

    def _over_parts(self, expression: Expression) -> Domain | None:
        """Of what it makes of all values of the expressions that it is made of, as if each varied by itself."""
        parts = {text_of(part): part for part in children(expression)}  # 1 equals TRUE, but has another text
        refs = {text: _ref(place) for place, text in enumerate(parts)}
        domains = {refs[text].name: self.of(part) for text, part in parts.items()}
        return self._evaluated(rebuilt(expression, lambda part: refs[text_of(part)]), domains)

    def _evaluated(self, expression: Expression, domains: Mapping[str, Domain | None]) -> Domain | None:
        """All values of an expression over columns of known values; None where one is unknown, or they are too many."""
        known = [domain for domain in domains.values() if domain is not None]
        work = prod(map(len, known)) * _size(expression)
        if len(known) < len(domains) or work > self._left:
            return None
        self._left -= work
        rows = (dict(zip(domains, cells, strict=True)) for cells in product(*known))
        return tuple(dict.fromkeys(evaluate(expression, row) for row in rows))


def _ref(place: int) -> ColumnRef:
    return ColumnRef(f"{place}")


def _with_null(values: Iterable[Cell] | None, facts: Facts) -> Domain | None:
    if values is None:
        return None
    return (*values, None) if facts.nullable else tuple(values)


def _size(expression: Expression) -> int:
    return 1 + sum(map(_size, children(expression)))


def _starts(facts: Facts, unit: str) -> tuple[date, ...] | None:
    """The first moment between bounds, and all at which a unit begins; None without bounds, or if they are too many."""
    lower, upper = facts.interval.lower, facts.interval.upper
    unit = "day" if facts.kind is Kind.DATE and unit in {"hour", "minute"} else unit
    if lower is None or upper is None or not YEARS[facts.kind].holds(lower) or not YEARS[facts.kind].holds(upper):
        return None
    first, last = date_at(lower, facts.kind), date_at(upper, facts.kind)
    if last - first > MAX_IMAGE * _LENGTHS[unit]:
        return None
    moments, start = [first], _NEXT[unit](truncated(first, unit))
    while start is not None and start <= last:
        moments.append(start)
        start = _NEXT[unit](start)
    return tuple(moments)


_NEXT: Final[Mapping[str, Callable[[Any], date | None]]] = {
    "year": partial(months_added, months=12),
    "quarter": partial(months_added, months=3),
    "month": partial(months_added, months=1),
    "week": partial(days_added, days=7),
    "day": partial(days_added, days=1),
    "hour": partial(seconds_added, seconds=3_600),
    "minute": partial(seconds_added, seconds=60),
}
"""From the start of a unit to the next one."""

_LENGTHS: Final[Mapping[str, timedelta]] = {
    "year": timedelta(days=365), "quarter": timedelta(days=90), "month": timedelta(days=28), "week": timedelta(days=7),
    "day": timedelta(days=1), "hour": timedelta(hours=1), "minute": timedelta(minutes=1),
}  # fmt: skip
"""How long each unit is, at least."""

_UNITS: Final[Mapping[Function, str]] = {
    Function.TRUNCATE: "",
    Function.TO_DATE: "day",
    Function.YEAR: "year",
    Function.QUARTER: "quarter",
    Function.MONTH: "month",
    Function.WEEK: "week",
    Function.DAY: "day",
    Function.DAY_OF_WEEK: "day",
    Function.ISO_DAY_OF_WEEK: "day",
    Function.DAY_OF_YEAR: "day",
    Function.HOUR: "hour",
    Function.MINUTE: "minute",
}
"""Within which unit these functions of days and times do not change; that of TRUNCATE is its parameter."""
