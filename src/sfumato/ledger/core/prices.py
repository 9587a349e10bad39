"""What a release costs an account, in the measure of the account's own budget, and which costs an account can keep.

(ε, δ): the charge that was asked for, which covers the cost of the event.   ρ and Rényi: the event itself, priced by
the filter of that measure.

Costs are decimals on a fixed grid, so that what is spent stays a short number for ever: a few dozen queries at odd
fractions of a tiny ε would make an account too long to read.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from heapq import nlargest
from math import ceil, floor, inf
from typing import Final, assert_never

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.divergence_filters import RDPFilter, ZCDPFilter
from sfumato.accounting.adaptive.event_prices import order_name
from sfumato.accounting.composition.basic import event_epsilon
from sfumato.accounting.composition.joint_gaussian import accountant_of
from sfumato.accounting.core.conversions import touched_parts
from sfumato.accounting.gaussian.zcdp import ZCDPAccountant
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.ledger.core.entry import Charge
from sfumato.privacy.budgets import ZCDP, Budget, RenyiDP
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    Event,
    GroupEvent,
    PartitionEvent,
    PoissonSampledEvent,
    SampledWithoutReplacementEvent,
    SelfComposedEvent,
    TruncatedPoissonSampledEvent,
    ZCDPEvent,
)
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, NoGuarantee, PureDP, guarantee
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.privacy.promises import why_refused

EPSILON_DIGITS: Final = 15
DELTA_DIGITS: Final = 50
MEASURE_DIGITS: Final = 24
"""After the point, of ρ and of divergences: finer than any ε of 15 digits needs, and sums stay short."""
LARGEST_EPSILON: Final = 10**9
_OWN_MEASURE: Final = (ZCDP, RenyiDP)
_ANY_DELTA: Final = Fraction(1, 2)  # where an `RDPFilter` states (ε, δ), which no price depends on
_PURE: Final = (
    "has a pure ε and no δ, which Gaussian noise and private keys need; "
    "query without delta, or ask the owner for an account with δ or ρ"
)


def admitted(charge: Charge) -> Charge:
    """The charge itself, if an account can keep it.

    Raises:
        ParameterError: ε has more than 15 decimals or passes 10^9, or δ has more than 50 decimals; or it is no charge
            of differential privacy.

    Example:
        >>> from sfumato.privacy.guarantees import PureDP
        >>> str(admitted(PureDP("0.1")))
        'ε 0.1'
    """
    if reason := why_refused(charge):
        raise ParameterError("charge", charge, reason)
    _require_on_grid(charge.epsilon, EPSILON_DIGITS, "epsilon")
    _require_on_grid(charge.delta, DELTA_DIGITS, "delta")
    if charge.epsilon > LARGEST_EPSILON:
        raise ParameterError("epsilon", "a number", f"must be at most {LARGEST_EPSILON:,}, which promises nothing")
    return charge


def price_of(event: Event, *, delta: Fraction, neighboring_relation: NeighboringRelation) -> Fraction | float:
    """An ε at which the event is (ε, δ)-differentially private; infinite where there is none.

    Of a composition with Gaussian answers, the others are added up with the δ that they state, and the Gaussian ones
    composed exactly at what is left of δ: they were calibrated together, and several cost far less than one by one. One
    alone has the lesser of that cost and of its own. Of a partition, as many parts count as one unit touches; equal
    Gaussian parts are composed with all others. What is only known to be ρ-zCDP, as a counter of many steps
    may be, is composed in ρ with all else, and converted at δ. Samples, as of the training of a network, are composed
    by `PLDAccountant` where that is less.

    **Guarantee**: an upper bound: the parts are composed by basic composition, each priced from above. Proof:
    proofs/ledger/ledger.md.

    Args:
        event: What is released.
        delta: The δ that it may take.
        neighboring_relation: Of the account.

    Raises:
        UnsupportedEventError: There is no sound cost.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> both = ComposedEvent((PureEvent("0.1"), PureEvent("0.2")))
        >>> price_of(both, delta=Fraction(0), neighboring_relation=ADD_OR_REMOVE_ONE)
        Fraction(3, 10)
    """
    basic = partial(event_epsilon, neighboring_relation=neighboring_relation)
    if _is_sampled(event):
        return min(basic(event, delta=delta), _composed_losses(event, delta, neighboring_relation))
    unrolled = tuple(_unrolled(event, neighboring_relation))
    if any(_is_concentrated(part) for part, _ in unrolled):
        return ZCDPAccountant(neighboring_relation=neighboring_relation).compose(event).epsilon(delta)
    if isinstance(event, PartitionEvent):
        return min(basic(event, delta=delta), _partition_price(event, delta, neighboring_relation))
    gaussian = tuple((part, count) for part, count in unrolled if isinstance(part, DiscreteGaussianEvent))
    alone = basic(event, delta=delta) if sum(count for _, count in gaussian) <= 1 else inf
    if not gaussian:
        return alone
    others = tuple((part, count) for part, count in unrolled if not isinstance(part, DiscreteGaussianEvent))
    stated = sum((part.delta * count for part, count in others if isinstance(part, ApproxEvent)), start=Fraction(0))
    if stated > delta:
        return inf
    fixed = basic(_composed(others), delta=stated)
    noise = _composed(gaussian)
    accountant = accountant_of(noise, neighboring_relation=neighboring_relation)
    return min(alone, fixed + accountant.compose(noise).epsilon(delta - stated))


def _unrolled(event: Event, relation: NeighboringRelation) -> Iterator[tuple[Event, int]]:
    """The parts of a composition and how often each was released; of equal Gaussian parts as many as are touched."""
    match event:
        case ComposedEvent(events):
            for part in events:
                yield from _unrolled(part, relation)
        case SelfComposedEvent(inner, times):
            yield from ((part, count * times) for part, count in _unrolled(inner, relation))
        case PartitionEvent(events, most) if len(set(events)) == 1 and _is_gaussian(events[0]):
            touched = min(touched_parts(most, relation), len(events))
            yield from ((part, count * touched) for part, count in _unrolled(events[0], relation))
        case _:
            yield event, 1


def _partition_price(event: PartitionEvent, delta: Fraction, relation: NeighboringRelation) -> Fraction | float:
    """The touched parts, composed if all parts are the same, else the costliest of them at equal shares of δ."""
    if not event.events:
        return Fraction(0)
    touched = min(touched_parts(event.max_parts_per_unit, relation), len(event.events))
    if len(set(event.events)) == 1:
        same = SelfComposedEvent(event.events[0], touched)
        return price_of(same, delta=delta, neighboring_relation=relation)
    prices = {part: price_of(part, delta=delta / touched, neighboring_relation=relation) for part in set(event.events)}
    return sum(nlargest(touched, (prices[part] for part in event.events)), start=Fraction(0))


def _is_gaussian(event: Event) -> bool:
    """Whether nothing was released but discrete Gaussian noise."""
    match event:
        case ComposedEvent(events):
            return all(map(_is_gaussian, events))
        case SelfComposedEvent(inner):
            return _is_gaussian(inner)
        case _:
            return isinstance(event, DiscreteGaussianEvent)


def _is_sampled(event: Event) -> bool:
    """Whether something was released of a random part of the units."""
    match event:
        case ComposedEvent(events):
            return any(map(_is_sampled, events))
        case SelfComposedEvent(inner) | GroupEvent(inner):
            return _is_sampled(inner)
        case _:
            return isinstance(
                event, PoissonSampledEvent | TruncatedPoissonSampledEvent | SampledWithoutReplacementEvent
            )


def _composed_losses(event: Event, delta: Fraction, relation: NeighboringRelation) -> Fraction | float:
    """ε by privacy loss distributions; infinite for what they do not know."""
    accountant = PLDAccountant(neighboring_relation=relation)
    if not accountant.supports(event):
        return inf
    spent = accountant.compose(event)
    return spent.epsilon(delta)


def _composed(parts: Iterable[tuple[Event, int]]) -> ComposedEvent:
    return ComposedEvent(tuple(part if count == 1 else SelfComposedEvent(part, count) for part, count in parts))


@lru_cache(maxsize=4096)
def require_price(event: Event, charge: Charge, relation: NeighboringRelation) -> None:
    """Refuse a charge that an account cannot keep, or one below the cost of its event.

    Raises:
        ParameterError: It is one of those.
        UnsupportedEventError: The event has no cost.
    """
    price = price_of(event, delta=admitted(charge).delta, neighboring_relation=relation)
    if price > charge.epsilon:
        raise ParameterError("charge", charge, f"must cover the event, whose ε at this δ is {price}")


def _is_concentrated(event: Event) -> bool:
    """Whether nothing but a ρ is known of an event, perhaps as seen by a group."""
    return _is_concentrated(event.event) if isinstance(event, GroupEvent) else isinstance(event, ZCDPEvent)


def price(event: Event, charge: Charge, *, account: str, budget: Budget, relation: NeighboringRelation) -> Amounts:
    """The cost of a release for an account with this budget, in its own measure.

    **Guarantee**: an upper bound of what the event reveals, under the account's neighboring relation. Prices in ρ and
    in divergences are rounded up to 24 digits, and δ to 50. Proof: proofs/ledger/ledger.md.

    Args:
        event: What will be released.
        charge: What it is charged as in (ε, δ), which covers its cost there.
        account: The account's name, for the error.
        budget: The account's budget.
        relation: The account's neighboring relation.

    Raises:
        UnsupportedEventError: There is no such price.

    Example:
        >>> from sfumato.privacy.events import GaussianEvent
        >>> from sfumato.privacy.guarantees import ApproxDP
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> charge = ApproxDP("0.6", "1e-6")
        >>> str(price(GaussianEvent(10), charge, account="a", budget=ZCDP(1), relation=ADD_OR_REMOVE_ONE))
        'delta 0, rho 0.005'
    """
    match budget:
        case PureDP() if charge.delta:
            raise UnsupportedEventError(event, f"account {account!r}", _PURE)
        case PureDP() | ApproxDP() | NoGuarantee():
            return Amounts((("epsilon", charge.epsilon), ("delta", charge.delta)))
        case ZCDP() | RenyiDP():
            found = _priced(event, budget, relation)
            if found is None:
                requirement = "cannot store an answer without a finite cost"
                raise UnsupportedEventError(event, f"account {account!r}", requirement)
            return found
        case _:
            assert_never(budget)


def is_own_measure(budget: Budget) -> bool:
    """Whether a cost is more than the charge, so that it is written down beside it."""
    return isinstance(budget, _OWN_MEASURE)


def limits(budget: Budget) -> Amounts | None:
    """What may be spent in each number of its measure; None where nothing limits it."""
    match budget:
        case NoGuarantee():
            return None
        case PureDP() | ApproxDP():
            return Amounts((("epsilon", budget.epsilon), ("delta", budget.delta)))
        case ZCDP():
            return Amounts((("rho", budget.rho), ("delta", budget.delta)))
        case RenyiDP():
            bounds = zip(map(order_name, budget.orders), budget.bounds, strict=True)
            return Amounts((*bounds, ("delta", budget.delta)))
        case _:
            assert_never(budget)


def times_within(left: Amounts | None, price: Amounts) -> int | None:
    """How often the remaining budget covers a cost; None where nothing limits it, or it costs nothing."""
    if left is None:
        return None
    counts = (Fraction(left[name]) // Fraction(number) for name, number in price.numbers if number)
    return min(counts, default=None)


def in_words(amounts: Amounts, budget: Budget) -> Budget:
    """Amounts as a value of the budget's own kind, for people: what was spent, asked for or is left; never below 0."""
    left = {name: max(Fraction(number), Fraction(0)) for name, number in amounts.numbers}
    epsilon, delta = left.get("epsilon", Fraction(0)), left.get("delta", Fraction(0))
    match budget:
        case _ if delta >= 1:
            return NO_GUARANTEE
        case ZCDP():
            return ZCDP(left.get("rho", Fraction(0)), delta)
        case RenyiDP():
            return RenyiDP(
                budget.orders, tuple(left.get(order_name(order), Fraction(0)) for order in budget.orders), delta
            )
        case _:
            return guarantee(epsilon, delta)


