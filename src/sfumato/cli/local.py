"""`sfumato local`: randomize values on the side of those who hold them, count reports, and read the counts."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sfumato.local import FrequencyEstimates

local_app = typer.Typer(
    no_args_is_help=True,
    help="Privacy without a curator. `plan` writes a protocol. `report` runs where the values are, `aggregate` "
    "and `decode` where the reports are; all three read that protocol. Files end in .csv, .ndjson or .parquet.",
)

ProtocolFile = Annotated[str, typer.Argument(metavar="PROTOCOL", help="JSON file of the protocol, the same for all.")]


@local_app.command("plan")
def plan(
    *,
    epsilon: Annotated[
        str, typer.Option(metavar="ε", help="The most that one report may reveal, e.g. 1; read exactly.")
    ],
    values: Annotated[
        str | None, typer.Option(metavar="A,B", help="The values that people hold, separated by commas.")
    ] = None,
    size: Annotated[int | None, typer.Option(metavar="D", help="Values are the whole numbers from 0 to D − 1.")] = None,
    bounds: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH", help="Values are numbers between these bounds, for their mean.")
    ] = None,
    other: Annotated[
        str | None, typer.Option(metavar="VALUE", help="The value of --values that stands for all that are not listed.")
    ] = None,
    most_bytes: Annotated[
        int | None, typer.Option("--bytes", metavar="N", help="The longest report, in bytes without its header of 5.")
    ] = None,
    to: Annotated[str, typer.Option(metavar="PROTOCOL", help="File for the protocol; replaced if it exists.")],
) -> None:
    """Choose a protocol, say why, and write it for both sides. No data is read.

    Example: sfumato local plan --epsilon 1 --values tea,coffee,water --to survey.json
    """
    from sfumato.cli.options import separated  # keeps --help quick
    from sfumato.errors import ParameterError
    from sfumato.local import Domain, FrequencyOracle, HybridMean, LocalProtocol, best, save_protocol

    if [values, size, bounds].count(None) != 2:  # noqa: PLR2004 # one of three
        raise ParameterError("--values", values, "must be given, or else --size or --bounds, and only one of them")
    chosen: LocalProtocol
    if bounds is not None:
        if other is not None or most_bytes is not None:
            raise ParameterError("--bounds", bounds, "takes neither --other nor --bytes")
        low, _, high = bounds.partition(":")
        chosen, reason = HybridMean(low, high, epsilon=epsilon), "HybridMean: the least worst variance of its kind"
    else:
        domain = Domain(size or separated(values or ""), other=other)
        found = best(epsilon, domain, bytes=most_bytes)
        if len(domain) > FrequencyOracle.most_values:
            most = f"must be at most {FrequencyOracle.most_values:,}, because `aggregate` counts all values"
            raise ParameterError("--size", size, f"{most}; in Python, LocalHashing takes candidates")
        chosen, reason = found.oracle, found.reason
    save_protocol(chosen, to)
    typer.echo(reason)
    typer.echo(f"written: {to}")


@local_app.command("report")
def report(
    protocol: ProtocolFile,
    values: Annotated[str, typer.Argument(metavar="VALUES", help="File with one person's value in each row.")],
    *,
    column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column of VALUES that holds the values; not for several attributes."),
    ] = None,
    to: Annotated[str, typer.Option(metavar="FILE", help="New file for the reports.")],
) -> None:
    """Randomize each value into a report. Values stay where they are; only the reports may leave.

    Example: sfumato local report survey.json answers.csv --column drink --to reports.csv
    """
    from sfumato.local.files import load_protocol, read_values, write_reports  # keeps --help quick

    made = load_protocol(protocol)
    client = made.client()
    written = write_reports(to, (client.report_many(block) for block in read_values(values, column, made)))
    typer.echo(f"reports written: {written:,}")
    typer.echo(f"ε of each report: {float(made.realized_epsilon):.6g} for its person")


@local_app.command("shuffle")
def shuffle(
    protocol: ProtocolFile,
    reports: Annotated[list[str], typer.Argument(metavar="REPORTS…", help="Files of reports.")],
    *,
    honest: Annotated[
        int, typer.Option(metavar="N", help="How many people are trusted to have reported honestly, once each.")
    ],
    least: Annotated[
        int | None,
        typer.Option(metavar="N", help="Reports to wait for, as some may be fake; default: --honest."),
    ] = None,
    delta: Annotated[str, typer.Option(metavar="δ", help="The δ at which to state ε, e.g. 1e-6.")],
    to: Annotated[str, typer.Option(metavar="FILE", help="New file for the collector; it ends in .shuffled.")],
) -> None:
    """Mix reports, apart from the collector: without order, time, sender and file, each reveals less of its person.

    Example: sfumato local shuffle survey.json a.csv b.csv --honest 9000 --delta 1e-6 --to reports.shuffled
    """
    from sfumato.local import Shuffler
    from sfumato.local.files import each_once, load_protocol, read_reports, save_shuffled  # keeps --help quick

    made = load_protocol(protocol)
    shuffler = Shuffler(made, honest=honest, least=least)
    refused = sum(len(shuffler.add(block).refused) for path in each_once(reports) for block in read_reports(path))
    whole = shuffler.release()
    save_shuffled(whole, to)
    typer.echo(f"reports shuffled: {len(whole):,}")
    typer.echo(f"refused: {refused:,} that are no reports of this protocol")
    typer.echo(f"ε of all of them: {whole.epsilon(delta):.4g} for each person at δ {delta}, if {honest:,} are honest")
    typer.echo(f"ε of a report that reaches the collector in any other way: {float(made.realized_epsilon):.6g}")


@local_app.command("aggregate")
def aggregate(
    protocol: ProtocolFile,
    reports: Annotated[
        list[str] | None, typer.Argument(metavar="[REPORTS]…", help="Files of reports, or of `shuffle`.")
    ] = None,
    *,
    merge: Annotated[
        list[str] | None, typer.Option(metavar="COUNTS", help="Counts of other reports to add. Repeat for each.")
    ] = None,
    to: Annotated[str, typer.Option(metavar="COUNTS", help="File for the counts; replaced if it exists.")],
) -> None:
    """Count reports. Each file is counted once; count each report in one file only.

    Example: sfumato local aggregate survey.json reports.csv --to counts.bin
    """
    from sfumato.local.files import (  # keeps --help quick
        SHUFFLED,
        each_once,
        load_counts,
        load_protocol,
        load_shuffled,
        read_reports,
        save_counts,
    )

    made = load_protocol(protocol)
    collected = made.aggregator()
    each_once([*(merge or ()), *(reports or ())])
    for path in merge or ():
        collected.merge(load_counts(made.aggregator(), path))
    refused = 0
    for path in reports or ():
        for block in (load_shuffled(path, made).reports,) if path.endswith(SHUFFLED) else read_reports(path):
            refused += len(collected.add(block).refused)
    save_counts(collected, to)
    typer.echo(f"reports counted: {len(collected):,}")
    typer.echo(f"refused: {refused:,} that are no reports of this protocol")


@local_app.command("decode")
def decode(
    protocol: ProtocolFile,
    counts: Annotated[str, typer.Argument(metavar="COUNTS", help="File that `aggregate` wrote.")],
    *,
    candidate: Annotated[
        list[str] | None, typer.Option(metavar="VALUE", help="Value or attribute to estimate; default: all. Repeat.")
    ] = None,
    confidence: Annotated[str, typer.Option(metavar="P", help="Confidence of each interval.")] = "0.95",
    project: Annotated[
        str | None,
        typer.Option(metavar="METHOD", help="Add a column of possible fractions: norm_sub, base_cut or em."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all digits.")] = False,
) -> None:
    """Print what the reports say of the people: unbiased estimates with intervals.

    Example: sfumato local decode survey.json counts.bin
    """
    from sfumato.cli.show import console, table  # keeps --help quick
    from sfumato.errors import ParameterError
    from sfumato.local.files import load_counts, load_protocol

    made = load_protocol(protocol)
    collected = load_counts(made.aggregator(), counts)
    chosen = None if candidate is None else [text if made.columns else made.parse(text) for text in candidate]
    if chosen is not None and None in chosen:
        raise ParameterError("--candidate", candidate, "must be values of the protocol")
    estimates: Any = collected.estimate(chosen, confidence)
    rows = estimates.rows()
    if project is not None:
        if not hasattr(estimates, "project"):
            raise ParameterError("--project", project, "is for fractions of values; leave it out here")
        _add_projected(rows, estimates, project)
    if as_json:
        typer.echo(json.dumps({"reports": len(collected), "confidence": confidence, "estimates": rows}))
        return
    if not rows:
        typer.echo("found: nothing that is frequent beyond doubt")
        typer.echo(f"reports: {len(collected):,}")
        return
    console().print(table(tuple(rows[0]), ([_shown(cell) for cell in row.values()] for row in rows)))
    typer.echo(f"reports: {len(collected):,}; confidence of each interval: {confidence}")


def _add_projected(rows: list[dict[str, Any]], estimates: "FrequencyEstimates", method: Any) -> None:
    for row, fraction in zip(rows, estimates.project(method).fractions.tolist(), strict=True):
        row[method] = fraction


def _shown(cell: object) -> str:
    from sfumato.cli.show import printable

    if cell is None:
        return "unknown"
    return f"{cell:.4f}" if isinstance(cell, float) else printable(str(cell))
