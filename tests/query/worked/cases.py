"""One worked question: one that is answered, and what the answer must be; or one that is refused, and how."""

from dataclasses import dataclass, field
from fractions import Fraction

from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A column that is a quantile, of which only the rank is certain.

    Attributes:
        share: The q of the quantile.
        values: Plain SQL of the values it is of, behind the keys of their group.
    """

    share: Fraction
    values: str


@dataclass(frozen=True)
class Case:
    """A question that is answered.

    Attributes:
        sql: What is asked.
        plain: What plain SQL says the same, if it is other text.
        on: The database.
        delta: The δ; above 0 for private keys.
        parameters: The values of `$1` or `:name`.
        ranked: The columns that are quantiles.
        tolerance: How far a FLOAT may be from plain SQL's, where it is summed on a coarser lattice than it has.
    """

    sql: str
    plain: str | None = None
    on: str = "shop"
    delta: str = "0"
    parameters: tuple | dict = ()
    ranked: dict = field(default_factory=dict)
    tolerance: float = 1e-9

    @property
    def truth(self):
        """Plain SQL that gives the true answer."""
        return self.sql if self.plain is None else self.plain

    @property
    def is_sorted(self):
        """Whether the order of the answer is asked for."""
        _, clause, last = self.sql.rpartition("ORDER BY")
        return bool(clause) and last.count("(") == last.count(")")


@dataclass(frozen=True)
class Refusal:
    """A question that is refused.

    Attributes:
        sql: What is asked.
        error: The class of the error.
        words: What its text says, each of them.
        on: The database.
        parameters: The values of `$1` or `:name`.
        price: What `sql` is told to spend.
    """

    sql: str
    error: type
    words: tuple
    on: str = "shop"
    parameters: tuple | dict = ()
    price: tuple = (("epsilon", 1),)


def private(sql, *words, **more):
    return Refusal(sql, NotPrivateError, words, **more)


def wrong(sql, *words, **more):
    return Refusal(sql, ParameterError, words, **more)


def unbounded(sql, *words, **more):
    return Refusal(sql, UnboundedSensitivityError, words, **more)


def shown(case):
    """The question as the name of a test."""
    return " ".join(case.sql.split())[:90]
