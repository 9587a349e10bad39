"""`Session`: a database of people under a policy and a budget, to be asked."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self

from sfumato.engines.base import Engine
from sfumato.engines.duckdb import DuckDBEngine
from sfumato.engines.reference import ReferenceEngine
from sfumato.engines.sources import DataSource, keeps_rows, open_source, readable
from sfumato.errors import ParameterError
from sfumato.ledger.entry import Opened
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.guarantees import Guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, EACH_ROW, NeighboringRelation, PrivacyUnit, UnitColumn
from sfumato.query.policy import Policy, SourceFacts
from sfumato.query.relations import Source
from sfumato.query.schema import Column, Key, Kind, Limits, Table
from sfumato.session.partition import Partition
from sfumato.session.pipeline import Desk
from sfumato.session.view import View

_ENGINES: Final[Mapping[str, Callable[[Mapping[str, DataSource]], Engine]]] = MappingProxyType(
    {"duckdb": DuckDBEngine, "reference": ReferenceEngine}
)


class Session(View):
    """A database of people under a policy and a budget: ask it in SQL or Python, and it answers with noise.

    **Guarantee**: all answers ever given under one ledger account, by any number of sessions, are together within its
    budget, for the privacy unit and the neighboring relation of the policy.

    Args:
        policy: A policy file, or a `Policy`.
        budget: What may be spent in all: `PureDP(1)`, `ApproxDP(3, "1e-6")`, or `NO_GUARANTEE` by name.
        ledger: Where spending is kept: a path or ``sqlite:///path``; None forgets it with the process.
        engine: ``"duckdb"``, or ``"reference"``, the slow one in plain Python.

    Raises:
        PolicyError: The policy says something impossible.
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
    ) -> None:
        policy = policy if isinstance(policy, Policy) else _loaded(policy)
        sources = {name: _opened(facts, policy.tables[name]) for name, facts in policy.sources.items()}
        keeping = {name: replace(t, keeps_rows=keeps_rows(sources[name])) for name, t in policy.tables.items()}
        policy = replace(policy, tables=keeping)
        self.policy = policy
        self.is_lasting = ledger is not None and ledger != "memory:"
        account = Opened(
            account=policy.dataset, budget=budget, neighboring_relation=policy.neighboring_relation,
            privacy_unit=policy.unit_name,
        )  # fmt: skip
        opened_ledger = open_ledger(ledger)
        try:
            opened_ledger.open_account(account)
            desk = Desk(policy=policy, engine=_engine(engine, sources), ledger=opened_ledger)
        except BaseException:
            opened_ledger.close()
            raise
        super().__init__(desk, {name: Source(table) for name, table in policy.tables.items()})

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
        if table not in self.policy.tables:
            raise ParameterError("table", table, f"must be one of: {', '.join(self.policy.tables)}")
        facts = self.policy.tables[table]
        keys = facts.column(by).values if values is None else tuple(values)
        if keys is None:
            raise ParameterError("values", None, f"must list the public values of {by}, as the policy does not")
        yield Partition(self._desk, facts, by=by, values=keys, max_parts_per_unit=max_parts_per_unit)

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
    budget: Guarantee,
    columns: Mapping[str, Column],
    unit: PrivacyUnit | str = EACH_ROW,
    name: str | None = None,
    names: Iterable[str] | None = None,
    limits: Limits | None = None,
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    version: str = "1",
    ledger: str | PathLike[str] | None = None,
    engine: str = "duckdb",
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
        neighboring_relation: What may change between neighbouring databases.
        version: The owner's number of these declarations and this data.
        ledger: Where spending is kept; None forgets it with the process.
        engine: ``"duckdb"`` or ``"reference"``.

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
    table = Table(name=table_name, columns=columns, unit=unit, limits=limits or Limits())
    policy = Policy(
        dataset=table_name, version=version, data_version=version, unit_name=_unit_name(unit),
        tables={table_name: table},
        sources={table_name: SourceFacts(source=source, names=None if names is None else tuple(names))},
        neighboring_relation=neighboring_relation,
    )  # fmt: skip
    return Session(policy, budget=budget, ledger=ledger, engine=engine)


def _loaded(path: str | PathLike[str]) -> Policy:
    from sfumato.query.policy_file import load_policy  # pydantic is for policy files alone

    return load_policy(Path(path))


def _engine(name: str, sources: Mapping[str, DataSource]) -> Engine:
    if name not in _ENGINES:
        raise ParameterError("engine", name, f"must be one of: {', '.join(_ENGINES)}")
    return _ENGINES[name](sources)


def _opened(facts: SourceFacts, table: Table) -> DataSource:
    return readable(open_source(facts.source, names=facts.names), table)


def _stem(source: object) -> str:
    if not isinstance(source, str | Path):
        raise ParameterError("name", None, "must name the table, as a frame has no file name")
    return Path(source).stem


def _unit_name(unit: PrivacyUnit) -> str:
    return "row" if unit == EACH_ROW else str(unit)
