"""For how long budgets last, for how many more questions, and what each account spent itself."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from sfumato.cli.ledger.texts import counted
from sfumato.errors import UnsupportedEventError
from sfumato.ledger.core.clock import DAY, MICROSECONDS
from sfumato.ledger.core.replay import Paid
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.reading.history import Standstill, activity, last_paid, time_text
from sfumato.ledger.reading.spending import project, spending

_RECENT: Final = 10_000  # among so many entries the last question is looked for
_MINUTE: Final = 60 * MICROSECONDS  # by which the clocks of two hosts may differ without a word


def last_questions(ledger: Ledger) -> Mapping[str, Paid]:
    """The last question of each account that asked of late."""
    paths = {name: ledger.path(name) for name in ledger.accounts()}
    return last_paid(ledger.entries(max(0, len(ledger) - _RECENT)), paths)


def more(ledger: Ledger, account: str, last: Paid | None) -> str:
    """How many more questions like the last one an account can pay, and all above it."""
    if last is None:
        return "?"
    try:
        count = ledger.questions_left(account, event=last.event, charge=last.charge)
    except UnsupportedEventError:  # its budget is in another measure by now
        return "0"
    return "no limit" if count is None else str(count)


def limited_by(ledger: Ledger, account: str, last: Mapping[str, Paid]) -> str:
    """Which account above has room for fewer questions than an account itself; empty where none has.

    Counted in the last question of the account, or of the nearest one above that asked.
    """
    like = next((last[name] for name in ledger.path(account) if name in last), None)
    if like is None:
        return ""
    try:
        return ledger.limiting(account, event=like.event, charge=like.charge) or ""
    except UnsupportedEventError:  # it cannot be asked there
        return ""


def clock_lines(ledger: Ledger, standstills: Sequence[Standstill] = ()) -> Iterator[str]:
    """A line for each jump of a clock that can be told from the entries, and from the clock of this machine."""
    for one in standstills:
        told = f"time stood still at {time_text(one.at)} for {counted(one.answers, 'answer')}"
        yield f"clock: {told}: a clock had been ahead, or was put back"
    ahead = ledger.ahead()
    if ahead >= _MINUTE:
        told = f"the last entry is {_span(ahead)} later than the clock of this machine"
        yield f"clock: {told}; until then time stands still here, and no window comes back"


def _span(microseconds: int) -> str:
    """A time that passes, in the largest unit of which it has two."""
    sizes = ((DAY, "day"), (DAY // 24, "hour"), (_MINUTE, "minute"))
    size, unit = next(((size, unit) for size, unit in sizes if microseconds >= 2 * size), (MICROSECONDS, "second"))
    return counted(microseconds // size, unit)


def outlook(ledger: Ledger, names: Sequence[str], *, days: int) -> Iterator[str]:
    """A line for each account."""
    known, last = activity(ledger.entries()), last_questions(ledger)
    for name, points in spending(ledger.entries(), accounts=names, now=ledger.now()).items():
        told = [f"spent {known[name].spent} itself, in {counted(known[name].charges, 'charge')}"]
        found = project(points, ledger.opened(name).window, days=days)
        if found is not None:
            told.append(str(found))
        if name in last:
            told.append(f"about {more(ledger, name, last[name])} more questions like the last one")
        yield f"{name}: {'; '.join(told)}"
