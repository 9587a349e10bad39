"""`sfumato ledger show | label`: the tree of accounts, what each has spent and promises, and how long it will last."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import typer

from sfumato.cli.show import counted, printable, table, wide_console
from sfumato.errors import UnsupportedEventError
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.core.replay import Paid
from sfumato.ledger.core.windows import DAY, MICROSECONDS
from sfumato.ledger.labels import label_of
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.reading.history import Standstill, activity, last_paid, time_text
from sfumato.ledger.reading.spending import project, spending

_HEADER = ("account", "budget", "spent", "left", "more", "limited by", "state")


def show(location: str) -> None:
    """Print each tree of accounts, with what is spent, left and pending."""
    out = wide_console()
    with open_ledger(location, must_exist=True) as ledger:
        known, last = {name: ledger.opened(name) for name in ledger.accounts()}, last_questions(ledger)
        for root, opened in known.items():
            if not opened.parents:
                protected = f"{root} protects one {opened.privacy_unit}, under {opened.neighboring_relation}"
                out.print(printable(protected), soft_wrap=True)
                for line in _protected(ledger, [name for name, _ in _tree(known, root)]):
                    out.print(printable(line), soft_wrap=True)
                rows = [_row(ledger, known[name], depth, last) for name, depth in _tree(known, root)]
                out.print(table(_HEADER, rows, left=2))
        entries, pending = counted(len(ledger), "entry", "entries"), sum(map(ledger.pending, known))
        clock = tuple(clock_lines(ledger))
    out.print(f"{entries}; {counted(pending, 'reservation')} without an answer, charged all the same")
    out.print("more: about so many more questions like the last one; limited by: the account above that has less room")
    for line in clock:
        out.print(line, soft_wrap=True)


def _protected(ledger: Ledger, names: Iterable[str]) -> Iterator[str]:
    """Who one unit is in each table; and the accounts beside, whose budgets add up with these."""
    for name in names:
        one = f"one {ledger.opened(name).privacy_unit} is"
        for called, unit in ledger.units(name).items():
            yield f"  in table {called} of {name}, {'all is' if unit == 'public' else one} {unit}"
        if beside := ledger.beside(name) if ledger.units(name) else ():
            yield f"  beside {name}, with other units of the same data: {', '.join(beside)}; their budgets add up"


def _tree(known: Mapping[str, Opened], name: str, depth: int = 0) -> Iterator[tuple[str, int]]:
    """An account and those below it; one below several stands below the first."""
    yield name, depth
    for other, opened in known.items():
        if opened.parents[:1] == (name,):
            yield from _tree(known, other, depth + 1)


def _row(ledger: Ledger, opened: Opened, depth: int, last: Mapping[str, Paid]) -> tuple[str, ...]:
    name, budget = opened.account, str(ledger.budget(opened.account))
    others = "".join(f", also below {other}" for other in opened.parents[1:])
    return (
        printable(f"{'  ' * depth}{name}{others}"),
        budget if opened.window is None else f"{budget} {opened.window}",
        str(ledger.spent(name)),
        str(ledger.remaining(name)),
        more(ledger, name, last.get(name)),
        printable(limited_by(ledger, name, last)),
        _state(ledger, name),
    )


def _state(ledger: Ledger, name: str) -> str:
    if ledger.is_closed(name):
        state = "closed"
    elif ledger.is_suspended(name):
        state = "suspended"
    else:
        state = "spent" if ledger.is_spent(name) else "open"
    pending = ledger.pending(name)
    return f"{state}, {pending} pending" if pending else state


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


def label(location: str, account: str, *, delta: str, as_json: bool) -> None:
    """Print the privacy label of an account."""
    with open_ledger(location, must_exist=True) as ledger:
        found = label_of(ledger, account, delta=delta)
    typer.echo(found.to_json() if as_json else "\n".join(map(printable, str(found).splitlines())))
