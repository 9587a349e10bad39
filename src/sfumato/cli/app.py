"""The command line, option by option. What a command does is in a module of its own, loaded when it is called."""

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from sfumato.cli.audit.commands import audit_app
from sfumato.cli.ledger.commands import ledger_app
from sfumato.errors import SfumatoError
from sfumato.version import __version__

REFUSED: Final = 2


class RefusingGroup(TyperGroup):
    """Commands whose errors of this package are shown as one line; any other error is a defect and keeps its trace."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except SfumatoError as error:
            typer.echo(f"sfumato: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(REFUSED) from None


# A traceback must never quote local variables, as they may hold rows.
app = typer.Typer(cls=RefusingGroup, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(ledger_app, name="ledger")
app.add_typer(audit_app, name="audit")

Relation = Annotated[str, typer.Option(metavar="NAME", help="add_or_remove_one or replace_one.")]


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
    """A curator you can trust with a database of people: exact-noise answers with error bars and a receipt."""


@app.command()
def query(
    question: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE] SQL",
            help="A CSV or Parquet file of people, then a SELECT statement on the table of its name. With --policy "
            "FILE may be left out, as the policy names its own, or it replaces that of the policy's one table.",
        ),
    ],
    *,
    epsilon: Annotated[str, typer.Option(metavar="ε", help="What this question may cost, such as 0.1; taken exactly.")],
    delta: Annotated[str, typer.Option(metavar="δ", help="Above 0, Gaussian noise is used where it errs less.")] = "0",
    budget: Annotated[
        str | None, typer.Option(metavar="ε", help="What may ever be spent; stated when a ledger first sees this data.")
    ] = None,
    budget_delta: Annotated[str | None, typer.Option(metavar="δ", help="The δ of the budget.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TYPE",
            help="Public facts of a column: age=int:17:90, hours=float:0:100:0.01 (bounds, resolution), sex=text, "
            "member=bool, day=date, at=timestamp. Repeat for each column.",
        ),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=A,B", help="Public keys of a column, for GROUP BY. Repeat for each column."),
    ] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Who a row belongs to, if a person may have several rows.")
    ] = None,
    max_rows_per_unit: Annotated[int | None, typer.Option(metavar="N", help="Rows used of one person.")] = None,
    max_groups_per_unit: Annotated[int | None, typer.Option(metavar="N", help="Groups used of one person.")] = None,
    max_rows_per_group_per_unit: Annotated[
        int | None, typer.Option(metavar="N", help="Rows used of one person in one group.")
    ] = None,
    names: Annotated[
        str | None, typer.Option(metavar="A,B", help="The first columns of a CSV file that has no header.")
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(metavar="C", help="Between the fields of a CSV file: a comma if not said; ';', tab.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of a CSV file: utf-8 if not said; latin-1, cp1252, utf-16.")
    ] = None,
    decimal: Annotated[
        str | None, typer.Option(metavar="C", help="The decimal point of a CSV file: '.' or ','.")
    ] = None,
    thousands: Annotated[
        str | None, typer.Option(metavar="C", help="Between groups of three digits in a CSV file, such as '.'.")
    ] = None,
    dates: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORMAT", help="Days in a CSV file, such as %d.%m.%Y. Repeat for other ways to write them."
        ),
    ] = None,
    null: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD", help="What is NULL in a CSV file besides empty fields, such as NA. Repeat for each."
        ),
    ] = None,
    skip_lines: Annotated[
        int | None, typer.Option(metavar="N", help="Lines of a CSV file that come before its header.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="TABLE", help="The table's name in SQL, if not the file's without its ending.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="FILE", help="The owner's policy (TOML) instead of declarations.")
    ] = None,
    ledger: Annotated[str | None, typer.Option(metavar="FILE", help="Remembers what was spent, and answers.")] = None,
    existing: Annotated[bool, typer.Option("--existing", help="Refuse a --ledger that does not exist yet.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print rows and receipt as JSON.")] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Buy an interval of 95% for each quantile, for two thirds of its ε.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print plan, price and error instead; nothing is read or spent.")
    ] = False,
    to: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the answer to a Parquet file, also of millions of groups.")
    ] = None,
) -> None:
    """Ask one question in SQL about a file of people, and get an answer with noise.

    Example: sfumato query adult.csv "SELECT AVG(age) FROM adult" --epsilon 0.1 --column age=int:17:90
    """
    from sfumato.cli.query import Declared, Kept, Price, ask  # keeps --help quick

    written = {
        "delimiter": {"tab": "\t"}.get(delimiter or "", delimiter), "encoding": encoding, "decimal": decimal,
        "thousands": thousands, "dates": dates or None, "null": null or None, "skip_lines": skip_lines,
    }  # fmt: skip
    declared = Declared(
        policy=policy, columns=tuple(column or ()), keys=tuple(keys or ()), unit=unit, names=names, name=name,
        max_rows_per_unit=max_rows_per_unit, max_groups_per_unit=max_groups_per_unit,
        max_rows_per_group_per_unit=max_rows_per_group_per_unit,
        csv={option: value for option, value in written.items() if value is not None},
    )  # fmt: skip
    price = Price(epsilon=epsilon, delta=delta, budget=budget, budget_delta=budget_delta)
    kept = Kept(ledger, must_exist=existing)
    ask(
        tuple(question),
        declared=declared,
        price=price,
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
    """Take the snapshots that a policy declares, for sources that are computed when they are read; for the owner.

    Example: sfumato prepare hospital.toml
    """
    from sfumato.query.policy.file import load_policy  # keeps --help quick
    from sfumato.session.opening.snapshots import prepare as take  # the same

    taken = take(load_policy(Path(policy)))
    for path in taken:
        typer.echo(f"snapshot: {path}")
    if not taken:
        typer.echo('no snapshot is declared; a table declares one as snapshot = "rows.parquet"')


@app.command()
def check(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help="The owner's policy (TOML).")],
    *,
    table: Annotated[
        str | None, typer.Option(metavar="TABLE", help="The only table to read; all of them if left out.")
    ] = None,
) -> None:
    """Print, for the owner alone, exact numbers of what does not count under a policy, and what typical queries err.

    Per column: rows that are NULL, not of the declared type, clamped, in no group, or cut. Per table: rows without an
    owner, rows that break a claim, and the units that each limit binds. Nothing is spent.

    Example: sfumato check hospital.toml
    """
    from sfumato.privacy.guarantees import NO_GUARANTEE  # keeps --help quick
    from sfumato.session.session import Session  # the same

    with Session(policy, budget=NO_GUARANTEE) as session:
        typer.echo(str(session.check(table)))


@app.command()
def demo(
    *,
    output: Annotated[str, typer.Option(help="The folder for the picture.")] = "demo-output",
    ledger: Annotated[
        str | None, typer.Option(help="A file that remembers what was spent: a second run is then free.")
    ] = None,
) -> None:
    """Show the main things at work, on the Adult census where it can be had: answers, attacks, budgets, a receipt."""
    from sfumato.cli.demo.run import run  # keeps --help quick

    run(output=output, ledger=ledger)


@app.command()
def account(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help='A JSON list of releases: {"event": {"type": "GaussianEvent", "noise_multiplier": 10}, "count": 100}, '
            "or events as this package writes them.",
        ),
    ],
    *,
    delta: Annotated[str | None, typer.Option(metavar="δ", help="To find the smallest ε at this δ.")] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="ε", help="To find the smallest δ at this ε instead.")] = None,
    relation: Relation = "add_or_remove_one",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What a batch of releases, declared in advance, costs by every accountant, and which one proves the least.

    Example: sfumato account releases.json --delta 1e-6
    """
    from sfumato.cli.account import account as price  # keeps --help quick

    price(file, delta=delta, epsilon=epsilon, relation=relation, as_json=as_json)


