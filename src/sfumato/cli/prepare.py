"""`sfumato prepare`: the owner stores what is computed when it is read."""

from pathlib import Path

import typer

from sfumato.query.policy_file import load_policy
from sfumato.session.snapshots import prepare


def take(policy: str) -> None:
    """Take the snapshots of a policy file, and say where they are."""
    taken = prepare(load_policy(Path(policy)))
    for path in taken:
        typer.echo(f"snapshot: {path}")
    if not taken:
        typer.echo('no snapshot is declared; a table declares one as snapshot = "rows.parquet"')
