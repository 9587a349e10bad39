"""`Session`: a database of people under a policy and a budget, to be asked."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sfumato.engines.base import Engine, Preparing
from sfumato.engines.sources.csv_text import PACKED
from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow, Window
from sfumato.ledger.locations import ExistingLedger, open_ledger
from sfumato.numeric.arguments import listed, of_kind
from sfumato.numeric.rationals import flag
from sfumato.privacy.budgets import Budget, as_budget
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, EACH_ROW, NeighboringRelation, PrivacyUnit, UnitColumn
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Column, Limits, Table
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.session.account import AccountView
from sfumato.session.asking.execution import Desk
from sfumato.session.asking.preparation import Preparation, typical_errors
from sfumato.session.asking.view import relations_of
from sfumato.session.opening.examination import examined, violations
from sfumato.session.opening.lineage import identities, protected
from sfumato.session.opening.opening import (
    as_stored,
    open_engines,
    open_sources,
    places_of,
    with_public_keys,
)


class Session(AccountView):
    """A database of people with a policy and a budget, which answers queries in SQL or Python with noise.

    **Guarantee**: all answers ever released under one ledger account, by any number of sessions, together cost at most
    its budget, for the privacy unit and the neighboring relation of the policy. `AccountView` describes windows and
    child accounts.

    Args:
        policy: The path of a policy file, or a `Policy`.
        budget: The most that may be spent: `PureDP(1)`, `ApproxDP(3, "1e-6")`, `ZCDP("0.5")`, `RenyiDP(...)`, or
            `NO_GUARANTEE` by name.
        window: The period of the budget: `CalendarWindow("month")`, `RollingWindow(30)`; None: it never refills.
        lifetime: With a window, the most that may be spent in all windows together; None: unbounded, and labels say so.
        ledger: Where spending is recorded: a path or ``sqlite:///path``, or ``postgresql://…`` for several hosts; None:
            in memory, until the process ends.
        must_exist: Whether the ledger must exist already; otherwise a mistyped path creates a new one with a full
            budget.
        engine: The engine for tables in files and frames: ``"duckdb"``, or ``"reference"``, a slow one in plain Python.
            A table whose source is an address, such as ``postgresql://…``, stays where it is.
        engine_options: Options of the engine, such as ``{"memory_limit": "4GB"}``, and of other engines under their
            names: ``{"postgres": {"statement_timeout": 60}}``.

    Raises:
        PolicyError: The policy contradicts itself or is incomplete.
        ParameterError: A source, an engine or an option that cannot be used.
        UnitChangedError: The ledger records another unit for a table or its data.
        LedgerError: The ledger is damaged, or has the account with another budget.

    Example:
        >>> import sfumato as sf
        >>> votes = sf.open(sf.datasets.votes(), name="votes", columns={"sport": sf.text()}, budget=sf.PureDP(1))
        >>> release = votes.sql("SELECT COUNT(*) AS n FROM votes WHERE sport = 'Football'", epsilon="0.5")
        >>> str(votes.spent), str(votes.remaining)
        ('ε 0.5', 'ε 0.5')
    """

    _desk: Desk

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
        _check_kinds(window=window, ledger=ledger, engine=engine, engine_options=engine_options)
        as_budget(budget)
        declared = (
            policy if isinstance(policy, Policy) else _loaded(_path(policy, "policy", "a Policy, or the path of one"))
        )
        self.is_lasting = ledger is not None and ledger != "memory:"
        places = places_of(declared, engine=engine)
        sources = open_sources(declared, places)
        with ExitStack() as opened:
            start = partial(open_engines, engine=engine, places=places, options=engine_options or {})
            running = start(sources)
            opened.callback(running.close)
            known = with_public_keys(as_stored(declared, sources, running), running)
            relations = relations_of(known)
            opened_ledger = open_ledger(ledger, must_exist=flag(must_exist, "must_exist"))
            opened.callback(opened_ledger.close)
            found = identities(known, sources, engine=running) if self.is_lasting else {}
            *above, own = _accounts(known, budget, window, lifetime)
            for account in above:
                opened_ledger.open_account(account)
            tables = protected(known, found, opened_ledger.key)
            opened_ledger.open_account(own, tables=tables, beside=known.beside)
            opened.pop_all()  # nothing failed: both stay open until the session is closed
        self._start, self._sources = start, sources
        several = places if len(set(places.values())) > 1 else {}
        desk = Desk(policy=known, engine=running, ledger=opened_ledger, account=known.dataset, places=several)
        super().__init__(desk, relations)

    @property
    def desk(self) -> Desk:
        """What answers: for servers, which plan and charge in one process and run in another."""
        return self._desk

    def prepare(self, table: str | None = None) -> Preparation:
        """Store a table, or all tables, in the engine's fastest form, and `check` them; for the owner only.

        Answers stay the same and come sooner.

        Raises:
            ParameterError: There is no such table.
            EngineError: The engine failed.
        """
        for stored in self._tables_of(table):
            if isinstance(self._desk.engine, Preparing):
                self._desk.engine.prepare(stored)
        return self.check(table)

    def check(self, table: str | None = None) -> Preparation:
        """Report in exact numbers which data of a table, or of all tables, do not count; for the owner only.

        The report describes what every query does: rows without an owner, or beyond a claim, are left out. Values that
        are not of the declared type are NULL. Others are clamped, shortened or in no group. Limits leave out what
        exceeds them. Nothing is spent. The rows are read again, some of them several times.

        Raises:
            ParameterError: There is no such table.
            EngineError: The engine failed.
        """
        broken, examinations, errors = {}, {}, {}
        for one in self._tables_of(table):
            with closing(self.opened_again()) as engine:
                broken[one.name] = violations(one, engine)
                examinations[one.name] = found = examined(one, engine)
            present = {losses.column: losses.present for losses in found.columns}
            errors[one.name] = typical_errors(self.table(one.name), one, present)
        return Preparation(violations=broken, examinations=examinations, errors=errors)

    def opened_again(self) -> Engine:
        """Another engine on the same sources, which reads files as they are now; whoever asks for it closes it.

        Raises:
            ParameterError: A source is gone, or cannot be read as declared any more.
        """
        return self._start(self._sources)

    def _tables_of(self, table: str | None) -> tuple[Table, ...]:
        return tuple(self.policy.tables.values()) if table is None else (self._table(table),)

    def close(self) -> None:
        """Close the engine and the ledger."""
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
        return f"<Session on {tables}: spent {self.spent} of {self.budget}, remaining {self.remaining}{kept}>"


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
    """Open a session on one table.

    Args:
        source: A CSV or Parquet file, an Arrow, pandas or Polars frame, or a `SourceFacts`:
            `sf.csv("visits.csv", delimiter=";", decimal=",")` states the format of a CSV file.
        budget: The most that may be spent.
        columns: The columns that queries may use: `sf.integer(17, 90)`, `sf.text(values=[…])`.
        unit: `EACH_ROW` if no person has two rows, otherwise the column that identifies the person.
        name: The name of the table; default: the name of the file without its ending.
        names: The columns of a CSV file without a header.
        limits: With a unit column, the contribution bounds of one unit: `sf.Limits(max_rows_per_unit=10)`.
        matches: With a unit column, how many rows of one unit may share the values of some columns: ``{"day": 1}``.
        neighboring_relation: What may change between neighboring databases.
        version: A text that the owner changes whenever declarations or data change.
        ledger: Where spending is recorded; `sf.ExistingLedger(path)` if it must exist; None: in memory, until exit.
        engine: ``"duckdb"`` or ``"reference"``.
        engine_options: Options of the engine by name.

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
    of_kind(columns, "columns", Mapping, 'columns by their names, such as {"age": sf.integer(0, 99)}')
    facts = source if isinstance(source, SourceFacts) else SourceFacts(source=source)
    if names is not None:
        facts = replace(facts, names=listed(names, "names"))
    table_name = _stem(facts.source) if name is None else of_kind(name, "name", str, "the name of the table, as text")
    columns = dict(columns)
    if isinstance(unit, str):
        unit = UnitColumn(unit)
    if isinstance(unit, UnitColumn):
        columns.setdefault(unit.column, Column(kind=Kind.TEXT))
    of_kind({} if matches is None else matches, "matches", Mapping, 'how many rows may match, such as {"day": 1}')
    claims = {(names,) if isinstance(names, str) else names: most for names, most in (matches or {}).items()}
    table = Table(
        name=table_name, columns=columns, unit=unit, limits=Limits() if limits is None else limits, matches=claims
    )
    policy = Policy(
        dataset=table_name, version=version, data_version=version, unit_name="row" if unit == EACH_ROW else str(unit),
        tables={table_name: table},
        sources={table_name: facts},
        neighboring_relation=neighboring_relation,
    )  # fmt: skip
    return Session(policy, budget=budget, ledger=ledger, engine=engine, engine_options=engine_options)


