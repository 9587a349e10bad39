"""`sfumato ledger label`: what an account promises."""

import typer

from sfumato.cli.ledger.texts import printable
from sfumato.ledger.labels import label_of
from sfumato.ledger.locations import open_ledger


def label(location: str, account: str, *, delta: str, as_json: bool) -> None:
    """Print the privacy label of an account."""
    with open_ledger(location, must_exist=True) as ledger:
        found = label_of(ledger, account, delta=delta)
    typer.echo(found.to_json() if as_json else "\n".join(map(printable, str(found).splitlines())))
