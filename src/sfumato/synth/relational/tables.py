"""`SyntheticTables`: made-up parents and their made-up children, whose keys hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import ApproxDP
from sfumato.session.releases.receipt import Receipt
from sfumato.synth.models.mixture import FittedModel
from sfumato.synth.models.rows import uniform
from sfumato.synth.relational.reading import TwoTables, unit_of
from sfumato.synth.synthetic import Synthetic

if TYPE_CHECKING:
    import pyarrow as pa

Codes: TypeAlias = npt.NDArray[np.int64]

_POOL: Final = 4
"""So many children are drawn for each that is wanted; of those that fit no parent the rest are left."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SyntheticTables:
    """Made-up rows of two tables: each child has one parent, and each parent as many children as it says.

    All that is drawn follows from noisy counts, so it costs nothing more.

    Attributes:
        parents: Made-up parents; one of their columns is the number of their children.
        children: Made-up children, each with the columns of its parent.
        guarantee: What the counts cost.
        receipt: Of the release.
        reused: Whether it was stored before, and so cost nothing now.
    """

    parents: Synthetic
    children: Synthetic
    guarantee: ApproxDP
    receipt: Receipt = field(repr=False)
    reused: bool = field(repr=False)
    tables: TwoTables = field(repr=False)

    def rows(self, n: int | None = None, *, seed: int | None = None) -> dict[str, "pa.Table"]:
        """Made-up rows of both tables, by the names of the tables.

        In the column of the unit each parent has a number from 0, and each child the number of its parent. Numbers
        follow the order in which rows are made. They are no keys of the data.

        Args:
            n: How many parents; as many as the table has, about, if not given.
            seed: The same seed gives the same rows; it may be public. Without one the system's generator is read.

        Raises:
            ParameterError: n or the seed is out of range.
        """
        import pyarrow as pa  # noqa: PLC0415 # loaded when rows are made

        two = self.tables
        codes = self.parents.codes(self.parents.made.model.rows(n, seed=seed), seed=seed)
        parents = self.parents.decoded(codes, seed=seed)
        counts = parents[two.number].to_numpy()  # of many children the numbers are in bins
        owners = np.repeat(np.arange(len(counts)), counts)
        own = self._drawn({name: codes[name][owners] for name in two.named(two.parents).values()}, seed)
        made = (
            (two.parents, parents, np.arange(len(counts))),
            (two.children, self.children.decoded(own, seed=seed), owners),
        )
        return {
            table.name: pa.table(
                {unit_of(table): pa.array(numbers)} | {name: rows[long] for name, long in two.named(table).items()}
            )
            for table, rows, numbers in made
        }

    def save(self, folder: str | Path, n: int | None = None, *, seed: int | None = None) -> tuple[Path, Path]:
        """Write `rows` as two Parquet files, called after the tables, into a folder that exists.

        Raises:
            ParameterError: There is no such folder.
        """
        from pyarrow import parquet  # noqa: PLC0415 # loaded when rows are written

        place = Path(folder)
        if not place.is_dir():
            raise ParameterError("folder", str(folder), "must be a folder that exists")
        paths = []
        for name, rows in self.rows(n, seed=seed).items():
            paths.append(place / f"{name}.parquet")
            parquet.write_table(rows, paths[-1])
        return paths[0], paths[1]

    def _drawn(self, parents: Mapping[str, Codes], seed: int | None) -> dict[str, Codes]:
        """For each child the values of its own columns, drawn for those of its parent on which they depend."""
        model, merging = self.children.made.model, self.children.made.merging
        own = list(self.tables.named(self.tables.children).values())
        groups = self.children.measured
        near = [name for name in parents if any(name in group and set(group) & set(own) for group in groups)]
        size = len(next(iter(parents.values())))
        wanted = np.stack([merging[name][parents[name]] for name in near] or [np.zeros(size, dtype=np.int64)], axis=1)
        pool = model.rows(_POOL * size, seed=seed)
        given = np.stack([pool[name].astype(np.int64) for name in near] or [np.zeros(_POOL * size, np.int64)], axis=1)
        places = fitting(wanted, given, uniform(seed, "which children", len(given)))
        found, fits = {name: np.zeros(size, dtype=np.int64) for name in own}, places >= 0
        for name in own:
            found[name][fits] = pool[name][places[fits]]
        lacking = np.flatnonzero(~fits)
        kinds, kind = np.unique(wanted[lacking], axis=0, return_inverse=True)
        for number, values in enumerate(kinds):
            rows = lacking[kind.reshape(-1) == number]
            drawn = _model_given(model, dict(zip(near, map(int, values), strict=True))).rows(len(rows), seed=seed)
            order = np.argsort(uniform(seed, f"whose children {number}", len(rows)))  # rows of a model come in an order
            for name in own:
                found[name][rows] = drawn[name][order]
        return self.children.codes(found, seed=seed)


def fitting(wanted: Codes, given: Codes, order: npt.NDArray[np.float64]) -> Codes:
    """For each wanted row the place of a given one with the same values, each taken once; -1 where none is left.

    Args:
        wanted: One row a row.
        given: Rows to take.
        order: By which of these is taken first.

    Example:
        >>> fitting(np.array([[1], [2], [1], [1]]), np.array([[1], [1], [3]]), np.array([0.9, 0.1, 0.5])).tolist()
        [1, -1, 0, -1]
    """
    _, kinds = np.unique(np.concatenate([wanted, given]), axis=0, return_inverse=True)
    ours, theirs = np.split(kinds.reshape(-1), [len(wanted)])
    most = int(kinds.max(initial=0)) + 1
    sorted_places = np.lexsort((order, theirs))
    counts = np.bincount(theirs, minlength=most)
    first = np.cumsum(counts) - counts
    by_kind = np.argsort(ours, kind="stable")
    asked = np.bincount(ours, minlength=most)
    rank = np.empty(len(ours), dtype=np.int64)
    rank[by_kind] = np.arange(len(ours)) - np.repeat(np.cumsum(asked) - asked, asked)
    is_there = rank < counts[ours]
    found = np.full(len(ours), -1, dtype=np.int64)
    found[is_there] = sorted_places[(first[ours] + rank)[is_there]]
    return found


def _model_given(model: FittedModel, values: Mapping[str, int]) -> FittedModel:
    """The model of children of such a parent; of all children if it has none of those."""
    try:
        return model.given(values)
    except ParameterError:
        return model
