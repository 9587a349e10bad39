"""`frequent_itemsets`: which sets of items most units have, and about how many have them.

Proof: proofs/synth/baskets/frequent.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.selection.noisy_top_k import NoisyTopK
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, positive, positive_integer
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.query.model.schema import Key
from sfumato.session.asking.training_set import BasketSet
from sfumato.session.releases.receipt import Receipt
from sfumato.session.training.baskets import BasketCounts
from sfumato.synth.baskets.itemsets import MOST_SIZE, candidates, itemset_counts

if TYPE_CHECKING:
    import pyarrow as pa

MOST_FOUND: Final = 1_000
"""So many sets are found at most."""

_CHOICE: Final = Fraction(1, 2)
"""The share of ε for which sets are chosen."""

_LEAST: Final = Fraction(1, 1000)
"""No noise has a smaller scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsetPlan:
    """The k most frequent sets and their counts, as the `PrivateFit` of a session.

    **Guarantee**: what `release` returns is ε-differentially private, where each unit has one basket.
    Proof: proofs/synth/baskets/frequent.md.

    Attributes:
        items: How many items there are.
        k: How many sets are found.
        size: How many items a set has at most.
        epsilon: ε.
        relation: What may change between neighboring databases.
    """

    items: int
    k: int
    size: int
    epsilon: Fraction
    relation: NeighboringRelation

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "frequent itemsets"

    @property
    def choice(self) -> NoisyTopK:
        """What chooses the sets: one unit moves each count by 1 at most, all of them in one direction if added."""
        is_one_way = self.relation is ADD_OR_REMOVE_ONE
        return NoisyTopK(k=self.k, epsilon=self.epsilon * _CHOICE, utility_sensitivity=1, monotonic=is_one_way)

    @property
    def counting(self) -> Laplace:
        """What counts those that are chosen: one unit moves each of k counts by 1 at most, whatever the relation."""
        return Laplace(l1_sensitivity=self.k, epsilon=self.epsilon * (1 - _CHOICE))

    @property
    def event(self) -> ComposedEvent:
        """The choice, and the counts."""
        return ComposedEvent((self.choice.event, self.counting.event))

    @property
    def charge(self) -> PureDP:
        """The cost."""
        return PureDP(self.epsilon)

    def document(self) -> dict[str, Json]:
        """All parameters on which the sets depend."""
        return {"k": self.k, "size": self.size, "epsilon": str(self.epsilon), "relation": self.relation.value}

    def release(self, rows: Secret[BasketCounts], /) -> dict[str, Json]:
        """The sets by their places among the candidates, and noisy counts."""
        exact = itemset_counts(rows.open_for_noise(), self.items, self.size)
        chosen = self.choice.release(Secret(exact)).indexes
        noisy = self.counting.release(Secret(exact[list(chosen)]))
        return {"sets": [[int(place), int(count)] for place, count in zip(chosen, np.asarray(noisy), strict=True)]}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequentItemsets:
    """Sets of items that many units have, safe to show to anybody.

    Attributes:
        itemsets: The sets, in the order in which they were chosen: about the most frequent first.
        counts: Of each the noisy number of units that have all of its items.
        margin: A count is off by no more, with 95% confidence for each.
        missed_by: With 95% confidence the j-th set has at most so many units less than the j-th most frequent one, for
            all j.
        receipt: Of the release.
    """

    itemsets: tuple[tuple[Key, ...], ...]
    counts: tuple[int, ...]
    margin: int
    missed_by: int
    receipt: Receipt = field(repr=False)

    def to_arrow(self) -> "pa.Table":
        """The sets as an Arrow table with the columns items, a list, and count."""
        import pyarrow as pa  # noqa: PLC0415 # loaded when it is made

        return pa.table({"items": [list(one) for one in self.itemsets], "count": list(self.counts)})


def frequent_itemsets(
    baskets: BasketSet, *, k: int, epsilon: Number, size: int = 2, idempotency_key: str | None = None
) -> FrequentItemsets:
    """The k sets of items that most units have, and about how many units have each.

    All sets of up to `size` declared items are candidates. Half of ε chooses k of them by noisy counts [DWZK19], half
    counts those again. A unit counts once for each set, whatever its rows are, and with all of its items.

    **Guarantee**: ε-differential privacy for the unit and the relation of the policy, charged before data is read.
    Proof: proofs/synth/baskets/frequent.md.

    Args:
        baskets: What is read: `session.baskets("SELECT item FROM sales", item="item")`.
        k: How many sets, from 1 to 1,000.
        epsilon: ε of the whole.
        size: How many items a set has at most, from 1 to 4; all such sets together are at most 524,288.
        idempotency_key: As for `Question.release`.

    Raises:
        ParameterError: A number is out of range, or there are too many candidates; nothing was charged.
        BudgetExceededError: Too little budget remains; nothing was spent and no data was read.

    Example:
        >>> import pyarrow as pa, sfumato as sf
        >>> sales = sf.open(
        ...     pa.table({"customer": [*range(900), *range(600)], "item": ["tea"] * 900 + ["milk"] * 600}),
        ...     columns={"customer": sf.integer(), "item": sf.text(values=["tea", "milk", "rye"])},
        ...     name="sales", unit="customer", limits=sf.Limits(max_rows_per_unit=50), budget=sf.PureDP(1),
        ... )
        >>> found = frequent_itemsets(sales.baskets("SELECT item FROM sales", item="item"), k=1, epsilon=1)
        >>> found.itemsets, found.margin
        ((('tea',),), 6)

    References:
        [DWZK19].
    """
    query = of_kind(baskets, "baskets", BasketSet, "baskets of a session: session.baskets(query, item=…)")
    items, members = len(query.items), positive_integer(size, "size", most=MOST_SIZE)
    sets = candidates(items, members)
    plan = ItemsetPlan(
        items=items, k=positive_integer(k, "k", most=min(MOST_FOUND, len(sets))), size=members,
        epsilon=positive(epsilon, "epsilon"), relation=query.neighboring_relation,
    )  # fmt: skip
    margin, missed_by = plan.counting.accuracy(), plan.choice.accuracy(candidates=len(sets))
    if min(plan.choice.scale, plan.counting.scale) < _LEAST:
        raise ParameterError("epsilon", str(epsilon), "must be smaller: there is no noise so small")
    found = query.fit(plan, idempotency_key=idempotency_key)
    return FrequentItemsets(
        itemsets=tuple(tuple(query.items[place] for place in sets[at]) for at, _ in found.model["sets"]),
        counts=tuple(count for _, count in found.model["sets"]), margin=int(margin), missed_by=int(missed_by),
        receipt=found.receipt,
    )  # fmt: skip
