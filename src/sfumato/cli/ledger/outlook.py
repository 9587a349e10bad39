"""For how long budgets last, for how many more questions, and what each account spent itself."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from sfumato.cli.ledger.texts import counted
from sfumato.errors import UnsupportedEventError
from sfumato.ledger.history import activity, last_paid
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.replay import Paid
from sfumato.ledger.spending import project, spending

_RECENT: Final = 10_000  # among so many entries the last question is looked for


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
