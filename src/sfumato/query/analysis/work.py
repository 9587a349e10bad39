"""How much work the expressions of a statement are for one row: a public bound, in steps, computed when it is planned.

A step is about what it takes to look at one character, or to add two numbers. The bound reads what is written and what
is declared, never data: constants, the declared lengths of texts, and the lengths of texts that are made of them. So
the time that a row takes is at most `MAX_WORK` steps more than that of any other, whatever the row holds.

Note: proofs/query/analysis/work.md.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from sfumato.errors import NotPrivateError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import shape_of
from sfumato.query.analysis.signatures import replaced_length
from sfumato.query.model.expressions import (
    Call,
    Case,
    ColumnRef,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    children,
)
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Filter, Grouped, Join, Relation, RowWindow, Select, Source, inputs
from sfumato.query.model.schema import MAX_LENGTH
from sfumato.query.model.statement import Measure, Statement, StepProduct, StepSum
from sfumato.query.model.texts import WordPlace, word_of

MAX_WORK: Final = 2**16
"""How many steps the expressions of one statement may take for one row."""

MAX_PATTERN_WORK: Final = 2**14
"""How large the length of a text times that of its pattern may be, unless the pattern is one word in one place."""

LETTER_STEPS: Final = 160
"""How many steps it takes to change the case of one letter, which is looked up where it is not ASCII."""

ASCII_STEPS: Final = 32
"""How many steps that takes for one letter where letters beyond ASCII stay as they are; see `folds_ascii`."""

LETTERS_STEPS: Final = 2**12
"""How many steps it takes to have that table at hand for one text."""

ORDER_STEPS: Final = 32
"""How many rows a row is compared with to put a unit's rows in order: the logarithm of more rows than there can be."""

AT_ONCE: Final = 8
"""How many characters are compared in one step where texts are equal; how many numbers of a list are."""

_NUMBER_LENGTH: Final = 24
"""How many characters a number, a truth, a day or a time has, at most."""

Works: TypeAlias = Mapping[str, int]
"""The steps of each column of a relation: 1 where it is stored, else those of the expression that it is."""

Bound: TypeAlias = Callable[[Call, Sequence[Facts]], int]
"""The steps of a call itself, without those of its arguments."""


def folds_ascii(expression: Expression) -> bool:
    """Whether it is LOWER(x) LIKE a pattern of ASCII: then other letters need not be lowered, as none becomes ASCII.

    Example:
        >>> lowered = Call(Function.LOWER, (ColumnRef("word"),))
        >>> [folds_ascii(Call(Function.LIKE, (lowered, Literal(pattern)))) for pattern in ("%bot%", "é%")]
        [True, False]
    """
    match expression:
        case Call(Function.LIKE, (Call(Function.LOWER, _), Literal(str() as pattern))):
            return pattern.isascii()
        case _:
            return False


def work_of(expression: Expression, columns: Mapping[str, Facts], works: Works) -> int:
    """How many steps an expression takes for one row, at most.

    Args:
        expression: One that `facts_of` accepts.
        columns: What is known of the columns it reads.
        works: How many steps each of them takes.

    Raises:
        NotPrivateError: A pattern is too long for the text it describes.

    Example:
        >>> from sfumato.query.model.schema import text
        >>> from sfumato.query.model.facts import of_column
        >>> word = Call(Function.LENGTH, (ColumnRef("word"),))
        >>> work_of(word, {"word": of_column(text(max_length=80))}, {"word": 1})
        82
    """
    match expression:
        case ColumnRef(name):
            return works[name]
        case Literal() | Null():
            return 0
        case Call(_, (Call(_, (text,)), _)) if folds_ascii(expression):
            facts = facts_of(text, columns)
            folded = LETTERS_STEPS + ASCII_STEPS * _length(facts)
            return work_of(text, columns, works) + folded + _like(expression, [facts])
        case _:
            inner = sum(work_of(child, columns, works) for child in children(expression))
            return inner + _own_work(expression, columns)


