"""Who is protected in whose data: one unit for a table and for its data, as long as the ledger lasts.

A budget bounds what is revealed about one unit. Were the unit another one tomorrow, the same budget would be spent on a
promise to others. So the unit of each table is in the ledger, with seals by which its data are known by other names.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from sfumato.errors import LedgerError, ParameterError, UnitChangedError
from sfumato.ledger.core.entry import Opened, Protected
from sfumato.ledger.core.replay import Replay
from sfumato.privacy.neighbors import EACH_ROW

_NOBODY: Final = "public"
_OWNERLESS: Final = frozenset({str(EACH_ROW), _NOBODY})
"""The units of which rows have no owner that a column names."""


def require_units(replay: Replay, opened: Opened, tables: Iterable[Protected], beside: tuple[str, ...]) -> None:
    """Refuse tables of which the data have another unit already.

    **Guarantee**: an account has one unit for each table, and for each source. Another account has the same units in
    the same data; or the owner said that a column of ids has another name there, and it is below; or that it protects
    others, and it is beside, and then in all data that both have.

    Raises:
        UnitChangedError: A table has another unit.
        LedgerError: It is to be beside an account that protects the same.
    """
    within = dict[str, dict[str, str]]()  # what this very policy says of its data
    for entry in tables:
        differing = others(replay, opened, entry, beside, within)
        for holder in _holders(replay, entry) - differing - {opened.account}:
            if _are_beside(replay, opened, holder, beside):
                requirement = f"is beside account {holder!r}, which may protect the same unit in table {entry.table!r}"
                raise LedgerError(
                    f"account {opened.account!r}", f"{requirement}; leave it out of beside: both are charged"
                )
        for seal in (*entry.sources, *entry.fingerprints):
            within.setdefault(seal, {opened.account: entry.unit})


def others(
    replay: Replay, opened: Opened, entry: Protected, beside: tuple[str, ...], within: Mapping[str, Mapping[str, str]]
) -> set[str]:
    """The accounts that have another unit in the data of a table, and may.

    Args:
        replay: The ledger.
        opened: The account of the table.
        entry: The table.
        beside: Accounts that are to protect other units.
        within: By seals of data, the units that the same policy says, each by account.

    Raises:
        UnitChangedError: One of them may not.
    """
    found = set[str]()
    for holder, was in _disagreeing(replay, entry, within):
        if holder == opened.account or not _may_differ(replay, opened, entry, holder, was, beside):
            raise UnitChangedError(opened.account, entry.table, was=was, is_now=entry.unit, holder=holder)
        found.add(holder)
    return found


def require_beside(replay: Replay, opened: Opened, beside: tuple[str, ...]) -> None:
    """Refuse accounts beside one that are not open, or pay with it.

    Raises:
        ParameterError: There are such.
    """
    for name in beside:
        if name not in replay.accounts:
            raise ParameterError("beside", name, f"must be open before {opened.account!r} is opened beside it")
        if name in replay.path_of(opened) or opened.account in replay.accounts[name].path:
            raise ParameterError("beside", name, f"is charged together with {opened.account!r}; leave it out of beside")


def unwritten(replay: Replay, tables: Iterable[Protected], beside: tuple[str, ...]) -> Iterator[Protected]:
    """What the ledger does not have yet: of each table its unit, and the seals of data that are new."""
    for entry in tables:
        state = replay.accounts.get(entry.account)
        new = replace(
            entry,
            sources=_new(replay, entry.account, entry.sources),
            fingerprints=_new(replay, entry.account, entry.fingerprints),
            beside=tuple(name for name in beside if state is None or name not in state.beside),
        )
        if state is None or entry.table.lower() not in state.tables or new.sources or new.fingerprints or new.beside:
            yield new


def _may_differ(
    replay: Replay, opened: Opened, entry: Protected, holder: str, was: str, beside: tuple[str, ...]
) -> bool:
    """Whether an account may have another unit in the data of another one: beside it, or as a column was renamed."""
    if entry.unit == _NOBODY:
        return False
    if _are_beside(replay, opened, holder, beside):
        return True
    if was in _OWNERLESS or entry.unit in _OWNERLESS:
        return False
    state = replay.accounts.get(opened.account)
    said_before = state is not None and state.tables.get(entry.table.lower()) == entry.unit and holder in state.path
    said_now = any(holder in replay.state(parent).path for parent in opened.parents if parent in replay.accounts)
    return said_before or said_now or opened.account in replay.state(holder).path


def _are_beside(replay: Replay, opened: Opened, other: str, beside: tuple[str, ...]) -> bool:
    return other in beside or replay.are_beside(other, opened.account)


def _new(replay: Replay, account: str, seals: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(seal for seal in seals if account not in replay.units.get(seal, {})))


def _disagreeing(
    replay: Replay, entry: Protected, within: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, str]]:  # fmt: skip
    """The accounts that have another unit in a table's data, and that unit.

    Where rows are stored the unit is compared to the letter. What a view or a query reads may have other names for its
    columns there: then only whether rows have owners is.
    """
    state = replay.accounts.get(entry.account)
    known = None if state is None else state.tables.get(entry.table.lower())
    if known not in {None, entry.unit}:
        yield entry.account, str(known)
    for seals, is_exact in ((entry.sources, True), (entry.fingerprints, False)):
        for seal in seals:
            for holder, was in (*replay.units.get(seal, {}).items(), *within.get(seal, {}).items()):
                is_other = was != entry.unit if is_exact else _is_other_kind(was, entry.unit)
                if is_other and (was != _NOBODY or holder == entry.account):
                    yield holder, was


def _is_other_kind(was: str, is_now: str) -> bool:
    """Whether rows have owners in one of two units alone; what is public is nobody's, whoever reads it."""
    return was != _NOBODY and (was in _OWNERLESS) != (is_now in _OWNERLESS)


def _holders(replay: Replay, entry: Protected) -> set[str]:
    """All accounts that have some of a table's data; those of which no unit is known too."""
    found = {replay.lineage[seal] for seal in entry.fingerprints if seal in replay.lineage}
    return found.union(*(replay.units.get(seal, {}) for seal in (*entry.sources, *entry.fingerprints)))
