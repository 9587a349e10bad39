"""The options of `sfumato synth`."""

from typing import Annotated

import typer


def synth(
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="The data; it replaces the source of the policy's only table."),
    ] = None,
    *,
    policy: Annotated[str, typer.Option(metavar="FILE", help="The owner's policy (TOML).")],
    out: Annotated[str, typer.Option(metavar="FILE", help="Where made-up rows go: a name in .csv or .parquet.")],
    epsilon: Annotated[str | None, typer.Option(metavar="ε", help="Cost of the whole, e.g. 1; read exactly.")] = None,
    delta: Annotated[
        str, typer.Option(metavar="δ", help="δ of the cost, above 0 and far below one over the number of people.")
    ] = "0",
    table: Annotated[str | None, typer.Option(metavar="TABLE", help="Table, if the policy has several.")] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Columns of the rows; default: all that have bounds or listed values."),
    ] = None,
    bins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=BINS",
            help="How a column is cut: age=10 (bins), age=0,18,65,120 (edges), day=week. Repeat for each column.",
        ),
    ] = None,
    quantiles: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PARTS",
            help="A number is cut at private quantiles, into so many parts: income=8. Repeat for each column.",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="auto (default), aim, mst, mwem, privbayes or independent.")
    ] = "auto",
    tree_limit: Annotated[
        int | None,
        typer.Option(metavar="N", help="Most cells of a model's tree, up to 524288; beyond it a mixture is fitted."),
    ] = None,
    total: Annotated[
        int | None, typer.Option(metavar="N", help="How many rows the table has, if that is public.")
    ] = None,
    rows: Annotated[int | None, typer.Option(metavar="N", help="Rows to draw; default: about as many.")] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="The same seed draws the same rows.")] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="ε", help="Budget of this data; required when a ledger first sees it.")
    ] = None,
    budget_delta: Annotated[str | None, typer.Option(metavar="δ", help="δ of the budget.")] = None,
    publish: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also write noisy counts and the model's marginals, for a server to show."),
    ] = None,
    ledger: Annotated[
        str | None, typer.Option(metavar="FILE", help="Ledger file; it records spending and stores what was measured.")
    ] = None,
    existing: Annotated[bool, typer.Option("--existing", help="Fail if the --ledger does not exist yet.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was made and the receipt as JSON.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print columns and cost only; nothing is read or spent.")
    ] = False,
) -> None:
    """Write made-up rows that look like a table, from noisy counts of it.

    The whole cost is charged once, before a row is read. The same command again costs nothing, with a ledger.

    Example: sfumato synth adult.csv --policy policy.toml --epsilon 1 --delta 1e-6 --out synthetic.parquet
    """
    from sfumato.cli.options import CostOptions, LedgerOptions  # keeps --help quick
    from sfumato.cli.synth.running import RowOptions, run  # the same

    run(
        file,
        policy=policy,
        asked=RowOptions(
            table=table, columns=columns, bins=tuple(bins or ()), quantiles=tuple(quantiles or ()), method=method,
            tree_limit=tree_limit, total=total, rows=rows, seed=seed, out=out, publish=publish,
        ),
        cost=CostOptions(epsilon=epsilon, delta=delta, budget=budget, budget_delta=budget_delta),
        kept=LedgerOptions(ledger, must_exist=existing),
        as_json=as_json,
        explain=explain,
    )  # fmt: skip
