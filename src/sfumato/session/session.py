"""`Session`: a database of people under a policy and a budget, to be asked."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sfumato.engines.csv_text import PACKED
from sfumato.errors import ParameterError
from sfumato.ledger.entry import Opened
from sfumato.ledger.locations import ExistingLedger, open_ledger
from sfumato.ledger.windows import Window
from sfumato.privacy.budgets import Budget
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, EACH_ROW, NeighboringRelation, PrivacyUnit, UnitColumn
from sfumato.query.kinds import Kind
from sfumato.query.policy import Policy, SourceFacts
from sfumato.query.schema import Column, Limits, Table
from sfumato.session.account_view import AccountView
from sfumato.session.lineage import identities, protected
from sfumato.session.opening import open_engines, open_sources, places_of, relations_of, with_kept_rows
from sfumato.session.pipeline import Desk
from sfumato.session.preparation import Preparation, Preparing
from sfumato.session.public_keys import with_public_keys
from sfumato.session.violations import violations


class Session(AccountView):
    """A database of people under a policy and a budget: ask it in SQL or Python, and it answers with noise.

    **Guarantee**: all answers ever given under one ledger account, by any number of sessions, are together within its
    budget, for the privacy unit and the neighboring relation of the policy; see `AccountView` for windows and for
    accounts below it.

    Args:
        policy: A policy file, or a `Policy`.
        budget: What may be spent in all: `PureDP(1)`, `ApproxDP(3, "1e-6")`, `ZCDP("0.5")`, `RenyiDP(...)`, or
            `NO_GUARANTEE` by name.
        window: How often the budget comes back: `CalendarWindow("month")`, `RollingWindow(30)`; None for never.
        lifetime: With a window, what may be spent in all windows together; without it nothing bounds that, and labels
            say so.
        ledger: Where spending is kept: a path or ``sqlite:///path``, or ``postgresql://…`` for several hosts; None
            forgets it with the process.
        must_exist: Whether the ledger has to be there: else a mistyped path is a new one, with a fresh budget.
        engine: Of tables in files and frames: ``"duckdb"``, or ``"reference"``, the slow one in plain Python.
            A table whose source is an address, such as ``postgresql://…``, stays where it is.
        engine_options: What the engine takes by name, such as ``{"memory_limit": "4GB"}``; and what others take, by
            their names: ``{"postgres": {"statement_timeout": 60}}``.

    Raises:
        PolicyError: The policy says something impossible.
        ParameterError: A source, an engine or an option that cannot be used.
        UnitChangedError: The ledger holds a table, or its data, with another unit.
        LedgerError: The ledger is broken, or holds the account with another budget.

    Example:
        >>> import sfumato as sf
        >>> votes = sf.open(sf.datasets.votes(), name="votes", columns={"sport": sf.text()}, budget=sf.PureDP(1))
        >>> release = votes.sql("SELECT COUNT(*) AS n FROM votes WHERE sport = 'Football'", epsilon="0.5")
        >>> str(votes.spent), str(votes.remaining)
        ('ε 0.5', 'ε 0.5')
    """

    def __init__(
        self,
        policy: Policy | str | PathLike[str],
        *,
        budget: Budget,
        window: Window | None = None,
        lifetime: Budget | None = None,
        ledger: str | PathLike[str] | ExistingLedger | None = None,
        must_exist: bool = False,
        engine: str = "duckdb",
        engine_options: Mapping[str, Any] | None = None,
    ) -> None:
        declared = policy if isinstance(policy, Policy) else _loaded(policy)
        self.is_lasting = ledger is not None and ledger != "memory:"
        places = places_of(declared, engine=engine)
        sources = open_sources(declared, places)
        with ExitStack() as opened:
            start = partial(open_engines, engine=engine, places=places, options=engine_options or {})
            running = start(sources)
            opened.callback(running.close)
            known = with_public_keys(with_kept_rows(declared, sources), running)
            relations = relations_of(known)
            opened_ledger = open_ledger(ledger, must_exist=must_exist)
            opened.callback(opened_ledger.close)
            found = identities(known, sources, engine=running) if self.is_lasting else {}
            *above, own = _accounts(known, budget, window, lifetime)
            for account in above:
                opened_ledger.open_account(account)
            tables = protected(known, found, opened_ledger.key)
            opened_ledger.open_account(own, tables=tables, beside=known.beside)
            opened.pop_all()  # nothing failed: both stay open until the session is closed
        self._start, self._sources = start, sources
        desk = Desk(policy=known, engine=running, ledger=opened_ledger, account=known.dataset)
        super().__init__(desk, relations)

    def prepare(self, table: str | None = None) -> Preparation:
        """Store a table, or all of them, as the engine reads it best; for the owner, like what it gives back.

        Answers stay the same, only quicker. Rows that break a claim of the policy (they have no owner, or more of them
        match than declared) are left out of answers with or without this; here the owner hears how many there are.

        Raises:
            ParameterError: There is no such table.
            EngineError: The engine failed.
        """
        tables = tuple(self.policy.tables.values()) if table is None else (self._table(table),)
        if isinstance(self._desk.engine, Preparing):
            for stored in tables:
                self._desk.engine.prepare(stored)
        return Preparation(
            violations={checked.name: violations(checked, self._sources, self._start) for checked in tables}
        )

    def close(self) -> None:
        """Let go of the engine and the ledger."""
        self._desk.engine.close()
        self._desk.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        tables = ", ".join(self.policy.tables)
        kept = "" if self.is_lasting else " (no ledger file: forgotten on exit)"
        return f"<Session on {tables}: spent {self.spent} of {self.budget}, left {self.remaining}{kept}>"


def open_session(
    source: Any,
    *,
    budget: Budget,
    columns: Mapping[str, Column],
    unit: PrivacyUnit | str = EACH_ROW,
    name: str | None = None,
    names: Iterable[str] | None = None,
    limits: Limits | None = None,
    matches: Mapping[str | tuple[str, ...], int] | None = None,
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    version: str = "1",
    ledger: str | PathLike[str] | ExistingLedger | None = None,
    engine: str = "duckdb",
    engine_options: Mapping[str, Any] | None = None,
) -> Session:
    """A session on one table.

    Args:
        source: A CSV or Parquet file, or an Arrow, pandas or Polars frame; or a `SourceFacts`, which says more of it:
            `sf.csv("visits.csv", delimiter=";", decimal=",")` says how a CSV file is written.
        budget: What may be spent in all.
        columns: What is declared of the columns that may be asked about: `sf.integer(17, 90)`, `sf.text(values=[…])`.
        unit: `EACH_ROW` if no person has two rows, else the column that names the person.
        name: The name of the table; the file's, without its ending, if left out.
        names: The columns of a CSV file without a header.
        limits: With a unit column, how much one unit may contribute: `sf.Limits(max_rows_per_unit=10)`.
        matches: With a unit column, how many rows of one unit may share the values of some columns: ``{"day": 1}``.
        neighboring_relation: What may change between neighbouring databases.
        version: The owner's number of these declarations and this data.
        ledger: Where spending is kept; `sf.ExistingLedger(path)` if it has to be there; None to forget it on exit.
        engine: ``"duckdb"`` or ``"reference"``.
        engine_options: What the engine takes by name.

    Raises:
        ParameterError: A declaration cannot be used.
        UnboundedSensitivityError: A unit column without limits.

    Example:
        >>> import sfumato as sf
        >>> company = sf.open(
        ...     sf.datasets.company("january"), name="company", columns={"salary": sf.integer(0, 290_000)},
        ...     budget=sf.PureDP(1),
        ... )
        >>> company.query("SELECT AVG(salary) AS mean FROM company").cost(epsilon="0.5")
        PureDP(epsilon=Fraction(1, 2))
    """
    facts = source if isinstance(source, SourceFacts) else SourceFacts(source=source)
    if names is not None:
        facts = replace(facts, names=tuple(names))
    table_name = name or _stem(facts.source)
    columns = dict(columns)
    if isinstance(unit, str):
        unit = UnitColumn(unit)
    if isinstance(unit, UnitColumn):
        columns.setdefault(unit.column, Column(kind=Kind.TEXT))
    claims = {(names,) if isinstance(names, str) else names: most for names, most in (matches or {}).items()}
    table = Table(name=table_name, columns=columns, unit=unit, limits=limits or Limits(), matches=claims)
    policy = Policy(
        dataset=table_name, version=version, data_version=version, unit_name=_unit_name(unit),
        tables={table_name: table},
        sources={table_name: facts},
        neighboring_relation=neighboring_relation,
    )  # fmt: skip
    return Session(policy, budget=budget, ledger=ledger, engine=engine, engine_options=engine_options)


def _loaded(path: str | PathLike[str]) -> Policy:
    from sfumato.query.policy_file import load_policy  # pydantic is for policy files alone

    return load_policy(Path(path))


def _accounts(policy: Policy, budget: Budget, window: Window | None, lifetime: Budget | None) -> tuple[Opened, ...]:
    """The account of a dataset, and above it the one that bounds all of its windows, if there is one."""
    own = Opened(
        account=policy.dataset, budget=budget, neighboring_relation=policy.neighboring_relation,
        privacy_unit=policy.unit_name, parents=policy.derived_from, window=window,
    )  # fmt: skip
    if lifetime is None:
        return (own,)
    if window is None:
        raise ParameterError("lifetime", str(lifetime), "belongs to a budget with a window; state it as budget alone")
    whole = replace(own, account=f"{policy.dataset}/for life", budget=lifetime, window=None)
    return whole, replace(own, parents=(whole.account,))


def _stem(source: object) -> str:
    if not isinstance(source, str | Path):
        raise ParameterError("name", None, "must name the table, as a frame has no file name")
    path = Path(source)
    return Path(path.stem).stem if path.suffix.lower() in PACKED else path.stem  # visits of visits.csv.gz


def _unit_name(unit: PrivacyUnit) -> str:
    return "row" if unit == EACH_ROW else str(unit)