def _own_work(expression: Expression, columns: Mapping[str, Facts]) -> int:
    """The steps of the outermost function or condition itself."""
    match expression:
        case Call(function, arguments):
            return WORK[function](expression, [facts_of(argument, columns) for argument in arguments])
        case Compare(_, left, right):
            return _compared([facts_of(left, columns), facts_of(right, columns)])
        case IsIn(value, values):
            return _listed(facts_of(value, columns), [facts_of(one, columns) for one in values])
        case Case(branches, _):
            return len(branches)
        case IsNull() | Not():
            return 1
        case _:  # AND, OR
            return len(children(expression))


def statement_work(statement: Statement) -> int:
    """How many steps all expressions of a statement take for one row, at most.

    A computed key with public values is read in one place, where the list of those is joined: it is counted where it is
    computed.

    Raises:
        NotPrivateError: A pattern is too long for the text it describes.
    """
    works, total = _works(statement.rows)
    columns = shape_of(statement.rows).columns
    total += sum(work_of(value, columns, works) for measure in statement.measures for value in _values(measure))
    total += sum(works[key.name] for key in statement.keys if key.values is None)
    if statement.cell is not None:
        total += work_of(statement.cell.value, columns, works)
    return total


def check_work(statement: Statement) -> None:
    """Refuse a statement whose time could reveal one row.

    Raises:
        NotPrivateError: Its expressions may take more than `MAX_WORK` steps for one row.
    """
    work = statement_work(statement)
    if work > MAX_WORK:
        raise NotPrivateError(
            "query", f"one row may take {work:,} operations, and above {MAX_WORK:,} its time could reveal a person",
            "Use fewer text functions or shorter patterns, or ask the owner for a smaller max_length of these columns.",
        )  # fmt: skip


def _works(relation: Relation) -> tuple[Works, int]:
    """The steps of the columns of a relation, and of all expressions that it is made of.

    A column that is computed counts wherever it is read, because an engine may compute it there once more.
    """
    below = [_works(child) for child in inputs(relation)]
    total = sum(work for _, work in below)
    match relation:
        case Source(table):
            return dict.fromkeys(table.columns, 1), 0
        case Filter(child, condition):
            return below[0][0], total + work_of(condition, shape_of(child).columns, below[0][0])
        case Select(child, columns):
            facts = shape_of(child).columns
            made = {name: work_of(value, facts, below[0][0]) for name, value in columns}
            return made, total + sum(made.values())
        case Grouped(child, keys, folds):
            facts, works = shape_of(child).columns, below[0][0]
            values = [work_of(fold.value, facts, works) for fold in folds if fold.value is not None]
            return {**{key: works[key] for key in keys}, **{fold.name: 1 for fold in folds}}, total + sum(values)
        case Join():
            return {**below[0][0], **below[1][0]}, total
        case RowWindow(child=child, name=name):
            compared = sum(_compared([facts]) for facts in shape_of(child).columns.values())
            return {**below[0][0], name: 1}, total + ORDER_STEPS * compared
        case _:
            names = shape_of(relation).columns
            sides = [works.values() for works, _ in below if len(works) == len(names)]
            return dict(zip(names, map(max, zip(*sides, strict=True)), strict=True)), total


def _values(measure: Measure) -> tuple[Expression, ...]:
    """All that a measure computes of a row."""
    match measure:
        case StepSum(steps):
            return (steps.value, *measure.present)
        case StepProduct(first, second):
            return (first.value, second.value, *measure.present)
        case _:
            return measure.present


def _length(facts: Facts) -> int:
    """The most characters of a value; of a text of which nothing is known as many as can be declared."""
    if facts.kind is not Kind.TEXT:
        return _NUMBER_LENGTH
    return MAX_LENGTH if facts.longest is None else facts.longest


def _compared(sides: Iterable[Facts]) -> int:
    """Texts are compared as far as they are equal."""
    return 1 + min(_length(side) for side in sides) // AT_ONCE


