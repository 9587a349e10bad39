"""The allow-list that turns qualified SQL into conditions, keys and statistics, one short method a family."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.numeric.rationals import exact
from sfumato.query.conditions import compare, is_in, is_true, literal
from sfumato.query.expressions import And, ColumnRef, Comparison, Condition, IsNull, Literal, Not, Or, Scalar
from sfumato.query.relations import CountRows, CountValues, Mean, Statistic, Sum
from sfumato.query.schema import Table

DIALECT: Final = "postgres"
_SHOWN: Final = 80
_ARGUMENTS: Final = frozenset(
    {"this", "table", "expression", "expressions", "negate", "low", "high", "symmetric", "query", "unnest", "big_int"}
)
_COMPARISONS: Final[Mapping[type[exp.Expr], Comparison]] = {
    exp.EQ: Comparison.EQUAL,
    exp.NEQ: Comparison.NOT_EQUAL,
    exp.LT: Comparison.LESS,
    exp.LTE: Comparison.LESS_EQUAL,
    exp.GT: Comparison.GREATER,
    exp.GTE: Comparison.GREATER_EQUAL,
}


@dataclass(frozen=True, slots=True)
class Lowering:
    """The allow-list of expressions, one small method for each family."""

    table: Table
    names: Mapping[str, str]

    def keys(self, select: exp.Select) -> tuple[str, ...]:
        """The columns of GROUP BY."""
        group = select.args.get("group")
        if group is None:
            return ()
        if extras := [key for key, value in group.args.items() if value and key != "expressions"]:
            raise NotPrivateError(shown(group), f"{extras[0].upper()} is not supported", "Group by columns.")
        return tuple(dict.fromkeys(self.column(key).name for key in group.expressions))

    def statistics(
        self, select: exp.Select, keys: tuple[str, ...], aliases: tuple[str, ...]
    ) -> tuple[tuple[str, Statistic], ...]:
        """The named aggregates of SELECT; plain columns must be keys."""
        named: list[tuple[str, Statistic]] = []
        for projection, alias in zip(select.expressions, aliases, strict=True):
            inner = projection.unalias()
            if isinstance(inner, exp.Column):
                self._check_key(inner, keys)
                continue
            statistic = self.statistic(inner)
            named.append((alias or _name(statistic, len(named)), statistic))
        return tuple(named)

    def labels(self, select: exp.Select, keys: tuple[str, ...], aliases: tuple[str, ...]) -> tuple[str, ...]:
        """What the answer calls each key: its alias in SELECT, or else its name."""
        columns = [(projection.unalias(), alias) for projection, alias in zip(select.expressions, aliases, strict=True)]
        selected = [(self.column(c).name, alias) for c, alias in columns if isinstance(c, exp.Column)]
        if len(dict(selected)) != len(selected):
            raise NotPrivateError(
                ", ".join(name for name, _ in selected), "a key is selected twice", "Name each key once."
            )
        named = {name: alias for name, alias in selected if alias}
        return tuple(named.get(key, key) for key in keys)

    def _check_key(self, column: exp.Column, keys: tuple[str, ...]) -> None:
        if self.column(column).name not in keys:
            raise NotPrivateError(
                column.name,
                "values of single rows are never released",
                f"Add it to GROUP BY, or ask AVG({column.name}).",
            )

    def statistic(self, node: exp.Expr) -> Statistic:
        """One aggregate."""
        if _says_more(node):
            raise _no_statistic(node)
        inner = node.this
        match node:
            case exp.Count() if isinstance(inner, exp.Star) and not node.expressions:
                return CountRows()
            case exp.Count() if isinstance(inner, exp.Column) and not node.expressions:
                return CountValues(self.column(inner).name)
            case exp.Sum() if isinstance(inner, exp.Column):
                return Sum(self.column(inner).name)
            case exp.Avg() if isinstance(inner, exp.Column):
                return Mean(self.column(inner).name)
            case _:
                raise _no_statistic(node)

    def condition(self, node: exp.Expr) -> Condition:
        """What WHERE says."""
        if _says_more(node):
            raise _no_condition(node)
        match node:
            case exp.Paren():
                return self.condition(node.this)
            case exp.And():
                return And(tuple(self.condition(side) for side in node.flatten()))
            case exp.Or():
                return Or(tuple(self.condition(side) for side in node.flatten()))
            case exp.Not():
                return Not(self.condition(node.this))
            case exp.Boolean():
                return And(()) if node.this else Or(())
            case exp.Column():
                return is_true(self.table, self.column(node))
            case exp.Between():
                return self._between(node)
            case exp.In() if not node.args.get("query") and not node.args.get("unnest"):
                return is_in(self.table, self.column(node.this), tuple(map(self.literal, node.expressions)))
            case exp.Is() if isinstance(node.expression, exp.Null):
                is_null = IsNull(self.column(node.this))
                return Not(is_null) if node.args.get("negate") else is_null
            case _ if type(node) in _COMPARISONS:
                return compare(
                    self.table, _COMPARISONS[type(node)], self.scalar(node.this), self.scalar(node.expression)
                )  # fmt: skip
            case _:
                raise _no_condition(node)

    def _between(self, node: exp.Between) -> Condition:
        if node.args.get("symmetric"):
            raise NotPrivateError(shown(node), "SYMMETRIC is not supported", "Write the lower end first.")
        value, low, high = (self.scalar(node.args[part]) for part in ("this", "low", "high"))
        at_least = compare(self.table, Comparison.GREATER_EQUAL, value, low)
        return And((at_least, compare(self.table, Comparison.LESS_EQUAL, value, high)))

    def scalar(self, node: exp.Expr) -> Scalar:
        """A column or a constant."""
        return self.column(node) if isinstance(node, exp.Column) else self.literal(node)

    def column(self, node: exp.Expr) -> ColumnRef:
        """A column of the table, by its declared name."""
        if not isinstance(node, exp.Column):
            raise NotPrivateError(shown(node), "only a column can stand here", "Declare the expression as a column.")
        name = self.names.get(node.name)
        if name is None:
            raise ParameterError("column", node.name, f"must be one of: {', '.join(self.names.values())}")
        return ColumnRef(name)

    def literal(self, node: exp.Expr) -> Literal:
        """A constant."""
        match node:
            case exp.Paren():
                return self.literal(node.this)
            case exp.Literal() if node.is_string:
                return literal(node.this)
            case exp.Literal():
                return literal(_number(node.this))
            case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
                return literal(-_number(node.this.this))
            case exp.Boolean():
                return literal(bool(node.this))
            case exp.Null():
                return literal(None)
            case _:
                raise NotPrivateError(
                    shown(node), "only a constant can stand here", "Write it out as a number or text."
                )


def _says_more(node: exp.Expr) -> bool:
    """Whether the parser noted more than what is read here: then the node is refused, and nothing is left out."""
    return any(value and key not in _ARGUMENTS for key, value in node.args.items())


def _no_condition(node: exp.Expr) -> NotPrivateError:
    return NotPrivateError(
        shown(node), "this condition is not supported",
        "Use comparisons, IN, BETWEEN, IS NULL, AND, OR and NOT on columns and constants.",
    )  # fmt: skip


def _no_statistic(node: exp.Expr) -> NotPrivateError:
    return NotPrivateError(
        shown(node), "this is no statistic that is released here",
        "Ask for COUNT(*), COUNT(column), SUM(column) or AVG(column).",
    )  # fmt: skip


def _number(text: str) -> Fraction:
    return exact(text, "literal")


def _name(statistic: Statistic, position: int) -> str:
    """What PostgreSQL calls a column without an alias, made unique."""
    base = {CountRows: "count", CountValues: "count", Sum: "sum", Mean: "avg"}[type(statistic)]
    return base if position == 0 else f"{base}_{position + 1}"


def shown(node: object) -> str:
    """A fragment of the question as SQL, shortened."""
    text = node.sql(dialect=DIALECT) if isinstance(node, exp.Expr) else str(node)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