def _check_kinds(*, window: object, ledger: object, engine: object, engine_options: object) -> None:
    """Before anything is opened."""
    if window is not None:
        of_kind(window, "window", (CalendarWindow, RollingWindow), 'a window, such as sf.CalendarWindow("month")')
    if ledger is not None and not isinstance(ledger, ExistingLedger):
        _path(ledger, "ledger", "the path or address of a ledger, or sf.ExistingLedger of one")
    of_kind(engine, "engine", str, 'the name of an engine, such as "duckdb"')
    if engine_options is not None:
        of_kind(engine_options, "engine_options", Mapping, "options by their names")


def _path(value: Any, name: str, wanted: str) -> str | PathLike[str]:
    of_kind(value, name, (str, PathLike), wanted)
    if "\0" in str(value):
        raise ParameterError(name, type(value).__name__, "must have no NUL")  # an address may hold a password
    return value  # type: ignore[no-any-return] # a path, as was just seen


def _loaded(path: str | PathLike[str]) -> Policy:
    from sfumato.query.policy.file import load_policy  # pydantic is for policy files alone

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
        raise ParameterError("lifetime", str(lifetime), "belongs to a budget with a window; give it as budget")
    whole = replace(own, account=f"{policy.dataset}/for life", budget=lifetime, window=None)
    return whole, replace(own, parents=(whole.account,))


def _stem(source: object) -> str:
    if not isinstance(source, str | Path):
        raise ParameterError("name", None, "must name the table, as a frame has no file name")
    path = Path(source)
    return Path(path.stem).stem if path.suffix.lower() in PACKED else path.stem  # visits of visits.csv.gz
