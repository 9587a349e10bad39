"""`sfumato ledger show`: the tree of accounts, and what each has spent."""

from collections.abc import Iterable, Iterator, Mapping

from sfumato.cli.ledger.outlook import clock_lines, last_questions, limited_by, more
from sfumato.cli.ledger.texts import console, counted, printable
from sfumato.cli.show import table
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.core.replay import Paid
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger

_HEADER = ("account", "budget", "spent", "left", "more", "limited by", "state")


def show(location: str) -> None:
    """Print each tree of accounts, with what is spent, left and pending."""
    out = console()
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
