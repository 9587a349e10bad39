"""A synthesis as a plan: what it costs, which marginals it measures, and the model that its released counts make.

Proof: proofs/synth/methods/measuring.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from sfumato.accounting.calibration import smallest_noise
from sfumato.accounting.gaussian.zcdp import ZCDPAccountant
from sfumato.errors import ParameterError
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ZCDPEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.session.training.marginals import MarginalQuery, Marginals
from sfumato.synth.methods.aim import LARGEST, MEAN, measure_adaptively
from sfumato.synth.methods.measuring import Measuring, Progress, unheard
from sfumato.synth.methods.merging import Merging, MergingRule, merged
from sfumato.synth.methods.mwem import measure_in_rounds
from sfumato.synth.methods.privbayes import measure_network
from sfumato.synth.methods.stated import Stated
from sfumato.synth.models.measured import NoisyMarginal
from sfumato.synth.models.mixture import FittedModel
from sfumato.synth.models.shape import Columns, TableShape

Method: TypeAlias = Literal["aim", "mst", "mwem", "privbayes", "independent"]
"""How marginals are chosen."""

_WIDEST: Final = 2**40
"""The most noise on a count, in rows."""

_MOST_CELLS: Final = 3_500_000
"""Cells of all pairs of a tree: a fit takes 264 bytes for each, so nine tenths of its memory."""

_SPARE: Final = 1 - Fraction(1, 1 << 20)
"""Of ε, so that a ledger on another machine, whose floats differ in their last digits, finds the price covered."""


def measure_columns(measuring: Measuring, names: Columns, _stated: Stated) -> None:
    """Measure each column alone, and spend all of ρ on that: in such a model no column depends on another."""
    rho = measuring.left / len(names)
    for name in names:
        measuring.measure((name,), rho)


def measure_tree(measuring: Measuring, names: Columns, stated: Stated) -> None:
    """Measure each column, and the pairs of a tree that joins all columns [MMS21].

    A third of ρ each is for the columns, for the choice of pairs, and for measuring them. One pair after the other is
    chosen among those that join two parts of the tree: one of which the model of independent columns is far from the
    exact counts, beyond what the noise on them will add. Rare values of a column count as one in pairs. Pairs for which
    a model has no memory are left out, so that parts of the tree may stay apart.

    Args:
        measuring: What chooses and measures.
        names: The columns.
        stated: What is impossible.
    """
    if len(names) == 1:
        measure_columns(measuring, names, stated)
        return
    third = measuring.left / 3
    singles = measuring.measure_and_merge(names, third, stated.rule)
    shape = TableShape(dict(zip(names, measuring.lengths(names), strict=True)))
    independent = stated.fit(shape, singles)
    noise = MEAN * measuring.stddev(third / (len(names) - 1))  # on a count, without its sign
    part = {name: name for name in names}
    pairs: list[Columns] = []
    room = _MOST_CELLS
    while len(pairs) < len(names) - 1:
        apart = [
            pair for pair in combinations(names, 2)
            if part[pair[0]] != part[pair[1]] and shape.cells(pair) <= room
            and (not (stated.impossible or stated.tree_limit) or stated.fits(shape, [*pairs, pair], LARGEST))
        ]  # fmt: skip
        if not apart:
            break
        pair = measuring.choose(
            apart, independent.marginal, third / (len(names) - 1),
            allowed={own: round(noise * shape.cells(own)) for own in apart},
        )  # fmt: skip
        old, new = part[pair[1]], part[pair[0]]
        part = {name: new if own == old else own for name, own in part.items()}
        pairs.append(pair)
        room -= shape.cells(pair)
    tables = pairs or [(name,) for name in names]
    cost = measuring.left / len(tables)
    for columns in tables:
        measuring.measure(columns, cost)


METHODS: Final[Mapping[Method, Callable[[Measuring, Columns, Stated], None]]] = MappingProxyType(
    {
        "aim": measure_adaptively, "mst": measure_tree, "mwem": measure_in_rounds, "privbayes": measure_network,
        "independent": measure_columns,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisPlan:
    """Which marginals are measured how, and what all of it costs; it is the `PrivateFit` of a session.

    **Guarantee**: what `release` returns is ρ-zCDP, for the relation and the units of the query. Its event says so.

    Attributes:
        query: What is read.
        relation: What may change between neighboring databases.
        charge: The cost.
        method: How marginals are chosen.
        stated: The workload, and what is impossible.
        progress: Hears what is done next.
    """

    query: MarginalQuery = field(repr=False)
    relation: NeighboringRelation
    charge: ApproxDP
    method: Method
    stated: Stated = field(default_factory=Stated, repr=False)
    progress: Progress = field(default=unheard, repr=False, compare=False)

    def __post_init__(self) -> None:
        columns, rows = len(self.query.attributes), self.query.rows_per_unit
        if self.event.rho * _WIDEST**2 < 2 * rows**2 * columns:
            raise ParameterError("epsilon", str(self.charge.epsilon), "must be larger: there is no noise so wide")

    @property
    def name(self) -> str:
        """What ledgers and receipts call it."""
        return f"synthetic data by {self.method}"

    @property
    def event(self) -> ZCDPEvent:
        """All that is released: choices and measurements follow from each other, so that ρ is what they share."""
        return ZCDPEvent(rho_of(self.charge, self.relation))

    def document(self) -> dict[str, Json]:
        """All parameters on which the released counts depend, beside the query."""
        return {"method": self.method, **self.stated.document()}

    def release(self, marginals: Marginals, /) -> dict[str, Json]:
        """All choices and noisy counts."""
        measuring = Measuring(marginals, self.query, relation=self.relation, rho=self.event.rho, progress=self.progress)
        METHODS[self.method](measuring, tuple(one.name for one in self.query.attributes), self.stated)
        return {"steps": [step.document() for step in measuring.steps]}


@lru_cache(maxsize=64)
def rho_of(charge: ApproxDP, relation: NeighboringRelation) -> Fraction:
    """The largest ρ of which the cost is at most that, nearly.

    Example:
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> round(float(rho_of(ApproxDP(1, "1e-9"), ADD_OR_REMOVE_ONE)), 5)
        0.01497
    """
    target = ApproxDP(charge.epsilon * _SPARE, charge.delta)
    accountant = ZCDPAccountant(neighboring_relation=relation)
    noise = smallest_noise(lambda value: ZCDPEvent(1 / (2 * value**2)), target=target, accountant=accountant)
    return 1 / (2 * noise**2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SynthesisModel:
    """What released counts make.

    Attributes:
        model: Of all columns, with merged values of a column as one.
        merging: Which values these are.
        singles: For each column its noisy counts, value by value.
        cut: Numbers that were cut at noisy quantiles: neighboring bins count as one.
    """

    model: FittedModel
    merging: Merging
    singles: Mapping[str, NoisyMarginal]
    cut: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, query: MarginalQuery, released: Mapping[str, Any], *, total: float | None = None,
        stated: Stated | None = None,
    ) -> "SynthesisModel":  # fmt: skip
        """The model of what `SynthesisPlan.release` returned; it costs nothing.

        Args:
            query: What was read.
            released: What was returned.
            total: How many rows there are, if that is public.
            stated: What was stated for it.
        """
        known = Stated() if stated is None else stated
        sizes = {one.name: one.size for one in query.attributes}
        singles: dict[str, NoisyMarginal] = {}
        others: list[tuple[Columns, Any, float]] = []
        for columns, _, stddev, counts in released["steps"]:
            if stddev is not None and len(columns) == 1 and columns[0] not in singles:
                singles[columns[0]] = NoisyMarginal(columns, counts, stddev=float(Fraction(stddev)))
            elif stddev is not None:
                others.append((tuple(columns), counts, float(Fraction(stddev))))
        merging = (known.rule if others else MergingRule(kept=frozenset(sizes))).merging(singles)
        shape = TableShape({name: int(numbers.max()) + 1 for name, numbers in merging.items()})
        measured = [merged(one, merging) for one in singles.values()]
        measured += [
            NoisyMarginal(columns, np.reshape(counts, shape.lengths(columns)), stddev=stddev)
            for columns, counts, stddev in others
        ]
        model = known.fit(shape, measured, total=total)
        cut = frozenset(known.cuts) if others else frozenset()
        return cls(model=model, merging=merging, singles=MappingProxyType(singles), cut=cut)
