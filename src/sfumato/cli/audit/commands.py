"""The options of `sfumato audit`. Each command imports the module that runs it only when it is called."""

from typing import Annotated

import typer

audit_app = typer.Typer(
    no_args_is_help=True,
    help="Try to refute a claimed ε and δ from outputs alone. Exit code 0: nothing found, which proves nothing; 1: "
    "refuted; 2: wrong usage.",
)

Epsilon = Annotated[str, typer.Option(metavar="ε", help="Claimed ε; read exactly.")]
Delta = Annotated[str, typer.Option(metavar="δ", help="Claimed δ.")]
Cost = Annotated[str, typer.Option(metavar="ε", help="ε of the mechanism or the query, and the claim.")]
CostDelta = Annotated[str, typer.Option(metavar="δ", help="δ of the mechanism or the query, and the claim.")]
Claim = Annotated[str | None, typer.Option(metavar="ε", help="Claim to test instead of --epsilon.")]
Pairs = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help='JSON file: a list of {"database": …, "neighbor": …, "description": "…"}. The audit trusts that they are '
        "neighbors.",
    ),
]
Samples = Annotated[
    int,
    typer.Option(
        metavar="N", min=100, help="Runs on each database of a pair: 10,000 for a quick look, 300,000 overnight."
    ),
]
Significance = Annotated[float, typer.Option(metavar="α", help="Probability that a true claim is refuted.")]
Html = Annotated[str | None, typer.Option(metavar="FILE", help="Write the report as an HTML page with charts.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
Timeout = Annotated[float, typer.Option(metavar="SECONDS", help="Time limit for each answer of the program.")]


@audit_app.command("mechanism")
def mechanism(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Mechanism, e.g. laplace. An unknown name lists all.")],
    parameters: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE]…", help="Constructor parameters, e.g. l1_sensitivity=2 resolution=0.5."),
    ] = None,
    *,
    epsilon: Cost,
    delta: CostDelta = "0",
    claim: Claim = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JSON", help="Exact answer; give it twice, for two neighbors. Default: the worst pairs known."
        ),
    ] = None,
    samples: Samples = 10_000,
    significance: Significance = 1e-6,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Audit a mechanism of this package, and its noise if its distribution is declared.

    Example: sfumato audit mechanism laplace l1_sensitivity=2 --epsilon 1
    """
    from sfumato.cli.audit.mechanism import audit_mechanism  # keeps --help quick
    from sfumato.cli.audit.reporting import AuditOptions  # the same

    wanted = AuditOptions(
        epsilon=claim or epsilon, delta=delta, samples=samples, significance=significance, html=html, as_json=as_json
    )
    audit_mechanism(name, tuple(parameters or ()), epsilon=epsilon, delta=delta, pair=tuple(pair or ()), wanted=wanted)


@audit_app.command("sql")
def sql(
    question: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE] SQL",
            help="A SELECT statement. FILE only names the table: it is never read and need not exist.",
        ),
    ],
    *,
    epsilon: Cost,
    delta: CostDelta = "0",
    claim: Claim = None,
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=TYPE", help="Public facts of a column, as in `sfumato query`: age=int:17:90."),
    ] = None,
    keys: Annotated[list[str] | None, typer.Option(metavar="NAME=A,B", help="Public keys of a column.")] = None,
    unit: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that identifies the privacy unit.")] = None,
    max_rows_per_unit: Annotated[int | None, typer.Option(metavar="N", help="Most rows used per person.")] = None,
    max_groups_per_unit: Annotated[int | None, typer.Option(metavar="N", help="Most groups used per person.")] = None,
    max_rows_per_group_per_unit: Annotated[
        int | None, typer.Option(metavar="N", help="Most rows used per person and group.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="FILE", help="The owner's policy (TOML), instead of --column and the like.")
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Made-up rows (.json or .csv) instead of generated ones. Never use real rows."
        ),
    ] = None,
    copies: Annotated[
        str | None,
        typer.Option(
            "--copies",
            "--worlds",
            metavar="COLUMN",
            help="Column of public keys in GROUP BY. It numbers copies of the database: thousands of runs per query.",
        ),
    ] = None,
    child: Annotated[
        bool, typer.Option("--child", help="Run each query as `sfumato query --json` in a new process.")
    ] = False,
    most_pairs: Annotated[
        int, typer.Option(metavar="N", min=1, help="Most pairs of neighbors to try; the most revealing come first.")
    ] = 6,
    engine: Annotated[str, typer.Option(metavar="NAME", help="Engine: duckdb or reference.")] = "duckdb",
    samples: Samples = 10_000,
    significance: Significance = 1e-6,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Audit a SQL query end to end, on small databases made up from the declarations; no data is read.

    Example: sfumato audit sql "SELECT ward, SUM(age) FROM people GROUP BY ward" --epsilon 1 --column age=int:17:90
    --keys ward=A,B --copies ward
    """
    from sfumato.cli.audit.question import RunOptions, audit_question  # keeps --help quick
    from sfumato.cli.audit.reporting import AuditOptions  # the same
    from sfumato.cli.options import CostOptions, DataOptions  # the same

    data = DataOptions(
        policy=policy, columns=tuple(column or ()), keys=tuple(keys or ()), unit=unit, names=None, name=None,
        max_rows_per_unit=max_rows_per_unit, max_groups_per_unit=max_groups_per_unit,
        max_rows_per_group_per_unit=max_rows_per_group_per_unit,
    )  # fmt: skip
    wanted = AuditOptions(
        epsilon=claim or epsilon, delta=delta, samples=samples, significance=significance, html=html, as_json=as_json
    )
    cost = CostOptions(epsilon=epsilon, delta=delta, budget=None, budget_delta=None)
    runs = RunOptions(rows=rows, copies=copies, child=child, engine=engine)
    audit_question(tuple(question), data=data, cost=cost, runs=runs, most_pairs=most_pairs, wanted=wanted)


