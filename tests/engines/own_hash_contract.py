"""What units keep by the engine's own hash: as much as they may, by their own rows and the salt, no group oftener.

An engine opts in by a fixture `engine`, its name. Salts are fixed, so these tests give the same on each run; an engine
whose hash were a random function would fail one with a probability of at most 1e-6.
"""

from dataclasses import replace
from itertools import pairwise, product

import pyarrow as pa
import pytest
from scipy.stats import chi2
from tests.engines.running import by_place, found

from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.relations import BoundRows, Source
from sfumato.query.model.schema import Limits, Table, integer, text
from sfumato.query.model.statement import KeyColumn, RowCount, Statement, UnitCount

TYPE_I_ERROR = 1e-6
SALTS = tuple(f"{place:032x}" for place in range(3))
TABLE = Table(
    name="visits", columns={"u": text(), "k": integer(), "l": text()}, unit=UnitColumn("u"),
    limits=Limits(max_rows_per_unit=99),
)  # fmt: skip
PUBLIC = {"k": tuple(range(6)), "l": ("a", "b")}
ROWS = [(f"unit {unit}", key, letter) for unit in range(150) for key in range(4) for letter in "ab"]
"""Each unit is in eight groups."""


def arrow(rows):
    columns = zip(*rows, strict=True)
    types = (pa.string(), pa.int64(), pa.string())
    return pa.table({name: pa.array(cells, kind) for name, cells, kind in zip("ukl", columns, types, strict=True)})


def statement(*, public=True, rows=None, measure=RowCount, **limits):
    keys = tuple(KeyColumn(name=name, values=values if public else None) for name, values in PUBLIC.items())
    return Statement(rows=rows or Source(TABLE), keys=keys, measures=(measure(),), limits=Limits(**limits))


def counted(engine, asked, rows, *, salt=SALTS[0]):
    """How often each group is kept."""
    answer = by_place(found(engine, asked, arrow(rows), salt=salt, sampling="native"))
    return {place: count for place, (count,) in answer.items()}


def moved(first, second):
    """How far two answers are apart in L1."""
    return sum(abs(first.get(place, 0) - second.get(place, 0)) for place in first.keys() | second.keys())


def is_uniform(counts, *, tests=1):
    """Whether counts that should be equal are as far apart as is likely, if so many tests are made."""
    expected = sum(counts) / len(counts)
    distance = sum((count - expected) ** 2 for count in counts) / expected
    return distance < chi2.isf(TYPE_I_ERROR / tests, len(counts) - 1)


BELOW_A_JOIN = BoundRows(Source(TABLE), 2)
KEPT = [
    # what is asked, and how many rows a unit keeps of eight
    (statement(max_groups_per_unit=3), 3), (statement(max_groups_per_unit=3, public=False), 3),
    (statement(max_rows_per_unit=5), 5), (statement(max_groups_per_unit=1, measure=UnitCount), 1),
    (statement(rows=BELOW_A_JOIN), 2), (statement(max_groups_per_unit=99), 8),
]  # fmt: skip


class OwnHashContract:
    @pytest.mark.parametrize(("asked", "kept"), KEPT)
    def test_a_unit_keeps_what_it_may_and_of_no_group_more_often(self, engine, asked, kept):
        for salt in SALTS:
            counts = counted(engine, asked, ROWS, salt=salt)
            assert sum(counts.values()) == 150 * kept
            assert len(counts) == 8
            assert is_uniform(list(counts.values()), tests=len(KEPT) * len(SALTS))

    @pytest.mark.parametrize("asked", [asked for asked, _ in KEPT])
    def test_what_a_unit_keeps_is_a_matter_of_its_own_rows_and_the_salt(self, engine, asked):
        counts = [counted(engine, asked, rows) for rows in (ROWS, ROWS[::-1], ROWS[8:], ROWS[16:])]
        assert counts[0] == counts[1]
        kept = [sum(one.values()) for one in counts[1:]]
        assert [moved(*pair) for pair in pairwise(counts[1:])] == [one - other for one, other in pairwise(kept)]

    def test_another_salt_is_another_sample(self, engine):
        for asked in (statement(max_groups_per_unit=3), statement(rows=BELOW_A_JOIN)):
            first, second = (counted(engine, asked, ROWS, salt=salt) for salt in SALTS[:2])
            assert first != second

    def test_rows_with_nulls_are_told_apart_below_a_join(self, engine):
        rows = [(f"unit {unit}", *cells) for unit in range(300) for cells in product((None, 0), (None, ""))]
        asked = Statement(rows=BoundRows(Source(TABLE), 1), keys=(), measures=(RowCount(),))
        assert counted(engine, asked, rows) == {(): 300}
        present = counted(engine, replace(asked, keys=statement(public=False).keys), rows)
        off = present[(0, "")] - 75
        assert off**2 / 75 + off**2 / 225 < chi2.isf(TYPE_I_ERROR, 1)
