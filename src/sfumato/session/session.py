"""`Session`: a database of people under a policy and a budget, to be asked."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sfumato.errors import ParameterError
from sfumato.ledger.entry import Opened
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.guarantees import Guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, EACH_ROW, NeighboringRelation, PrivacyUnit, UnitColumn
from sfumato.query.kinds import Kind
from sfumato.query.policy import Policy, SourceFacts
from sfumato.query.schema import Column, Key, Limits, Table
from sfumato.session.opening import open_engines, open_sources, places_of, relations_of, with_kept_rows
from sfumato.session.partition import Partition
from sfumato.session.pipeline import Desk
from sfumato.session.preparation import Preparation, Preparing
from sfumato.session.public_keys import with_public_keys
from sfumato.session.view import View
from sfumato.session.violations import violations


class Session(View):
    """A database of people under a policy and a budget: ask it in SQL or Python, and it answers with noise.

    **Guarantee**: all answers ever given under one ledger account, by any number of sessions, are together within its
    budget, for the privacy unit and the neighboring relation of the policy.

    Args:
        policy: A policy file, or a `Policy`.
        budget: What may be spent in all: `PureDP(1)`, `ApproxDP(3, "1e-6")`, or `NO_GUARANTEE` by name.
        ledger: Where spending is kept: a path or ``sqlite:///path``; None forgets it with the process.
        engine: Of tables in files and frames: ``"duckdb"``, ``"polars"``, or ``"reference"``, the slow one in plain
            Python. A table whose source is an address, such as ``postgresql://…``, stays where it is.
        engine_options: What the engine takes by name, such as ``{"memory_limit": "4GB"}``; and what others take, by
            their names: ``{"postgres": {"statement_timeout": 60}}``.

    Raises:
        PolicyError: The policy says something impossible.
        ParameterError: A source, an engine or an option that cannot be used.
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
        budget: Guarantee,
        ledger: str | PathLike[str] | None = None,
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
            self.policy = with_public_keys(with_kept_rows(declared, sources), running)
            relations = relations_of(self.policy)
            opened_ledger = open_ledger(ledger)
            opened.callback(opened_ledger.close)
            opened_ledger.open_account(_account(self.policy, budget))
            opened.pop_all()  # nothing failed: both stay open until the session is closed
        self._start, self._sources = start, sources
        super().__init__(Desk(policy=self.policy, engine=running, ledger=opened_ledger), relations)

    @property
    def budget(self) -> Guarantee:
        """All that may ever be spent."""
        return self._desk.ledger.budget(self._desk.account)

    @property
    def spent(self) -> Guarantee:
        """All that was spent, computed from the ledger's entries."""
        return self._desk.ledger.spent(self._desk.account)

    @property
    def remaining(self) -> Guarantee:
        """What is left."""
        return self._desk.ledger.remaining(self._desk.account)

    @contextmanager
    def partition(
        self, table: str, *, by: str, values: Iterable[Key] | None = None, max_parts_per_unit: int = 1
    ) -> Iterator[Partition]:
        """A table cut by the public values of a column; see `Partition`.

        Args:
            table: The table to cut.
            by: The column whose values name the parts.
            values: The public values; those of the policy if left out.
            max_parts_per_unit: In how many parts one unit may lie.

        Raises:
            ParameterError: No such table or column, or no public values.
        """
        facts = self._table(table)
        keys = facts.column(by).values if values is None else tuple(values)
        if keys is None:
            raise ParameterError("values", None, f"must list the public values of {by}, as the policy does not")
        yield Partition(self._desk, facts, by=by, values=keys, max_parts_per_unit=max_parts_per_unit)

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

    def _table(self, name: str) -> Table:
        if name not in self.policy.tables:
            raise ParameterError("table", name, f"must be one of: {', '.join(self.policy.tables)}")
        return self.policy.tables[name]

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
    budget: Guarantee,
    columns: Mapping[str, Column],
    unit: PrivacyUnit | str = EACH_ROW,
    name: str | None = None,
    names: Iterable[str] | None = None,
    limits: Limits | None = None,
    matches: Mapping[str | tuple[str, ...], int] | None = None,
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    version: str = "1",
    ledger: str | PathLike[str] | None = None,
    engine: str = "duckdb",
    engine_options: Mapping[str, Any] | None = None,
) -> Session:
    """A session on one table.

    Args:
        source: A CSV or Parquet file, or an Arrow, pandas or Polars frame.
        budget: What may be spent in all.
        columns: What is declared of the columns that may be asked about: `sf.integer(17, 90)`, `sf.text(values=[…])`.
        unit: `EACH_ROW` if no person has two rows, else the column that names the person.
        name: The name of the table; the file's, without its ending, if left out.
        names: The columns of a CSV file without a header.
        limits: With a unit column, how much one unit may contribute: `sf.Limits(max_rows_per_unit=10)`.
        matches: With a unit column, how many rows of one unit may share the values of some columns: ``{"day": 1}``.
        neighboring_relation: What may change between neighbouring databases.
        version: The owner's number of these declarations and this data.
        ledger: Where spending is kept; None forgets it with the process.
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
    table_name = name or _stem(source)
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
        sources={table_name: SourceFacts(source=source, names=None if names is None else tuple(names))},
        neighboring_relation=neighboring_relation,
    )  # fmt: skip
    return Session(policy, budget=budget, ledger=ledger, engine=engine, engine_options=engine_options)


def _loaded(path: str | PathLike[str]) -> Policy:
    from sfumato.query.policy_file import load_policy  # pydantic is for policy files alone

    return load_policy(Path(path))


def _account(policy: Policy, budget: Guarantee) -> Opened:
    return Opened(
        account=policy.dataset, budget=budget, neighboring_relation=policy.neighboring_relation,
        privacy_unit=policy.unit_name,
    )  # fmt: skip


def _stem(source: object) -> str:
    if not isinstance(source, str | Path):
        raise ParameterError("name", None, "must name the table, as a frame has no file name")
    return Path(source).stem


def _unit_name(unit: PrivacyUnit) -> str:
    return "row" if unit == EACH_ROW else str(unit)
