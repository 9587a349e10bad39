"""A piece of SQL with its kind, and what its doubles may be: one check lies between a sum that overflowed and NULL."""

from dataclasses import dataclass

from sfumato.engines.sql.terms import TYPES, Sql, cast, function, guarded
from sfumato.query.kinds import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """The SQL of an expression.

    Attributes:
        sql: It.
        kind: Of its values.
        pending: Whether a double that is infinite or NaN stands for NULL here. Sums, differences, products and roots of
            such doubles are such ones again, so that a chain of them is checked once, where something else reads it.
        infinite: Whether a double may be infinite as a value: in a column, or as a constant.
    """

    sql: Sql
    kind: Kind
    pending: bool = False
    infinite: bool = False

    @property
    def settled(self) -> Sql:
        """The SQL with NULL for what stands for it."""
        return guarded(self.sql, lambda x: function("is_finite", x)) if self.pending else self.sql

    @property
    def as_double(self) -> Sql:
        """A number as a double, of which those that stand for NULL still do."""
        return self.sql if self.kind is Kind.FLOAT else cast(self.sql, "DOUBLE")


def of_column(sql: Sql, kind: Kind) -> Term:
    """A column."""
    return Term(sql=sql, kind=kind, infinite=kind is Kind.FLOAT)


def computed(sql: Sql) -> Term:
    """A double just computed, which may have overflowed."""
    return Term(sql=sql, kind=Kind.FLOAT, pending=True)


def storage(term: Term) -> str:
    """The engine's name for what holds the values of a term."""
    return TYPES[term.kind]
