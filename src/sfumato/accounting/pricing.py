"""What each event costs as (ε, δ): one table of handlers, one short function for each kind of event.

Gaussian noise has no ε of its own, only a curve: its price depends on the δ that it may use. An event is therefore
priced under `Terms`, which say how much δ each curve gets and how large a group of units is protected.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import nlargest
from typing import Any, Final

from sfumato.accounting.conversions import NOTHING_RELEASED, group, parallel, promise, repeated, touched_parts
from sfumato.accounting.gaussian import discrete_gaussian_epsilon_up, gaussian_epsilon_up
from sfumato.errors import UnsupportedEventError
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PartitionEvent,
    PureEvent,
    RandomizedResponseEvent,
    SelfComposedEvent,
)
from sfumato.privacy.guarantees import NO_GUARANTEE, Guarantee
from sfumato.privacy.neighbors import NeighboringRelation


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Under what an event is priced."""

    neighboring_relation: NeighboringRelation
    group_size: int = 1
    delta_per_curve: Fraction | None = None  # None: count the curves, but leave out what they cost


@dataclass(frozen=True, slots=True)
class Cost:
    """A guarantee, and how many Gaussian curves had to share δ for it."""

    guarantee: Guarantee
    curves: int = 0


_ZERO: Final = Fraction(0)
FREE: Final = Cost(NOTHING_RELEASED)


def price(event: Event, terms: Terms) -> Cost:
    """The cost of an event by basic composition.

    Raises:
        UnsupportedEventError: The event, or one nested in it, has no price here.
    """
    handler = _HANDLERS.get(type(event))
    if handler is None:
        raise UnsupportedEventError(event, "BasicAccountant")
    return handler(event, terms)


def total(costs: Iterable[Cost]) -> Cost:
    """The cost of everything together, by sequential composition."""
    result = FREE
    for cost in costs:
        result = Cost(result.guarantee + cost.guarantee, result.curves + cost.curves)
    return result


def times(cost: Cost, count: int) -> Cost:
    """`total` of `count` equal costs."""
    return Cost(repeated(cost.guarantee, count), cost.curves * count)


def _non_private(_event: NonPrivateEvent, _terms: Terms) -> Cost:
    return Cost(NO_GUARANTEE)


def _pure(event: PureEvent | ExponentialEvent, terms: Terms) -> Cost:
    return _point(event.epsilon, terms)


def _laplace(event: LaplaceEvent | DiscreteLaplaceEvent, terms: Terms) -> Cost:
    return _point(1 / event.noise_multiplier, terms)


def _randomized_response(event: RandomizedResponseEvent, terms: Terms) -> Cost:
    """The truth is 1 + kp/(1 - p) times as likely as another answer, if there is another."""
    if event.categories == 1:
        return FREE
    if event.probability == 1:
        return Cost(NO_GUARANTEE)
    return _point(log_up(1 + event.categories * event.probability / (1 - event.probability)), terms)


def _approx(event: ApproxEvent, terms: Terms) -> Cost:
    return _point(event.epsilon, terms, event.delta)


def _point(epsilon: Fraction, terms: Terms, delta: Fraction = _ZERO) -> Cost:
    return Cost(group(promise(epsilon, delta), terms.group_size))


def _gaussian(event: GaussianEvent, terms: Terms) -> Cost:
    """A group of c units moves the answer c times as far."""
    multiplier = event.noise_multiplier / terms.group_size
    return _curve(lambda delta: gaussian_epsilon_up(noise_multiplier=multiplier, delta=delta), terms)


def _discrete_gaussian(event: DiscreteGaussianEvent, terms: Terms) -> Cost:
    """A group of c units moves the vector c times as far, and c times as many of its coordinates."""
    return _curve(
        lambda delta: discrete_gaussian_epsilon_up(
            stddev=event.stddev,
            l2_sensitivity=event.l2_sensitivity * terms.group_size,
            delta=delta,
            l0_sensitivity=event.l0_sensitivity * terms.group_size,
        ),
        terms,
    )


def _curve(epsilon_up: Callable[[Fraction], Fraction | float], terms: Terms) -> Cost:
    delta = terms.delta_per_curve
    return Cost(NOTHING_RELEASED if delta is None else promise(epsilon_up(delta), delta), curves=1)


def _self_composed(event: SelfComposedEvent, terms: Terms) -> Cost:
    return times(price(event.event, terms), event.count)


def _composed(event: ComposedEvent, terms: Terms) -> Cost:
    return total(price(part, terms) for part in event.events)


def _group(event: GroupEvent, terms: Terms) -> Cost:
    """A group of groups; the size is handed down to where sensitivities and ε are known."""
    return price(event.event, replace(terms, group_size=terms.group_size * event.size))


def _partition(event: PartitionEvent, terms: Terms) -> Cost:
    """Without curves, the group rule on the whole; with them, c units of k parts each are one unit of c·k parts."""
    relation, size = terms.neighboring_relation, terms.group_size
    single = replace(terms, group_size=1)
    parts = [price(part, single) for part in event.events]
    if not any(part.curves for part in parts):
        return Cost(group(_parallel(parts, event.max_parts_per_unit, relation), size))
    parts = [price(part, terms) for part in event.events]
    most_parts = event.max_parts_per_unit * size
    curves = nlargest(touched_parts(most_parts, relation), (part.curves for part in parts))
    return Cost(_parallel(parts, most_parts, relation), sum(curves))


def _parallel(parts: Iterable[Cost], max_parts_per_unit: int, relation: NeighboringRelation) -> Guarantee:
    guarantees = [part.guarantee for part in parts]
    return parallel(guarantees, max_parts_per_unit=max_parts_per_unit, neighboring_relation=relation)


_HANDLERS: Final[dict[type, Callable[[Any, Terms], Cost]]] = {
    NonPrivateEvent: _non_private,
    PureEvent: _pure,
    ExponentialEvent: _pure,
    ApproxEvent: _approx,
    LaplaceEvent: _laplace,
    DiscreteLaplaceEvent: _laplace,
    RandomizedResponseEvent: _randomized_response,
    GaussianEvent: _gaussian,
    DiscreteGaussianEvent: _discrete_gaussian,
    SelfComposedEvent: _self_composed,
    ComposedEvent: _composed,
    PartitionEvent: _partition,
    GroupEvent: _group,
}
