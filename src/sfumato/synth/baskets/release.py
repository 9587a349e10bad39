"""`synthetic_baskets`: made-up baskets of a session, from noisy counts of partitions.

Proof: proofs/synth/baskets/partitions.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, positive, positive_integer
from sfumato.privacy.codec import Json
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import REPLACE_ONE, NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.query.model.schema import Key
from sfumato.session.asking.training_set import BasketSet
from sfumato.session.releases.receipt import Receipt
from sfumato.session.training.baskets import BITS, BasketCounts
from sfumato.synth.baskets.itemsets import MOST_SIZE, candidates, itemset_counts
from sfumato.synth.baskets.partitions import Partitioning, limited
from sfumato.synth.baskets.taxonomy import ItemTree

if TYPE_CHECKING:
    import pyarrow as pa

MOST_IN_BASKET: Final = 32
"""A basket has at most so many items."""

WIDEST: Final = 2**50
"""There is no noise so wide."""

Taxonomy: TypeAlias = Mapping[str, Any] | ItemTree | None
"""Groups of items by name, as `ItemTree.of` takes them; None for groups of ten in the order of the declared items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BasketPlan:
    """Synthetic baskets as the `PrivateFit` of a session.

    **Guarantee**: what `release` returns is ε-differentially private, for the relation that `partitioning` is made for,
    where each unit has one basket. Proof: proofs/synth/baskets/partitions.md.

    Attributes:
        partitioning: How baskets are divided.
    """

    partitioning: Partitioning = field(repr=False)

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "synthetic baskets"

    @property
    def event(self) -> PureEvent:
        """All counts: those on the way of one basket cost ε together, and no other is moved by it."""
        return PureEvent(self.partitioning.epsilon)

    @property
    def charge(self) -> PureDP:
        """The cost."""
        return PureDP(self.partitioning.epsilon)

    def document(self) -> dict[str, Json]:
        """All parameters on which the baskets depend."""
        tree = self.partitioning.tree
        return {
            "children": [list(own) for own in tree.children], "members": [list(own) for own in tree.members],
            "epsilon": str(self.partitioning.epsilon), "most_items": self.partitioning.most_items,
            "moved": self.partitioning.moved,
        }  # fmt: skip

    def release(self, rows: Secret[BasketCounts], /) -> dict[str, Json]:
        """The baskets that are kept, by the places of their items, and how many there are of each."""
        tree, most = self.partitioning.tree, self.partitioning.most_items
        kept = limited(rows.open_for_noise(), len(tree.items), most)
        return {"baskets": [[list(items), count] for items, count in self.partitioning.leaves(kept)]}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticBaskets:
    """Made-up baskets, safe to show to anybody; all that is made of them costs nothing more.

    Attributes:
        items: All declared items.
        baskets: Different baskets, and how many there are of each.
        charge: What they cost.
        receipt: Of the release.

    Example:
        >>> import sfumato as sf
        >>> shop = sf.datasets.shop(2_000)
        >>> sales = sf.open(
        ...     shop.sales, name="sales", unit="customer", limits=sf.Limits(max_rows_per_unit=50),
        ...     columns={"customer": sf.integer(), "item": sf.text(values=shop.items)}, budget=sf.PureDP(4),
        ... )
        >>> baskets = sales.baskets("SELECT item FROM sales", item="item")
        >>> made = sf.synth.synthetic_baskets(baskets, taxonomy=shop.categories, epsilon=4)
        >>> made.rows().column_names
        ['basket', 'item']
    """

    items: tuple[Key, ...]
    baskets: tuple[tuple[tuple[Key, ...], int], ...] = field(repr=False)
    charge: PureDP
    receipt: Receipt = field(repr=False)

    @property
    def total(self) -> int:
        """How many baskets there are."""
        return sum(count for _, count in self.baskets)

    def rows(self) -> "pa.Table":
        """All baskets as an Arrow table with the columns basket, a number from 0, and item: one row an item."""
        import pyarrow as pa  # noqa: PLC0415 # loaded when rows are made

        numbers, names, first = [], [], 0
        for items, count in self.baskets:
            numbers.append(np.repeat(np.arange(first, first + count), len(items)))
            names += list(items) * count
            first += count
        basket = np.concatenate(numbers) if numbers else np.zeros(0, dtype=np.int64)
        return pa.table({"basket": basket, "item": pa.array(names, pa.infer_type(self.items))})

    def count(self, items: Iterable[Key]) -> int:
        """How many baskets have all of some items.

        Example:
            >>> import sfumato as sf
            >>> shop = sf.datasets.shop(500)
            >>> len(shop.items) > 100
            True
        """
        wanted = set(items)
        if not wanted <= set(self.items):
            raise ParameterError("items", "some", "must be declared items")
        return sum(count for basket, count in self.baskets if wanted <= set(basket))

    def frequent(self, k: int, *, size: int = 2) -> tuple[tuple[tuple[Key, ...], int], ...]:
        """The k sets of items that most of these baskets have, and how many have them; the larger first.

        Args:
            k: How many sets.
            size: How many items a set has at most, from 1 to 4.

        Raises:
            ParameterError: A number is out of range.
        """
        sets = candidates(len(self.items), positive_integer(size, "size", most=MOST_SIZE))
        most = positive_integer(k, "k", most=len(sets))
        places = {item: place for place, item in enumerate(self.items)}
        words = np.zeros((len(self.baskets), -(-len(self.items) // BITS)), dtype=np.int64)
        for row, (basket, _) in enumerate(self.baskets):
            for item in basket:
                words[row, places[item] // BITS] |= np.int64(1) << (places[item] % BITS)
        counts = np.array([count for _, count in self.baskets], dtype=np.int64)
        found = itemset_counts(BasketCounts(words=words, counts=counts), len(self.items), size)
        order = np.argsort(-found, kind="stable")[:most]
        return tuple((tuple(self.items[place] for place in sets[at]), int(found[at])) for at in order)


def synthetic_baskets(
    baskets: BasketSet,
    *,
    epsilon: Number,
    taxonomy: Taxonomy = None,
    max_items: int = 4,
    idempotency_key: str | None = None,
) -> SyntheticBaskets:
    """Made-up baskets with about as many of each kind as there are, for kinds that are frequent.

    All baskets are divided by the groups of a public tree: first by which groups they have items of, then by which
    members of one group after the other. Each part is counted with noise, the empty ones too, and divided further if
    that reaches a threshold. What is left at last are baskets of items with noisy counts. A kind of basket that few
    units have is lost.

    **Guarantee**: ε-differential privacy for the unit and the relation of the policy, charged before data is read.
    Proof: proofs/synth/baskets/partitions.md.

    ==========================================  ====================================================
    Edge case                                   Behavior
    ==========================================  ====================================================
    an item twice, in one row or several        it is in the basket once
    an item that is missing or not listed       it is in no basket
    a unit without a listed item                it has no basket
    more items than `max_items`                 that many are drawn from them, for each unit alone
    no rows                                     noise alone: a few baskets or none
    ==========================================  ====================================================

    Args:
        baskets: What is read: `session.baskets("SELECT item FROM sales", item="item")`.
        epsilon: ε of the whole.
        taxonomy: The tree: groups of items by name, of all declared items. It must be public.
        max_items: How many items of a unit are kept, from 1 to 32. It must be public.
        idempotency_key: As for `Question.release`.

    Raises:
        ParameterError: The tree does not have the declared items, or a number is out of range; nothing was charged.
        BudgetExceededError: Too little budget remains; nothing was spent and no data was read.

    Example:
        >>> import pyarrow as pa, sfumato as sf
        >>> sales = sf.open(
        ...     pa.table({"customer": range(900), "item": ["tea"] * 900}), name="sales", unit="customer",
        ...     columns={"customer": sf.integer(), "item": sf.text(values=["tea", "milk", "rye"])},
        ...     limits=sf.Limits(max_rows_per_unit=50), budget=sf.PureDP(1),
        ... )
        >>> made = synthetic_baskets(sales.baskets("SELECT item FROM sales", item="item"), epsilon=1)
        >>> abs(made.count(["tea"]) - 900) < 100
        True

    References:
        [CMFDX11] for the partitions; [CPST12] for counts that are 0.
    """
    query = of_kind(baskets, "baskets", BasketSet, "baskets of a session: session.baskets(query, item=…)")
    tree = taxonomy if isinstance(taxonomy, ItemTree) else None
    if tree is None:
        tree = ItemTree.even(query.items) if taxonomy is None else ItemTree.of(
            of_kind(taxonomy, "taxonomy", Mapping, "groups of items, such as {'drinks': ['tea', 'milk']}")
        )  # fmt: skip
    partitioning = Partitioning(
        tree=tree.placed(query.items), epsilon=positive(epsilon, "epsilon"),
        moved=moved_baskets(query.neighboring_relation),
        most_items=positive_integer(max_items, "max_items", most=MOST_IN_BASKET),
    )  # fmt: skip
    if partitioning.widest > WIDEST:
        raise ParameterError("epsilon", str(epsilon), "must be larger: there is no noise so wide")
    found = query.fit(BasketPlan(partitioning=partitioning), idempotency_key=idempotency_key)
    named = ((tuple(query.items[place] for place in items), count) for items, count in found.model["baskets"])
    return SyntheticBaskets(
        items=query.items, baskets=tuple(named), charge=PureDP(partitioning.epsilon), receipt=found.receipt
    )  # fmt: skip


def moved_baskets(relation: NeighboringRelation) -> int:
    """How many baskets differ between neighboring databases."""
    return 2 if relation is REPLACE_ONE else 1
