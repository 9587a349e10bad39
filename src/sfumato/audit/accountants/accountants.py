"""Audit an accountant, of this package or foreign: look for counterexamples to properties of every sound one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from sfumato.audit.accountants.properties import PROPERTIES, Account, Check, Trial
from sfumato.audit.core.findings import AccountingFinding
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.numeric.arguments import called, listed, of_kind, real, share, whole
from sfumato.numeric.rationals import Number
from sfumato.privacy.events import (
    ApproxEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    RandomizedResponseEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation

_HALF: Final = Fraction(1, 2)
EVENTS: Final[tuple[Event, ...]] = (
    GaussianEvent(Fraction(1)),
    GaussianEvent(Fraction(10)),
    LaplaceEvent(Fraction(1)),
    LaplaceEvent(Fraction(10)),
    DiscreteLaplaceEvent(Fraction(2), Fraction(1)),
    DiscreteGaussianEvent(Fraction(3), Fraction(1), 1),
    PureEvent(_HALF),
    ApproxEvent(_HALF, Fraction(1, 1000)),
    RandomizedResponseEvent(_HALF, 2),
    ExponentialEvent(_HALF),
    ZCDPEvent(Fraction(1, 10)),
)
"""One or two events of each common kind."""

MOST_TIMES: Final = 10**6
"""The most compositions of one event: closed forms add up as many losses one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignAccount:
    """An account that asks another library, with its own events and accountants, which may be mutable.

    Each call of `epsilon` or `delta` makes a new accountant and composes all events again.

    Args:
        make: Makes an empty accountant of the library.
        translate: From an event of this package to the library's event; None where the library has none.
        add: Composes an event of the library with an accountant, in place: add(accountant, event, count).
        epsilon_at: From an accountant and δ to ε.
        delta_at: From an accountant and ε to δ.
        seen: Events and their counts so far.

    Raises:
        ParameterError: One of the functions cannot be called; later, an answer is not a number.

    Example:
        >>> sum_of_epsilons = ForeignAccount(
        ...     make=list,
        ...     translate=lambda event: float(event.epsilon) if isinstance(event, PureEvent) else None,
        ...     add=lambda spent, epsilon, count: spent.extend([epsilon] * count),
        ...     epsilon_at=lambda spent, delta: sum(spent),
        ...     delta_at=lambda spent, epsilon: float(epsilon < sum(spent)),
        ... )
        >>> sum_of_epsilons.compose(PureEvent("0.5"), count=4).epsilon()
        2.0
    """

    make: Callable[[], Any]
    translate: Callable[[Event], Any]
    add: Callable[[Any, Any, int], Any]
    epsilon_at: Callable[[Any, float], Any]
    delta_at: Callable[[Any, float], Any]
    seen: tuple[tuple[Event, int], ...] = ()

    def __post_init__(self) -> None:
        for name in ("make", "translate", "add", "epsilon_at", "delta_at"):
            called(getattr(self, name), name, "a function")

    def compose(self, event: Event, *, count: int = 1) -> "ForeignAccount":
        """A new account that has also seen the event, `count` times.

        Raises:
            UnsupportedEventError: The library has no such event.
        """
        if self.translate(event) is None:
            raise UnsupportedEventError(event, "ForeignAccount")
        return replace(self, seen=(*self.seen, (event, count)))

    def epsilon(self, delta: Any = 0) -> float:
        """The ε that the library proves at δ."""
        return _number(self.epsilon_at(self._made(), float(delta)), "epsilon_at")

    def delta(self, epsilon: Any) -> float:
        """The δ that the library proves at ε."""
        return _number(self.delta_at(self._made(), float(epsilon)), "delta_at")

    def _made(self) -> Any:
        accountant = self.make()
        for event, count in self.seen:
            self.add(accountant, self.translate(event), count)
        return accountant


def _number(answer: Any, name: str) -> float:
    """The answer as a float; infinity and NaN are left for the checks to judge."""
    try:
        return float(answer)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(name, answer, "must be a function that returns a number") from None


