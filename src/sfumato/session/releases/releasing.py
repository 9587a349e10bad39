"""The one place where exact results meet noise: a section's statements are run, and what its mechanisms release.

It goes in one piece, or batch by batch, with as much noise and never all private groups at once. Batches are cut, and
come, as the engine found their groups, which nobody may see: `releases.stored` puts them in order.
Proof: proofs/session/releases/releasing.md.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import Any, Final, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from sfumato.engines.base import ExactGroups, aligned, groups
from sfumato.mechanisms.quantiles.joint import JointQuantiles
from sfumato.mechanisms.workloads.queries import Floats
from sfumato.privacy.formats import uncollected
from sfumato.privacy.secret import Secret
from sfumato.query.model.schema import Key
from sfumato.query.model.statement import Statement
from sfumato.query.statistics.measurements import Additive, KeyChoice, Measurement, QuantileChoice, Section, TopChoice
from sfumato.query.statistics.workloads import FittedCells, Workload

Group: TypeAlias = tuple[Key, ...]
Run: TypeAlias = Callable[[Statement], Secret[ExactGroups]]

BATCH: Final = 2**17
"""How many groups are handled at a time."""

Stream: TypeAlias = Callable[[Statement, int], Generator[Secret[ExactGroups], None, None]]
Numbers: TypeAlias = npt.NDArray[Any]
"""Whole numbers, of 64 bits or of Python: one row a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """What a section released; safe to show to anybody.

    Attributes:
        groups: The keys of each row, sorted where they are private.
        measured: For each measurement, for each group, its whole numbers; of a workload a fraction.
    """

    groups: tuple[Group, ...]
    measured: tuple[tuple[tuple[Any, ...], ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedBatch:
    """Some groups of a section, released; safe to show to anybody.

    Attributes:
        keys: The values of each key, one a group.
        measured: For each measurement its whole numbers: one row a group.
    """

    keys: tuple[Sequence[Key], ...]
    measured: tuple[Numbers, ...]

    def __len__(self) -> int:
        return len(self.measured[0]) if self.measured else len(self.keys[0])

    @property
    def released(self) -> Released:
        """The same as a whole section would have it."""
        measured = (tuple(map(tuple, numbers.tolist())) for numbers in self.measured)
        return Released(groups=tuple(zip(*self.keys, strict=True)) if self.keys else ((),), measured=tuple(measured))


def release(section: Section, run: Run) -> Released:
    """Run the exact half of a section and open it to its mechanisms.

    Args:
        section: What is released.
        run: Computes a statement.
    """
    secrets = list(map(run, section.statements))
    with uncollected():
        found = [secret.open_for_noise() for secret in secrets]
        shown = _groups(section, found[0])
        measured = [
            _measured(m, section.statements[m.statement], found[m.statement], shown) for m in section.measurements
        ]
        return Released(groups=tuple(shown), measured=tuple(measured))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedTogether:
    """What a batch released; safe to show to anybody.

    Attributes:
        sections: What each section shows.
        measured: The noisy whole numbers of each workload, of which its sections are computed.
    """

    sections: tuple[Released, ...]
    measured: tuple[tuple[int, ...], ...]


def release_together(sections: Sequence[Section], workloads: Sequence[Workload], run: Run) -> ReleasedTogether:
    """What sections release of which some have their numbers from workloads that they share.

    Args:
        sections: What is released.
        workloads: What is measured for several of them at once.
        run: Computes a statement; with one salt, so that all of them bound a unit in the same way.
    """
    found = [one.mechanism.release(exact_histogram(one.statement, run)) for one in workloads]
    answers = {id(workload): one.answers for workload, one in zip(workloads, found, strict=True)}
    return ReleasedTogether(
        sections=tuple(_fitted(one, answers) if one.is_fitted else release(one, run) for one in sections),
        measured=tuple(tuple(one.measurements.tolist()) for one in found),
    )


def exact_histogram(statement: Statement, run: Run) -> Numbers:
    """The one measure of a statement with public keys in all of its groups, the last key fastest; for noise alone."""
    found = run(statement).open_for_noise()
    listed = [key.values or () for key in statement.keys]
    if not listed:
        return aligned(statement, found, [()])[:, 0]
    (exact,) = _exact(listed, [found], measures=1)
    return exact


def _fitted(section: Section, answers: Mapping[int, tuple[Floats, ...]]) -> Released:
    """What workloads say of the groups of a section."""
    measured = []
    for cells in section.measurements:
        if not isinstance(cells, FittedCells):
            raise TypeError("a section has all of its numbers from workloads, or none")
        numbers = cells.by_group(answers[id(cells.workload)][cells.group], section.keys)
        measured.append(tuple((number,) for number in numbers))
    return Released(groups=tuple(groups(section.statements[0])), measured=tuple(measured))


def _groups(section: Section, found: ExactGroups) -> list[Group]:
    """All public groups; of private ones those that are selected, sorted, so that order tells nothing of the rows."""
    if section.selection is None:
        return groups(section.statements[0])
    return _selected(section.selection, found)


def _selected(choice: KeyChoice, found: ExactGroups) -> list[Group]:
    candidates, units = zip(*found.keys, strict=True), found.amounts[choice.measure]
    if choice.mechanism is None or not len(units):
        return sorted(candidates)
    mask = choice.mechanism.kept(units).open_for_noise()
    return sorted(group for group, is_kept in zip(candidates, mask, strict=True) if is_kept)


def _measured(
    measurement: Measurement, statement: Statement, found: ExactGroups, shown: Sequence[Group]
) -> tuple[tuple[int, ...], ...]:
    if not shown:
        return ()
    match measurement:
        case Additive():
            exact = aligned(statement, found, shown)[:, list(measurement.measures)]
            noisy = measurement.mechanism.release(exact.reshape(-1))
            return tuple(map(tuple, np.asarray(noisy).reshape(len(shown), -1).tolist()))
        case QuantileChoice():
            values = _values_by_group(found)
            nothing = np.zeros(0, dtype=np.int64)
            return tuple(_chosen(measurement, values.get(group, nothing)) for group in shown)
        case TopChoice():
            counts = aligned(statement, found, shown)[:, 0].reshape(len(shown), -1)
            return tuple(tuple(measurement.mechanism.release(row).indexes) for row in counts)
        case FittedCells():
            raise TypeError("a workload is released once for all sections that share it")
        case _:
            assert_never(measurement)


def _chosen(choice: QuantileChoice, bins: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[int, ...]:
    """A bin for each quantile of a choice."""
    if isinstance(choice.mechanism, JointQuantiles):
        return tuple(map(int, choice.mechanism.release(bins)))
    return (int(choice.mechanism.release(bins)),)


def _values_by_group(found: ExactGroups) -> dict[Group, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The bin of every row of each group."""
    entries: dict[Group, tuple[list[int], list[int]]] = {}
    keys = zip(*found.keys, strict=True) if found.keys else [()] * len(found.amounts[0])
    for group, cell, amount in zip(keys, found.cells or (), found.amounts[0], strict=True):
        bins, counts = entries.setdefault(tuple(group), ([], []))
        bins.append(int(str(cell)))
        counts.append(int(amount))
    return {group: np.repeat(np.array(bins, dtype=np.int64), counts) for group, (bins, counts) in entries.items()}


def can_stream(section: Section) -> bool:
    """Whether one statement holds all that a section needs of a group, and only sums are released of it."""
    is_additive = all(isinstance(measurement, Additive) for measurement in section.measurements)
    (statement, *others) = section.statements
    return bool(section.keys) and is_additive and not others and statement.cell is None


def released_batches(
    section: Section, run: Run, stream: Stream, *, size: int = BATCH
) -> Generator[ReleasedBatch, None, None]:  # fmt: skip
    """Run the exact half of a section and open it to its mechanisms, piece by piece.

    Whoever asks has to read all of it, or close it, as of `Streaming.batches`.

    Args:
        section: What is released.
        run: Computes a statement as a whole: of sections that cannot be streamed.
        stream: Computes a statement batch by batch.
        size: About how many groups a batch has.
    """
    if not can_stream(section):
        yield from in_pieces(release(section, run), size=size)
        return
    with closing(stream(section.statements[0], size)) as secrets:
        found = (one.open_for_noise() for one in secrets)
        if section.selection is None:
            yield from _public(section, found, size)
        else:
            yield from _private(section, section.selection, found)


def in_pieces(released: Released, *, size: int = BATCH) -> Iterator[ReleasedBatch]:
    """A whole section in batches; public groups are put in the order of their keys, as private ones are."""
    order = sorted(range(len(released.groups)), key=released.groups.__getitem__)
    for start in range(0, len(order), size):
        places = order[start : start + size]
        groups = [released.groups[place] for place in places]
        yield ReleasedBatch(
            keys=tuple(zip(*groups, strict=True)),
            measured=tuple(np.array([rows[place] for place in places], dtype=object) for rows in released.measured),
        )


def _private(section: Section, choice: KeyChoice, found: Iterable[ExactGroups]) -> Iterator[ReleasedBatch]:
    """Of the groups that there are those that are selected, each by its own coin; last of none.

    So the answer is the same whether nothing was found or nothing selected.
    """
    nothing = np.zeros(0, dtype=np.int64)
    no_groups = ExactGroups(
        keys=((),) * len(section.keys), cells=None, amounts=(nothing,) * len(section.statements[0].measures)
    )
    for one in chain(found, [no_groups]):
        units = one.amounts[choice.measure]
        kept = np.ones(len(units), dtype=bool)
        if choice.mechanism is not None and len(units):
            kept = choice.mechanism.kept(units).open_for_noise()
        places = np.flatnonzero(kept)
        keys = tuple([column[place] for place in places.tolist()] for column in one.keys)
        yield ReleasedBatch(keys=keys, measured=_noisy(section, tuple(amounts[places] for amounts in one.amounts)))


def _public(section: Section, found: Iterable[ExactGroups], size: int) -> Iterator[ReleasedBatch]:
    """All public groups, also those that no row is in, in the order of their keys."""
    listed = [sorted(key.values or ()) for key in section.keys]
    exact = _exact(listed, found, measures=len(section.statements[0].measures))
    for start in range(0, len(exact[0]), size):
        own = slice(start, start + size)
        keys = _values(listed, np.arange(len(exact[0]))[own])
        yield ReleasedBatch(keys=keys, measured=_noisy(section, [amounts[own] for amounts in exact]))


def _exact(listed: Sequence[Sequence[Key]], found: Iterable[ExactGroups], *, measures: int) -> list[Numbers]:
    """The amounts of all public groups: zeros for those that were not found."""
    places = [{value: place for place, value in enumerate(values)} for values in listed]
    tables: list[Numbers] = [np.zeros(prod(map(len, listed)), dtype=np.int64) for _ in range(measures)]
    for one in found:
        at = np.zeros(len(one.keys[0]), dtype=np.int64)
        for known, column in zip(places, one.keys, strict=True):
            at = at * len(known) + np.array([known[value] for value in column], dtype=np.int64)
        tables = [_filled(table, at, own) for table, own in zip(tables, one.amounts, strict=True)]
    return tables


def _values(listed: Sequence[Sequence[Key]], places: npt.NDArray[np.int64]) -> tuple[Sequence[Key], ...]:
    """The keys of the groups at some places, of which the last key is the fastest."""
    columns = []
    for values in reversed(listed):
        places, own = np.divmod(places, len(values))
        columns.append([values[place] for place in own.tolist()])
    return tuple(reversed(columns))


def _filled(table: Numbers, places: npt.NDArray[np.int64], numbers: Numbers) -> Numbers:
    """A table with some numbers in it; of Python's integers once there is one of them."""
    filled = table if numbers.dtype == table.dtype else table.astype(object)
    filled[places] = numbers
    return filled


def _noisy(section: Section, exact: Sequence[Numbers]) -> tuple[Numbers, ...]:
    """What the mechanisms of a section make of the amounts of some groups."""
    measured = []
    for measurement in section.measurements:
        if not isinstance(measurement, Additive):
            raise TypeError("only additive noise is drawn batch by batch")
        own = np.stack([exact[place] for place in measurement.measures], axis=1)
        noisy = measurement.mechanism.release(own.reshape(-1)) if own.size else own
        measured.append(np.asarray(noisy).reshape(own.shape))
    return tuple(measured)
