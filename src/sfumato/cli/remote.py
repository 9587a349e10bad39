"""Commands that ask a server: log in, query, and look at the budget and at releases. They need the extra `client`."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Final

import typer

from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.client.session import RemoteSession
    from sfumato.session.releases.release import Release

Address = Annotated[str, typer.Argument(metavar="URL", help="Address of the server, which begins with https://.")]
Url = Annotated[str, typer.Option("--url", metavar="URL", help="Address of the server.")]
Dataset = Annotated[
    str | None, typer.Option(metavar="NAME", help="Dataset of the server; default: the only one that you may ask.")
]


def login(
    url: Address,
    *,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow http:// to another machine: others can then read the key.")
    ] = False,
) -> None:
    """Store an API key for a server, in a file that only you can read. The key is asked for, and not shown.

    Example: sfumato login https://curator.example.org
    """
    from sfumato.cli.show import printable
    from sfumato.client.calls import datasets
    from sfumato.client.curator import RemoteCurator, address_of
    from sfumato.client.tokens import Token

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


def logout(url: Address) -> None:
    """Remove the stored API key for a server from this machine.

    Example: sfumato logout https://curator.example.org
    """
    from sfumato.client.curator import address_of
    from sfumato.client.tokens import forget

    address = address_of(url, insecure=True)
    if not forget(address):
        raise ParameterError("url", address, "has no stored key; `sfumato login` stores one")
    typer.echo(f"the key for {address} is no longer stored; ask an owner to revoke it if others may have it")


def budget(*, url: Url, dataset: Dataset = None) -> None:
    """Print what your account at a server may spend, has spent, and has left.

    Example: sfumato budget --url https://curator.example.org
    """
    from sfumato.cli.show import console, printable, table
    from sfumato.client.session import connect

    with connect(url, dataset=dataset) as session:
        found = session.own_account
    rows = [("budget", str(found.budget)), ("spent", str(found.spent)), ("remaining", str(found.remaining))]
    window = [] if found.window is None else [("window", found.window)]
    console().print(table(["account", printable(found.name)], [*rows, *window, ("state", found.state)], left=2))


def releases(*, url: Url, dataset: Dataset = None) -> None:
    """Print the answers that your account at a server was shown; none of them costs anything again.

    Example: sfumato releases --url https://curator.example.org
    """
    from sfumato.cli.show import printable, table, wide_console
    from sfumato.client.session import connect

    with connect(url, dataset=dataset) as session:
        more = session.releases()
        found = list(more)
        while more:
            more = session.releases(after=more[-1].id)
            found += more
    rows = [(printable(one.id), one.at, printable(" ".join(one.question.split()))) for one in found]
    wide_console().print(table(["release", "at", "query"], rows, left=3))


COMMANDS: Final[tuple[Callable[..., None], ...]] = (login, logout, budget, releases)
"""All of them but `query`, which asks a server too."""


def ask_server(
    sql: str, *, url: str, dataset: str | None, epsilon: str | None, delta: str, as_json: bool, explain: bool
) -> None:
    """Have a server answer a query, or several for one cost, and print the answers."""
    from sfumato.client.session import connect
    from sfumato.query.sql.parsing import statements_of

    is_batch = len(statements_of(sql)) > 1
    with connect(url, dataset=dataset) as session:
        if explain:
            asked = session.queries(sql) if is_batch else session.query(sql)
            typer.echo(asked.explain(epsilon=epsilon or 1, delta=delta))
            return
        for release in _answers(session, sql, epsilon, delta, is_batch=is_batch):
            typer.echo(_as_json(release) if as_json else repr(release))


def _answers(
    session: "RemoteSession", sql: str, epsilon: str | None, delta: str, *, is_batch: bool
) -> "tuple[Release, ...]":
    if is_batch:
        return session.batch(sql, epsilon=epsilon or "", delta=delta)
    return (session.query(sql).release(epsilon=epsilon, delta=delta),)


def _as_json(release: "Release") -> str:
    document = {
        "records": release.records(), "confidence": release.confidence, "reused": release.reused,
        "notes": release.notes, "receipt": release.receipt.to_dict(),
    }  # fmt: skip
    return json.dumps(document, ensure_ascii=False, indent=2, default=str)
