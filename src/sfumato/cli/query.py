"""`sfumato query`: a query, or several together, on one file or on the tables of a policy."""

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import typer

from sfumato.cli.options import CostOptions, DataOptions, LedgerOptions, declared_columns, separated
from sfumato.cli.show import note
from sfumato.errors import LedgerMissingError, ParameterError
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.budgets import Budget
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.schema import Limits
from sfumato.query.policy.file import load_policy
from sfumato.query.policy.policy import Policy, csv
from sfumato.query.sql.parsing import statements_of
from sfumato.session.asking.batch import Batch
from sfumato.session.asking.question import Question
from sfumato.session.asking.saving import SavedRelease, file_for
from sfumato.session.releases.release import Release
from sfumato.session.session import Session, open_session

_FILE_AND_SQL: Final = 2


def ask(
    question: tuple[str, ...],
    *,
    data: DataOptions,
    cost: CostOptions,
    kept: LedgerOptions,
    as_json: bool,
    intervals: bool,
    explain: bool,
    to: str | None,
) -> None:
    """Answer and print. An invalid query is refused before an account is opened."""
    asked, stated = cost.asked, cost.stated_budget
    *file, sql = question
    with _without_ledger(tuple(file), data, stated or asked) as session:
        planned = _planned(session, sql, intervals=intervals)
        planned.cost(epsilon=asked.epsilon, delta=asked.delta)
        if to is not None:
            if isinstance(planned, Batch):
                raise ParameterError("--to", to, f"belongs to one statement; there are {len(planned)}")
            file_for(to, planned.relation, planned.desk.policy)
        if explain:
            typer.echo(planned.explain(epsilon=asked.epsilon, delta=asked.delta))
        elif kept.ledger is None:
            if stated is None:
                note(f"no --budget was given; the budget is the cost of this query, {asked}")
            note("no --ledger was given, so spending is not recorded")
            _answer(planned, asked, as_json=as_json, to=to)
        else:
            budget = stated or known_budget(kept.ledger, session.policy.dataset)
            with Session(
                session.policy, budget=budget, ledger=kept.ledger, must_exist=kept.must_exist
            ) as lasting:  # fmt: skip
                _answer(_planned(lasting, sql, intervals=intervals), asked, as_json=as_json, to=to)


def estimate(question: tuple[str, ...], *, data: DataOptions, kept: LedgerOptions, as_json: bool) -> None:
    """Print what the answers in a ledger say of a query; no data is read and nothing is spent."""
    *file, sql = question
    if kept.ledger is None:
        raise ParameterError("--from-releases", None, "needs --ledger, which has the answers")
    with _without_ledger(tuple(file), data, NO_GUARANTEE) as session:
        policy, budget = session.policy, known_budget(kept.ledger, session.policy.dataset)
    with Session(policy, budget=budget, ledger=kept.ledger, must_exist=True) as lasting:
        release = lasting.query(sql).from_releases()
        _print(release, {"records": release.records()}, as_json=as_json)


def _planned(session: Session, sql: str, *, intervals: bool) -> Question | Batch:
    """A query, or several that are answered together."""
    statements = statements_of(sql)
    if len(statements) == 1:
        return session.query(sql, intervals=intervals)
    if intervals:
        raise ParameterError("--intervals", f"{len(statements)} statements", "belongs to one statement")
    return session.queries(statements)


def _without_ledger(file: tuple[str, ...], data: DataOptions, budget: Budget) -> Session:
    """A session without a ledger, on the policy's tables or on the file."""
    if data.policy is not None:
        if data.of_a_table:
            raise ParameterError(
                "policy", data.policy, f"already declares the data; leave out {', '.join(data.of_a_table)}"
            )
        policy = load_policy(data.policy)
        return Session(with_source(policy, *file) if file else policy, budget=budget)
    if len(file) + 1 != _FILE_AND_SQL:
        raise ParameterError("arguments", len(file) + 1, "must be two, FILE and SQL; with --policy, SQL alone")
    return open_session(
        csv(file[0], **data.csv) if data.csv else file[0],
        budget=budget,
        columns=declared_columns(data.columns, data.keys),
        unit=EACH_ROW if data.unit is None else UnitColumn(data.unit),
        name=data.name,
        names=None if data.names is None else separated(data.names),
        limits=Limits(
            max_rows_per_unit=data.max_rows_per_unit,
            max_groups_per_unit=data.max_groups_per_unit,
            max_rows_per_group_per_unit=data.max_rows_per_group_per_unit,
        ),
    )  # fmt: skip


def with_source(policy: Policy, file: str, *more: str) -> Policy:
    """The policy with another file as the source of its only table."""
    if more or len(policy.sources) != 1:
        raise ParameterError(
            "FILE", file, f"replaces the source of a policy's only table; this policy has {len(policy.sources)} tables"
        )
    ((table, facts),) = policy.sources.items()
    return replace(policy, sources={table: replace(facts, source=Path(file))})


def known_budget(ledger: str, account: str) -> Budget:
    """The budget of an account that is already in the ledger."""
    path = ledger.removeprefix("sqlite:///")
    if "://" in path or Path(path).exists():
        with suppress(LedgerMissingError), open_ledger(ledger, must_exist=True) as opened:
            if account in opened.accounts():
                return opened.budget(account)
    raise ParameterError(
        "--budget", None, f"is missing: {ledger} has no account {account!r} yet; add --budget, e.g. --budget 1"
    )


def _answer(question: Question | Batch, asked: PureDP | ApproxDP, *, as_json: bool, to: str | None) -> None:
    """Release and print; or release into a file, with progress on stderr."""
    if isinstance(question, Batch):
        releases = question.release(epsilon=asked.epsilon, delta=asked.delta)
        documents = [{"records": one.records(), "notes": one.notes} for one in releases]
        _print(releases[-1], {"answers": documents}, as_json=as_json, text="\n\n".join(map(repr, releases)))
    elif to is None:
        release = question.release(epsilon=asked.epsilon, delta=asked.delta)
        _print(release, {"records": release.records()}, as_json=as_json)
    else:
        saved = question.release(epsilon=asked.epsilon, delta=asked.delta, to=to, progress=True)
        _print(saved, {"file": str(saved.path), "rows": len(saved)}, as_json=as_json)


def _print(
    release: Release | SavedRelease, answer: dict[str, object], *, as_json: bool, text: str | None = None
) -> None:  # fmt: skip
    if not as_json:
        typer.echo(repr(release) if text is None else text)
        return
    document = answer | {
        "confidence": release.confidence,
        "reused": release.reused,
        "notes": release.notes,
        "receipt": release.receipt.to_dict(),
    }
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2, default=lambda moment: moment.isoformat()))
