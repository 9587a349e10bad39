"""`sfumato query`: one question about one file, or about the tables of a policy."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

import typer

from sfumato.cli.declarations import declared_columns, separated
from sfumato.cli.show import note
from sfumato.errors import LedgerMissingError, ParameterError
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.budgets import Budget
from sfumato.privacy.guarantees import ApproxDP, Guarantee, PureDP, guarantee
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.schema import Limits
from sfumato.query.policy.file import load_policy
from sfumato.query.policy.policy import Policy, csv
from sfumato.session.asking.question import Question
from sfumato.session.asking.saving import SavedRelease, file_for
from sfumato.session.releases.release import Release
from sfumato.session.session import Session, open_session

_FILE_AND_SQL: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What the options say about the data: a policy file, or the facts of one table, and how its file is written."""

    policy: str | None
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    unit: str | None
    names: str | None
    name: str | None
    max_rows_per_unit: int | None
    max_groups_per_unit: int | None
    max_rows_per_group_per_unit: int | None
    csv: Mapping[str, Any] = field(default_factory=dict)

    @property
    def of_a_table(self) -> tuple[str, ...]:
        """The options that were given and belong to a table without a policy."""
        facts = {
            "--column": self.columns or None, "--keys": self.keys or None, "--unit": self.unit, "--names": self.names,
            "--name": self.name, "--max-rows-per-unit": self.max_rows_per_unit,
            "--max-groups-per-unit": self.max_groups_per_unit,
            "--max-rows-per-group-per-unit": self.max_rows_per_group_per_unit,
            **{f"--{name.replace('_', '-')}": value for name, value in self.csv.items()},
        }  # fmt: skip
        return tuple(option for option, value in facts.items() if value is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What is to be spent, and what may be spent in all; numbers as they were typed."""

    epsilon: str
    delta: str
    budget: str | None
    budget_delta: str | None

    @property
    def asked(self) -> PureDP | ApproxDP:
        """The price of this question."""
        return guarantee(self.epsilon, self.delta)

    @property
    def stated_budget(self) -> Guarantee | None:
        """The budget, if one was stated."""
        if self.budget is not None:
            return guarantee(self.budget, self.budget_delta or 0)
        if self.budget_delta is not None:
            raise ParameterError("budget_delta", self.budget_delta, "needs --budget beside it")
        return None


@dataclass(frozen=True, slots=True)
class Kept:
    """Where what is spent is kept, and whether that must be there already."""

    ledger: str | None
    must_exist: bool = False

    def __post_init__(self) -> None:
        if self.must_exist and self.ledger is None:
            raise ParameterError("--existing", True, "needs --ledger beside it")


def ask(
    question: tuple[str, ...],
    *,
    declared: Declared,
    price: Price,
    kept: Kept,
    as_json: bool,
    intervals: bool,
    explain: bool,
    to: str | None,
) -> None:
    """Answer and print. What cannot be asked is refused before an account is opened."""
    asked, stated = price.asked, price.stated_budget
    *file, sql = question
    with _forgetful(tuple(file), declared, stated or asked) as session:
        planned = session.query(sql, intervals=intervals)
        planned.cost(epsilon=asked.epsilon, delta=asked.delta)
        if to is not None:
            file_for(to, planned.relation, planned.desk.policy)
        if explain:
            typer.echo(planned.explain(epsilon=asked.epsilon, delta=asked.delta))
        elif kept.ledger is None:
            if stated is None:
                note(f"no --budget was stated, so it is what this question asks: {asked}")
            note("no --ledger was named, so what is spent is forgotten on exit")
            _answer(planned, asked, as_json=as_json, to=to)
        else:
            budget = stated or _known_budget(kept.ledger, session.policy.dataset)
            with Session(
                session.policy, budget=budget, ledger=kept.ledger, must_exist=kept.must_exist
            ) as lasting:  # fmt: skip
                _answer(lasting.query(sql, intervals=intervals), asked, as_json=as_json, to=to)


def _forgetful(file: tuple[str, ...], declared: Declared, budget: Budget) -> Session:
    """A session that keeps no ledger: on the policy's tables, or on the one file."""
    if declared.policy is not None:
        if declared.of_a_table:
            raise ParameterError("policy", declared.policy, f"says this itself: {', '.join(declared.of_a_table)}")
        policy = load_policy(declared.policy)
        return Session(_with_source(policy, *file) if file else policy, budget=budget)
    if len(file) + 1 != _FILE_AND_SQL:
        raise ParameterError("arguments", len(file) + 1, "must be two, FILE and SQL, or with --policy SQL alone")
    return open_session(
        csv(file[0], **declared.csv) if declared.csv else file[0],
        budget=budget,
        columns=declared_columns(declared.columns, declared.keys),
        unit=EACH_ROW if declared.unit is None else UnitColumn(declared.unit),
        name=declared.name,
        names=None if declared.names is None else separated(declared.names),
        limits=Limits(
            max_rows_per_unit=declared.max_rows_per_unit,
            max_groups_per_unit=declared.max_groups_per_unit,
            max_rows_per_group_per_unit=declared.max_rows_per_group_per_unit,
        ),
    )  # fmt: skip


def _with_source(policy: Policy, file: str, *more: str) -> Policy:
    """The policy with another file behind its one table."""
    if more or len(policy.sources) != 1:
        raise ParameterError("FILE", file, f"can replace the source of one table; the policy has {len(policy.sources)}")
    ((table, facts),) = policy.sources.items()
    return replace(policy, sources={table: replace(facts, source=Path(file))})


def _known_budget(ledger: str, account: str) -> Budget:
    """The budget with which an account was opened before."""
    path = ledger.removeprefix("sqlite:///")
    if "://" in path or Path(path).exists():
        with suppress(LedgerMissingError), open_ledger(ledger, must_exist=True) as opened:
            if account in opened.accounts():
                return opened.budget(account)
    raise ParameterError(
        "budget", None, f"must be stated once: {ledger} knows no account {account!r} yet; add --budget"
    )


def _answer(question: Question, asked: PureDP | ApproxDP, *, as_json: bool, to: str | None) -> None:
    """Release and print; or release into a file, with a line on the error stream that grows meanwhile."""
    if to is None:
        release = question.release(epsilon=asked.epsilon, delta=asked.delta)
        _print(release, {"records": release.records()}, as_json=as_json)
        return
    saved = question.release(epsilon=asked.epsilon, delta=asked.delta, to=to, progress=True)
    _print(saved, {"file": str(saved.path), "rows": len(saved)}, as_json=as_json)


def _print(release: Release | SavedRelease, answer: dict[str, object], *, as_json: bool) -> None:
    if not as_json:
        typer.echo(repr(release))
        return
    document = answer | {
        "confidence": release.confidence,
        "reused": release.reused,
        "notes": release.notes,
        "receipt": release.receipt.to_dict(),
    }
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2, default=_iso))


def _iso(moment: date) -> str:
    """A day or a time as JSON has it."""
    return moment.isoformat()
