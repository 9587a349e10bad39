"""`sfumato prepare` and `sfumato check`, for the owner: what is computed is stored, and what does not count is said."""

from pathlib import Path

import typer

from sfumato.privacy.guarantees import NO_GUARANTEE
from sfumato.query.policy.file import load_policy
from sfumato.session.opening.snapshots import prepare
from sfumato.session.session import Session


def take(policy: str) -> None:
    """Take the snapshots of a policy file, and say where they are."""
    taken = prepare(load_policy(Path(policy)))
    for path in taken:
        typer.echo(f"snapshot: {path}")
    if not taken:
        typer.echo('no snapshot is declared; a table declares one as snapshot = "rows.parquet"')


def check(policy: str, *, table: str | None) -> None:
    """Read the tables of a policy file, and print what their owner has to know; nothing is spent or kept."""
    with Session(policy, budget=NO_GUARANTEE) as session:
        typer.echo(str(session.check(table)))
