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
from sfumato.synth.methods.aim import measure_adaptively
from sfumato.synth.methods.measuring import Measuring, Merging, common_values, merged
from sfumato.synth.models.fitting import fit_model
from sfumato.synth.models.measured import NoisyMarginal
from sfumato.synth.models.model import GraphicalModel
from sfumato.synth.models.shape import Columns, TableShape

Method: TypeAlias = Literal["aim", "mst", "independent"]
"""How marginals are chosen."""

_WIDEST: Final = 2**40
"""The most noise on a count, in rows."""

_SPARE: Final = 1 - Fraction(1, 1 << 20)
"""Of ε, so that a ledger on another machine, whose floats differ in their last digits, finds the price covered."""


def measure_columns(measuring: Measuring, names: Columns) -> None:
    """Measure each column alone, and spend all of ρ on that: in such a model no column depends on another."""
    rho = measuring.left / len(names)
    for name in names:
        measuring.measure((name,), rho)


def measure_tree(measuring: Measuring, names: Columns) -> None:
    """Measure each column, and the pairs of a tree that joins all columns [MMS21].

    A third of ρ each is for the columns, for the choice of pairs, and for measuring them. One pair after the other is
    chosen among those that join two parts of the tree: one of which the model of independent columns is far from the
    exact counts. Rare values of a column count as one in pairs.

    Args:
        measuring: What chooses and measures.
        names: The columns.
    """
    if len(names) == 1:
        measure_columns(measuring, names)
        return
    third = measuring.left / 3
    singles = measuring.merge_rare(names, third)
    shape = TableShape(dict(zip(names, measuring.lengths(names), strict=True)))
    independent = fit_model(shape, singles)
    part = {name: name for name in names}
    pairs: list[Columns] = []
    while len(pairs) < len(names) - 1:
        apart = [pair for pair in combinations(names, 2) if part[pair[0]] != part[pair[1]]]
        pair = measuring.choose(apart, independent.marginal, third / (len(names) - 1))
        old, new = part[pair[1]], part[pair[0]]
        part = {name: new if own == old else own for name, own in part.items()}
        pairs.append(pair)
    for pair in pairs:
        measuring.measure(pair, third / (len(names) - 1))


METHODS: Final[Mapping[Method, Callable[[Measuring, Columns], None]]] = MappingProxyType(
    {"aim": measure_adaptively, "mst": measure_tree, "independent": measure_columns}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisPlan:
    """Which marginals are measured how, and what all of it costs; it is the `PrivateFit` of a session.

    **Guarantee**: what `release` returns is ρ-zCDP, for the relation and the units of the query. Its event says so.

    Attributes:
        query: What is read.
        relation: What may change between neighboring databases.
        charge: The cost.
        method: How marginals are chosen.
    """

    query: MarginalQuery = field(repr=False)
    relation: NeighboringRelation
    charge: ApproxDP
    method: Method

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
        return {"method": self.method}

    def release(self, marginals: Marginals, /) -> dict[str, Json]:
        """All choices and noisy counts."""
        measuring = Measuring(marginals, self.query, relation=self.relation, rho=self.event.rho)
        METHODS[self.method](measuring, tuple(one.name for one in self.query.attributes))
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
        model: Of all columns, with rare values of a column as one.
        merging: Which values these are.
        singles: For each column its noisy counts, value by value.
    """

    model: GraphicalModel
    merging: Merging
    singles: Mapping[str, NoisyMarginal]

    @classmethod
    def of(cls, query: MarginalQuery, released: Mapping[str, Any], *, total: float | None = None) -> "SynthesisModel":
        """The model of what `SynthesisPlan.release` returned; it costs nothing.

        Args:
            query: What was read.
            released: What was returned.
            total: How many rows there are, if that is public.
        """
        sizes = {one.name: one.size for one in query.attributes}
        singles: dict[str, NoisyMarginal] = {}
        others: list[tuple[Columns, Any, float]] = []
        for columns, _, stddev, counts in released["steps"]:
            if stddev is not None and len(columns) == 1 and columns[0] not in singles:
                singles[columns[0]] = NoisyMarginal(columns, counts, stddev=float(Fraction(stddev)))
            elif stddev is not None:
                others.append((tuple(columns), counts, float(Fraction(stddev))))
        merging: Merging = {
            name: common_values(one) if others else np.arange(sizes[name]) for name, one in singles.items()
        }
        shape = TableShape({name: int(numbers.max()) + 1 for name, numbers in merging.items()})
        measured = [merged(one, merging) for one in singles.values()]
        measured += [
            NoisyMarginal(columns, np.reshape(counts, shape.lengths(columns)), stddev=stddev)
            for columns, counts, stddev in others
        ]
        return cls(model=fit_model(shape, measured, total=total), merging=merging, singles=MappingProxyType(singles))
