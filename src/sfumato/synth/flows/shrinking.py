"""Flows from origins that the data choose: with noise, and with a δ of their own.

Proof: proofs/synth/flows/shrinking.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.marginals import Marginals
from sfumato.synth.flows.drawing import Added, Destination, destinations_of, event_of, flows_drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrunkFlowFit:
    """First which origins each destination keeps, then draws over those: both are released.

    An origin is kept for a destination with a probability that grows with the number of workers who go there, and never
    where there is none. So each origin that is kept has a worker, who hides others as a prior of 1 does.

    **Guarantee**: what `event` says, for counts that one unit moves as one row that enters, leaves or does both.
    Proof: proofs/synth/flows/shrinking.md.

    Attributes:
        columns: The columns of destination and origin.
        width: How many values the column of the origin has, with what is missing.
        draws: How many are drawn for each destination, in the order of their values.
        added: The public flows to each; only origins that they name are kept.
        selection: How origins are kept, with a part of the cost.
        rest: What is left for the flows.
    """

    columns: tuple[str, str]
    width: int
    draws: tuple[int, ...]
    added: tuple[Added, ...]
    selection: TruncatedGeometricSelection
    rest: PureDP | ApproxDP

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "synthetic flows"

    @property
    def event(self) -> ComposedEvent:
        """All that is released: which origins are kept, and flows from them."""
        return ComposedEvent((self.selection.event, event_of(self.rest)))

    @property
    def charge(self) -> ApproxDP:
        """What both cost together."""
        return ApproxDP(self.selection.epsilon + self.rest.epsilon, self.selection.delta + self.rest.delta)

    def document(self) -> dict[str, Json]:
        """All parameters on which origins and flows depend."""
        return {
            "columns": list(self.columns), "epsilon": str(self.rest.epsilon), "delta": str(self.rest.delta),
            "shrinking": [str(self.selection.epsilon), str(self.selection.delta)],
            "neighboring_relation": str(self.selection.neighboring_relation),
            "destinations": [[many, list(row)] for many, row in zip(self.draws, self.added, strict=True)],
        }  # fmt: skip

    def release(self, marginals: Marginals, /) -> dict[str, Json]:
        """Flows as those of `FlowFit`, and by number the origins that each destination keeps."""
        rows = marginals.counts(self.columns).open_for_noise().reshape(-1, self.width)
        kept = self.kept(rows)
        shown: list[Json] = [[*np.flatnonzero(row).tolist()] for row in kept]
        return {"flows": flows_drawn(self.destinations(kept), rows), "kept": shown}

    def drawn_from(self, model: Mapping[str, Any], /) -> tuple[Destination, ...]:
        """All that is public of each destination, given the origins that were released."""
        kept = np.zeros((len(self.added), len(self.added[0])), dtype=np.bool_)
        for to, own in enumerate(model["kept"]):
            kept[to, own] = True
        return self.destinations(kept)

    def kept(self, rows: Any) -> NDArray[np.bool_]:
        """Which origins each destination keeps, of those that public flows name; none where nothing is drawn.

        Args:
            rows: The exact counts, for noise alone, as `flows_drawn` takes them.
        """
        found = np.array([[many > 0 and one is not None for one in row]
                          for many, row in zip(self.draws, self.added, strict=True)])  # fmt: skip
        to, start = np.nonzero(found)
        found[to, start] = self.selection.kept(rows[to, start]).open_for_noise()
        return found

    def destinations(self, kept: NDArray[np.bool_]) -> tuple[Destination, ...]:
        """What is public about flows from these origins; nothing is drawn where none is kept."""
        added = [tuple(one if is_kept else None for one, is_kept in zip(row, own, strict=True))
                 for row, own in zip(self.added, kept.tolist(), strict=True)]  # fmt: skip
        return destinations_of(
            [many if own.any() else 0 for many, own in zip(self.draws, kept, strict=True)], added, charge=self.rest,
            neighboring_relation=self.selection.neighboring_relation, counted=1,
        )  # fmt: skip
