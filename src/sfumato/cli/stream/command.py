"""The options of `sfumato stream`."""

from typing import Annotated

import typer


def stream(
    *,
    every: Annotated[
        str, typer.Option(metavar="PERIOD", help="Length of a tick: second, minute, hour, day, week, '15 minutes'.")
    ],
    horizon: Annotated[int, typer.Option(metavar="N", min=1, help="Number of ticks that the cost covers.")],
    epsilon: Annotated[str | None, typer.Option(metavar="ε", help="Cost of all ticks together, e.g. 1.")] = None,
    rho: Annotated[
        str | None, typer.Option(metavar="ρ", help="The same for Gaussian noise, whose error is smaller.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option(metavar="δ", help="With --rho: δ of the charge, if the budget is in ε and δ.")
    ] = None,
    mechanism: Annotated[
        str | None, typer.Option(metavar="NAME", help="Kind of noise: tree (default), square-root, buffered or best.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(metavar="FIELD", help="Field with an event's time; default: when its line is read.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="FIELD=A,B", help="Field and public keys; each key is counted by itself.")
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(metavar="FIELD=LOW:HIGH", help="Field to sum, its bounds, and as a third number its resolution."),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Field that identifies a person, if one may have several events."),
    ] = None,
    participations: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="With --unit: the most ticks in which a person counts.")
    ] = None,
    separation: Annotated[
        int, typer.Option(metavar="N", min=1, help="With --unit: the least number of ticks between two of them.")
    ] = 1,
    id: Annotated[  # noqa: A002 # the field of an id
        str | None, typer.Option(metavar="FIELD", help="Field with an event's id; repeated ids count once a tick.")
    ] = None,
    lateness: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="How long after its end a tick waits for late events.")
    ] = 0,
    start: Annotated[
        str | None, typer.Option(metavar="TIME", help="When the first tick begins; default: now, or today.")
    ] = None,
    zone: Annotated[str, typer.Option(metavar="NAME", help="Time zone of days and of dates.")] = "UTC",
    replay: Annotated[
        bool,
        typer.Option("--replay", help="Read a kept file to its end, past lines counted before, then close its ticks."),
    ] = False,
    state: Annotated[
        str | None, typer.Option(metavar="FILE", help="File of the counter, to go on after a restart; needs --ledger.")
    ] = None,
    ledger: Annotated[str | None, typer.Option(metavar="FILE", help="Ledger file; it records the charge.")] = None,
    name: Annotated[str, typer.Option(metavar="ACCOUNT", help="Name of the account in the ledger.")] = "stream",
    budget: Annotated[
        str | None, typer.Option(metavar="ε", help="Budget of the account; needed when a ledger first sees it.")
    ] = None,
    budget_rho: Annotated[str | None, typer.Option(metavar="ρ", help="The same in ρ.")] = None,
    budget_delta: Annotated[str | None, typer.Option(metavar="δ", help="δ of the budget.")] = None,
    confidence: Annotated[str, typer.Option(metavar="P", help="Confidence of each interval.")] = "0.95",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each tick.")] = False,
) -> None:
    """Count events from standard input, one JSON object a line, and print a noisy total at every tick.

    The whole horizon is charged once, before the first line is read. A line that cannot be read counts nothing.

    Example: tail -F visits.ndjson | sfumato stream --every minute --horizon 1440 --epsilon 1
    """
    from sfumato.cli.stream.options import StreamOptions  # keeps --help quick
    from sfumato.cli.stream.running import run  # the same

    options = StreamOptions(
        every=every, horizon=horizon, epsilon=epsilon, rho=rho, delta=delta, mechanism=mechanism, time=time, key=key,
        value=value, unit=unit, participations=participations, separation=separation, id=id, lateness=lateness,
        start=start, zone=zone, replay=replay, state=state, ledger=ledger, name=name, budget=budget,
        budget_rho=budget_rho, budget_delta=budget_delta,
    )  # fmt: skip
    run(options, confidence=confidence, as_json=as_json)
