"""`sfumato ledger`: looking at a ledger file."""

from sfumato.cli.show import console, table
from sfumato.ledger.locations import open_ledger


def verify(file: str) -> None:
    """Check every entry and print the length and the end of the chain."""
    with open_ledger(file, must_exist=True) as ledger:
        chain = ledger.verify()
    out = console()
    out.print(f"{file}: {chain.length} entries, each of them follows from the one before", soft_wrap=True)
    out.print(f"head {chain.head}", soft_wrap=True)
    out.print("Note both elsewhere: a ledger that later has fewer entries was cut.", soft_wrap=True)


def show(file: str) -> None:
    """Print every account with its budget, and the number of entries."""
    with open_ledger(file, must_exist=True) as ledger:
        rows = [
            (name, ledger.opened(name).privacy_unit, *map(str, figures))
            for name in ledger.accounts()
            for figures in [(ledger.budget(name), ledger.spent(name), ledger.remaining(name))]
        ]
        entries = sum(1 for _ in ledger.entries())
    out = console()
    out.print(table(("account", "protects one", "budget", "spent", "left"), rows, left=2))
    out.print(f"{entries} entries in {file}", soft_wrap=True)
