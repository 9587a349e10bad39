"""`sfumato serve` and `sfumato curator`: a server of curators is started, gets its first admin, and is looked after."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from sfumato.cli.show import counted, printable, table, wide_console
from sfumato.errors import DatabaseError, ParameterError

if TYPE_CHECKING:
    from sfumato.server.config import Curator
    from sfumato.server.identity.database import Database
    from sfumato.server.operations.manifest import Manifest
    from sfumato.server.serve import Supervisor

curator_app = typer.Typer(no_args_is_help=True, help="Set up a server of curators. Only its operators run this.")

Config = Annotated[str, typer.Option(metavar="FILE", help="The curator's file (TOML).")]


_PACKAGES: Final = {
    "fastapi": "fastapi", "uvicorn": "uvicorn", "sqlalchemy": "sqlalchemy", "alembic": "alembic", "limits": "limits",
    "prometheus_client": "prometheus-client", "opentelemetry": "opentelemetry-api",
}  # fmt: skip
"""The packages of a server, by the names of their modules."""


def _require_packages() -> None:
    """Refuse to begin what could not be done, else a server would start its processes again and again."""
    missing = [package for module, package in _PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise ParameterError("server", ", ".join(missing), f"not installed; run: pip install {' '.join(missing)}")


def serve(config: str | None, *, demo: bool, port: int, only: str | None) -> None:
    """Serve until this process is told to end."""
    if only not in (None, "worker", "gateways") or (only and demo):
        raise ParameterError("only", only, "must be worker or gateways, with --config")
    if (config is None) != demo:
        raise ParameterError("config", config, "is missing: give either --config curator.toml or --demo")
    _require_packages()
    if config is None:
        from sfumato.server.demo import serve_demo

        serve_demo(port, typer.echo)
        return
    from sfumato.server.serve import serve as serve_curator

    if only != "worker":
        _require_protocols(config)

    def told(supervisor: "Supervisor") -> None:
        typer.echo("the worker is started" if only == "worker" else f"serving at {supervisor.url}")

    serve_curator(Path(config), started=told, only=only)


@curator_app.command("add-admin")
def add_admin(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the admin.")],
    *,
    config: Config,
) -> None:
    """Add a platform admin, who adds all others, and print their API key once.

    Example: sfumato curator add-admin alice --config curator.toml
    """
    from sfumato.server.identity.acts import Act, ActLog
    from sfumato.server.identity.keys import ApiKeys
    from sfumato.server.identity.people import Action, Directory

    with _database(config) as (curator, database):
        Directory(database).add(name, is_platform_admin=True)
        made = ApiKeys(database, secret=curator.secret).make(name, name="first key")
        with closing(ActLog(database)) as acts:
            acts.record(Act(person=name, action=Action.MANAGE_PEOPLE, target=name))
    typer.echo(made.token)


@curator_app.command("verify-acts")
def verify_acts(
    *,
    config: Config,
    length: Annotated[int, typer.Option(metavar="N", min=0, help="The length that was noted before.")] = 0,
    head: Annotated[str, typer.Option(metavar="HASH", help="The head that was noted with it.")] = "",
) -> None:
    """Recompute the hash chain of the log of acts. Note the length and the head that it prints, elsewhere.

    Example: sfumato curator verify-acts --config curator.toml
    """
    from sfumato.server.identity.acts import ActLog

    if bool(length) != bool(head):
        raise ParameterError("head", head, "and length belong together: give both, or none of them")
    with _database(config) as (_, database), closing(ActLog(database)) as acts:
        chain = acts.verify(length=length, head=head) if length else acts.verify()
    if chain.broken is not None:
        typer.echo(f"sfumato: act {chain.broken} is not as it was written, or is missing", err=True)
        raise typer.Exit(1)
    typer.echo(f"{chain.length:,} acts, each as it was written; head {chain.head}")


@curator_app.command("check")
def check(
    *,
    config: Config,
    backups: Annotated[str | None, typer.Option(metavar="FOLDER", help="Where backups are kept.")] = None,
    deep: Annotated[bool, typer.Option("--deep", help="Verify every entry of the ledger.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at files, budgets, people, keys, ledger, database, machine and processes, and say what to do.

    The exit code is 1 if anything failed. Nothing is changed.

    Example: sfumato curator check --config curator.toml
    """
    _require_packages()
    from sfumato.server.operations.check import check_curator
    from sfumato.server.operations.findings import has_failed

    found = check_curator(Path(config), backups=None if backups is None else Path(backups), is_deep=deep)
    if as_json:
        typer.echo(json.dumps([one.document() for one in found], ensure_ascii=False, indent=2))
    else:
        rows = [tuple(map(printable, one.document().values())) for one in found]
        wide_console().print(table(("level", "subject", "seen", "what to do"), rows, left=4))
    if has_failed(found):
        raise typer.Exit(1)


@curator_app.command("backup")
def backup(
    *,
    config: Config,
    to: Annotated[str, typer.Option("--to", metavar="FOLDER", help="A new folder.")],
    with_keys: Annotated[
        bool, typer.Option("--with-keys", help="Also the ledger's key and the secret of API keys. Keep them apart.")
    ] = False,
) -> None:
    """Copy settings, ledger, stored answers and database of a server into a folder, while it runs.

    Example: sfumato curator backup --config curator.toml --to /backup/2026-11-27
    """
    _require_packages()
    from sfumato.server.operations.backup import back_up

    made = back_up(Path(config), Path(to), with_keys=with_keys)
    for line in _described(made):
        typer.echo(line)
    for command in made.by_hand:
        typer.echo(f"run as well in {to}, in this order: {command}")
    if not with_keys:
        typer.echo("The ledger's key and the secret of API keys are not in it. Keep copies of them elsewhere.")


