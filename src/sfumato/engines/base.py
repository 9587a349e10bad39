"""The role of an engine, and the shape of what it returns."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, product, repeat
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from sfumato.errors import EngineError, FailedOnRowsError, NotPrivateError, ParameterError
from sfumato.privacy.secret import Secret
from sfumato.query.model.schema import Key, Table
from sfumato.query.model.statement import Bins, Statement

Integers: TypeAlias = npt.NDArray[np.object_]
"""Python integers, which never wrap: one row a group, one column a measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactGroups:
    """What an engine found: one entry for each non-empty group (or cell of a group), in no order that means anything.

    Attributes:
        keys: One sequence a key column.
        cells: The cells, or None where the statement has none (or only counts them).
        amounts: One array of integers a measure; int64, or Python integers where those are too narrow.
    """

    keys: tuple[Sequence[Key], ...] = field(repr=False)
    cells: Sequence[Key] | None = field(repr=False)
    amounts: tuple[npt.NDArray[np.int64] | Integers, ...] = field(repr=False)


Cause: TypeAlias = Callable[[BaseException], str | None]
"""Of a failure its class, for the owner alone; or None if it cannot be about rows, such as a lost connection."""


class Engine(Protocol):
    """Something that holds tables and can run the exact half of a plan on them."""

    @property
    def name(self) -> str:
        """What errors and receipts call it."""

    @property
    def sampling(self) -> str:
        """What receipts call the hash by which groups and rows above a limit are sampled."""

    def run(self, statement: Statement, *, salt: str) -> Secret[ExactGroups]:
        """The measures of every non-empty group, as `Statement` says.

        Args:
            statement: What to compute.
            salt: 32 hexadecimal digits, fresh for each query, by which groups and rows above a limit are sampled.

        Raises:
            EngineError: The engine failed; without its text.
        """

    def sql(self, statement: Statement, /) -> str:
        """What `run` has a database run, for people to read, with `…` for salts; no data is read.

        Tables have the names of the policy, also those that are prepared, and no buckets are shown. Where a table is
        stored so that a quicker form finds the same numbers, that is run and not shown. It is empty if the engine runs
        no SQL.
        """

    def close(self) -> None:
        """Let go of connections and copies."""


@runtime_checkable
class Streaming(Protocol):
    """An engine that can give what it found piece by piece, so that nobody holds all groups at once."""

    def batches(self, statement: Statement, *, salt: str, size: int) -> Generator[Secret[ExactGroups], None, None]:
        """What `Engine.run` finds, at most so many groups at a time.

        Whoever asks has to read all of it, or close it: until then the engine may answer nobody else.

        Args:
            statement: What to compute; without cells that are shown.
            salt: As of `Engine.run`.
            size: How many groups a batch has at most.

        Raises:
            EngineError: The engine failed; without its text.
        """


@runtime_checkable
class Preparing(Protocol):
    """An engine that can store tables clustered by unit."""

    def prepare(self, table: Table) -> None:
        """Store a table as queries read it; answers stay the same. One that is stored already stays as it is."""


def in_batches(found: ExactGroups, *, size: int) -> Iterator[ExactGroups]:
    """What was found without cells, so many groups at a time.

    Example:
        >>> whole = ExactGroups(keys=(["b", "a"],), cells=None, amounts=(np.array([2, 1]),))
        >>> [(one.keys[0], one.amounts[0].tolist()) for one in in_batches(whole, size=1)]
        [(['b'], [2]), (['a'], [1])]
    """
    for start in range(0, _size(found), size):
        own = slice(start, start + size)
        keys = tuple(column[own] for column in found.keys)
        yield ExactGroups(keys=keys, cells=None, amounts=tuple(amounts[own] for amounts in found.amounts))


def batches_of(
    engine: Engine, statement: Statement, *, salt: str, size: int
) -> Generator[Secret[ExactGroups], None, None]:  # fmt: skip
    """What an engine finds, batch by batch; of one that does not stream as it is found, cut."""
    if isinstance(engine, Streaming):
        return engine.batches(statement, salt=salt, size=size)
    whole = engine.run(statement, salt=salt).open_for_noise()
    return (Secret(one) for one in in_batches(whole, size=size))


