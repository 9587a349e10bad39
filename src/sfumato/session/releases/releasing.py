"""The one place where exact results meet noise: a section's statements are run, and what its mechanisms release."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

import numpy as np

from sfumato.engines.base import Found, aligned, groups
from sfumato.privacy.formats import uncollected
from sfumato.privacy.secret import Secret
from sfumato.query.model.schema import Key
from sfumato.query.model.statement import Statement
from sfumato.query.statistics.measurements import Additive, KeyChoice, Measurement, QuantileChoice, Section, TopChoice

Group: TypeAlias = tuple[Key, ...]
Run: TypeAlias = Callable[[Statement], Secret[Found]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """What a section released; safe to show to anybody.

    Attributes:
        groups: The keys of each row, sorted where they are private.
        measured: For each measurement, for each group, its whole numbers.
    """

    groups: tuple[Group, ...]
    measured: tuple[tuple[tuple[int, ...], ...], ...]


def release(section: Section, run: Run) -> Released:
    """Run the exact half of a section and open it to its mechanisms.

    Args:
        section: What is released.
        run: Computes a statement.
    """
    found = [run(statement).open_for_noise() for statement in section.statements]
    with uncollected():
        shown = _groups(section, found[0])
        measured = tuple(
            _measured(m, section.statements[m.statement], found[m.statement], shown) for m in section.measurements
        )
        return Released(groups=tuple(shown), measured=measured)


def _groups(section: Section, found: Found) -> list[Group]:
    """All public groups; of private ones those that are selected, sorted, so that order tells nothing of the rows."""
    if section.selection is None:
        return groups(section.statements[0])
    return _selected(section.selection, found)


def _selected(choice: KeyChoice, found: Found) -> list[Group]:
    candidates, units = zip(*found.keys, strict=True), found.amounts[choice.measure]
    if choice.mechanism is None or not len(units):
        return sorted(candidates)
    mask = choice.mechanism.kept(units).open_for_noise()
    return sorted(group for group, is_kept in zip(candidates, mask, strict=True) if is_kept)


def _measured(
    measurement: Measurement, statement: Statement, found: Found, shown: Sequence[Group]
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
            return tuple((int(measurement.mechanism.release(values.get(group, nothing))),) for group in shown)
        case TopChoice():
            counts = aligned(statement, found, shown)[:, 0].reshape(len(shown), -1)
            return tuple(tuple(measurement.mechanism.release(row).indexes) for row in counts)
        case _:
            assert_never(measurement)


def _values_by_group(found: Found) -> dict[Group, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The bin of every row of each group."""
    entries: dict[Group, tuple[list[int], list[int]]] = {}
    keys = zip(*found.keys, strict=True) if found.keys else [()] * len(found.amounts[0])
    for group, cell, amount in zip(keys, found.cells or (), found.amounts[0], strict=True):
        bins, counts = entries.setdefault(tuple(group), ([], []))
        bins.append(int(str(cell)))
        counts.append(int(amount))
    return {group: np.repeat(np.array(bins, dtype=np.int64), counts) for group, (bins, counts) in entries.items()}
