"""What a released event costs at a δ: its parts added up, and Gaussian noise priced together."""

from fractions import Fraction
from math import inf

from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.composition.joint_gaussian import accountant_of
from sfumato.privacy.events import ApproxEvent, ComposedEvent, DiscreteGaussianEvent, Event
from sfumato.privacy.neighbors import NeighboringRelation


def price_of(event: Event, *, delta: Fraction, neighboring_relation: NeighboringRelation) -> Fraction | float:
    """An ε at which the event is (ε, δ)-differentially private; infinite where there is none.

    Of a composition with Gaussian answers, the others are added up with the δ that they state, and the Gaussian ones
    composed exactly at what is left of δ: they were calibrated together, and several cost far less than one by one. One
    alone has the lesser of that price and of its own.

    **Guarantee**: an upper bound: the parts are composed by basic composition, each priced from above. Proof:
    proofs/ledger/ledger.md.

    Args:
        event: What is released.
        delta: The δ that it may take.
        neighboring_relation: Of the account.

    Raises:
        UnsupportedEventError: There is no sound price.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> both = ComposedEvent((PureEvent("0.1"), PureEvent("0.2")))
        >>> price_of(both, delta=Fraction(0), neighboring_relation=ADD_OR_REMOVE_ONE)
        Fraction(3, 10)
    """
    basic = BasicAccountant(neighboring_relation=neighboring_relation)
    parts = event.events if isinstance(event, ComposedEvent) else (event,)
    gaussian = tuple(part for part in parts if isinstance(part, DiscreteGaussianEvent))
    alone = basic.compose(event).epsilon(delta) if len(gaussian) <= 1 else inf
    if not gaussian:
        return alone
    others = [part for part in parts if not isinstance(part, DiscreteGaussianEvent)]
    stated = sum((part.delta for part in others if isinstance(part, ApproxEvent)), start=Fraction(0))
    if stated > delta:
        return inf
    fixed = basic.compose(ComposedEvent(tuple(others))).epsilon(stated) if others else Fraction(0)
    noise = ComposedEvent(gaussian)
    accountant = accountant_of(noise, neighboring_relation=neighboring_relation)
    return min(alone, fixed + accountant.compose(noise).epsilon(delta - stated))