@app.command()
def calibrate(
    mechanism: Annotated[
        str, typer.Argument(metavar="MECHANISM", help="gaussian, laplace, discrete-gaussian or discrete-laplace.")
    ],
    *,
    epsilon: Annotated[str, typer.Option(metavar="ε", help="What all releases together may cost.")],
    delta: Annotated[str, typer.Option(metavar="δ", help="Above 0 for Gaussian noise.")] = "0",
    find: Annotated[
        str, typer.Option(metavar="WHAT", help="noise (the smallest), count or probability (the largest).")
    ] = "noise",
    noise: Annotated[
        str | None,
        typer.Option(metavar="X", help="Standard deviation (Gaussian) or scale (Laplace) over the sensitivity."),
    ] = None,
    compositions: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many releases; 1 if left out.")
    ] = None,
    sampling_probability: Annotated[
        str | None, typer.Option(metavar="Q", help="Each release sees a fresh Poisson sample; if left out, everybody.")
    ] = None,
    relation: Relation = "add_or_remove_one",
    accountant: Annotated[
        str, typer.Option(metavar="NAME", help="best, or one of basic, advanced, optimal, zcdp, gdp, rdp, pld.")
    ] = "best",
    tolerance: Annotated[str, typer.Option(metavar="T", help="Relative, of what is found.")] = "1e-4",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the least noise, the most releases or the largest samples for a guarantee.

    Example: sfumato calibrate gaussian --epsilon 1 --delta 1e-6 --compositions 1000 --sampling-probability 0.01
    """
    from sfumato.cli.calibrate import Release, search  # keeps --help quick

    release = Release(mechanism=mechanism, noise=noise, count=compositions, sampling_probability=sampling_probability)
    search(
        release, find=find, epsilon=epsilon, delta=delta, relation=relation, accountant=accountant,
        tolerance=tolerance, as_json=as_json,
    )  # fmt: skip
