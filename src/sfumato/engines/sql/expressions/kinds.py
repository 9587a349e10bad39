"""A piece of SQL with its kind, and the range of its doubles in SQL, as `engines.doubles` has it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from sfumato.engines.doubles import FINEST, LARGEST, LAST_BIT, MOST_BITS
from sfumato.engines.sql.expressions.terms import TYPES, Sql, cast, double, function, guarded, operation
from sfumato.query.model.functions import RANGE
from sfumato.query.model.kinds import Kind

BEYOND: Final = (MOST_BITS - RANGE, RANGE - MOST_BITS)
"""By these powers of two one after the other doubles beyond the range become infinite, and all others stay."""

BELOW: Final = (LAST_BIT - FINEST, FINEST - LAST_BIT)
"""By these they become multiples of 2^-500."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """The SQL of an expression.

    Attributes:
        sql: The SQL expression.
        kind: The kind of its values.
        pending: Whether a double that is beyond the range, infinite or NaN stands for NULL, so that a chain of
            operations has one CASE, where something else reads it.
        rounded: Whether doubles are known to be multiples of 2^-500, as factors have to be.
    """

    sql: Sql
    kind: Kind
    pending: bool = False
    rounded: bool = False

    @property
    def settled(self) -> Sql:
        """The SQL with NULL for what stands for it."""
        return limited(self.sql) if self.pending else self.sql

    @property
    def as_double(self) -> Sql:
        """A number as a double, of which those that stand for NULL still do."""
        return self.sql if self.kind is Kind.FLOAT else cast(self.sql, "DOUBLE")

    @property
    def settled_double(self) -> Sql:
        """A number as a double, with NULL for what stands for it."""
        return limited(self.sql) if self.pending else self.as_double

    @property
    def operand(self) -> Sql:
        """A number as a double that an operation may read; what stands for NULL is NULL, infinite or NaN."""
        return function("operand", self.sql) if self.pending else self.as_double

    @property
    def factor(self) -> Sql:
        """The operand of a product, or what is divided."""
        return self.operand if self.is_rounded else function("factor", self.operand)

    @property
    def divisor(self) -> Sql:
        """What is divided by or raised to a power: there nothing may stand for NULL."""
        return self.settled_double if self.is_rounded else function("factor", self.settled_double)

    @property
    def is_rounded(self) -> bool:
        """Whether it is a multiple of 2^-500, as all whole numbers are."""
        return self.rounded or self.kind is Kind.INTEGER


def within_range(value: Sql) -> Sql:
    """Whether a double is within the range; NaN, which engines take for the greatest double, is not."""
    return operation(exp.LTE, function("ABS", value), double(LARGEST))


def limited(value: Sql) -> Sql:
    """`doubles.limited` in SQL."""
    return guarded(value, within_range)


def scaled_by(value: Sql, exponents: Iterable[int]) -> Sql:
    """A double times powers of two, one after the other, as dialects write operands and factors that never raise."""
    for exponent in exponents:
        value = operation(exp.Mul, value, double(2.0**exponent))
    return value


def computed(sql: Sql) -> Term:
    """A double just computed, which may be beyond the range."""
    return Term(sql=sql, kind=Kind.FLOAT, pending=True)


def storage(term: Term) -> str:
    """The engine's name for what holds the values of a term."""
    return TYPES[term.kind]
