"""What SELECT lists: stars written out, and the names that PostgreSQL gives to columns."""

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from sfumato.errors import ParameterError
from sfumato.query.model.names import fresh
from sfumato.query.sql.names import Scope, Visible, found, same
from sfumato.query.sql.parsing import require_only, shown

UNNAMED: Final = "?column?"
_NAMES: Final[dict[type[exp.Expr], str]] = {
    exp.TimestampTrunc: "date_trunc",
    exp.VariancePop: "var_pop",
    exp.Pow: "power",
    exp.Ceil: "ceil",
    exp.Length: "length",
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
        elif isinstance(projection, exp.Star) or _is_star(projection):
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
        case exp.Paren() | exp.Filter() | exp.WithinGroup():
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


def _is_star(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and isinstance(node.this, exp.Star)


def _stars(scope: Scope, star: exp.Expr) -> list[Visible]:
    require_only(star, {"this", "table"})
    require_only(star.this if isinstance(star, exp.Column) else star, ())
    table = star.args.get("table")
    if table is None:
        return [visible for visible in scope.visible if not visible.merged]
    seen = [visible for visible in scope.visible if same(table, visible.table)]
    if not seen:
        tables = dict.fromkeys(visible.table for visible in scope.visible)
        raise ParameterError("table", table.name, f"must be one of: {', '.join(tables)}")
    return seen


def _column(visible: Visible) -> exp.Column:
    """The column as it would be written in full."""
    table = exp.to_identifier(visible.table, quoted=True) if visible.table else None
    return exp.Column(this=exp.to_identifier(visible.label, quoted=True), table=table)
