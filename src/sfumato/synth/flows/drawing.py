"""Draws for each destination around counts and a prior, and the smallest prior with which they cost what was asked.

Proof: proofs/synth/flows/release.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from sfumato.privacy.codec import Json
from sfumato.privacy.events import ApproxEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.session.training.marginals import Marginals
from sfumato.synth.flows.priors import SMALLEST, flow_prior
from sfumato.synth.flows.urn import dirichlet_multinomial

Added: TypeAlias = tuple[int | None, ...]
"""What public flows add to the count of each origin, a whole number; None for an origin that has no flow there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """What is public about the flows to one destination.

    Attributes:
        draws: How many are drawn.
        prior: What is added to each count.
        added: What is added on top of it, a whole number for each origin; None for an origin that has no flow there.
    """

    draws: int
    prior: Fraction
    added: Added


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowFit:
    """Draws for each destination: Dirichlet-multinomial(counts + prior + added), over the origins that it has.

    **Guarantee**: what `event` says, for counts that one unit moves as one row that enters, leaves or does both.
    Proof: proofs/synth/flows/release.md.

    Attributes:
        columns: The columns of destination and origin.
        width: How many values the column of the origin has, with what is missing.
        destinations: All that is public of each destination, in the order of their values.
        charge: What all of it costs.
    """

    columns: tuple[str, str]
    width: int
    destinations: tuple[Destination, ...]
    charge: PureDP | ApproxDP

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "synthetic flows"

    @property
    def event(self) -> PureEvent | ApproxEvent:
        """All that is released."""
        return event_of(self.charge)

    def document(self) -> dict[str, Json]:
        """All parameters on which the flows depend."""
        return {
            "columns": list(self.columns), "epsilon": str(self.charge.epsilon), "delta": str(self.charge.delta),
            "destinations": [[one.draws, str(one.prior), list(one.added)] for one in self.destinations],
        }  # fmt: skip

    def release(self, marginals: Marginals, /) -> dict[str, Json]:
        """The synthetic flows that are not 0: destination and origin by number, and how many go there."""
        exact = marginals.counts(self.columns).open_for_noise()
        return {"flows": flows_drawn(self.destinations, exact.reshape(-1, self.width))}

    def drawn_from(self, _: Mapping[str, Any], /) -> tuple[Destination, ...]:
        """All that is public of each destination."""
        return self.destinations


def event_of(charge: PureDP | ApproxDP) -> PureEvent | ApproxEvent:
    """What flows release, as what they were priced for."""
    if isinstance(charge, PureDP):
        return PureEvent(charge.epsilon)
    return ApproxEvent(charge.epsilon, charge.delta)


def destinations_of(
    draws: Sequence[int],
    added: Sequence[Added],
    *,
    charge: PureDP | ApproxDP,
    neighboring_relation: NeighboringRelation,
    counted: int = 0,
) -> tuple[Destination, ...]:
    """The destinations, each with the smallest prior for which all of them together cost what was asked.

    Where nothing is drawn the prior does not matter.

    Args:
        draws: How many are drawn for each.
        added: Public flows to each.
        charge: What all flows cost.
        neighboring_relation: How a database may differ from its neighbor.
        counted: How many workers of each origin that has a flow there are, at least, in this database and in its
            neighbor. They hide others as a prior does.
    """
    sizes = [sum(one is not None for one in row) for row in added]
    fewest = min((size for size, many in zip(sizes, draws, strict=True) if many), default=1)
    found = []
    for many, row, size in zip(draws, added, sizes, strict=True):
        least = flow_prior(
            epsilon=charge.epsilon, delta=charge.delta, draws=max(1, many),
            origins=max(1, size) if charge.delta else fewest, neighboring_relation=neighboring_relation,
        )  # fmt: skip
        found.append(Destination(draws=many, prior=max(SMALLEST, least - counted), added=row))
    return tuple(found)


def flows_drawn(destinations: Sequence[Destination], rows: Any) -> list[Json]:
    """The flows that are not 0: destination and origin by number, and how many go there.

    Args:
        destinations: What is public of each.
        rows: The exact counts, for noise alone: a row for each destination, a column for each origin, and perhaps one
            of what is missing.
    """
    found: list[Json] = []
    for place, public in enumerate(destinations):
        if public.draws:
            has_flow = np.array([at for at, one in enumerate(public.added) if one is not None], dtype=np.int64)
            start = rows[place][has_flow] + np.array([public.added[at] for at in has_flow], dtype=np.int64)
            drawn = dirichlet_multinomial(start, prior=public.prior, draws=public.draws)
            found += [[place, int(has_flow[at]), int(drawn[at])] for at in np.flatnonzero(drawn)]
    return found
