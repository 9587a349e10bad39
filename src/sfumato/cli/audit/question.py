"""`sfumato audit sql`: a real question, asked again and again of small databases that were made up.

It is asked here, or in a process of its own by `sfumato query … --json`, as anybody would call it.
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
from sfumato.audit.core.copies import Worlds
from sfumato.audit.core.roles import Mechanism, NeighborPair
from sfumato.cli.audit.made_up import Row, as_arrow, pairs_of, read_rows
from sfumato.cli.audit.reporting import Wanted, audit_and_tell
from sfumato.cli.declarations import declared_columns
from sfumato.cli.query import Declared, Price
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
_MOST_WORLDS: Final = 10_000  # of which the numbers fit into one argument of a command
_SLOW: Final = 2000  # runs, one by one
_IN_A_STEP: Final = 20  # of the bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One question, and how it is asked of made-up rows.

    Attributes:
        policy: What is declared; its source of the table is replaced.
        table: The one table with people in it.
        sql: The question.
        price: What it is asked for.
        engine: What runs it in this process.
    """

    policy: Policy
    table: str
    sql: str
    price: PureDP | ApproxDP
    engine: str

    def of_rows(self, rows: Sequence[Row]) -> list[Any]:
        """What an analyst sees: the records and notes of a fresh session with a fresh ledger."""
        facts = self.policy.tables[self.table]
        source = SourceFacts(source=as_arrow(rows, facts.columns))
        policy = replace(self.policy, sources={**self.policy.sources, self.table: source})
        with Session(policy, budget=self.price, engine=self.engine) as session:
            release = session.sql(self.sql, epsilon=self.price.epsilon, delta=self.price.delta)
            return [*release.records(), *release.notes]

    def check(self) -> None:
        """Refuse what cannot be asked, before it counts as an answer that tells nothing."""
        facts = self.policy.tables[self.table]
        source = SourceFacts(source=as_arrow((), facts.columns))
        policy = replace(self.policy, sources={**self.policy.sources, self.table: source})
        with Session(policy, budget=self.price, engine=self.engine) as session:
            session.query(self.sql).cost(epsilon=self.price.epsilon, delta=self.price.delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How a question is asked: of which rows, in how many worlds, where, and by which engine."""

    rows: str | None = None
    worlds: str | None = None
    child: bool = False
    engine: str = "duckdb"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """A question as a mechanism, what it is tried on, and how many runs of it are made at once."""

    mechanism: Mechanism
    pairs: Sequence[NeighborPair]
    at_once: int


def audit_question(
    question: tuple[str, ...], *, declared: Declared, price: Price, how: How, most_pairs: int, wanted: Wanted
) -> None:
    """Make up databases, and audit the question on them."""
    with audited(question, declared=declared, price=price, how=how, samples=wanted.samples) as made:
        if len(made.pairs) > most_pairs:
            tried = f"{most_pairs} of {len(made.pairs)} pairs of neighbors are tried"
            note(f"{tried}; --most-pairs {len(made.pairs)} tries all")
        if how.worlds is None and wanted.samples >= _SLOW:
            note("each run is a session of its own; --worlds COLUMN asks thousands at once, if the question has groups")
        pairs = made.pairs[:most_pairs]
        audit_and_tell(made.mechanism, pairs, title=question[-1], wanted=wanted, at_once=made.at_once)


@contextmanager
def audited(
    question: tuple[str, ...], *, declared: Declared, price: Price, how: How, samples: int
) -> Iterator[Audited]:
    """A question that can be asked as often as an audit of so many samples wants.

    Raises:
        SfumatoError: It cannot be asked at all.
    """
    *file, sql = question
    policy, table = _declared(tuple(file), sql, declared)
    at_once = min(_MOST_WORLDS, samples // 2 + 4 * isqrt(samples))
    if how.worlds is not None:
        _require_apart(sql, how.worlds)
        policy = _with_worlds(policy, table, how.worlds, at_once)
    asking = Asking(policy=policy, table=table, sql=sql, price=price.asked, engine=how.engine)
    asking.check()
    facts = policy.tables[table]
    database = None if how.rows is None else read_rows(how.rows, facts, without=how.worlds)
    pairs = pairs_of(facts, relation=policy.neighboring_relation, without=how.worlds, rows=database)
    with _asked(asking, declared, child=how.child, worlds=how.worlds, at_once=at_once) as ask:
        if how.worlds is None:
            yield Audited(mechanism=one_by_one(ask), pairs=pairs, at_once=1 if how.child else _IN_A_STEP)
        else:
            yield Audited(mechanism=_in_worlds(ask, how.worlds, facts, at_once), pairs=pairs, at_once=at_once)


def _in_worlds(ask: Callable[[Any], Any], worlds: str, facts: Table, at_once: int) -> Worlds:
    unit = facts.unit.column if isinstance(facts.unit, UnitColumn) else None
    return Worlds(ask=lambda rows: told_apart(ask(rows), worlds), world=worlds, unit=unit, at_once=at_once)


def told_apart(answer: Sequence[Any], worlds: str) -> list[Row]:
    """The records of an answer, without its notes.

    Raises:
        ParameterError: They do not say which world they are of.
    """
    records = [record for record in answer if isinstance(record, Mapping)]
    if not all(worlds in record for record in records):
        raise ParameterError("--worlds", worlds, "must be a column that the question selects and groups by")
    return records


@contextmanager
def _asked(
    asking: Asking, declared: Declared, *, child: bool, worlds: str | None, at_once: int
) -> Iterator[Callable[[Any], Any]]:
    """What asks the question of some rows, here or in a process of its own."""
    if not child:
        yield asking.of_rows
        return
    if declared.policy is not None and (worlds is not None or len(asking.policy.sources) > 1):
        raise ParameterError("--child", declared.policy, "needs declarations instead, or a policy of one table alone")
    options = [*_options(declared, worlds, at_once), "--epsilon", str(asking.price.epsilon)]
    options += ["--delta", str(asking.price.delta)]
    with TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "sfumato", "query"]
        file, columns = Path(folder) / f"{asking.table}.parquet", asking.policy.tables[asking.table].columns
        yield partial(
            ask_child, program=program, options=[str(file), asking.sql, *options], file=file, columns=columns,
            must_answer=worlds is not None,
        )  # fmt: skip


def _options(declared: Declared, worlds: str | None, at_once: int) -> list[str]:
    """The declarations as `sfumato query` takes them, with a column of worlds as the policy has it."""
    if declared.policy is not None:
        return ["--policy", declared.policy]
    columns = [one for one in declared.columns if one.partition("=")[0] != worlds]
    keys = [one for one in declared.keys if one.partition("=")[0] != worlds]
    if worlds is not None:
        columns, keys = [*columns, f"{worlds}=int"], [*keys, f"{worlds}={','.join(map(str, range(at_once)))}"]
    numbers = {
        "--unit": declared.unit, "--max-rows-per-unit": declared.max_rows_per_unit,
        "--max-groups-per-unit": declared.max_groups_per_unit,
        "--max-rows-per-group-per-unit": declared.max_rows_per_group_per_unit,
    }  # fmt: skip
    stated = [word for option, value in numbers.items() if value is not None for word in (option, str(value))]
    return [
        *(word for one in columns for word in ("--column", one)), *(word for one in keys for word in ("--keys", one)),
        *stated,
    ]  # fmt: skip


def _declared(file: tuple[str, ...], sql: str, declared: Declared) -> tuple[Policy, str]:
    """The policy and the table of people in it."""
    if declared.policy is not None:
        if declared.of_a_table:
            raise ParameterError("policy", declared.policy, f"says this itself: {', '.join(declared.of_a_table)}")
        policy = load_policy(declared.policy)
        private = [name for name, table in policy.tables.items() if not table.is_public]
        if len(private) != 1:
            raise ParameterError("--policy", private, "must have one table of people, and may have public ones")
        return policy, private[0]
    if len(file) + 1 > _FILE_AND_SQL:
        raise ParameterError("arguments", len(file) + 1, "must be a question, or a file's name and a question")
    name = Path(file[0]).stem if file else _table_in(sql)
    table = Table(
        name=name,
        columns=declared_columns(declared.columns, declared.keys),
        unit=EACH_ROW if declared.unit is None else UnitColumn(declared.unit),
        limits=Limits(
            max_rows_per_unit=declared.max_rows_per_unit, max_groups_per_unit=declared.max_groups_per_unit,
            max_rows_per_group_per_unit=declared.max_rows_per_group_per_unit,
        ),
    )  # fmt: skip
    tables: Mapping[str, Table] = {name: table}
    return Policy(
        dataset=name, version="1", data_version="1", unit_name="unit", tables=tables,
        sources={name: SourceFacts(source=as_arrow((), table.columns))},
    ), name  # fmt: skip


def _table_in(sql: str) -> str:
    """The one table that a question names."""
    tree = parsed(sql)
    own = {table.alias for table in tree.find_all(exp.CTE)}
    names = sorted({table.name for table in tree.find_all(exp.Table)} - own)
    if len(names) != 1:
        raise ParameterError("SQL", sql, "must be on one table; state the file that it is in, which is not read")
    return names[0]


def _require_apart(sql: str, worlds: str) -> None:
    """Refuse what lets the answers about some worlds decide which others are shown: then no world is a run of its own.

    Raises:
        ParameterError: The question cuts its answer.
    """
    if parsed(sql).find(exp.Limit, exp.Offset, exp.Fetch) is not None:
        raise ParameterError("--worlds", worlds, "needs a question without LIMIT and OFFSET, which choose among worlds")


def _with_worlds(policy: Policy, table: str, worlds: str, number: int) -> Policy:
    """The policy with numbers of worlds as the public keys of a column."""
    facts = policy.tables[table]
    if facts.column(worlds).values is None:
        raise ParameterError("--worlds", worlds, "must have public keys: --keys ward=A,B")
    if isinstance(facts.unit, UnitColumn) and facts.unit.column == worlds:
        raise ParameterError("--worlds", worlds, "must not be the column that names the unit")
    columns = {**facts.columns, worlds: integer(values=range(number))}
    return replace(policy, tables={**policy.tables, table: replace(facts, columns=columns)})


_TIMEOUT: Final = 600.0


def ask_child(
    rows: Sequence[Row],
    *,
    program: Sequence[str],
    options: Sequence[str],
    file: Path,
    columns: Mapping[str, Column],
    must_answer: bool,
) -> Any:
    """What the command prints about rows that it finds in a file: records and notes, or how it failed.

    Args:
        rows: The made-up database.
        program: How the command is called.
        options: Its arguments.
        file: Where the rows are put, always the same, as an error may name it.
        columns: Their types.
        must_answer: Whether a failure is an error here, and no output.

    Raises:
        ParameterError: It took too long, printed no JSON, or failed where it must answer.
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
