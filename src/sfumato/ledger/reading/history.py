"""What a ledger's entries tell about the past: rows for people, and what each account spent itself."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias, assert_never

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.ledger.core.account import PartitionedSpending
from sfumato.ledger.core.codec import ENTRIES
from sfumato.ledger.core.entry import (
    Abandoned,
    Charge,
    Closed,
    Committed,
    Entry,
    Moved,
    Opened,
    PartitionPart,
    Protected,
    Rebudgeted,
    Recognized,
    Renewed,
    Reserved,
    Resumed,
    Shared,
    Suspended,
)
from sfumato.ledger.core.prices import in_words
from sfumato.ledger.core.replay import Paid
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
        asked: The query as people read it, which the receipt of its answer holds; empty as long as there is none.
        charge: What it cost in (ε, δ), if anything was charged.
        cost: What it cost that account in the measure of its own budget.
        state: What has become of it by now.
        note: What the owner stated, a budget or a reason; or whose answer was shared.
    """

    at: int
    kind: str
    account: str
    principal: str = ""
    question: str = ""
    asked: str = ""
    charge: Charge | None = None
    cost: Budget | None = None
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
    own: PartitionedSpending
    charges: int = 0

    @property
    def spent(self) -> Budget:
        """`own`, in the words of its budget."""
        return in_words(self.own.total(), self.opened.budget)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standstill:
    """A time at which a ledger stood still, as it never goes back: a clock had been ahead, or was put back.

    Attributes:
        at: The time, in microseconds since 1970, UTC.
        answers: How many queries were charged or answered at this very time.
    """

    at: int
    answers: int


class Standstills:
    """Finds where time stood still, from entries in order.

    An answer comes after its reservation, in a turn of its own. If both have the same time to the microsecond, the
    clock said something earlier.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> from sfumato.privacy.guarantees import PureDP
        >>> asked = Reserved(
        ...     account="census", request="r", question="5f3a", event=PureEvent("0.1"), charge=PureDP("0.1"), at=60
        ... )
        >>> standstills = Standstills()
        >>> standstills.take(asked)
        >>> standstills.take(Committed(account="census", request="r", key="k", answer=7, at=60))
        >>> standstills.found
        (Standstill(at=60, answers=1),)
    """

    def __init__(self) -> None:
        self._pending: dict[str, int] = {}
        self._answers: dict[int, int] = {}

    def take(self, entry: Entry) -> None:
        """Take one more entry into account."""
        match entry:
            case Reserved():
                self._pending[entry.request] = entry.at
            case Committed() | Abandoned():
                if entry.at and self._pending.pop(entry.request, 0) == entry.at:
                    self._answers[entry.at] = self._answers.get(entry.at, 0) + 1
            case _:
                return

    @property
    def found(self) -> tuple[Standstill, ...]:
        """All so far, in order."""
        return tuple(Standstill(at=at, answers=answers) for at, answers in self._answers.items())


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
    tree, lines = Paths(), deque[_Line](maxlen=limit)
    budgets, pending = dict[str, Budget](), dict[str, _Line]()
    for entry in entries:
        match entry:
            case Opened():
                tree.take(entry)
                budgets[entry.account] = entry.budget
            case Rebudgeted():
                budgets[entry.account] = entry.budget
            case Committed() | Abandoned() if entry.request in pending:
                line = pending.pop(entry.request)
                line.row = _ended(line.row, entry)
            case _:
                pass
        if isinstance(entry, Moved) or tree.is_below(entry.account, account):
            for line in map(_Line, _rows_of(entry, budgets)):
                lines.append(line)
                if isinstance(entry, Reserved | Shared):
                    pending[entry.request] = line
    return tuple(line.row for line in lines)


def activity(entries: Iterable[Entry]) -> Mapping[str, Activity]:
    """What each account spent itself, by name, in the order in which they were opened."""
    found = dict[str, Activity]()
    for entry in entries:
        match entry:
            case Opened():
                found[entry.account] = Activity(entry, PartitionedSpending(entry.neighboring_relation))
            case Reserved():
                _charge(found[entry.account], entry, entry.part)
            case Shared():
                _charge(found[entry.account], entry, None)
            case _:
                pass
    return found


def last_paid(entries: Iterable[Entry], paths: Mapping[str, tuple[str, ...]]) -> Mapping[str, Paid]:
    """The last query that was charged to each account, by itself or by a descendant, if there is one.

    Args:
        entries: Entries in order, of which the last ones are enough.
        paths: Of each account its own name and those of all above it.
    """
    return {name: entry for entry in entries if isinstance(entry, Reserved | Shared) for name in paths[entry.account]}


class _Line:
    """A row that may still change: a query is answered after it was charged."""

    def __init__(self, row: HistoryRow) -> None:
        self.row = row


def _charge(account: Activity, entry: Paid, part: PartitionPart | None) -> None:
    account.own.add(_price(entry), part)
    account.charges += 1


def _price(entry: Paid) -> Amounts:
    """What an entry cost the account that asked, in its own measure."""
    recorded = {price.account: price.amounts for price in entry.prices}
    in_epsilon = Amounts((("epsilon", entry.charge.epsilon), ("delta", entry.charge.delta)))
    return recorded.get(entry.account, in_epsilon)


def _ended(row: HistoryRow, entry: Committed | Abandoned) -> HistoryRow:
    """The row of a query that has its answer, or will never have one; a shared answer is marked."""
    if isinstance(entry, Abandoned):
        return replace(row, state="abandoned")
    match entry.answer:
        case {"receipt": {"question": str(asked)}}:
            row = replace(row, asked=asked)
        case _:
            pass
    return row if row.state == "shared" else replace(row, state="committed")


def _rows_of(entry: Entry, budgets: Mapping[str, Budget]) -> Iterator[HistoryRow]:
    """The row of an entry, if it has one of its own."""
    row = HistoryRow(at=entry.at, kind=ENTRIES.of(entry).tag.lower(), account=entry.account)
    match entry:
        case Opened(budget=budget) | Rebudgeted(budget=budget):
            reason = entry.reason if isinstance(entry, Rebudgeted) else ""
            yield replace(row, note=": ".join(text for text in (str(budget), reason) if text))
        case Closed() | Resumed():
            yield replace(row, note=entry.reason)
        case Moved():
            yield replace(row, note=f"to {entry.destination}")
        case Protected():
            beside = f", beside {', '.join(entry.beside)}" if entry.beside else ""
            yield replace(row, note=f"{entry.table}: {entry.unit}{beside}")
        case Recognized() | Suspended():
            yield row
        case Reserved():
            cost = in_words(_price(entry), budgets[entry.account])
            row = replace(row, principal=entry.principal, charge=entry.charge, cost=cost)
            yield replace(row, question=entry.question[:_DIGITS], state="reserved")
        case Shared():
            cost, note = in_words(_price(entry), budgets[entry.account]), f"the answer of {entry.source}"
            row = replace(row, principal=entry.principal, charge=entry.charge, cost=cost)
            yield replace(row, state="shared", note=note)
        case Renewed() | Committed() | Abandoned():
            return
        case _:
            assert_never(entry)