@audit_app.command("callable")
def audit_callable(
    name: Annotated[
        str, typer.Argument(metavar="MODULE:NAME", help="A function of a database, or an object with a release method.")
    ],
    *,
    pairs: Pairs,
    epsilon: Epsilon,
    delta: Delta = "0",
    method: Annotated[str | None, typer.Option(metavar="NAME", help="Method of the object to call.")] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="The function takes (database, runs) and returns one output per run.")
    ] = False,
    samples: Samples = 10_000,
    significance: Significance = 1e-6,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Audit a function, a mechanism of another library, or any object with a release method.

    Example: sfumato audit callable mine:noisy_count --pairs pairs.json --epsilon 1
    """
    from sfumato.cli.audit.mechanism import audit_named  # keeps --help quick
    from sfumato.cli.audit.reporting import AuditOptions  # the same

    wanted = AuditOptions(
        epsilon=epsilon, delta=delta, samples=samples, significance=significance, html=html, as_json=as_json
    )
    audit_named(name, pairs=pairs, method=method, batch=batch, wanted=wanted)


@audit_app.command("command")
def command(
    arguments: Annotated[
        list[str],
        typer.Argument(metavar="-- PROGRAM [ARGUMENT]…", help="Program and arguments; started once, without a shell."),
    ],
    *,
    pairs: Pairs,
    epsilon: Epsilon,
    delta: Delta = "0",
    timeout: Timeout = 600.0,
    samples: Samples = 10_000,
    significance: Significance = 1e-6,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Audit a program in any language: it answers {"database": …, "runs": n} with a list of n outputs, a line each.

    Example: sfumato audit command --pairs pairs.json --epsilon 1 -- ./server --noisy
    """
    from sfumato.cli.audit.mechanism import audit_program  # keeps --help quick
    from sfumato.cli.audit.reporting import AuditOptions  # the same

    wanted = AuditOptions(
        epsilon=epsilon, delta=delta, samples=samples, significance=significance, html=html, as_json=as_json
    )
    audit_program(tuple(arguments), pairs=pairs, timeout=timeout, wanted=wanted)
