"""The canonical form of a question: equal for ways of writing that mean the same, and its hash.

Names of columns and of outputs, the order of conditions, BETWEEN, `x >= 3` for `NOT x < 3`, columns computed in
sub-queries or in place make no difference, and how the answer is shown is no part of it. Questions come here folded:
constants are computed, and what changes nothing is left out. Questions with equal forms
have equal exact answers on every database. Two that mean the same may differ here: the second is then charged.

What is called here how is hashed into what is stored, whatever Python calls it; see `privacy.stored_names`. The public
facts are those of the first edition (`facts.Edition`), so that a query is called by the same hash for ever.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.privacy.stored_names import unstored
from sfumato.query.analysis.bounding import bound_joins
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import shape_of
from sfumato.query.analysis.simplify import Json, Origin, document_of, simplify, text, text_of
from sfumato.query.model.expressions import And, ColumnRef, Condition, Expression, Literal, replaced
from sfumato.query.model.facts import Edition, Facts
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Folded,
    Grouped,
    Intersect,
    Join,
    PeoplePart,
    Relation,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import Key, Limits, Table
from sfumato.query.planning.questions import Aggregate
from sfumato.query.statistics.registry import STORED
from sfumato.query.statistics.statistic import Statistic

_LONGEST: Final = 300
"""A column whose text is longer stands as its hash, so that columns made of columns do not grow without limit."""


def question_text(question: Aggregate) -> str:
    """The canonical form as one line of JSON."""
    group_by = question.child
    columns, form = shape_of(group_by.child, Edition.FIRST).columns, _form(bound_joins(group_by.child))
    parts: dict[str, Json] = {
        "rows": form.document(),
        "keys": [_key(key, form, columns) for key in group_by.keys],
        "sets": [[group_by.keys.index(key) for key in kept] for kept in group_by.sets],
        "statistics": [_statistic(statistic, form, columns) for _, statistic in question.statistics],
        "limits": _limits(question.limits),
        "weights": _shares(question.weights),
    }
    return text({name: part for name, part in parts.items() if part})


def question_hash(text: str) -> str:
    """The SHA-256 of a canonical form: what a ledger and a receipt call a query by."""
    return sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Form:
    """A relation: what rows it has, the columns over those in canonical form, and the conditions on top."""

    rows: Json
    columns: Mapping[str, Expression]
    conditions: tuple[Condition, ...] = ()

    def over(self, expression: Expression) -> Expression:
        """An expression over these columns in canonical form."""
        return simplify(replaced(expression, self.columns))

    def document(self) -> Json:
        """The rows for which all conditions are true."""
        condition = simplify(And(self.conditions))
        return self.rows if condition == Literal(value=True) else {"rows": self.rows, "where": document_of(condition)}

    def listed(self) -> list[Json]:
        """The columns in their order."""
        return [document_of(column) for column in self.columns.values()]


def _form(relation: Relation) -> _Form:
    match relation:
        case Source(table):
            return _source(table)
        case PeoplePart():
            return _part(relation, _form(relation.child))
        case Filter(child, condition):
            form = _form(child)
            return replace(form, conditions=(*form.conditions, form.over(condition)))
        case Select(child, columns):
            form = _form(child)
            return replace(form, columns={name: _compact(form.over(expression)) for name, expression in columns})
        case Join():
            return _join(relation, _form(relation.left), _form(relation.right))
        case SemiJoin():
            return _semi_join(relation, _form(relation.child), _form(relation.other))
        case UnionAll():
            return _of_both("UnionAll", relation)
        case Intersect():
            return _of_both("Intersect", relation)
        case Except():
            return _of_both("Except", relation)
        case Distinct(child):
            form = _form(child)
            return _Form({"distinct": form.document(), "columns": _sorted(form.listed())}, _behind("distinct", form))
        case BoundRows(child, most):
            form = _form(child)
            return _Form({"bound": _with_columns(form), "rows": most}, form.columns)
        case Grouped():
            return _grouped(relation, _form(relation.child))
        case RowWindow():
            return _in_order(relation, _form(relation.child))
        case _:
            raise unstored("relation", relation)


def _source(table: Table) -> _Form:
    """A table, and how much of a text is read; where rows are left out by all of their values, of all texts."""
    rows: dict[str, Json] = {"table": table.name, "unit": str(table.unit)}
    if table.matches:
        rows |= {"lengths": [column.longest for column in table.columns.values()]}
    columns = {
        name: ColumnRef(name) if column.longest is None else _origin("column", name, column.longest)
        for name, column in table.columns.items()
    }
    return _Form(rows, columns)


def _part(part: PeoplePart, form: _Form) -> _Form:
    """The salt of a part names its partition."""
    column = form.columns[part.by]
    by: Json = part.by if column == ColumnRef(part.by) else document_of(column)
    rows: Json = {
        "part": form.document(), "by": by, "values": _keys(part.values), "value": _keys((part.value,)),
        "parts": part.max_parts_per_unit, "partition": part.salt,
    }  # fmt: skip
    return _Form(rows, form.columns)


def _join(join: Join, left: _Form, right: _Form) -> _Form:
    rows: Json = {
        "join": [left.document(), right.document()], "on": _on(join.on, left, right), "kind": join.kind.value,
    }  # fmt: skip
    return _Form(rows, {**_behind("left", left), **_behind("right", right)})


def _semi_join(join: SemiJoin, child: _Form, other: _Form) -> _Form:
    rows: Json = {
        "semi join": [child.document(), other.document()], "on": _on(join.on, child, other), "negated": join.negated,
    }  # fmt: skip
    return _Form(rows, child.columns)


def _on(on: tuple[tuple[str, str], ...], left: _Form, right: _Form) -> Json:
    return _sorted([[document_of(left.columns[first]), document_of(right.columns[second])] for first, second in on])


def _of_both(tag: str, relation: UnionAll | Intersect | Except) -> _Form:
    sides: list[Json] = [_with_columns(_form(side)) for side in (relation.left, relation.right)]
    places = {name: _origin("place", place) for place, name in enumerate(shape_of(relation.left).columns)}
    return _Form({tag: sides}, places)


def _grouped(grouped: Grouped, form: _Form) -> _Form:
    facts = shape_of(grouped.child, Edition.FIRST).columns
    keys = {key: _origin("key", document_of(form.columns[key])) for key in grouped.keys}
    folds = {column.name: _fold(column, form, facts) for column in grouped.columns}
    rows: Json = {"groups": form.document(), "by": _sorted(map(document_of, keys.values()))}
    return _Form(rows, {**keys, **folds})


def _in_order(window: RowWindow, form: _Form) -> _Form:
    """The same rows, which are part of what the new column is; as are all columns, which decide between equals."""
    columns = form.columns
    parts: list[Json] = [
        window.function.value, None if window.value is None else document_of(columns[window.value]), window.distance,
        _sorted(document_of(columns[name]) for name in window.within),
        [[document_of(columns[name]), descending] for name, descending in window.order],
    ]  # fmt: skip
    return replace(form, columns={**columns, window.name: _origin("window", *parts, _with_columns(form))})


def _fold(column: Folded, form: _Form, facts: Mapping[str, Facts]) -> Expression:
    if column.value is None:
        return _origin("fold", column.fold.value)
    return _origin("fold", column.fold.value, document_of(form.over(column.value)), _facts(column.value, facts))


def _behind(tag: str, form: _Form) -> dict[str, Expression]:
    """The columns of a relation as columns of another one that is made of it."""
    return {name: _origin(tag, document_of(column)) for name, column in form.columns.items()}


def _origin(*parts: Json) -> Expression:
    return _compact(Origin(text([*parts])))


def _compact(column: Expression) -> Expression:
    """The column, or the hash of its text if that is long."""
    written = text_of(column)
    return column if len(written) <= _LONGEST else Origin(text(["sha256", sha256(written.encode()).hexdigest()]))


def _with_columns(form: _Form) -> Json:
    return {"rows": form.document(), "columns": form.listed()}


def _key(name: str, form: _Form, columns: Mapping[str, Facts]) -> Json:
    """A key, and what is public of its values: it says which groups an answer lists."""
    facts = _facts(ColumnRef(name), columns)
    return [document_of(form.columns[name]), facts, _keys(columns[name].values)]


def _statistic(statistic: Statistic, form: _Form, columns: Mapping[str, Facts]) -> Json:
    """What it computes, from what, and by which public facts; and the values among which it chooses."""
    names = STORED.of(statistic)
    values: list[Json] = [[document_of(form.over(v)), _facts(v, columns)] for v in statistic.expressions]
    listed = _keys(statistic.listed_values(columns))
    fields = {stored: _plain(getattr(statistic, name)) for stored, name in names.fields}
    return [
        names.tag, *values, *([listed] if listed else []), {stored: part for stored, part in fields.items() if part}
    ]  # fmt: skip


def _facts(expression: Expression, columns: Mapping[str, Facts]) -> Json:
    """The facts by which numbers are clamped and put on a lattice."""
    facts = facts_of(expression, columns, Edition.FIRST)
    ends = (facts.interval.lower, facts.interval.upper, facts.resolution)
    return [facts.kind.value, *map(_plain, ends), facts.nullable]


def _keys(values: tuple[Key, ...] | None) -> Json:
    """Public keys in their order, each with its type."""
    return None if values is None else [[type(value).__name__, str(value)] for value in values]


def _plain(value: Any) -> Json:
    """A parameter as it is written down."""
    match value:
        case None | bool() | int():
            return value
        case Enum():
            return str(value.value)
        case tuple():
            return [_plain(one) for one in value]
        case Fraction():
            return str(value)
        case date():
            return value.isoformat()
        case _:
            raise ParameterError("statistic", type(value).__name__, "must have numbers and truths as parameters")


def _sorted(documents: Iterable[Json]) -> list[Json]:
    return sorted(documents, key=text)


def _limits(limits: Limits | None) -> Json:
    if limits is None:
        return None
    return [limits.max_rows_per_unit, limits.max_groups_per_unit, limits.max_rows_per_group_per_unit]


def _shares(weights: tuple[Fraction, ...]) -> Json:
    """Weights as shares of the whole; equal ones are as none."""
    if len(set(weights)) <= 1:
        return None
    return [str(weight / sum(weights, start=Fraction(0))) for weight in weights]