def check_accountant(
    empty: Account,
    *,
    name: str = "the accountant",
    events: tuple[Event, ...] = EVENTS,
    counts: tuple[int, ...] = (1, 2, 7, 100),
    deltas: tuple[float, ...] = (1e-2, 1e-6),
    epsilons: tuple[float, ...] = (0.1, 1.0, 3.0),
    tolerance: float = 1e-4,
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
) -> tuple[AccountingFinding, ...]:
    """Check an accountant's composition, order, monotonicity, groups, sampling, and costs known in closed form.

    A counterexample is certain and needs no statistics. A pass proves nothing: other events, counts or deltas may give
    one. Events that the accountant does not support, or answers with an error, are listed as not checked.

    Args:
        empty: An account that has seen nothing; for another library, a `ForeignAccount`.
        name: The accountant's name in the report.
        events: The events to compose.
        counts: How often each is composed: ascending, from 1 to at most `MOST_TIMES`.
        deltas: The δ at which ε is compared, each above 0 and below 1.
        epsilons: The ε at which δ is compared.
        tolerance: The relative difference allowed between equal costs, for accountants that work on a grid. Costs known
            in closed form are compared with a tolerance of 1e-9, whatever this is.
        neighboring_relation: The relation that the account assumes.

    Raises:
        ParameterError: Counts, deltas or epsilons are missing, counts do not ascend, or another parameter is invalid.

    Example:
        >>> from sfumato.accounting.composition.basic import BasicAccountant
        >>> findings = check_accountant(BasicAccountant(), events=(PureEvent("0.5"), LaplaceEvent(1)), counts=(1, 5))
        >>> {str(finding.verdict) for finding in findings}
        {'nothing found'}

    References:
        [KOV15], [BW18] for the closed forms.
    """
    of_kind(name, "name", str, "text")
    methods = (getattr(empty, method, None) for method in ("compose", "epsilon", "delta"))
    if isinstance(empty, type) or not all(map(callable, methods)):
        raise ParameterError("empty", empty, "must be an account: an object with compose, epsilon and delta")
    trial = Trial(
        empty=empty,
        events=_events(events),
        counts=tuple(whole(count, "counts", least=1, most=MOST_TIMES) for count in _some(counts, "counts")),
        deltas=tuple(share(delta, "deltas") for delta in _some(deltas, "deltas")),
        epsilons=tuple(_not_negative(epsilon, "epsilons") for epsilon in _some(epsilons, "epsilons")),
        tolerance=_not_negative(tolerance, "tolerance"),
        relation=of_kind(neighboring_relation, "neighboring_relation", NeighboringRelation, "a NeighboringRelation"),
    )
    if list(trial.counts) != sorted(set(trial.counts)):
        raise ParameterError("counts", counts, "must ascend, from 1 or more")
    return tuple(_tried(name, words, checks(trial)) for words, checks in PROPERTIES.items())


def _events(given: Iterable[Event]) -> tuple[Event, ...]:
    found = listed(given, "events", of="events")
    for event in found:
        if not isinstance(event, Event):
            raise ParameterError("events", event, "must be events of sfumato.privacy.events")
    return found


def _some(values: Iterable[Any], name: str) -> tuple[Any, ...]:
    found = listed(values, name, of="numbers")
    if not found:
        raise ParameterError(name, found, "must not be empty")
    return found


def _not_negative(value: Number, name: str) -> float:
    number = real(value, name, is_finite=True)
    if number < 0:
        raise ParameterError(name, value, "must be 0 or more")
    return number


def _tried(name: str, words: str, checks: Iterator[Check]) -> AccountingFinding:
    broken: list[str] = []
    unchecked: dict[str, None] = {}
    made = 0
    for check in checks:
        try:
            counterexample = check()
        except UnsupportedEventError as error:
            unchecked[f"unsupported: {_kind(error.event)}"] = None
            continue
        except Exception as error:  # noqa: BLE001 # the audited code may raise anything
            unchecked[f"{type(error).__name__}: {error}"] = None
            continue
        made += 1
        broken.extend([counterexample] if counterexample is not None else [])
    return AccountingFinding(accountant=name, law=words, broken=tuple(broken), checks=made, unchecked=tuple(unchecked))


def _kind(event: object) -> str:
    """The class of an event, and of the event inside it."""
    inside = getattr(event, "event", None)
    return type(event).__name__ + (f" of {_kind(inside)}" if inside is not None else "")
