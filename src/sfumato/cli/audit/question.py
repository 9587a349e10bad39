"""`sfumato audit sql`: a real query, run many times on small made-up databases.

It runs in this process, or as `sfumato query … --json` in a new process.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import isqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from pyarrow import parquet
from sqlglot import exp

from sfumato.audit.core.adapters import one_by_one
from sfumato.audit.core.copies import DatabaseCopies
from sfumato.audit.core.roles import AuditedMechanism, NeighborPair
from sfumato.cli.audit.made_up import Row, as_arrow, pairs_of, read_rows
from sfumato.cli.audit.reporting import AuditOptions, audit_and_report
from sfumato.cli.options import CostOptions, DataOptions, declared_columns
from sfumato.cli.show import note
from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.columns import integer
from sfumato.query.model.schema import Column, Limits, Table
from sfumato.query.policy.file import load_policy
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.query.sql.parsing import parsed
from sfumato.session.session import Session

_FILE_AND_SQL: Final = 2
_MOST_COPIES: Final = 10_000  # whose numbers fit into one argument of a command
_SLOW: Final = 2000  # runs, one by one
_IN_A_STEP: Final = 20  # runs, of the progress bar
_TIMEOUT: Final = 600.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One query that can run on made-up rows.

    Attributes:
        policy: The declarations; the source of the table is replaced.
        table: The only private table.
        sql: The query.
        cost: The cost of the query.
        engine: The engine that runs it in this process.
    """

    policy: Policy
    table: str
    sql: str
    cost: PureDP | ApproxDP
    engine: str

    def of_rows(self, rows: Sequence[Row]) -> list[Any]:
        """The records and notes of a new session with a new ledger, as an analyst sees them."""
        facts = self.policy.tables[self.table]
        source = SourceFacts(source=as_arrow(rows, facts.columns))
        policy = replace(self.policy, sources={**self.policy.sources, self.table: source})
        with Session(policy, budget=self.cost, engine=self.engine) as session:
            release = session.sql(self.sql, epsilon=self.cost.epsilon, delta=self.cost.delta)
            return [*release.records(), *release.notes]

    def check(self) -> None:
        """Refuse an invalid query now; in a run, the error would count as an output."""
        facts = self.policy.tables[self.table]
        source = SourceFacts(source=as_arrow((), facts.columns))
        policy = replace(self.policy, sources={**self.policy.sources, self.table: source})
        with Session(policy, budget=self.cost, engine=self.engine) as session:
            session.query(self.sql).cost(epsilon=self.cost.epsilon, delta=self.cost.delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How the query runs: on which rows and copies, in which process, and on which engine."""

    rows: str | None = None
    copies: str | None = None
    child: bool = False
    engine: str = "duckdb"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """A query as a mechanism, pairs to run it on, and the number of runs at once."""

    mechanism: AuditedMechanism
    pairs: Sequence[NeighborPair]
    at_once: int


def audit_question(
    question: tuple[str, ...],
    *,
    data: DataOptions,
    cost: CostOptions,
    runs: RunOptions,
    most_pairs: int,
    wanted: AuditOptions,
) -> None:
    """Make up databases, and audit the query on them."""
    with audited(question, data=data, cost=cost, runs=runs, samples=wanted.samples) as made:
        if len(made.pairs) > most_pairs:
            tried = f"{most_pairs} of {len(made.pairs)} pairs of neighbors are tried"
            note(f"{tried}; use --most-pairs {len(made.pairs)} for all")
        if runs.copies is None and wanted.samples >= _SLOW:
            note("each run is a separate session; with groups, --copies COLUMN does thousands of runs in one query")
        pairs = made.pairs[:most_pairs]
        audit_and_report(made.mechanism, pairs, title=question[-1], wanted=wanted, at_once=made.at_once)


@contextmanager
def audited(
    question: tuple[str, ...], *, data: DataOptions, cost: CostOptions, runs: RunOptions, samples: int
) -> Iterator[Audited]:
    """A query that can run as often as an audit of so many samples needs.

    Raises:
        SfumatoError: The query is invalid.
    """
    *file, sql = question
    policy, table = _declared(tuple(file), sql, data)
    at_once = min(_MOST_COPIES, samples // 2 + 4 * isqrt(samples))
    if runs.copies is not None:
        _require_apart(sql, runs.copies)
        policy = _with_copies(policy, table, runs.copies, at_once)
    asking = Asking(policy=policy, table=table, sql=sql, cost=cost.asked, engine=runs.engine)
    asking.check()
    facts = policy.tables[table]
    database = None if runs.rows is None else read_rows(runs.rows, facts, without=runs.copies)
    pairs = pairs_of(facts, relation=policy.neighboring_relation, without=runs.copies, rows=database)
    with _asked(asking, data, child=runs.child, copies=runs.copies, at_once=at_once) as ask:
        if runs.copies is None:
            yield Audited(mechanism=one_by_one(ask), pairs=pairs, at_once=1 if runs.child else _IN_A_STEP)
        else:
            column = runs.copies
            copies = DatabaseCopies(
                ask=lambda rows: records_of(ask(rows), column), copy=column, at_once=at_once,
                unit=facts.unit.column if isinstance(facts.unit, UnitColumn) else None,
            )  # fmt: skip
            yield Audited(mechanism=copies, pairs=pairs, at_once=at_once)


def records_of(answer: Sequence[Any], copies: str) -> list[Row]:
    """The records of an answer, without its notes.

    Raises:
        ParameterError: They lack the number of their copy.
    """
    records = [record for record in answer if isinstance(record, Mapping)]
    if not all(copies in record for record in records):
        raise ParameterError("--copies", copies, "must be a column that the query selects and groups by")
    return records


@contextmanager
def _asked(
    asking: Asking, data: DataOptions, *, child: bool, copies: str | None, at_once: int
) -> Iterator[Callable[[Any], Any]]:
    """A function that runs the query on some rows, in this process or in a new one."""
    if not child:
        yield asking.of_rows
        return
    if data.policy is not None and (copies is not None or len(asking.policy.sources) > 1):
        raise ParameterError(
            "--child", data.policy, "needs --column and the like, or a policy with a single table and no --copies"
        )
    options = [*_options(data, copies, at_once), "--epsilon", str(asking.cost.epsilon)]
    options += ["--delta", str(asking.cost.delta)]
    with TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "sfumato", "query"]
        file, columns = Path(folder) / f"{asking.table}.parquet", asking.policy.tables[asking.table].columns
        yield partial(
            ask_child, program=program, options=[str(file), asking.sql, *options], file=file, columns=columns,
            must_answer=copies is not None,
        )  # fmt: skip


def _options(data: DataOptions, copies: str | None, at_once: int) -> list[str]:
    """The options of `sfumato query` for the declarations, with the column of copies as in the policy."""
    if data.policy is not None:
        return ["--policy", data.policy]
    columns = [one for one in data.columns if one.partition("=")[0] != copies]
    keys = [one for one in data.keys if one.partition("=")[0] != copies]
    if copies is not None:
        columns, keys = [*columns, f"{copies}=int"], [*keys, f"{copies}={','.join(map(str, range(at_once)))}"]
    numbers = {
        "--unit": data.unit, "--max-rows-per-unit": data.max_rows_per_unit,
        "--max-groups-per-unit": data.max_groups_per_unit,
        "--max-rows-per-group-per-unit": data.max_rows_per_group_per_unit,
    }  # fmt: skip
    stated = [word for option, value in numbers.items() if value is not None for word in (option, str(value))]
    return [
        *(word for one in columns for word in ("--column", one)), *(word for one in keys for word in ("--keys", one)),
        *stated,
    ]  # fmt: skip


def _declared(file: tuple[str, ...], sql: str, data: DataOptions) -> tuple[Policy, str]:
    """The policy and its private table."""
    if data.policy is not None:
        if data.of_a_table:
            raise ParameterError(
                "policy", data.policy, f"already declares the data; leave out {', '.join(data.of_a_table)}"
            )
        policy = load_policy(data.policy)
        private = [name for name, table in policy.tables.items() if not table.is_public]
        if len(private) != 1:
            raise ParameterError("--policy", private, "must have exactly one private table; public tables are allowed")
        return policy, private[0]
    if len(file) + 1 > _FILE_AND_SQL:
        raise ParameterError("arguments", len(file) + 1, "must be SQL, or FILE and SQL")
    name = Path(file[0]).stem if file else _table_in(sql)
    table = Table(
        name=name,
        columns=declared_columns(data.columns, data.keys),
        unit=EACH_ROW if data.unit is None else UnitColumn(data.unit),
        limits=Limits(
            max_rows_per_unit=data.max_rows_per_unit, max_groups_per_unit=data.max_groups_per_unit,
            max_rows_per_group_per_unit=data.max_rows_per_group_per_unit,
        ),
    )  # fmt: skip
    tables: Mapping[str, Table] = {name: table}
    return Policy(
        dataset=name, version="1", data_version="1", unit_name="unit", tables=tables,
        sources={name: SourceFacts(source=as_arrow((), table.columns))},
    ), name  # fmt: skip


def _table_in(sql: str) -> str:
    """The only table in a query."""
    tree = parsed(sql)
    own = {table.alias for table in tree.find_all(exp.CTE)}
    names = sorted({table.name for table in tree.find_all(exp.Table)} - own)
    if len(names) != 1:
        raise ParameterError("SQL", sql, "must be on one table; name it as FILE, which is not read")
    return names[0]


def _require_apart(sql: str, copies: str) -> None:
    """Refuse a query in which the answer about one copy can depend on others: then runs are not independent.

    Raises:
        ParameterError: The query has LIMIT or OFFSET.
    """
    if parsed(sql).find(exp.Limit, exp.Offset, exp.Fetch) is not None:
        raise ParameterError("--copies", copies, "needs a query without LIMIT and OFFSET, which choose among copies")


def _with_copies(policy: Policy, table: str, copies: str, number: int) -> Policy:
    """The policy with the numbers of the copies as public keys of a column."""
    facts = policy.tables[table]
    if facts.column(copies).values is None:
        raise ParameterError("--copies", copies, "must have public keys: --keys ward=A,B")
    if isinstance(facts.unit, UnitColumn) and facts.unit.column == copies:
        raise ParameterError("--copies", copies, "must not be the column of the privacy unit")
    columns = {**facts.columns, copies: integer(values=range(number))}
    return replace(policy, tables={**policy.tables, table: replace(facts, columns=columns)})


def ask_child(
    rows: Sequence[Row],
    *,
    program: Sequence[str],
    options: Sequence[str],
    file: Path,
    columns: Mapping[str, Column],
    must_answer: bool,
) -> Any:
    """The records and notes that the command prints for rows in a file, or its failure.

    Args:
        rows: The made-up database.
        program: The program and its first arguments.
        options: Its other arguments.
        file: The file for the rows, always the same one, because an error may name it.
        columns: The declared columns of the rows.
        must_answer: Whether a failure is an error here, not an output.

    Raises:
        ParameterError: The command took too long, did not print JSON, or failed although it must answer.
    """
    parquet.write_table(as_arrow(rows, columns), file)
    arguments = [*program, *options, "--json"]
    try:
        ended = subprocess.run(  # noqa: S603 # this program itself, with the options it was given; there is no shell
            arguments, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=_TIMEOUT
        )
    except subprocess.TimeoutExpired:
        raise ParameterError("--child", arguments[-1], f"gave no answer within {_TIMEOUT:g} seconds") from None
    said = ended.stderr.decode("utf-8", "replace")
    if ended.returncode:
        if must_answer:
            raise ParameterError("--child", ended.returncode, f"failed: {' '.join(said.split())[-600:]}")
        return f"exit code {ended.returncode}: {said}"
    try:
        answer = json.loads(ended.stdout)
        return [*answer["records"], *answer["notes"]]
    except (ValueError, KeyError, TypeError):
        raise ParameterError("--child", ended.stdout[:80], "must print the answer as JSON") from None