@curator_app.command("restore")
def restore(
    *,
    source: Annotated[str, typer.Option("--from", metavar="FOLDER", help="The backup.")],
    to: Annotated[str, typer.Option("--to", metavar="FOLDER", help="A new folder for the server.")],
    keys: Annotated[str | None, typer.Option(metavar="FOLDER", help="Where the key and the secret were kept.")] = None,
) -> None:
    """Verify a backup, and copy it into a new folder.

    Its ledger refuses every query until `sfumato curator declare` says what was spent since.

    Example: sfumato curator restore --from /backup/2026-11-27 --to /srv/sfumato --keys /vault
    """
    _require_packages()
    from sfumato.server.operations.restore import restore as restore_files

    found = restore_files(Path(source), Path(to), keys=None if keys is None else Path(keys))
    for line in (f"The backup of {found.manifest.at} is whole.", *_described(found.manifest), *found.to_do):
        typer.echo(line)
    command = f"sfumato curator declare --config {Path(to) / 'curator.toml'} --spent ACCOUNT=ε --reason TEXT"
    typer.echo(f"The ledger refuses every query until you declare what was spent since: {command}")


@curator_app.command("declare")
def declare(
    *,
    config: Config,
    database: Annotated[
        str | None, typer.Option(metavar="LOCATION", help="A newer database, which survived, to compare with.")
    ] = None,
    spent: Annotated[
        list[str] | None,
        typer.Option(metavar="ACCOUNT=ε[,δ]", help="Spending of an account since the backup. Repeat for each account."),
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Reason; it is recorded in the ledger.")] = "",
) -> None:
    """Verify the ledger of a restored server, and declare what was spent since its backup.

    Releases that the database shows and the ledger never charged are listed. Less than they cost is refused.

    Example: sfumato curator declare --config curator.toml --spent hospital/ann=0.5 --reason "the disk failed"
    """
    _require_packages()
    from sfumato.cli.ledger.owner import declarations, restored
    from sfumato.ledger.locations import open_ledger
    from sfumato.server.config import load_curator
    from sfumato.server.operations.files import ledger_folder
    from sfumato.server.operations.restore import require_declared, unknown_releases, without_worker

    curator = load_curator(config)
    with ledger_folder(curator), without_worker(curator):
        with open_ledger(curator.ledger, must_exist=True, ignoring_checkpoint=True) as ledger:
            ledger.verify()
            unknown = unknown_releases(database or curator.database, ledger)
        for one in unknown:
            shown = f"{one.account}: {one.count} releases are newer than the ledger, and cost {one.cost} together"
            typer.echo(printable(shown))
        require_declared(unknown, declarations(spent or ()))
        restored(curator.ledger, spent=tuple(spent or ()), reason=reason)


@curator_app.command("remove-collection")
def remove_collection(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the collection.")],
    *,
    config: Config,
    yes: Annotated[bool, typer.Option("--yes", help="Delete the counts; without it they are only shown.")] = False,
) -> None:
    """Delete the counts of a collection for good, so that its name may have another protocol.

    Reports cannot be counted anew: nobody has kept them. Back up first if the estimates may still be needed.

    Example: sfumato curator remove-collection drinks --config curator.toml --yes
    """
    from sfumato.server.identity.acts import Act, ActLog
    from sfumato.server.identity.collections import Collections
    from sfumato.server.identity.people import Action

    with _database(config) as (_, database):
        kept = Collections(database)
        if name in kept.names() and not yes:
            typer.echo(f"{printable(name)} has counts, and they are still there. Delete them for good with --yes.")
            return
        kept.remove(name)
        with closing(ActLog(database)) as acts:
            acts.record(Act(person="", action=Action.REMOVE_COLLECTION, target=name))
    typer.echo(f"the counts of {printable(name)} are deleted")


def _require_protocols(config: str) -> None:
    """Refuse to serve a collection that has another protocol than its counts, before any process is started."""
    from sfumato.server.config import load_curator
    from sfumato.server.identity.collections import Collections

    if load_curator(Path(config)).collections:
        with suppress(DatabaseError), _database(config) as (curator, database):  # gateways wait until it is there
            Collections(database).require_protocols(curator.collections.values())


def _described(manifest: "Manifest") -> list[str]:
    """What a backup holds, for people."""
    lines = [f"{counted(len(manifest.files), 'file')}, {sum(file.size for file in manifest.files):,} bytes"]
    if manifest.ledger_length is not None:
        length = counted(manifest.ledger_length, "entry", "entries")
        lines.append(f"ledger: {length}, verified; head {manifest.ledger_head}")
    if manifest.acts_length is not None:
        lines.append(f"log of acts: {counted(manifest.acts_length, 'act')}, verified; head {manifest.acts_head}")
    return lines


@contextmanager
def _database(config: str) -> Iterator[tuple["Curator", "Database"]]:
    """The server's own database, as long as a command needs it."""
    _require_packages()
    from sfumato.server.config import load_curator
    from sfumato.server.identity.database import Database

    curator = load_curator(config)
    curator.make_state()
    with closing(Database(curator.database)) as database:
        yield curator, database
