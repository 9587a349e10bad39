"""Testers of an audit: each seeks an event in one half of the runs, and tests it exactly on the other half."""

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from sfumato.audit.core.findings import EventFinding
from sfumato.audit.core.outputs import Columns
from sfumato.audit.core.roles import Runs
from sfumato.audit.search.bets import Bettor, Ranking
from sfumato.audit.search.bounds import Count, epsilon_lower_bound
from sfumato.audit.search.events import Suspicion, strongest_cells, strongest_event
from sfumato.audit.search.logistic import strongest_score
from sfumato.numeric.arguments import called, of_kind
from sfumato.privacy.guarantees import ApproxDP


class Search(Protocol):
    """Finds the event whose test would refute the largest ε."""

    def __call__(self, first: Columns, second: Columns, *, ranking: Ranking) -> Suspicion:
        """The event, from what as many outputs on either database show."""
        ...


@dataclass(frozen=True, slots=True)
class SplitTester:
    """A tester from a search: the conditional test of `bounds` where δ = 0 is claimed, else the bets of `bets`.

    What is found on databases several steps apart is said of one step: (ε, δ) promises (dε, δ·Σ_{i<d} e^(iε)) to them.

    **Guarantee**: on runs made by `run_on` a true claim is refuted with probability at most `significance`, whatever
    the search does, because the runs it saw are not those of the test. Proof: proofs/audit/search/testers.md.

    Args:
        name: The name in reports.
        search: Finds the event, such as `sfumato.audit.search.events.strongest_event`.

    Raises:
        ParameterError: The name is no text, or the search cannot be called. On calls: it gave no `Suspicion`.

    Example:
        >>> SplitTester("my search", strongest_event).name
        'my search'

    References:
        [DWWZK18] for the split into search and test.
    """

    name: str
    search: Search

    def __post_init__(self) -> None:
        of_kind(self.name, "name", str, "text")
        called(self.search, "search", "a function that finds an event, as `Search` says")

    def __call__(self, runs: Runs, *, claim: ApproxDP, significance: float) -> EventFinding:
        """Search the first half, test on the second."""
        distance = runs.distance
        ranking = Ranking(runs=len(runs.search[0]), delta=claim.delta, significance=significance, distance=distance)
        suspicion = self.search(*runs.search, ranking=ranking)
        of_kind(suspicion, "search", Suspicion, "a function that gives a Suspicion")
        seen, tested = (_counts(suspicion, half) for half in (runs.search, runs.test))
        sides = reversed(tested) if suspicion.likelier_on_second else tested
        first, second = (f"{count.events} of {count.runs}" for count in sides)
        bettor = Bettor(*seen, distance=distance)
        if claim.delta == 0:
            bound = epsilon_lower_bound(*tested, delta=claim.delta, significance=significance) / distance
        else:
            bound = bettor.epsilon_lower_bound(*tested, claim=claim, significance=significance)
        return EventFinding(
            tester=self.name,
            pair=runs.description,
            event=f"{suspicion.event.words}: {first} on the database, {second} on its neighbor",
            claim=claim,
            epsilon_lower_bound=max(bound, 0.0),  # no ε is below 0, whatever the counts say
            delta_lower_bound=bettor.delta_lower_bound(*tested, claim=claim, significance=significance),
            samples=runs.samples,
            significance=significance,
            unread=suspicion.unread,
        )


def _counts(suspicion: Suspicion, half: tuple[Columns, Columns]) -> tuple[Count, Count]:
    """Of the event, first on the side where it is thought to be likelier."""
    happened = suspicion.event.happened
    first, second = (Count(int(np.count_nonzero(happened(outputs))), len(outputs)) for outputs in half)
    return (second, first) if suspicion.likelier_on_second else (first, second)


SPLIT_SEARCH: Final = SplitTester("event search", strongest_event)
BITS: Final = SplitTester("logistic regression on bits", strongest_score)
HOCKEY_STICK: Final = SplitTester("hockey stick", strongest_cells)