def is_spent(budget: Budget, spent: Amounts) -> bool:
    """Whether nothing is left in what a budget is kept in: ε, ρ, or one of its divergences.

    Every query costs some of each of them; what is left of δ alone buys nothing.

    Example:
        >>> from sfumato.privacy.guarantees import PureDP
        >>> tenth = Amounts((("epsilon", Fraction(1, 10)),))
        >>> is_spent(PureDP("0.1"), tenth), is_spent(PureDP("0.2"), tenth)
        (True, False)
    """
    allowed = limits(budget)
    if allowed is None:
        return False
    return any(number <= spent[name] for name, number in allowed.numbers if name != "delta")


def left_of(budget: Budget, spent: Amounts) -> Budget:
    """What may still be spent, in the budget's own words."""
    allowed = limits(budget)
    if allowed is None:
        return NO_GUARANTEE
    left = in_words(spent.left_of(allowed), budget)
    return ApproxDP(left.epsilon, left.delta) if isinstance(budget, ApproxDP) and isinstance(left, PureDP) else left


@lru_cache(maxsize=4096)  # an event is priced for each account above, and a ledger holds many that are equal
def _priced(event: Event, budget: ZCDP | RenyiDP, relation: NeighboringRelation) -> Amounts | None:
    """The cost in the measure of a budget; None where it is not finite."""
    meter: ZCDPFilter | RDPFilter = (
        ZCDPFilter(budget.rho, budget.delta, neighboring_relation=relation)
        if isinstance(budget, ZCDP)
        else RDPFilter(budget.orders, budget.bounds, _ANY_DELTA, neighboring_relation=relation)
    )
    found = meter.cost(event)
    if any(isinstance(number, float) for _, number in found.numbers):
        return None
    return Amounts(tuple(sorted((name, _on_grid(Fraction(number), name)) for name, number in found.numbers)))


def _on_grid(number: Fraction, name: str) -> Fraction:
    steps = 10 ** (DELTA_DIGITS if name == "delta" else MEASURE_DIGITS)
    return Fraction(ceil(number * steps), steps)


def _require_on_grid(value: Fraction, digits: int, name: str) -> None:
    if (value * 10**digits).denominator != 1:
        below = Decimal(f"{floor(value * 10**digits)}e-{digits}")
        requirement = (
            f"must be a decimal with at most {digits} digits after the point; the next one below it is {below}"
        )
        raise ParameterError(name, value, requirement)
