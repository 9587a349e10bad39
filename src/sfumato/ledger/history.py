"""What a ledger's entries tell about the past: rows for people, and what each account spent itself."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias, assert_never

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.ledger.entry import (
    Abandoned,
    Charge,
    Closed,
    Committed,
    Entry,
    Moved,
    Opened,
    Part,
    Protected,
    Rebudgeted,
    Recognized,
    Renewed,
    Reserved,
    Resumed,
    Shared,
    Suspended,
)
from sfumato.ledger.measures import in_words
from sfumato.ledger.replay import Paid
from sfumato.ledger.tallies import Tally
from sfumato.privacy.budgets import Budget

State: TypeAlias = Literal["reserved", "committed", "abandoned", "shared", ""]
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS: Final = 12  # of the hash of a question


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRow:
    """One thing that happened: something was charged, or the owner did something.

    Attributes:
        at: When, in microseconds since 1970, UTC; 0 where an old ledger told no time.
        kind: ``opened``, ``rebudgeted``, ``closed``, ``suspended``, ``resumed``, ``recognized``, ``protected``,
            ``reserved`` or ``shared``.
        account: Of which account.
        principal: Who asked, if that was told.
        question: The beginning of the hash of what was asked.
        charge: What it cost in (ε, δ), if anything was charged.
        state: What has become of it by now.
        note: What the owner stated, a budget or a reason; or whose answer was shared.
    """

    at: int
    kind: str
    account: str
    principal: str = ""
    question: str = ""
    charge: Charge | None = None
    state: State = ""
    note: str = ""


@dataclass(slots=True)
class Activity:
    """What one account did, as far as the entries were read.

    Attributes:
        opened: Its facts.
        own: What was charged to it, and not to an account below, in its own measure.
        charges: How often.
    """

    opened: Opened
    own: Tally
    charges: int = 0

    @property
    def spent(self) -> Budget:
        """`own`, in the words of its budget."""
        return in_words(self.own.total(), self.opened.budget)


@dataclass(slots=True)
class Paths:
    """Which accounts lie above which, as they are opened."""

    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def take(self, opened: Opened) -> None:
        """Take one more account into the tree."""
        above = (name for parent in opened.parents for name in self.paths[parent])
        self.paths[opened.account] = tuple(dict.fromkeys((opened.account, *above)))

    def is_below(self, account: str, other: str | None) -> bool:
        """Whether an account is another one, or lies below it; anything lies below None."""
        return other is None or other in self.paths[account]


def time_text(at: int) -> str:
    """A time of the ledger in ISO 8601, UTC; empty where none was told.

    Example:
        >>> time_text(1_732_190_400_000_000)
        '2024-11-21T12:00:00Z'
    """
    if at == 0:
        return ""
    return (_EPOCH + timedelta(microseconds=at)).strftime("%Y-%m-%dT%H:%M:%SZ")


def history(
    entries: Iterable[Entry], *, account: str | None = None, limit: int | None = None
) -> tuple[HistoryRow, ...]:  # fmt: skip
    """What happened, in order, and what has become of it.

    Args:
        entries: All entries of a ledger, in order.
        account: Only of this account and those below it.
        limit: Only the last so many rows; none but those are kept in memory.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> from sfumato.privacy.guarantees import PureDP
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> opened = Opened(
        ...     account="census", budget=PureDP(1), neighboring_relation=ADD_OR_REMOVE_ONE, privacy_unit="row"
        ... )
        >>> asked = Reserved(
        ...     account="census", request="r", question="5f3a", event=PureEvent("0.1"), charge=PureDP("0.1")
        ... )
        >>> [(row.kind, row.state) for row in history([opened, asked])]
        [('opened', ''), ('reserved', 'reserved')]
    """
    tree, rows = Paths(), deque[tuple[str, HistoryRow]](maxlen=limit)
    pending, abandoned = set[str](), set[str]()
    for entry in entries:
        match entry:
            case Opened():
                tree.take(entry)
            case Reserved():
                pending.add(entry.request)
            case Committed():
                pending.discard(entry.request)
            case Abandoned():
                pending.discard(entry.request)
                abandoned.add(entry.request)
            case _:
                pass
        if isinstance(entry, Moved) or tree.is_below(entry.account, account):
            rows.extend(_rows_of(entry))
    return tuple(replace(row, state=_state(request, row, pending, abandoned)) for request, row in rows)


def activity(entries: Iterable[Entry]) -> Mapping[str, Activity]:
    """What each account spent itself, by name, in the order in which they were opened."""
    found = dict[str, Activity]()
    for entry in entries:
        match entry:
            case Opened():
                found[entry.account] = Activity(entry, Tally(entry.neighboring_relation))
            case Reserved():
                _charge(found[entry.account], entry, entry.part)
            case Shared():
                _charge(found[entry.account], entry, None)
            case _:
                pass
    return found


def last_paid(entries: Iterable[Entry], paths: Mapping[str, tuple[str, ...]]) -> Mapping[str, Paid]:
    """The last question that each account paid for, itself or for an account below, as far as there is one.

    Args:
        entries: Entries in order, of which the last ones are enough.
        paths: Of each account its own name and those of all above it.
    """
    return {name: entry for entry in entries if isinstance(entry, Reserved | Shared) for name in paths[entry.account]}


def _charge(account: Activity, entry: Paid, part: Part | None) -> None:
    recorded = {price.account: price.amounts for price in entry.prices}
    in_epsilon = Amounts((("epsilon", entry.charge.epsilon), ("delta", entry.charge.delta)))
    account.own.add(recorded.get(entry.account, in_epsilon), part)
    account.charges += 1


def _rows_of(entry: Entry) -> Iterator[tuple[str, HistoryRow]]:
    """The row of an entry, if it has one of its own, beside the name of its request."""
    row = HistoryRow(at=entry.at, kind=type(entry).__name__.lower(), account=entry.account)
    match entry:
        case Opened(budget=budget) | Rebudgeted(budget=budget):
            reason = entry.reason if isinstance(entry, Rebudgeted) else ""
            yield "", replace(row, note=": ".join(text for text in (str(budget), reason) if text))
        case Closed() | Resumed():
            yield "", replace(row, note=entry.reason)
        case Moved():
            yield "", replace(row, note=f"to {entry.destination}")
        case Protected():
            beside = f", beside {', '.join(entry.beside)}" if entry.beside else ""
            yield "", replace(row, note=f"{entry.table}: {entry.unit}{beside}")
        case Recognized() | Suspended():
            yield "", row
        case Reserved():
            question = entry.question[:_DIGITS]
            yield entry.request, replace(row, principal=entry.principal, question=question, charge=entry.charge)
        case Shared():
            note = f"the answer of {entry.source}"
            yield "", replace(row, principal=entry.principal, charge=entry.charge, state="shared", note=note)
        case Renewed() | Committed() | Abandoned():
            return
        case _:
            assert_never(entry)


def _state(request: str, row: HistoryRow, pending: set[str], abandoned: set[str]) -> State:
    if not request:
        return row.state
    return "reserved" if request in pending else "abandoned" if request in abandoned else "committed"
