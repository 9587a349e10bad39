"""The command line: its options. Each command imports the module that runs it only when it is called."""

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from sfumato.cli.audit.commands import audit_app
from sfumato.cli.curator import curator_app
from sfumato.cli.ledger.commands import ledger_app
from sfumato.cli.local import local_app
from sfumato.cli.remote import COMMANDS, Dataset, ask_server
from sfumato.cli.stream.command import stream as stream_events
from sfumato.cli.synth.command import synth as make_rows
from sfumato.errors import ParameterError, SfumatoError
from sfumato.version import __version__

REFUSED: Final = 2


class RefusingGroup(TyperGroup):
    """Commands that show an error of this package as one line; any other error is a defect and keeps its traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except SfumatoError as error:
            typer.echo(f"sfumato: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(REFUSED) from None


# A traceback must never quote local variables, as they may hold rows.
app = typer.Typer(cls=RefusingGroup, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(ledger_app, name="ledger")
app.add_typer(curator_app, name="curator")
app.add_typer(audit_app, name="audit")
app.add_typer(local_app, name="local")
app.command("stream")(stream_events)
app.command("synth")(make_rows)
for command in COMMANDS:
    app.command()(command)

Relation = Annotated[str, typer.Option(metavar="NAME", help="Neighboring relation: add_or_remove_one or replace_one.")]


def main() -> None:
    """Run the command line; a terminal that cannot show ε gets a question mark instead of a failure."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="sfumato")


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


