"""What the parts of one query can name: columns, CTEs, tables and views, parameters; and how much they may take.

Names are matched without regard to case, unless quoted. What SELECT lists gets the names that PostgreSQL gives.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.shape import Shape, shape_of
from sfumato.query.analysis.units import NO_TIES, UNIT, determines_unit, ties_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.facts import Facts
from sfumato.query.model.relations import Relation, Select, fresh
from sfumato.query.sql.expressions import logic, numbers, texts, times
from sfumato.query.sql.expressions.constants import Parameters
from sfumato.query.sql.expressions.scalars import Effort, KnownFacts, Leaf, Rules, Scalars
from sfumato.query.sql.parsing import require_only, shown
from sfumato.query.sql.refusals import one_of, refusal


@dataclass(frozen=True, slots=True)
class Visible:
    """A column that a query can name: its table's name, its own, and what the relation calls it.

    `merged` says that USING made it one with a column of the left side, which the bare name means.
    """

    table: str
    label: str
    column: str
    merged: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """Rows, and the columns of them that a query can name."""

    relation: Relation
    visible: tuple[Visible, ...]
    shape: Shape


def scope_of(relation: Relation, visible: Iterable[Visible] | None = None, *, shown_as: str | None = None) -> Scope:
    """The scope of a relation.

    Args:
        relation: The rows.
        visible: The columns in sight; all of them by their own names, if nothing else is said.
        shown_as: The fragment that stands for the relation, for errors.

    Raises:
        ParameterError: A column does not exist, or is of a kind that cannot stand there.
        NotPrivateError: The relation would look at the rows of two units at once.
    """
    try:
        shape = shape_of(relation)
    except NotPrivateError as error:
        raise NotPrivateError(shown_as or error.expression, error.reason, error.suggestion) from None
    except ParameterError as error:
        if shown_as is None:
            raise
        raise ParameterError(error.name, shown_as, f"{error.requirement}; found {error.value}") from None
    seen = (Visible("", name, name) for name in shape.columns) if visible is None else visible
    return Scope(relation, tuple(seen), shape)


def same(identifier: exp.Identifier, name: str) -> bool:
    """Whether an identifier means a name."""
    written = str(identifier.this)
    return written == name if identifier.args.get("quoted") else written.lower() == name.lower()


def found(scope: Scope, column: exp.Column) -> Visible | None:
    """The column that a name means, or None if there is none.

    Raises:
        ParameterError: There are several.
        NotPrivateError: It is written in a way that is not supported.
    """
    if not isinstance(column.this, exp.Identifier):
        raise refusal(column.this)
    require_only(column, {"this", "table"})
    table = column.args.get("table")
    named = [visible for visible in scope.visible if same(column.this, visible.label)]
    if table is not None:
        named = [visible for visible in named if same(table, visible.table)]
    elif len(named) > 1:
        named = [visible for visible in named if not visible.merged]
    if len(named) > 1:
        choices = ", ".join(f"{visible.table}.{visible.label}" for visible in named)
        raise ParameterError("column", shown(column), f"is the name of several columns; write one of: {choices}")
    return named[0] if named else None


def resolved(scope: Scope, column: exp.Expr) -> ColumnRef | None:
    """The column that a name means; None for what is no name of a column.

    Raises:
        ParameterError: There is none, or there are several.
    """
    if not isinstance(column, exp.Column):
        return None
    visible = found(scope, column)
    if visible is not None:
        return ColumnRef(visible.column)
    tables = list(dict.fromkeys(visible.table for visible in scope.visible))
    table = column.args.get("table")
    if table is not None and not any(same(table, name) for name in tables):
        raise ParameterError("table", table.name, one_of(table.name, tables))
    labels = dict.fromkeys(visible.label for visible in scope.visible)
    hint = "; text is written in single quotes" if column.this.args.get("quoted") else ""
    raise ParameterError("column", column.name, one_of(column.name, labels) + hint)


def label_of(scope: Scope, column: str) -> str:
    """What queries call a column of the relation."""
    return next((visible.label for visible in scope.visible if visible.column == column), column)


def unit_columns(scope: Scope, *, exactly: bool = False) -> list[str]:
    """The columns in sight that say whose a row is, as a query writes them; those that hold the unit if `exactly`."""
    ties = ties_of(scope.relation)
    return [
        f"{visible.table}.{visible.label}" if visible.table else visible.label
        for visible in scope.visible
        if determines_unit(own := ties.get(visible.column, NO_TIES)) and (UNIT in own or not exactly)
    ]


def aliased(scope: Scope, alias: exp.TableAlias | None, default: str) -> Scope:
    """The scope under a name of its own, its columns under others if the alias lists any.

    Raises:
        ParameterError: It lists more columns than there are.
    """
    table = default if alias is None or alias.this is None else alias.name
    if alias is not None:
        require_only(alias, {"this", "columns"})
    labels = [column.name for column in alias.columns] if alias is not None else []
    if len(labels) > len(scope.visible):
        raise ParameterError("alias", shown(alias), f"must name at most {len(scope.visible)} columns")
    labels += [visible.label for visible in scope.visible[len(labels) :]]
    check_labels(labels)
    renamed = [replace(visible, table=table, label=label) for visible, label in zip(scope.visible, labels, strict=True)]
    return replace(scope, visible=tuple(renamed))


def check_labels(labels: Iterable[str]) -> None:
    """Columns of one relation differ in more than case, as engines do not tell `a` from `A`.

    Raises:
        ParameterError: They do not.
    """
    seen: set[str] = set()
    for label in labels:
        if label.lower() in seen:
            raise ParameterError("column", label, "occurs twice in one sub-query; rename one of them with AS")
        seen.add(label.lower())


def qualified(scope: Scope) -> Scope:
    """The same rows, with columns called by the names of their tables: `o.order_id`."""
    names = {visible.column: f"{visible.table}.{visible.column}" for visible in scope.visible}
    relation = Select(scope.relation, tuple((name, ColumnRef(column)) for column, name in names.items()))
    return scope_of(relation, [replace(visible, column=names[visible.column]) for visible in scope.visible])


UNNAMED: Final = "?column?"
_NAMES: Final[dict[type[exp.Expr], str]] = {
    exp.TimestampTrunc: "date_trunc",
    exp.VariancePop: "var_pop",
    exp.Pow: "power",
    exp.Ceil: "ceil",
    exp.Length: "length",
    exp.StrPosition: "strpos",
    exp.DayOfWeek: "dayofweek",
    exp.DayOfWeekIso: "isodow",
    exp.DayOfMonth: "dayofmonth",
    exp.DayOfYear: "dayofyear",
    exp.WeekOfYear: "weekofyear",
}


def named_outputs(scope: Scope, select: exp.Select) -> list[tuple[str, exp.Expr]]:
    """The columns of SELECT with their names; those without one are named as PostgreSQL does, made unique.

    Raises:
        ParameterError: A star is of a table that is not there, or a name is one of several columns.
    """
    outputs = list(_expanded(scope, select))
    taken = [name for name, _ in outputs if name is not None]
    named = []
    for given, node in outputs:
        name = fresh(name_of(node), taken) if given is None else given
        taken.append(name)
        named.append((name, node))
    return named


def _expanded(scope: Scope, select: exp.Select) -> Iterator[tuple[str | None, exp.Expr]]:
    for projection in select.expressions:
        if isinstance(projection, exp.Alias):
            require_only(projection, {"this", "alias"})
            yield projection.alias, projection.this
        elif isinstance(projection, exp.Star) or (
            isinstance(projection, exp.Column) and isinstance(projection.this, exp.Star)
        ):
            for visible in _stars(scope, projection):
                yield visible.label, _column(visible)
        elif isinstance(projection, exp.Column):
            named = found(scope, projection)
            yield projection.name if named is None else named.label, projection
        else:
            yield None, projection


def name_of(node: exp.Expr) -> str:
    """What PostgreSQL calls a column without an alias."""
    match node:
        case exp.Column():
            return node.name
        case exp.Paren() | exp.Filter() | exp.WithinGroup() | exp.Window():
            return name_of(node.this)
        case exp.Cast():
            inner = name_of(node.this)
            return shown(node.args["to"]).lower() if inner == UNNAMED else inner
        case exp.Case():
            return "case"
        case exp.Connector():
            return UNNAMED
        case exp.Func():
            return _NAMES.get(type(node), node.sql_name().lower())
        case _:
            return UNNAMED


def _stars(scope: Scope, star: exp.Expr) -> list[Visible]:
    require_only(star, {"this", "table"})
    require_only(star.this if isinstance(star, exp.Column) else star, ())
    table = star.args.get("table")
    if table is None:
        return [visible for visible in scope.visible if not visible.merged]
    seen = [visible for visible in scope.visible if same(table, visible.table)]
    if not seen:
        tables = dict.fromkeys(visible.table for visible in scope.visible)
        raise ParameterError("table", table.name, one_of(table.name, tables))
    return seen


def _column(visible: Visible) -> exp.Column:
    """The column as it would be written in full."""
    table = exp.to_identifier(visible.table, quoted=True) if visible.table else None
    return exp.Column(this=exp.to_identifier(visible.label, quoted=True), table=table)


RULES: Final[Rules] = MappingProxyType({**logic.RULES, **numbers.RULES, **texts.RULES, **times.RULES})
"""Every expression that is supported, by the class of its node."""


@dataclass(frozen=True, slots=True)
class Named:
    """A query that WITH names: its rows, and what making them took, as each use counts as if it were written out."""

    name: str
    scope: Scope
    effort: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a query may name, and how much may still be made of it.

    Attributes:
        sources: The relation behind the name of each table and view.
        ctes: The CTEs in sight, the innermost first.
        parameters: The values of `$1` and `:name`.
        effort: What is left.
    """

    sources: Mapping[str, Relation]
    ctes: tuple[Named, ...] = ()
    parameters: Parameters = field(default_factory=Parameters)
    effort: Effort = field(default_factory=Effort)

    def scalars(self, leaf: Leaf, facts: Mapping[str, Facts]) -> Scalars:
        """What lowers expressions where columns mean `leaf`."""
        return Scalars(rules=RULES, leaf=leaf, known=KnownFacts(facts), parameters=self.parameters, effort=self.effort)

    def of_rows(self, scope: Scope) -> Scalars:
        """What lowers expressions over the rows of a scope."""
        return self.scalars(partial(resolved, scope), scope.shape.columns)

    def cte(self, name: exp.Identifier) -> Named | None:
        """The CTE of a name, if there is one."""
        return next((named for named in self.ctes if same(name, named.name)), None)

    def source(self, name: exp.Identifier) -> tuple[str, Relation]:
        """The table or view of a name.

        Raises:
            ParameterError: There is none.
        """
        for known, relation in self.sources.items():
            if same(name, known):
                return known, relation
        names = [*self.sources, *(named.name for named in self.ctes)]
        raise ParameterError("table", name.name, one_of(name.name, names))
