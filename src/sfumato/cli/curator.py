"""`sfumato serve` and `sfumato curator`: a server of curators is started, and gets its first admin."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.errors import ParameterError

curator_app = typer.Typer(no_args_is_help=True, help="Set up a server of curators. Only its operators run this.")

Config = Annotated[str, typer.Option(metavar="FILE", help="The curator's file (TOML).")]


def serve(config: str | None, *, demo: bool, port: int) -> None:
    """Serve until this process is told to end."""
    if (config is None) != demo:
        raise ParameterError("config", config, "is missing: give either --config curator.toml or --demo")
    if config is None:
        from sfumato.server.demo import serve_demo

        serve_demo(port, typer.echo)
        return
    from sfumato.server.serve import serve as serve_curator

    serve_curator(Path(config), started=lambda supervisor: typer.echo(f"serving at {supervisor.url}"))


@curator_app.command("add-admin")
def add_admin(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the admin.")],
    *,
    config: Config,
) -> None:
    """Add a platform admin, who adds all others, and print their API key once.

    Example: sfumato curator add-admin alice --config curator.toml
    """
    from sfumato.server.config import load_curator
    from sfumato.server.identity.acts import Act, ActLog
    from sfumato.server.identity.database import Database
    from sfumato.server.identity.keys import ApiKeys
    from sfumato.server.identity.people import Action, Directory

    curator = load_curator(config)
    curator.make_state()
    database = Database(curator.database)
    acts = ActLog(database)
    Directory(database).add(name, is_platform_admin=True)
    made = ApiKeys(database, secret=curator.secret).make(name, name="first key")
    acts.record(Act(person=name, action=Action.MANAGE_PEOPLE, target=name))
    acts.close()
    database.close()
    typer.echo(made.token)
