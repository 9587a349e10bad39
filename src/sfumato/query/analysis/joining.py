"""Joins of frames: which columns meet, and what the columns of the result are called."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of, listed, of_kind
from sfumato.query.analysis.shape import Shape
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Join, JoinKind, Relation, Select, fresh

On: TypeAlias = str | Iterable[str] | Mapping[str, str]
"""The columns that must be equal: a name, several, or names on the left by names on the right."""


def pairs(on: On) -> tuple[tuple[str, str], ...]:
    """Names on the left and on the right.

    Raises:
        ParameterError: They are neither names nor a mapping of names.

    Example:
        >>> pairs("ward"), pairs({"ward": "code"})
        ((('ward', 'ward'),), (('ward', 'code'),))
    """
    if isinstance(on, str):
        return ((on, on),)
    if isinstance(on, Mapping):
        both = tuple(on.items())
    else:
        both = tuple((name, name) for name in listed(on, "on", of="names of columns"))
    for name in (name for pair in both for name in pair):
        of_kind(name, "on", str, "the name of a column, several, or names here by names there")
    return both


def joined(
    left: tuple[Relation, Shape], right: tuple[Relation, Shape], *, on: On, how: str, suffix: str | None
) -> Relation:
    """A join in which each column that is equal by the same name on both sides stands once.

    Raises:
        ParameterError: Another column has the same name on both sides, or `how` is unknown.
    """
    if not is_one_of(how, tuple(JoinKind)):
        raise ParameterError("how", how, f"must be one of: {', '.join(JoinKind)}")
    if suffix is not None:
        of_kind(suffix, "suffix", str, "text, such as '_right'")
    on_pairs = pairs(on)
    equal = {first for first, second in on_pairs if first == second}
    new_names = _new_names(left[1], right[1], equal, suffix)
    join = Join(
        left=left[0], right=renamed(right[0], right[1], new_names), kind=JoinKind(how),
        on=tuple((first, new_names.get(second, second)) for first, second in on_pairs),
    )  # fmt: skip
    hidden = {new_names[name] for name in equal & set(new_names)}
    names = [*left[1].columns, *(new_names.get(name, name) for name in right[1].columns)]
    return Select(join, tuple((name, ColumnRef(name)) for name in names if name not in hidden)) if hidden else join


def renamed(relation: Relation, shape: Shape, new_names: Mapping[str, str]) -> Relation:
    """The same rows with other names for some columns."""
    if not new_names:
        return relation
    return Select(relation, tuple((new_names.get(name, name), ColumnRef(name)) for name in shape.columns))


def _new_names(left: Shape, right: Shape, equal: set[str], suffix: str | None) -> dict[str, str]:
    """New names for the columns of the right side that the left side has too."""
    lowered = {name.lower() for name in left.columns}
    both = [name for name in right.columns if name.lower() in lowered]
    clashing = [name for name in both if name not in equal]
    if clashing and not suffix:
        raise ParameterError("join", clashing, 'exist on both sides: rename() them first, or give suffix="_right"')
    taken = [*left.columns, *right.columns]
    return {name: fresh(name, taken) if name in equal else f"{name}{suffix}" for name in both}
