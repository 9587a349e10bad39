"""A public tree of items, by which baskets are divided: groups of groups of items, declared and never read off data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import comb
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind
from sfumato.numeric.rationals import positive_integer
from sfumato.query.model.schema import Key

MOST_CHILDREN: Final = 32
"""A group has at most so many members, of which baskets may hold any."""

MOST_DEPTH: Final = 16


@dataclass(frozen=True, slots=True)
class ItemTree:
    """Items in groups, and groups in groups, numbered from 0, which is all of them, level by level.

    Attributes:
        items: The items.
        children: Of each group and item the numbers of its members; none of an item.
        members: Of each group and item the places of its items in `items`.
        inner: Of each the number of groups in it, itself included, at each depth: from 0, the depth of all items.

    Example:
        >>> tree = ItemTree.of({"drinks": ["tea", "milk"], "bread": ["rye", "rolls"]})
        >>> tree.items, tree.children[0], tree.inner[0]
        (('tea', 'milk', 'rye', 'rolls'), (1, 2), (1, 2))
    """

    items: tuple[Key, ...]
    children: tuple[tuple[int, ...], ...] = field(repr=False)
    members: tuple[tuple[int, ...], ...] = field(repr=False)
    inner: tuple[tuple[int, ...], ...] = field(repr=False)

    @classmethod
    def of(cls, groups: Mapping[Any, Any] | Iterable[Any]) -> "ItemTree":
        """A tree as nested groups: mappings of names to groups, down to lists of items; a group of one is its member.

        Args:
            groups: Such as ``{"drinks": ["tea", "milk"], "bread": {"dark": ["rye"], "light": ["rolls", "toast"]}}``.

        Raises:
            ParameterError: An item occurs twice, or a group is empty, has more than 32 members or lies too deep.
        """
        nested: list[Any] = [_group(groups, 0)]
        children: list[tuple[int, ...]] = []
        depths = [0]
        for number, node in enumerate(nested):  # which grows: level by level
            own = node if isinstance(node, list) else []
            depths += [depths[number] + 1] * len(own)
            children.append(tuple(range(len(nested), len(nested) + len(own))))
            nested += own
        items = [node.key for node in nested if isinstance(node, _Item)]
        if len(set(items)) != len(items):
            raise ParameterError("taxonomy", "a tree", "must have each item once")
        places = {item: place for place, item in enumerate(items)}
        members: list[tuple[int, ...]] = [()] * len(nested)
        inner: list[tuple[int, ...]] = [()] * len(nested)
        for number in reversed(range(len(nested))):
            node, below = nested[number], children[number]
            members[number] = (
                (places[node.key],) if isinstance(node, _Item) else tuple(at for one in below for at in members[one])
            )
            deepest = max((len(inner[one]) for one in below), default=0)
            sums = [sum(inner[one][at] for one in below if at < len(inner[one])) for at in range(deepest)]
            own_depth = depths[number]
            inner[number] = (*[0] * own_depth, 1, *sums[own_depth + 1 :]) if below else ()
        return cls(tuple(items), tuple(children), tuple(members), tuple(inner))

    @classmethod
    def even(cls, items: Iterable[Key], *, members: int = 10) -> "ItemTree":
        """A tree that cuts a list of items into groups of about as many members each, in their order.

        Args:
            items: The items.
            members: The most members of a group, from 2 to 32.

        Raises:
            ParameterError: There is no item, or a number is out of range.

        Example:
            >>> ItemTree.even(range(30), members=10).children[0]
            (1, 2, 3)
        """
        if positive_integer(members, "members", most=MOST_CHILDREN) == 1:
            raise ParameterError("members", members, "must be at least 2")
        level: list[Any] = list(listed(items, "items"))
        while len(level) > members:
            groups = -(-len(level) // members)
            ends = [place * len(level) // groups for place in range(groups + 1)]
            level = [level[first:last] for first, last in pairwise(ends)]
        return cls.of(level)

    def placed(self, items: Sequence[Key]) -> "ItemTree":
        """The same tree, with the places of its items in another order of them.

        Raises:
            ParameterError: They are not the items of the tree.
        """
        if set(items) != set(self.items) or len(items) != len(self.items):
            raise ParameterError("taxonomy", f"{len(self.items)} items", "must have all declared items, and no other")
        places = {item: place for place, item in enumerate(items)}
        members = tuple(tuple(places[self.items[at]] for at in own) for own in self.members)
        return ItemTree(tuple(items), self.children, members, self.inner)

    def expansions(self, cut: Iterable[int], most_items: int) -> int:
        """How many groups a basket has items of at most, in the groups of a cut: how often it is still divided.

        Example:
            >>> tree = ItemTree.even(range(30), members=10)
            >>> tree.expansions([0], 2), tree.expansions([1, 2], 2), tree.expansions([4], 2)
            (3, 2, 0)
        """
        cut = tuple(cut)
        room = most_items - sum(not self.children[node] for node in cut)
        levels: dict[int, int] = {}
        for node in cut:
            for depth, number in enumerate(self.inner[node]):
                levels[depth] = levels.get(depth, 0) + number
        return sum(min(number, room) for number in levels.values())


@dataclass(frozen=True, slots=True)
class _Item:
    key: Key


def _group(node: Any, depth: int) -> Any:
    """A group as a list of groups and items; one of a single member is that."""
    if depth > MOST_DEPTH:
        raise ParameterError("taxonomy", "a tree", f"must have at most {MOST_DEPTH} levels")
    if isinstance(node, Mapping):
        found = [_group(one, depth + 1) for one in node.values()]
    elif isinstance(node, str) or not isinstance(node, Iterable):
        key: Any = of_kind(node, "taxonomy", (str, int), "groups of items, such as {'drinks': ['tea', 'milk']}")
        return _Item(key)
    else:
        found = [_group(one, depth + 1) for one in node]
    if not 0 < len(found) <= MOST_CHILDREN:
        raise ParameterError("taxonomy", f"a group of {len(found)}", f"must have from 1 to {MOST_CHILDREN} members")
    return found[0] if len(found) == 1 else found


def subsets_up_to(members: int, most: int) -> int:
    """How many subsets of some members have from 1 to `most` of them.

    Example:
        >>> subsets_up_to(4, 2)
        10
    """
    return sum(comb(members, size) for size in range(1, most + 1))


def subset(rank: int, members: int, most: int) -> int:
    """The subset with a rank among those with up to `most` members, as bits; smaller subsets come first.

    Example:
        >>> sorted(subset(rank, 3, 2) for rank in range(6))
        [1, 2, 3, 4, 5, 6]
    """
    size = 1
    while size < most and rank >= comb(members, size):
        rank -= comb(members, size)
        size += 1
    bits = 0
    for place in reversed(range(members)):
        if size and rank >= (without := comb(place, size)):
            rank -= without
            size -= 1
            bits |= 1 << place
    return bits
