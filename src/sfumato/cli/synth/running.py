"""`sfumato synth` at work: what is asked is checked, charged, measured and drawn, and a file is written."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast

import typer

from sfumato.cli.options import CostOptions, LedgerOptions, by_name, separated
from sfumato.cli.query import known_budget, with_source
from sfumato.cli.show import counted, note, progress, table, wide_console
from sfumato.errors import ParameterError, SfumatoError
from sfumato.numeric.arguments import is_one_of, one_of, whole
from sfumato.numeric.rationals import positive_integer
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import Table, UnitPath
from sfumato.query.policy.file import load_policy
from sfumato.query.printing.expression_sql import quoted
from sfumato.session.asking.saving import can_be_written, is_source
from sfumato.session.asking.training_set import MarginalSet
from sfumato.session.session import Session
from sfumato.session.training.attributes import Binning
from sfumato.synth.methods.plan import METHODS, Method
from sfumato.synth.models.rows import MOST_ROWS
from sfumato.synth.synthesis import planned, synthesize
from sfumato.synth.synthetic import FORMATS, Synthetic

_BIN_FORMS: Final = "must look like age=10, age=0,18,65,120 or day=week"
_PART_FORMS: Final = "must look like income=8"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOptions:
    """Which rows are made, as it is typed."""

    out: str
    table: str | None
    columns: str | None
    bins: tuple[str, ...]
    quantiles: tuple[str, ...]
    method: str
    tree_limit: int | None
    total: int | None
    rows: int | None
    seed: int | None
    publish: str | None = None

    @property
    def chosen(self) -> Method | Literal["auto"]:
        """The method, of those that there are."""
        return cast("Method", one_of(self.method, "--method", ("auto", *METHODS)))

    @property
    def binning(self) -> dict[str, Binning]:
        """How columns are cut, by name."""
        found: dict[str, Binning] = {}
        for name, words in by_name("bins", self.bins, _BIN_FORMS).items():
            parts = separated(words)
            found[name] = parts if len(parts) > 1 else int(words) if words.isdecimal() else words
        return found

    @property
    def parts(self) -> dict[str, int]:
        """Into how many parts numbers are cut at quantiles, by name."""
        found: dict[str, int] = {}
        for name, words in by_name("quantiles", self.quantiles, _PART_FORMS).items():
            if not words.isdecimal():
                raise ParameterError("quantiles", f"{name}={words}", _PART_FORMS)
            found[name] = int(words)
        return found


def run(
    file: str | None,
    *,
    policy: str,
    asked: RowOptions,
    cost: CostOptions,
    kept: LedgerOptions,
    as_json: bool,
    explain: bool,
) -> None:
    """Make rows and write them. What cannot be made or written is refused before an account is opened.

    Raises:
        ParameterError: An option cannot be used; nothing was charged.
        BudgetExceededError: Too little budget remains; nothing was charged.
    """
    price = cost.asked
    if not isinstance(price, ApproxDP):
        raise ParameterError("--delta", cost.delta, "must be above 0, such as 1e-6: counts have Gaussian noise")
    for option, number, most in (("--rows", asked.rows, MOST_ROWS), ("--seed", asked.seed, None)):
        if number is not None:
            whole(number, option, most=most)
    if asked.total is not None:
        positive_integer(asked.total, "--total", most=MOST_ROWS)
    declared = load_policy(policy)
    if file is not None:
        declared = with_source(declared, file)
    with Session(declared, budget=NO_GUARANTEE) as planning:
        sql, left_out = _query(planning, asked)
        marginals, plan, reason = planned(
            planning,
            sql,
            charge=price,
            method=asked.chosen,
            bins=asked.binning,
            quantiles=asked.parts,
            tree_limit=asked.tree_limit,
        )
        _check_files(planning, asked)
    if explain:
        _explain(marginals, left_out, f"{plan.method}: {reason}", price)
        return
    stated = cost.stated_budget
    if kept.ledger is None:
        if stated is None:
            note(f"no --budget was given; the budget is the cost of these rows, {price}")
        note("no --ledger was given, so spending is not recorded")
    account = planning.policy.dataset
    budget = stated or (price if kept.ledger is None else known_budget(kept.ledger, account))
    with Session(planning.policy, budget=budget, ledger=kept.ledger, must_exist=kept.must_exist) as session:
        made, count = _made(session, sql, asked, price)
    for name, reason in left_out.items():
        note(f"{name} is left out: {reason}")
    _show(made, count, asked, as_json=as_json)


def _query(session: Session, asked: RowOptions) -> tuple[str, Mapping[str, str]]:
    """The rows that are looked at, and why other columns are left out."""
    tables = session.policy.tables
    name = next(iter(tables)) if asked.table is None and len(tables) == 1 else asked.table
    if name is None or not is_one_of(name, tuple(tables)):
        raise ParameterError("--table", name, f"must be one of: {', '.join(tables)}")
    chosen, left_out = _columns(session, tables[name], asked)
    return f"SELECT {', '.join(map(quoted, chosen))} FROM {quoted(name)}", left_out


def _columns(session: Session, read: Table, asked: RowOptions) -> tuple[tuple[str, ...], dict[str, str]]:
    """The columns that are stated; else all that can be made, and why others cannot."""
    if asked.columns is not None:
        stated = separated(asked.columns)
        for name in stated:
            if not is_one_of(name, tuple(read.columns)):
                raise ParameterError("--columns", name, f"must be one of: {', '.join(read.columns)}")
        return tuple(dict.fromkeys(stated)), {}
    left_out: dict[str, str] = {}
    for name in read.columns:
        if isinstance(read.unit, UnitColumn | UnitPath) and read.unit.column == name:
            left_out[name] = "it says whose row it is, and made-up rows are nobody's"
            continue
        own = {name: asked.binning[name]} if name in asked.binning else None
        try:
            session.marginals(f"SELECT {quoted(name)} FROM {quoted(read.name)}", bins=own)
        except SfumatoError as error:
            left_out[name] = " ".join(str(error).split())
    found = tuple(name for name in read.columns if name not in left_out)
    if not found:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise ParameterError("--columns", None, f"must name columns with bounds or listed values; {reasons}")
    return found, left_out


def _check_files(session: Session, asked: RowOptions) -> None:
    """Refuse names that cannot be written, while nothing is charged."""
    if Path(asked.out).suffix not in FORMATS:
        raise ParameterError("--out", asked.out, f"must end with {' or '.join(FORMATS)}")
    if asked.publish is not None and Path(asked.publish).suffix != ".json":
        raise ParameterError("--publish", asked.publish, "must end with .json")
    for option, name in (("--out", asked.out), ("--publish", asked.publish)):
        if name is None:
            continue
        if not can_be_written(Path(name)):
            raise ParameterError(option, name, "must be a name in an existing folder in which this user may write")
        if any(is_source(Path(name), facts.source) for facts in session.policy.sources.values()):
            raise ParameterError(option, name, "is the file that a table is read from; write beside it")


def _made(session: Session, sql: str, asked: RowOptions, price: ApproxDP) -> tuple[Synthetic, int]:
    """What was measured, and how many rows of it were written."""
    with progress() as bars:
        task = bars.add_task("charge", total=None)
        made = synthesize(
            session, sql, epsilon=price.epsilon, delta=price.delta, method=asked.chosen, bins=asked.binning,
            quantiles=asked.parts, tree_limit=asked.tree_limit, total=asked.total,
            progress=lambda stage: bars.update(task, description=stage, advance=1),
        )  # fmt: skip
        bars.update(task, description="draw", advance=1)
        option, name = "--out", asked.out
        try:
            count = made.save(asked.out, asked.rows, seed=asked.seed)
            if asked.publish is not None:
                option, name = "--publish", asked.publish
                made.publish(asked.publish)
        except OSError:
            requirement = "could not be written; free disk space and give the command again, at no cost with a ledger"
            raise ParameterError(option, name, requirement) from None
        return made, count


def _explain(marginals: MarginalSet, left_out: Mapping[str, str], method: str, price: ApproxDP) -> None:
    out = wide_console()
    out.print(table(("column", "values"), ((one.name, f"{one.size:,}") for one in marginals.attributes)))
    for name, reason in left_out.items():
        out.print(f"left out      {name}: {reason}")
    out.print(f"method        {method}")
    out.print(f"cost          {price}, charged before data is read")


def _show(made: Synthetic, count: int, asked: RowOptions, *, as_json: bool) -> None:
    if as_json:
        document = {
            "file": asked.out, "rows": count, "method": made.method, "measured": made.measured, "reused": made.reused,
            "receipt": made.receipt.to_dict(),
        }  # fmt: skip
        typer.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return
    sizes = {one.name: one.size for one in made.attributes}
    merged = made.made.model.shape  # rare values, and parts of numbers, are one each in groups
    out = wide_console()
    measured = ((", ".join(own), f"{merged.cells(own) if len(own) > 1 else sizes[own[0]]:,}") for own in made.measured)
    out.print(table(("measured", "combinations"), measured))
    paid = "stored counts, nothing spent" if made.reused else f"spent {made.receipt.guarantee}"
    out.print(f"{counted(count, 'row')} in {asked.out}; {paid}; remaining: {made.receipt.remaining}")
    if asked.publish is not None:
        out.print(f"noisy counts and marginals of the model, for a server: {asked.publish}")
