"""The best of all accountants, for a batch of releases that was declared in advance. It is not a filter."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal, Self, TypeAlias, TypeVar

from sfumato.accounting.composition.advanced import AdvancedAccountant
from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.composition.optimal import OptimalAccountant
from sfumato.accounting.core.accountant import EpsilonInterval, TalliedAccountant
from sfumato.accounting.core.printed import text_down, text_exactly, text_up
from sfumato.accounting.gaussian.gdp import GDPAccountant
from sfumato.accounting.gaussian.zcdp import ZCDPAccountant
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.accounting.renyi.accountant import RDPAccountant
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, exact
from sfumato.privacy.events import ComposedEvent, Event, SelfComposedEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation

Batch: TypeAlias = "Event | Iterable[Event | tuple[Event, int]]"
Unknown: TypeAlias = Literal["epsilon", "delta"]
Cost: TypeAlias = "Fraction | float"
Answer = TypeVar("Answer")

ACCOUNTANTS: Final[Mapping[str, type[TalliedAccountant]]] = MappingProxyType(
    {
        "basic": BasicAccountant,
        "advanced": AdvancedAccountant,
        "optimal": OptimalAccountant,
        "zcdp": ZCDPAccountant,
        "gdp": GDPAccountant,
        "rdp": RDPAccountant,
        "pld": PLDAccountant,
    }
)
"""Every accountant by its short name, the simplest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestAccountant(TalliedAccountant):
    """Every accountant at once: the smallest of their upper bounds, and the largest of their lower ones.

    **Guarantee**: never below the truth, for its neighboring relation, if every event and its parameters are fixed
    before the first answer. Which accountant wins may then be looked up afterwards, as each of them is valid.

    It is **not a filter**: who chooses events after seeing answers must not stop where this figure meets a budget.

    Edge cases: events of which no one accountant prices all are refused together. An accountant that prices them but
    finds no figure, because a number lies outside what it can work with, is left out; if all are, its error is raised.

    Args:
        neighboring_relation: The relation for which the events' sensitivities and the guarantee hold.
        among: The accountants to choose from; default: all of them.

    Example:
        >>> from sfumato.privacy.events import GaussianEvent
        >>> account = BestAccountant().compose(GaussianEvent(10), count=100)
        >>> 4.8865 < account.epsilon("1e-6") < 4.8866
        True
    """

    among: tuple[type[TalliedAccountant], ...] = tuple(ACCOUNTANTS.values())
    """The accountants that can bound the cost of everything composed so far."""

    def supports(self, event: Event) -> bool:
        """Whether one accountant can bound the cost of the event, and everything that was composed before, together."""
        return any(kind(neighboring_relation=self.neighboring_relation).supports(event) for kind in self.among)

    def compose(self, event: Event, *, count: int = 1) -> Self:
        """A new accountant that has also seen the event, `count` times.

        Raises:
            UnsupportedEventError: No accountant can bound its cost together with what was composed before.
            ParameterError: The count is not at least 1.
        """
        seen, left = self._flattened(event).times(count), self.among
        for single, _ in seen:
            left = tuple(kind for kind in left if kind(neighboring_relation=self.neighboring_relation).supports(single))
            if not left:
                raise UnsupportedEventError(single, type(self).__name__)
        return replace(self, tally=self.tally.plus(seen), among=left)

    def _supports(self, event: Event) -> bool:
        return self.supports(event)

    def _interval(self, delta: Fraction) -> EpsilonInterval:
        intervals = self._answers(lambda accountant: accountant.interval(delta))
        return EpsilonInterval(
            max(interval.lower for interval in intervals), min(interval.upper for interval in intervals)
        )

    def _delta(self, epsilon: Fraction) -> Fraction | float:
        return min(self._answers(lambda accountant: accountant.delta(epsilon)))

    def _answers(self, ask: Callable[[TalliedAccountant], Answer]) -> list[Answer]:
        """Of the accountants that have one; an error only where none has."""
        answers: list[Answer] = []
        errors: list[ParameterError] = []
        for kind in self.among:
            try:
                answers.append(ask(kind(neighboring_relation=self.neighboring_relation, tally=self.tally)))
            except ParameterError as error:
                errors.append(error)
        if not answers:
            raise errors[0]
        return answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What one accountant says of a batch."""

    accountant: str
    cost: Fraction | float | None
    """ε or δ, whichever was not stated; None where the accountant has no cost."""
    unpriced: Event | None = None
    """The first event for which it has none."""
    reason: str = ""
    """Why there is none although every event has a cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The smallest guarantee that any accountant proves for a batch, with the figures of all accountants."""

    neighboring_relation: NeighboringRelation
    epsilon: Fraction | float
    delta: Fraction | float
    lower_epsilon: Fraction | float
    """At this δ no ε below it holds for the worst mechanisms with these events."""
    solves_for: Unknown
    """Which of the two was computed; the other one was stated."""
    accountant: str
    figures: tuple[Figure, ...]
    """Of every accountant, the best first."""

    def __str__(self) -> str:
        symbol = "ε" if self.solves_for == "epsilon" else "δ"
        epsilon = text_up(self.epsilon) if self.solves_for == "epsilon" else text_exactly(Fraction(self.epsilon))
        delta = text_up(self.delta) if self.solves_for == "delta" else text_exactly(Fraction(self.delta))
        head = f"ε {epsilon} at δ {delta} by {self.accountant}"
        lines = [
            f"{head}, under {self.neighboring_relation}; no ε below {text_down(self.lower_epsilon)} holds",
            "",
            f"{'accountant':<20}{symbol}",
            *(f"{figure.accountant:<20}{_figure_text(figure)}" for figure in self.figures),
            "",
            "For a batch declared in advance; adaptive spending needs a filter.",
        ]
        return "\n".join(lines)


def best(
    events: Batch,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
) -> Best:
    """The smallest ε at a δ, or δ at an ε, that any accountant proves for events declared in advance.

    **Guarantee**: never below the truth, if the events and their parameters were all fixed before the first answer.
    To look for the best accountant afterwards is sound only because each of them is valid for the same fixed batch;
    for parameters chosen after seeing answers it is not, and this is **not a filter**.

    Args:
        events: An event, or several; with its count each if it was released more than once.
        delta: Where ε is wanted: at least 0 and below 1.
        epsilon: Where δ is wanted instead: 0 or more.
        neighboring_relation: The relation for which the events' sensitivities and the guarantee hold.

    Raises:
        ParameterError: Not exactly one of delta and epsilon was stated, or a value is out of range.
        UnsupportedEventError: No accountant can bound the cost of all events together.

    Example:
        >>> from sfumato.privacy.events import LaplaceEvent
        >>> best([(LaplaceEvent(10), 100)], delta="1e-6").accountant
        'PLDAccountant'
    """
    empty = BestAccountant(neighboring_relation=neighboring_relation)
    account = empty.compose(ComposedEvent(tuple(SelfComposedEvent(event, count) for event, count in _counted(events))))
    if delta is not None and epsilon is None:
        return _best_epsilon(account, exact(delta, "delta"))
    if epsilon is not None and delta is None:
        return _best_delta(account, exact(epsilon, "epsilon"))
    raise ParameterError("delta, epsilon", (delta, epsilon), "give exactly one of them; the other is computed")


def _best_epsilon(account: BestAccountant, delta: Fraction) -> Best:
    interval = account.interval(delta)
    figures = _figures(account, lambda accountant: accountant.epsilon(delta))
    return Best(
        neighboring_relation=account.neighboring_relation,
        epsilon=interval.upper,
        delta=delta,
        lower_epsilon=interval.lower,
        solves_for="epsilon",
        accountant=figures[0].accountant,
        figures=figures,
    )


def _best_delta(account: BestAccountant, epsilon: Fraction) -> Best:
    """The lower end is that at δ as it is printed, rounded up, and so also one at δ itself."""
    delta = account.delta(epsilon)
    printed = Fraction(text_up(delta))
    figures = _figures(account, lambda accountant: accountant.delta(epsilon))
    return Best(
        neighboring_relation=account.neighboring_relation,
        epsilon=epsilon,
        delta=delta,
        lower_epsilon=account.interval(printed).lower if printed < 1 else Fraction(0),
        solves_for="delta",
        accountant=figures[0].accountant,
        figures=figures,
    )


def _counted(events: Batch) -> Iterator[tuple[Event, int]]:
    if isinstance(events, Event):
        yield events, 1
        return
    for item in listed(events, "events", of="events, or pairs of an event and its count"):
        match item:
            case (event, count):
                yield event, count
            case _:
                yield item, 1


def _figures(account: BestAccountant, ask: Callable[[TalliedAccountant], Cost]) -> tuple[Figure, ...]:
    """Of every accountant there is, the best first."""
    figures = (_figure(account, kind, ask) for kind in ACCOUNTANTS.values())
    # Without a cost last; of equals the simplest stays first.
    return tuple(sorted(figures, key=lambda figure: (figure.cost is None, figure.cost or 0)))


def _figure(account: BestAccountant, kind: type[TalliedAccountant], ask: Callable[[TalliedAccountant], Cost]) -> Figure:
    empty = kind(neighboring_relation=account.neighboring_relation)
    for event, _ in account.tally.counts:
        if not empty.supports(event):
            return Figure(accountant=kind.__name__, cost=None, unpriced=event)
    try:
        return Figure(accountant=kind.__name__, cost=ask(replace(empty, tally=account.tally)))
    except ParameterError as error:
        return Figure(accountant=kind.__name__, cost=None, reason=str(error))


def _figure_text(figure: Figure) -> str:
    if figure.unpriced is not None:
        return f"no cost for {type(figure.unpriced).__name__}"
    return figure.reason if figure.cost is None else text_up(figure.cost)