@app.callback()
def sfumato(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Private statistics of databases of people: answers with exact noise, intervals and a receipt."""


@app.command()
def query(
    question: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE] SQL",
            help="A CSV or Parquet file of people, then a SELECT statement on the table with the file's name; several, "
            "separated by semicolons, are answered together for one cost. With --policy, FILE is optional: it replaces "
            "the source of the policy's only table.",
        ),
    ],
    *,
    epsilon: Annotated[
        str | None,
        typer.Option(metavar="ε", help="Cost of this query, e.g. 0.1; read exactly. Needed unless --from-releases."),
    ] = None,
    delta: Annotated[str, typer.Option(metavar="δ", help="δ of the cost; above 0 allows Gaussian noise.")] = "0",
    budget: Annotated[
        str | None, typer.Option(metavar="ε", help="Budget of this data; required when a ledger first sees it.")
    ] = None,
    budget_delta: Annotated[str | None, typer.Option(metavar="δ", help="δ of the budget.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TYPE",
            help="Public facts of a column: age=int:17:90, hours=float:0:100:0.01 (bounds, resolution), sex=text, "
            "member=bool, day=date:2020-01-01:2026-12-31, at=timestamp. Repeat for each column.",
        ),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=A,B", help="Public keys of a column, for GROUP BY. Repeat for each column."),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column that identifies the privacy unit, if a person may have several rows."
        ),
    ] = None,
    max_rows_per_unit: Annotated[int | None, typer.Option(metavar="N", help="Most rows used per person.")] = None,
    max_groups_per_unit: Annotated[int | None, typer.Option(metavar="N", help="Most groups used per person.")] = None,
    max_rows_per_group_per_unit: Annotated[
        int | None, typer.Option(metavar="N", help="Most rows used per person and group.")
    ] = None,
    names: Annotated[
        str | None, typer.Option(metavar="A,B", help="Column names of a CSV file without a header, in order.")
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(metavar="C", help="Separator of a CSV file: ',' (default), ';' or tab.")
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Encoding of a CSV file: utf-8 (default), latin-1, cp1252, utf-16."),
    ] = None,
    decimal: Annotated[
        str | None, typer.Option(metavar="C", help="Decimal point of a CSV file: '.' (default) or ','.")
    ] = None,
    thousands: Annotated[
        str | None, typer.Option(metavar="C", help="Thousands separator of a CSV file, e.g. '.'.")
    ] = None,
    dates: Annotated[
        list[str] | None,
        typer.Option(metavar="FORMAT", help="Date format of a CSV file, e.g. %d.%m.%Y. Repeat for each format."),
    ] = None,
    null: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD", help="Text that means NULL in a CSV file, besides empty fields, e.g. NA. Repeat for each."
        ),
    ] = None,
    skip_lines: Annotated[int | None, typer.Option(metavar="N", help="Lines before the header of a CSV file.")] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Name of the table in SQL; default: the file name without its ending."),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="FILE", help="The owner's policy (TOML), instead of --column and the like.")
    ] = None,
    ledger: Annotated[
        str | None, typer.Option(metavar="FILE", help="Ledger file; it records spending and stores answers.")
    ] = None,
    existing: Annotated[bool, typer.Option("--existing", help="Fail if the --ledger does not exist yet.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print rows and receipt as JSON.")] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Spend two thirds of each quantile's ε on a 95% interval.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print plan, cost and error only; nothing is read or spent.")
    ] = False,
    from_releases: Annotated[
        bool,
        typer.Option(
            "--from-releases", help="Estimate counts and sums from the answers in --ledger; nothing is read or spent."
        ),
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write the answer to a Parquet file, in bounded memory for any number of groups."
        ),
    ] = None,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="Server that holds the data, in place of FILE; see `login`.")
    ] = None,
    dataset: Dataset = None,
) -> None:
    """Answer one SQL query about a file of people, with noise.

    Example: sfumato query adult.csv "SELECT AVG(age) FROM adult" --epsilon 0.1 --column age=int:17:90
    """
    if url is not None:
        given = {
            "FILE": question[1:], "--policy": policy, "--ledger": ledger, "--budget": budget, "--to": to,
            "--column": column, "--from-releases": from_releases, "--intervals": intervals,
        }  # fmt: skip
        if unwanted := [name for name, value in given.items() if value]:
            raise ParameterError(unwanted[0], url, "belongs to files; leave it out with --url")
        ask_server(
            question[0], url=url, dataset=dataset, epsilon=epsilon, delta=delta, as_json=as_json, explain=explain
        )
        return
    from sfumato.cli.options import CostOptions, DataOptions, LedgerOptions  # keeps --help quick
    from sfumato.cli.query import ask, estimate  # the same

    written = {
        "delimiter": {"tab": "\t"}.get(delimiter or "", delimiter), "encoding": encoding, "decimal": decimal,
        "thousands": thousands, "dates": dates or None, "null": null or None, "skip_lines": skip_lines,
    }  # fmt: skip
    data = DataOptions(
        policy=policy, columns=tuple(column or ()), keys=tuple(keys or ()), unit=unit, names=names, name=name,
        max_rows_per_unit=max_rows_per_unit, max_groups_per_unit=max_groups_per_unit,
        max_rows_per_group_per_unit=max_rows_per_group_per_unit,
        csv={option: value for option, value in written.items() if value is not None},
    )  # fmt: skip
    kept = LedgerOptions(ledger, must_exist=existing)
    if from_releases:
        estimate(tuple(question), data=data, kept=kept, as_json=as_json)
        return
    cost = CostOptions(epsilon=epsilon, delta=delta, budget=budget, budget_delta=budget_delta)
    ask(
        tuple(question),
        data=data,
        cost=cost,
        kept=kept,
        as_json=as_json,
        intervals=intervals,
        explain=explain,
        to=to,
    )


@app.command()
def prepare(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help="The owner's policy (TOML).")],
) -> None:
    """Write the snapshots that a policy declares, for sources that are computed when read. Only the owner runs this.

    Example: sfumato prepare hospital.toml
    """
    from sfumato.query.policy.file import load_policy  # keeps --help quick
    from sfumato.session.opening.snapshots import prepare as take  # the same

    taken = take(load_policy(Path(policy)))
    for path in taken:
        typer.echo(f"snapshot: {path}")
    if not taken:
        typer.echo('no snapshot is declared; declare one for a table: snapshot = "rows.parquet"')


@app.command()
def check(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help="The owner's policy (TOML).")],
    *,
    table: Annotated[str | None, typer.Option(metavar="TABLE", help="Table to read; default: all tables.")] = None,
) -> None:
    """Print exact counts of rows that do not count under a policy, and the error of typical queries. Owner only.

    Per column: rows that are NULL, not of the declared type, clamped, in no group, or shortened. Per table: rows
    without a unit, rows that violate a declaration, and units beyond each contribution bound. Nothing is spent.

    Example: sfumato check hospital.toml
    """
    from sfumato.privacy.guarantees import NO_GUARANTEE  # keeps --help quick
    from sfumato.session.session import Session  # the same

    with Session(policy, budget=NO_GUARANTEE) as session:
        typer.echo(str(session.check(table)))


@app.command()
def demo(
    *,
    output: Annotated[str, typer.Option(help="Folder for the chart.")] = "demo-output",
    ledger: Annotated[str | None, typer.Option(help="Ledger file; a second run then costs nothing.")] = None,
) -> None:
    """Demonstrate answers, attacks, budgets and a receipt, on the Adult census if it is available."""
    from sfumato.cli.demo.story import run  # keeps --help quick

    run(output=output, ledger=ledger)


@app.command()
def serve(
    *,
    config: Annotated[str | None, typer.Option(metavar="FILE", help="The curator's file (TOML).")] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve the Adult census or made-up people, on this machine alone.")
    ] = False,
    port: Annotated[int, typer.Option(metavar="N", help="With --demo: the port; 0 takes a free one.")] = 8000,
    only: Annotated[
        str | None,
        typer.Option(metavar="PART", help="Start the worker or the gateways alone, to keep the data out of reach."),
    ] = None,
) -> None:
    """Answer queries over HTTP: a worker holds the data, gateways plan, charge and show.

    Example: sfumato serve --config curator.toml
    """
    from sfumato.cli.curator import serve as serve_curator  # keeps --help quick

    serve_curator(config, demo=demo, port=port, only=only)


@app.command()
def account(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help='JSON list of releases: [{"event": {"type": "GaussianEvent", "noise_multiplier": 10}, "count": 5}] '
            "or events as in receipts.",
        ),
    ],
    *,
    delta: Annotated[str | None, typer.Option(metavar="δ", help="Compute the smallest ε at this δ.")] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="ε", help="Compute the smallest δ at this ε.")] = None,
    relation: Relation = "add_or_remove_one",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the total cost of releases by every accountant, and the smallest.

    Example: sfumato account releases.json --delta 1e-6
    """
    from sfumato.cli.accounting import account as print_cost  # keeps --help quick

    print_cost(file, delta=delta, epsilon=epsilon, relation=relation, as_json=as_json)


@app.command()
def calibrate(
    mechanism: Annotated[
        str, typer.Argument(metavar="MECHANISM", help="gaussian, laplace, discrete-gaussian or discrete-laplace.")
    ],
    *,
    epsilon: Annotated[str, typer.Option(metavar="ε", help="Largest total ε of all releases.")],
    delta: Annotated[str, typer.Option(metavar="δ", help="Largest total δ; above 0 for Gaussian noise.")] = "0",
    find: Annotated[
        str, typer.Option(metavar="WHAT", help="Parameter to find: noise (smallest), count or probability (largest).")
    ] = "noise",
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="X", help="Noise multiplier: standard deviation (Gaussian) or scale (Laplace) over sensitivity."
        ),
    ] = None,
    compositions: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Number of releases; default: 1.")
    ] = None,
    sampling_probability: Annotated[
        str | None,
        typer.Option(metavar="Q", help="Poisson sampling probability of each release; default: no sampling."),
    ] = None,
    relation: Relation = "add_or_remove_one",
    accountant: Annotated[
        str, typer.Option(metavar="NAME", help="best, basic, advanced, optimal, zcdp, gdp, rdp or pld.")
    ] = "best",
    tolerance: Annotated[str, typer.Option(metavar="T", help="Relative tolerance of the result.")] = "1e-4",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the least noise, the most releases or the largest sampling probability for a guarantee.

    Example: sfumato calibrate gaussian --epsilon 1 --delta 1e-6 --compositions 1000 --sampling-probability 0.01
    """
    from sfumato.cli.accounting import ReleaseOptions, search  # keeps --help quick

    release = ReleaseOptions(
        mechanism=mechanism, noise=noise, count=compositions, sampling_probability=sampling_probability
    )
    search(
        release, find=find, epsilon=epsilon, delta=delta, relation=relation, accountant=accountant,
        tolerance=tolerance, as_json=as_json,
    )  # fmt: skip
