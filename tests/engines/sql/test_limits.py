"""Limits that cannot bind are left away, and nothing else: entries are allowed the same rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.entries import Entry, allowances
from sfumato.engines.sql.limits import binding_limits
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.expressions import ColumnRef
from sfumato.query.measures import RowCount
from sfumato.query.relations import Source
from sfumato.query.schema import Limits, Table, text
from sfumato.query.statement import KeyColumn, Statement, Values

SALT = "00112233445566778899aabbccddeeff"
TABLE = Source(
    Table(name="t", columns={"u": text(), "k": text()}, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=9))
)  # fmt: skip
CELL = Values(value=ColumnRef("k"), values=None)
SMALL = st.none() | st.integers(1, 7)


def limits(groups, per_group, rows):
    return Limits(max_groups_per_unit=groups, max_rows_per_group_per_unit=per_group, max_rows_per_unit=rows)


def asked(own, groups, cell=None):
    """A statement with so many groups; None of private ones."""
    values = None if groups is None else tuple(map(str, range(groups)))
    keys = () if groups == 1 else (KeyColumn(name="k", values=values),)
    return Statement(rows=TABLE, keys=keys, measures=(RowCount(),), limits=own, cell=cell)


@pytest.mark.parametrize(
    ("groups", "own", "cell", "bind"),
    [
        (5, (5, 2, None), None, (None, 2, None)), (5, (3, 2, None), None, (3, 2, None)),
        (None, (5, 2, None), None, (5, 2, None)), (5, (3, 2, 6), None, (3, 2, None)),
        (5, (3, 2, 5), None, (3, 2, 5)), (5, (None, 3, 4), None, (None, 3, 4)),
        (5, (None, 4, 3), None, (None, None, 3)),
        (1, (1, 4, 3), None, (None, 3, None)), (1, (1, 4, 3), CELL, (None, None, 3)),
        (5, (1, 4, 3), None, (1, 3, None)), (5, (1, 4, 3), CELL, (1, None, 3)),
        (5, (None, None, None), None, (None, None, None)),
    ],
)  # fmt: skip
def test_what_can_bind_is_told_from_what_is_declared(groups, own, cell, bind):
    assert binding_limits(asked(limits(*own), groups, cell)) == limits(*bind)


@given(SMALL, SMALL, SMALL, st.sampled_from([1, 2, 3, None]), st.booleans(), st.randoms(use_true_random=False))
def test_entries_are_allowed_the_same_rows(groups, per_group, rows, group_count, has_cells, random):
    statement = asked(limits(groups, per_group, rows), group_count, CELL if has_cells else None)
    keys = [()] if group_count == 1 else [(str(key),) for key in range(group_count or 4)]
    places = [(*key, *cell) for key in keys for cell in ([("a",), ("b",)] if has_cells else [()])]
    found = [
        Entry(unit=unit, place=place, rows=random.randrange(1, 9), sums=(), counted=())
        for unit in "xy" for place in places if random.randrange(4)
    ]  # fmt: skip
    count = len(statement.keys)
    expected = allowances(found, statement.limits, key_count=count, salt=SALT)
    assert allowances(found, binding_limits(statement), key_count=count, salt=SALT) == expected
