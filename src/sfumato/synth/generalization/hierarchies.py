"""Hierarchies: how the values of an attribute are grouped, from one group of all down to each value.

A category has declared groups. The bins of a number, or the periods of a date, are split at any edge between two of
them. All of it is public, and nothing follows from rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.privacy.codec import Json
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.session.training.attributes import Attribute

Declared: TypeAlias = Mapping[str, Any] | Sequence[Any]
"""Groups by name, each declared in the same way, or a list of values."""

DEEPEST: Final = 20
"""How many levels of groups there are, at most."""

EVERYTHING: Final = "any"
MISSING: Final = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Values of a category that count as one, and the groups that they fall into when it is specialized.

    Attributes:
        label: Its name.
        codes: The numbers of its values: those of the first group below, then those of the next, and so on.
        below: The groups of the next level; none for a group that is not specialized.
    """

    label: str
    codes: tuple[int, ...]
    below: tuple["Group", ...] = ()

    @property
    def specializations(self) -> tuple[tuple["Node", ...], ...]:
        """The ways to specialize it: one at most."""
        return (self.below,) if self.below else ()

    def document(self) -> Json:
        """All that there is to it, as JSON values."""
        return [self.label, list(self.codes), [one.document() for one in self.below]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BinRange:
    """Neighboring bins of a number, or periods of a date, that count as one; they are split at any edge between two.

    Attributes:
        attribute: Whose they are.
        first: The first one.
        end: The one after the last.
        with_missing: Whether missing values are in it; a split separates them.
    """

    attribute: Attribute
    first: int
    end: int
    with_missing: bool = False

    @property
    def label(self) -> str:
        """Its bounds, of whole numbers and periods the first and the last one."""
        if self.with_missing:
            return EVERYTHING
        if self.attribute.edges is None:
            values = self.attribute.values or ()
            return f"{values[self.first]} to {values[self.end - 1]}"
        low, high = self.attribute.edges[self.first], self.attribute.edges[self.end]
        if self.attribute.kind is Kind.INTEGER:
            return f"{low} to {high - 1}"
        return f"{float(low):g} to below {float(high):g}"

    @property
    def codes(self) -> tuple[int, ...]:
        """The numbers of its values; the missing one comes last."""
        return (*range(self.first, self.end), *([self.attribute.size - 1] if self.with_missing else []))

    @property
    def specializations(self) -> tuple[tuple["Node", ...], ...]:
        """The ways to split it: one for each edge."""
        if not self.with_missing:
            return tuple(self._split(edge) for edge in range(self.first + 1, self.end))
        apart = Group(label=MISSING, codes=(self.attribute.size - 1,))
        if self.end - self.first == 1:
            return ((self._part(self.first, self.end), apart),)
        return tuple((*self._split(edge), apart) for edge in range(self.first + 1, self.end))

    def document(self) -> Json:
        """All that there is to it beside the attribute, as JSON values."""
        return [self.first, self.end, self.with_missing]

    def _split(self, edge: int) -> tuple["BinRange", "BinRange"]:
        return self._part(self.first, edge), self._part(edge, self.end)

    def _part(self, first: int, end: int) -> "BinRange":
        return BinRange(attribute=self.attribute, first=first, end=end)


Node: TypeAlias = Group | BinRange


def hierarchy_of(attribute: Attribute, declared: Declared | None = None) -> Node:
    """The group of all values of an attribute, and so all that it can be specialized to.

    Missing values are a group of their own below the first, unless None is declared to be in another one.

    Args:
        attribute: The attribute.
        declared: The groups of a category: names of groups, each with its own groups or a list of values; None: each
            value is a group. Numbers and dates have none.

    Raises:
        ParameterError: A value is in no group or in two, or two groups have one name.

    Example:
        >>> from sfumato.query.model.kinds import Kind
        >>> pet = Attribute(name="pet", kind=Kind.TEXT, values=("cat", "dog", "owl"), missing="missing")
        >>> everything = hierarchy_of(pet, {"mammal": ["dog", "cat"], "bird": ["owl"]})
        >>> [(one.label, one.codes) for one in everything.below]
        [('mammal', (1, 0)), ('bird', (2,)), ('missing', (3,))]
    """
    if attribute.values is None or attribute.kind in TIMES:
        if declared is not None:
            raise ParameterError("hierarchies", attribute.name, "must leave it out: it is split at its bins")
        has_missing = attribute.missing is not None
        return BinRange(attribute=attribute, first=0, end=attribute.size - has_missing, with_missing=has_missing)
    groups: Declared = list(attribute.values) if declared is None else declared
    below = _groups(attribute, groups, level=1)
    codes = [code for one in below for code in one.codes]
    if attribute.missing is not None and attribute.size - 1 not in codes:
        below = (*below, Group(label=MISSING, codes=(attribute.size - 1,)))
        codes.append(attribute.size - 1)
    labels = [label for one in below for label in _labels(one)]
    if sorted(codes) != list(range(attribute.size)):
        raise ParameterError("hierarchies", attribute.name, "must have each of its values in exactly one group")
    if len(set(labels)) != len(labels) or EVERYTHING in labels:
        requirement = f"must have a name for each group that no other group or value has, and not {EVERYTHING!r}"
        raise ParameterError("hierarchies", attribute.name, requirement)
    if len(below) == 1:
        return Group(label=EVERYTHING, codes=tuple(codes), below=below[0].below)
    return Group(label=EVERYTHING, codes=tuple(codes), below=below)


def _groups(attribute: Attribute, declared: Any, *, level: int) -> tuple[Group, ...]:
    """The groups of one level; one of a single group is that group, by its own name."""
    if level > DEEPEST:
        raise ParameterError("hierarchies", attribute.name, f"must have at most {DEEPEST} levels")
    if not isinstance(declared, Mapping):
        return tuple(
            Group(label=MISSING if value is None else str(value), codes=(attribute.code_of(value),))
            for value in listed(declared, "hierarchies")
        )
    found = []
    for label, inside in declared.items():
        if not isinstance(label, str) or not label:
            raise ParameterError("hierarchies", attribute.name, "must have names of groups that are text")
        below = _groups(attribute, inside, level=level + 1)
        codes = tuple(code for one in below for code in one.codes)
        found.append(Group(label=label, codes=codes, below=below[0].below if len(below) == 1 else below))
    return tuple(found)


def _labels(group: Group) -> list[str]:
    return [group.label, *(label for one in group.below for label in _labels(one))]