def _listed(value: Facts, listed: Sequence[Facts]) -> int:
    if value.kind is not Kind.TEXT:
        return 1 + len(listed) // AT_ONCE
    return sum(_compared((value, one)) for one in listed)


def _each_character(_call: Call, arguments: Sequence[Facts]) -> int:
    return 1 + sum(map(_length, arguments))


def _like(call: Call, arguments: Sequence[Facts]) -> int:
    pattern, length = _constant_text(call), _length(arguments[0])
    found = word_of(pattern)
    if found is None:
        _check_pattern(pattern, length)
        return 1 + len(pattern) * length
    size = len(found.word)
    if found.place is WordPlace.ANYWHERE:
        return 1 + _searched(size, length)
    return 1 + min(size, length)


def _searched(size: int, length: int) -> int:
    """To look for a word at one place of a text after the other."""
    return max(length, size * (length - size + 1))


def _constant_text(call: Call) -> str:
    """The pattern or the word that a call looks for."""
    match call.arguments[1]:
        case Literal(str() as written):
            return written
        case _:  # which `check_parameters` refuses
            return ""


def _check_pattern(pattern: str, length: int) -> None:
    if len(pattern) * length > MAX_PATTERN_WORK:
        raise NotPrivateError(
            "LIKE", f"a pattern of {len(pattern)} characters on text of up to {length:,} takes so long that its time "
            "could reveal a person",
            f"Shorten the pattern to {MAX_PATTERN_WORK // length} characters, use one word as in 'word%', '%word' or "
            "'%word%', or ask the owner for a smaller max_length of the column.",
        )  # fmt: skip


_OF_NUMBERS: Final = (
    Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE, Function.MODULO, Function.NEGATE, Function.ABS,
    Function.SIGN, Function.FLOOR, Function.CEIL, Function.TRUNC, Function.ROUND, Function.SQRT, Function.LN,
    Function.LOG10, Function.EXP, Function.POWER,
)  # fmt: skip
_OF_TIMES: Final = (
    Function.YEAR, Function.QUARTER, Function.MONTH, Function.WEEK, Function.DAY, Function.DAY_OF_WEEK,
    Function.ISO_DAY_OF_WEEK, Function.DAY_OF_YEAR, Function.HOUR, Function.MINUTE, Function.SECOND, Function.TRUNCATE,
    Function.ADD_DAYS, Function.ADD_MONTHS, Function.ADD_SECONDS, Function.DAYS_BETWEEN,
)  # fmt: skip
_CONVERSIONS: Final = (
    Function.TO_INTEGER, Function.TO_FLOAT, Function.TO_TEXT, Function.TO_BOOLEAN, Function.TO_DATE,
    Function.TO_TIMESTAMP,
)  # fmt: skip
WORK: Final[Mapping[Function, Bound]] = {
    **dict.fromkeys((*_OF_NUMBERS, *_OF_TIMES), lambda _, __: 1),
    **dict.fromkeys((*_CONVERSIONS, Function.LENGTH, Function.TRIM, Function.LTRIM, Function.RTRIM), _each_character),
    **dict.fromkeys(
        (Function.LEAST, Function.GREATEST, Function.COALESCE, Function.NULL_IF),
        lambda _, arguments: sum(_compared([facts]) for facts in arguments),
    ),
    **dict.fromkeys(
        (Function.LOWER, Function.UPPER),
        lambda _, arguments: LETTERS_STEPS + LETTER_STEPS * _length(arguments[0]),
    ),
    **dict.fromkeys((Function.SUBSTRING, Function.SUFFIX), lambda _, arguments: 1 + _length(arguments[0])),
    Function.CONCAT: _each_character,
    Function.LIKE: _like,
    Function.POSITION: lambda call, arguments: 1 + _searched(len(_constant_text(call)), _length(arguments[0])),
    Function.REPLACE: lambda call, arguments: (
        1 + _searched(len(_constant_text(call)), _length(arguments[0])) + replaced_length(call, _length(arguments[0]))
    ),
}
"""The steps of a call of each function."""
