"""`sfumato audit`, option by option. What a command does is in a module of its own, loaded when it is called."""

from typing import Annotated

import typer

audit_app = typer.Typer(
    no_args_is_help=True,
    help="Try to refute a claimed ε and δ from outputs alone. Exit code 0: nothing was found, which proves nothing; "
    "1: refuted; 2: it was used wrongly.",
)

Epsilon = Annotated[str, typer.Option(metavar="ε", help="What is claimed; taken exactly.")]
Delta = Annotated[str, typer.Option(metavar="δ", help="The claimed δ.")]
Price = Annotated[str, typer.Option(metavar="ε", help="What the mechanism or the question is asked for, and claims.")]
PriceDelta = Annotated[str, typer.Option(metavar="δ", help="Beside --epsilon.")]
Claim = Annotated[str | None, typer.Option(metavar="ε", help="What is tested instead of --epsilon.")]
Pairs = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help='JSON: a list of {"database": …, "neighbor": …, "description": "…"}; whether they are neighbours is yours '
        "to know.",
    ),
]
Samples = Annotated[
    int, typer.Option(metavar="N", min=100, help="Runs on each database of a pair: 10,000 for a look, 300,000 a night.")
]
Significance = Annotated[float, typer.Option(metavar="α", help="The chance that a true claim is called false.")]
Html = Annotated[str | None, typer.Option(metavar="FILE", help="Write the report as a page with pictures.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
Timeout = Annotated[float, typer.Option(metavar="SECONDS", help="How long a program may take for one answer.")]


@audit_app.command("mechanism")
def mechanism(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Such as laplace or noisy-max; a wrong one lists all.")],
    parameters: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE]…", help="Of its constructor: l1_sensitivity=2 resolution=0.5."),
    ] = None,
    *,
    epsilon: Price,
    delta: PriceDelta = "0",
    claim: Claim = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(metavar="JSON", help="An exact answer; twice, for two neighbours. Left out, the worst are tried."),
    ] = None,
    samples: Samples = 10_000,
    significance: Significance = 1e-6,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Audit a mechanism of this package, and the law of its noise where one is declared.

    Example: sfumato audit mechanism laplace l1_sensitivity=2 --epsilon 1
    """
    from sfumato.cli.audit.mechanism import audit_mechanism  # keeps --help quick
    from sfumato.cli.audit.reporting import Wanted  # the same

    wanted = Wanted(
        epsilon=claim or epsilon, delta=delta, samples=samples, significance=significance, html=html, as_json=as_json
    )
    audit_mechanism(name, tuple(parameters or ()), epsilon=epsilon, delta=delta, pair=tuple(pair or ()), wanted=wanted)


@audit_app.command("sql")
def sql(
    question: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE] SQL",
            help="A SELECT statement; of a file before it only the name counts, which is the table's: it is never "
            "read, and need not exist.",
        ),
    ],
    *,
    epsilon: Price,
    delta: PriceDelta = "0",
    claim: Claim = None,
    column: Annotated[
        list[str] | None, typer.Option(metavar="NAME=TYPE", help="As for `sfumato query`: age=int:17:90.")
    ] = None,
    keys: Annotated[list[str] | None, typer.Option(metavar="NAME=A,B", help="Public keys of a column.")] = None,
    unit: Annotated[str | None, typer.Option(metavar="COLUMN", help="Who a row belongs to.")] = None,
    max_rows_per_unit: Annotated[int | None, typer.Option(metavar="N", help="Rows used of one person.")] = None,
    max_groups_per_unit: Annotated[int | None, typer.Option(metavar="N", help="Groups used of one person.")] = None,
    max_rows_per_group_per_unit: Annotated[
        int | None, typer.Option(metavar="N", help="Rows used of one person in one group.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="FILE", help="The owner's policy (TOML) instead of declarations.")
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Rows that you made up (.json or .csv), instead of ours. Never real ones."),
    ] = None,
    worlds: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="A column of public keys that the question groups by: thousands of runs at once."
        ),
    ] = None,
    child: Annotated[
        bool, typer.Option("--child", help="Ask through `sfumato query --json` in processes of its own.")
    ] = False,
    most_pairs: Annotated[
        int, typer.Option(metavar="N", min=1, help="So many pairs of neighbours, the most telling ones first.")
    ] = 6,
    engine: Annotated[str, typer.Option(metavar="NAME", help="duckdb or reference.")] = "duckdb",
    samples: Samples = 10_000,
    significance: Significance = 1e-6,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Audit a question in SQL end to end, on small databases made up from what is declared; no data is read.

    Example: sfumato audit sql "SELECT ward, SUM(age) FROM people GROUP BY ward" --epsilon 1 --column age=int:17:90
    --keys ward=A,B --worlds ward
    """
    from sfumato.cli.audit.question import How, audit_question  # keeps --help quick
    from sfumato.cli.audit.reporting import Wanted  # the same
    from sfumato.cli.query import Declared, Price  # the same

    declared = Declared(
        policy=policy, columns=tuple(column or ()), keys=tuple(keys or ()), unit=unit, names=None, name=None,
        max_rows_per_unit=max_rows_per_unit, max_groups_per_unit=max_groups_per_unit,
        max_rows_per_group_per_unit=max_rows_per_group_per_unit,
    )  # fmt: skip
    wanted = Wanted(
        epsilon=claim or epsilon, delta=delta, samples=samples, significance=significance, html=html, as_json=as_json
    )
    price = Price(epsilon=epsilon, delta=delta, budget=None, budget_delta=None)
    how = How(rows=rows, worlds=worlds, child=child, engine=engine)
    audit_question(
        tuple(question), declared=declared, price=price, how=how, most_pairs=most_pairs, wanted=wanted
    )  # fmt: skip


@audit_app.command("callable")
def audit_callable(
    name: Annotated[
        str, typer.Argument(metavar="MODULE:NAME", help="A function of one database, or an object that releases.")
    ],
    *,
    pairs: Pairs,
    epsilon: Epsilon,
    delta: Delta = "0",
    method: Annotated[str | None, typer.Option(metavar="NAME", help="What to call of an object.")] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="It takes a database and a number of runs, and gives as many outputs.")
    ] = False,
    samples: Samples = 10_000,
    significance: Significance = 1e-6,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Audit a function, a mechanism of another library, or any object with a release.

    Example: sfumato audit callable mine:noisy_count --pairs pairs.json --epsilon 1
    """
    from sfumato.cli.audit.mechanism import audit_named  # keeps --help quick
    from sfumato.cli.audit.reporting import Wanted  # the same

    wanted = Wanted(
        epsilon=epsilon, delta=delta, samples=samples, significance=significance, html=html, as_json=as_json
    )
    audit_named(name, pairs=pairs, method=method, batch=batch, wanted=wanted)


@audit_app.command("command")
def command(
    arguments: Annotated[
        list[str], typer.Argument(metavar="-- PROGRAM [ARGUMENT]…", help="Started once, by no shell.")
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
    """Audit a program in any language that answers lines of JSON: {"database": …, "runs": n} with a list of n outputs.

    Example: sfumato audit command --pairs pairs.json --epsilon 1 -- ./server --noisy
    """
    from sfumato.cli.audit.mechanism import audit_program  # keeps --help quick
    from sfumato.cli.audit.reporting import Wanted  # the same

    wanted = Wanted(
        epsilon=epsilon, delta=delta, samples=samples, significance=significance, html=html, as_json=as_json
    )
    audit_program(tuple(arguments), pairs=pairs, timeout=timeout, wanted=wanted)
