"""`sfumato ledger show | label`: the tree of accounts, with spending and outlook, and the label of an account."""

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

_HEADER: Final = ("account", "budget", "spent", "remaining", "queries left", "limited by", "state")
_RECENT: Final = 10_000  # latest entries in which the last query is sought
_MINUTE: Final = 60 * MICROSECONDS  # by which the clocks of two hosts may differ without a line


def show(location: str) -> None:
    """Print each tree of accounts, with spent, remaining and pending."""
    out = wide_console()
    with open_ledger(location, must_exist=True) as ledger:
        known, last = {name: ledger.opened(name) for name in ledger.accounts()}, last_queries(ledger)
        for root, opened in known.items():
            if not opened.parents:
                protected = f"{root} protects one {opened.privacy_unit} ({opened.neighboring_relation})"
                out.print(printable(protected), soft_wrap=True)
                for line in _protected(ledger, [name for name, _ in _tree(known, root)]):
                    out.print(printable(line), soft_wrap=True)
                rows = [_row(ledger, known[name], depth, last) for name, depth in _tree(known, root)]
                out.print(table(_HEADER, rows, left=2))
        entries, pending = counted(len(ledger), "entry", "entries"), sum(map(ledger.pending, known))
        clock = tuple(clock_lines(ledger))
    out.print(f"{entries}; {counted(pending, 'unanswered reservation')} (still charged)")
    out.print("queries left: estimated from the cost of the last query; limited by: the ancestor that allows fewer")
    for line in clock:
        out.print(line, soft_wrap=True)


def _protected(ledger: Ledger, names: Iterable[str]) -> Iterator[str]:
    """The privacy unit in each table, and accounts with other units of the same data, whose budgets add up."""
    for name in names:
        protected = f"one {ledger.opened(name).privacy_unit} is"
        for table_name, unit in ledger.units(name).items():
            yield f"  in table {table_name} of {name}, {'every row is' if unit == 'public' else protected} {unit}"
        if others := ledger.beside(name) if ledger.units(name) else ():
            yield f"  same data as {name} with other privacy units: {', '.join(others)}; the budgets add up"


def _tree(known: Mapping[str, Opened], name: str, depth: int = 0) -> Iterator[tuple[str, int]]:
    """An account and its descendants with their depths; a child of several accounts is listed under the first."""
    yield name, depth
    for other, opened in known.items():
        if opened.parents[:1] == (name,):
            yield from _tree(known, other, depth + 1)


def _row(ledger: Ledger, opened: Opened, depth: int, last: Mapping[str, Paid]) -> tuple[str, ...]:
    name, budget = opened.account, str(ledger.budget(opened.account))
    others = "".join(f", also a child of {other}" for other in opened.parents[1:])
    return (
        printable(f"{'  ' * depth}{name}{others}"),
        budget if opened.window is None else f"{budget} {opened.window}",
        str(ledger.spent(name)),
        str(ledger.remaining(name)),
        queries_left(ledger, name, last.get(name)),
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


def last_queries(ledger: Ledger) -> Mapping[str, Paid]:
    """The latest query of each account that asked recently."""
    paths = {name: ledger.path(name) for name in ledger.accounts()}
    return last_paid(ledger.entries(max(0, len(ledger) - _RECENT)), paths)


def queries_left(ledger: Ledger, account: str, last: Paid | None) -> str:
    """About how many queries like the last one an account and its ancestors can still be charged for."""
    if last is None:
        return "?"
    try:
        count = ledger.questions_left(account, event=last.event, charge=last.charge)
    except UnsupportedEventError:  # its budget is in another measure by now
        return "0"
    return "no limit" if count is None else str(count)


def limited_by(ledger: Ledger, account: str, last: Mapping[str, Paid]) -> str:
    """The ancestor that allows fewer queries than the account itself; empty if none does.

    The query is the last one of the account, or of its nearest ancestor that asked.
    """
    query = next((last[name] for name in ledger.path(account) if name in last), None)
    if query is None:
        return ""
    try:
        return ledger.limiting(account, event=query.event, charge=query.charge) or ""
    except UnsupportedEventError:  # no ancestor can be charged for it
        return ""


def clock_lines(ledger: Ledger, standstills: Sequence[Standstill] = ()) -> Iterator[str]:
    """A line for each jump of a clock, found in the entries or by the clock of this machine."""
    for one in standstills:
        stopped = f"the ledger's time did not advance at {time_text(one.at)} for {counted(one.answers, 'answer')}"
        yield f"clock: {stopped}: a clock was ahead, or was set back"
    ahead = ledger.ahead()
    if ahead >= _MINUTE:
        late = f"the last entry is {_span(ahead)} later than the clock of this machine"
        yield f"clock: {late}; until then the ledger's time does not advance, and no window refills"


def _span(microseconds: int) -> str:
    """A duration, in the largest unit of which it has two."""
    sizes = ((DAY, "day"), (DAY // 24, "hour"), (_MINUTE, "minute"))
    size, unit = next(((size, unit) for size, unit in sizes if microseconds >= 2 * size), (MICROSECONDS, "second"))
    return counted(microseconds // size, unit)


def outlook(ledger: Ledger, names: Sequence[str], *, days: int) -> Iterator[str]:
    """A line for each account: its charges, how long its budget lasts, and about how many queries are left."""
    known, last = activity(ledger.entries()), last_queries(ledger)
    for name, points in spending(ledger.entries(), accounts=names, now=ledger.now()).items():
        facts = [f"{counted(known[name].charges, 'charge')} of its own, {known[name].spent} in total"]
        found = project(points, ledger.opened(name).window, days=days)
        if found is not None:
            facts.append(str(found))
        if name in last:
            facts.append(f"queries left: about {queries_left(ledger, name, last[name])}")
        yield f"{name}: {'; '.join(facts)}"


def label(location: str, account: str, *, delta: str, as_json: bool) -> None:
    """Print the privacy label of an account."""
    with open_ledger(location, must_exist=True) as ledger:
        found = label_of(ledger, account, delta=delta)
    typer.echo(found.to_json() if as_json else "\n".join(map(printable, str(found).splitlines())))
