"""An accountant of a library in another process, as the laws of accountants want it: a value that has seen events."""

from dataclasses import dataclass, replace
from typing import Any

from sfumato.audit import AuditedMechanism
from sfumato.errors import UnsupportedEventError
from sfumato.privacy.events import (
    ComposedEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    PoissonSampledEvent,
    RandomizedResponseEvent,
    SelfComposedEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import NeighboringRelation


@dataclass(frozen=True, slots=True)
class PeerAccount:
    """An account whose every question is one request: what it has seen, and what is asked of it.

    Args:
        mechanism: Answers with a number, or with text if the library has no such event.
        relation: Of the account.
        seen: Events as lists, each with its count.
    """

    mechanism: AuditedMechanism
    relation: NeighboringRelation
    seen: tuple[tuple[Event, int], ...] = ()

    def compose(self, event: Event, *, count: int = 1) -> "PeerAccount":
        """Another account that has also seen the event."""
        return replace(self, seen=(*self.seen, (event, count)))

    def epsilon(self, delta: Any = 0) -> float:
        """What it charges at δ."""
        return self._asked("epsilon", float(delta))

    def delta(self, epsilon: Any) -> float:
        """What it charges at ε."""
        return self._asked("delta", float(epsilon))

    def _asked(self, what: str, at: float) -> float:
        seen = [[document(event, self.relation), count] for event, count in self.seen]
        answer = self.mechanism({"seen": seen, "what": what, "at": at}, 1)[0]
        if isinstance(answer, str):
            raise UnsupportedEventError(self.seen[-1][0], answer)
        return float(answer)


def document(event: Event, relation: NeighboringRelation) -> list[Any]:
    """An event as a list: what it is called, and its parameters in the units of dp-accounting.

    The noise multiplier of its Gaussian event is the noise over the norm of one value, by its documentation, and ours
    the noise over the sensitivity: replacing a value moves the sum by up to two norms, adding one by one.
    """
    match event:
        case GaussianEvent(noise):
            return ["gaussian", float(noise) * (2 if relation is NeighboringRelation.REPLACE_ONE else 1)]
        case LaplaceEvent(noise):
            return ["laplace", float(noise)]
        case DiscreteLaplaceEvent(scale, sensitivity):
            return ["discrete laplace", 1 / float(scale), int(sensitivity)]
        case RandomizedResponseEvent(kept, categories):
            return ["response", 1 - float(kept), categories]
        case ZCDPEvent(rho):
            return ["zcdp", float(rho)]
        case SelfComposedEvent(inner, count):
            return ["self-composed", document(inner, relation), count]
        case ComposedEvent(events):
            return ["composed", [document(inner, relation) for inner in events]]
        case PoissonSampledEvent(share, inner):
            return ["sampled", float(share), document(inner, relation)]
        case _:
            raise UnsupportedEventError(event, "PeerAccount")