def one_place(tables: Iterable[Table], places: Mapping[str, str]) -> str:
    """The name of the engine that has all of some tables.

    Args:
        tables: Some of them.
        places: The name of the engine of each table.

    Raises:
        NotPrivateError: They are in several, so that rows would have to leave one of them.
    """
    own = {table.name: places[table.name] for table in tables}
    names = set(own.values())
    if len(names) > 1:
        raise NotPrivateError(
            " with ".join(f"{table} ({engine})" for table, engine in own.items()),
            "these tables are in different engines, and rows never leave their engine",
            "Put the tables into one engine, or query each of them alone.",
        )  # fmt: skip
    return names.pop()


def groups(statement: Statement) -> list[tuple[Key, ...]]:
    """The public groups of a statement, in the order in which answers list them, the last key fastest.

    Raises:
        TypeError: A key is private.
    """
    listed = []
    for key in statement.keys:
        if key.values is None:
            raise TypeError("private keys are known only once they are selected")
        listed.append(key.values)
    return list(product(*listed))


def cells(statement: Statement) -> list[Key]:
    """The public cells of a statement, in order.

    Raises:
        TypeError: It has none.
    """
    match statement.cell:
        case Bins():
            return list(range(statement.cell.count))
        case cell if cell is not None and cell.values is not None:
            return list(cell.values)
        case _:
            raise TypeError("the statement has no public cells")


def aligned(
    statement: Statement, found: ExactGroups, at: Sequence[tuple[Key, ...]]
) -> npt.NDArray[np.int64] | Integers:
    """What an engine found, on given groups: zeros for those it did not find, whatever order it came in.

    Args:
        statement: What was computed.
        found: What the engine found.
        at: The groups.

    Returns:
        One row a group (or for statements with cells, one a group and cell, the cell fastest), one column a measure;
        int64, or Python integers where those are too narrow.
    """
    has_cells = statement.shown_cell is not None
    entries: Iterable[Any] = product(at, cells(statement)) if has_cells else zip(at, repeat(None), strict=False)
    places = dict(zip(entries, count(), strict=False))
    own_cells: Iterable[Key | None] = repeat(None, _size(found)) if found.cells is None else found.cells
    own_groups: Iterable[tuple[Key, ...]] = zip(*found.keys, strict=True) if found.keys else repeat((), _size(found))
    rows = np.array([places.get(entry, -1) for entry in zip(own_groups, own_cells, strict=True)], dtype=np.int64)
    kept = np.flatnonzero(rows >= 0)
    is_wide = np.dtype(object) in [amounts.dtype for amounts in found.amounts]
    table = np.zeros((len(places), len(statement.measures)), dtype=object if is_wide else np.int64)
    for index, amounts in enumerate(found.amounts):
        table[rows[kept], index] = amounts[kept]
    return table


def _size(found: ExactGroups) -> int:
    return len(found.amounts[0]) if found.amounts else len(found.keys[0]) if found.keys else 0


@contextmanager
def failing(
    engine: str, phase: str, failures: tuple[type[BaseException], ...], *, cause: Cause | None = None
) -> Iterator[None]:  # fmt: skip
    """Inside, failures of an engine become one error of constant text.

    Args:
        engine: The name of the engine.
        phase: What it did, as `EngineError` says it.
        failures: What it and its libraries raise. What is wrong with a declaration is none of them, whatever it is.
        cause: Where rows are read, what tells failures that may be about them from others.

    Raises:
        EngineError: One of them was raised; `FailedOnRowsError` if it may be about rows.

    Example:
        >>> try:
        ...     with failing("duckdb", "read a source", (OSError,)):
        ...         raise OSError("row 7: Alice")
        ... except EngineError as error:
        ...     print(error)
        the duckdb engine failed while it read a source; its message is hidden, as it can quote rows
    """
    try:
        yield
    except ParameterError:
        raise
    except failures as error:
        found = None if cause is None else cause(error)
    else:
        return
    raise (EngineError(engine, phase) if found is None else FailedOnRowsError(engine, phase, found)) from None


def cause_of(error: BaseException) -> str | None:
    """The type of a failure, unless a file is gone, or a query cannot be written down: these are about no row."""
    return None if isinstance(error, FileNotFoundError | UnicodeEncodeError | RecursionError) else type(error).__name__
