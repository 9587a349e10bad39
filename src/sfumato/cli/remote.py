"""Commands that ask a server: log in, query, and look at the budget and at releases."""

import json

import typer

from sfumato.cli.show import console, printable, table, wide_console
from sfumato.client.calls import datasets
from sfumato.client.curator import RemoteCurator, address_of
from sfumato.client.session import RemoteSession, connect
from sfumato.client.tokens import Token, forget
from sfumato.errors import ParameterError
from sfumato.query.sql.parsing import statements_of
from sfumato.session.releases.release import Release


def login(url: str, *, insecure: bool) -> None:
    """Ask for an API key, try it, and store it for this user."""
    address = address_of(url, insecure=insecure)
    token = Token(typer.prompt(f"API key for {address}", hide_input=True, err=True).strip())
    curator = RemoteCurator(address, token)
    try:
        found = curator.send(datasets())
    finally:
        curator.close()
    place = token.store(address)
    names = ", ".join(printable(one.name) for one in found) or "none yet"
    typer.echo(f"logged in at {address}; the key is kept in {place}. Datasets: {names}")


def logout(url: str) -> None:
    """Remove the key for a server from this user's file; the server still accepts it."""
    address = address_of(url, insecure=True)
    if not forget(address):
        raise ParameterError("url", address, "has no stored key; `sfumato login` stores one")
    typer.echo(f"the key for {address} is no longer stored; ask an owner to revoke it if others may have it")


def query(
    sql: str, *, url: str, dataset: str | None, epsilon: str | None, delta: str, as_json: bool, explain: bool
) -> None:
    """Have a server answer a query, or several for one cost, and print the answers."""
    with connect(url, dataset=dataset) as session:
        if explain:
            asked = session.queries(sql) if len(statements_of(sql)) > 1 else session.query(sql)
            typer.echo(asked.explain(epsilon=epsilon or 1, delta=delta))
            return
        for release in _answers(session, sql, epsilon=epsilon, delta=delta):
            typer.echo(_as_json(release) if as_json else repr(release))


def budget(*, url: str, dataset: str | None) -> None:
    """Print what the account may spend, has spent, and has left."""
    with connect(url, dataset=dataset) as session:
        found = session.own_account
    rows = [("budget", str(found.budget)), ("spent", str(found.spent)), ("remaining", str(found.remaining))]
    window = [] if found.window is None else [("window", found.window)]
    console().print(table(["account", printable(found.name)], [*rows, *window, ("state", found.state)], left=2))


def releases(*, url: str, dataset: str | None) -> None:
    """Print the answers that the account was shown, which can be fetched again at no cost."""
    with connect(url, dataset=dataset) as session:
        more = session.releases()
        found = list(more)
        while more:
            more = session.releases(after=more[-1].id)
            found += more
    rows = [(printable(one.id), one.at, printable(" ".join(one.question.split()))) for one in found]
    wide_console().print(table(["release", "at", "query"], rows, left=3))


def _answers(session: RemoteSession, sql: str, *, epsilon: str | None, delta: str) -> tuple[Release, ...]:
    if len(statements_of(sql)) > 1:
        return session.batch(sql, epsilon=epsilon or "", delta=delta)
    return (session.query(sql).release(epsilon=epsilon, delta=delta),)


def _as_json(release: Release) -> str:
    document = {
        "records": release.records(), "confidence": release.confidence, "reused": release.reused,
        "notes": release.notes, "receipt": release.receipt.to_dict(),
    }  # fmt: skip
    return json.dumps(document, ensure_ascii=False, indent=2, default=str)
