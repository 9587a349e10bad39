"""What stands above GROUP BY: keys by their labels, aggregates by names, each computed once."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Generic, TypeVar

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.model.expressions import ColumnRef, Expression
from sfumato.query.model.facts import Facts
from sfumato.query.model.names import fresh
from sfumato.query.sql.context import Context
from sfumato.query.sql.grouping import Grouping, GroupKey
from sfumato.query.sql.names import found, same
from sfumato.query.sql.outputs import name_of
from sfumato.query.sql.parsing import shown, unnested
from sfumato.query.sql.statistics import has_aggregate, is_aggregate

A = TypeVar("A")


class Keys:
    """The keys of some groups, as expressions above GROUP BY can mean them."""

    def __init__(self, context: Context, grouping: Grouping) -> None:
        self.scope = grouping.scope
        self._rows = context.of_rows(grouping.scope)
        self._by_expression = {key.expression: key for key in grouping.keys}
        self._classes = {type(key.node) for key in grouping.keys} | {exp.Column}

    def of(self, node: exp.Expr) -> GroupKey | None:
        """The key that an expression is, if it is one."""
        if type(node) not in self._classes or has_aggregate(node):
            return None
        return self._by_expression.get(self._rows.lower(node))

    def has_column(self, node: exp.Column) -> bool:
        """Whether a name means a column of the rows."""
        return found(self.scope, node) is not None

    def refused(self, node: exp.Column) -> NotPrivateError:
        """The error for a column that is no key."""
        self._rows.lower(node)
        return NotPrivateError(
            shown(node), "values of single rows are never released",
            f"Add it to GROUP BY, or ask AVG({shown(node)}).",
        )  # fmt: skip


class Groups(Generic[A]):
    """The groups of one query, and the aggregates that are asked of them.

    Args:
        context: What the query may name.
        keys: The keys.
        labels: What each key is called above GROUP BY.
        taken: Names that hidden aggregates must not have.
        aggregate: What an aggregate means, and what is known of its values.
    """

    def __init__(
        self, context: Context, keys: Keys, *, labels: Mapping[GroupKey, str], taken: Collection[str],
        aggregate: Callable[[exp.Expr], tuple[A, Facts]],
    ) -> None:  # fmt: skip
        self.aggregates: dict[A, str] = {}
        self._keys, self._labels, self._taken, self._aggregate = keys, labels, taken, aggregate
        self._facts = {label: keys.scope.shape.column(key.column) for key, label in labels.items()}
        self._outputs: Mapping[str, Expression] = {}
        self.scalars = context.scalars(self._leaf, self._facts)

    def outputs(self, named: Iterable[tuple[str, exp.Expr]]) -> tuple[tuple[str, Expression], ...]:
        """The columns of SELECT; an aggregate that stands alone is computed under the column's name.

        From then on names that are no columns of the rows may mean these, as HAVING and ORDER BY do.
        """
        nodes = [(name, unnested(node)) for name, node in named]
        for name, node in nodes:
            if is_aggregate(node):
                self._named(node, name)
        columns = tuple((name, self.scalars.lower(node)) for name, node in nodes)
        self._outputs = dict(columns)
        return columns

    def alias(self, node: exp.Expr) -> Expression | None:
        """The column of SELECT that a bare name means."""
        if not isinstance(node, exp.Column) or node.args.get("table") or not isinstance(node.this, exp.Identifier):
            return None
        return next((output for name, output in self._outputs.items() if same(node.this, name)), None)

    def _leaf(self, node: exp.Expr) -> Expression | None:
        if is_aggregate(node):
            return ColumnRef(self._named(node, None))
        if isinstance(node, exp.Column) and not self._keys.has_column(node):
            alias = self.alias(node)
            if alias is not None:
                return alias
        key = self._keys.of(node)
        if key is not None:
            return ColumnRef(self._labels[key])
        if isinstance(node, exp.Column):
            raise self._keys.refused(node)
        return None

    def _named(self, node: exp.Expr, wanted: str | None) -> str:
        """The name under which an aggregate is computed; the first one wanted, or a hidden one."""
        aggregate, facts = self._aggregate(node)
        if aggregate not in self.aggregates:
            is_own = wanted is not None and wanted.lower() not in map(str.lower, self._facts)
            name = (wanted if is_own else None) or fresh(name_of(node), [*self._taken, *self._facts])
            self.aggregates[aggregate], self._facts[name] = name, facts
        return self.aggregates[aggregate]
