"""Joins in Polars: NULL equals nothing, whole numbers meet floats as doubles, and owners meet themselves."""

import pyarrow as pa
import pytest
from tests.engines.in_frames import frame, rows_of

from sfumato.engines.frames.joins import lower_join, lower_semi_join
from sfumato.engines.frames.rows import Rows
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.relations import Join, JoinKind, SemiJoin, Source
from sfumato.query.schema import PUBLIC, Limits, Table, integer, real, text
from sfumato.query.shape import shape_of


def source(name, prefix, unit):
    columns = {f"{prefix}u": text(), f"{prefix}i": integer(), f"{prefix}f": real()}
    limits = Limits() if unit == PUBLIC else Limits(max_rows_per_unit=9)
    return Source(Table(name=name, columns=columns, unit=unit, limits=limits))


VISITS, STAYS = source("visits", "v", UnitColumn("vu")), source("stays", "s", UnitColumn("su"))
CODES = source("codes", "c", PUBLIC)
LEFT = [("a", 1, 1.0), ("a", 2, None), ("b", 2**53 + 1, 0.5), ("b", None, 2.0)]
RIGHT = [("a", 1, 1.0), ("b", 1, 2.0), ("a", 2, float(2**53)), ("b", None, None)]


def rows(of):
    return Rows(frame=TABLES[of.table.name], shape=shape_of(of))


def stored(cells, *, owned):
    names = {"c0": pa.string(), "c1": pa.int64(), "c2": pa.float64()}
    columns = {name: pa.array([row[place] for row in cells], kind) for place, (name, kind) in enumerate(names.items())}
    return frame(({"u": columns["c0"]} if owned else {}) | columns)


TABLES = {
    "visits": stored(LEFT, owned=True), "stays": stored(RIGHT, owned=True), "codes": stored(RIGHT, owned=False),
}  # fmt: skip


def found(lower, relation, first, second):
    return rows_of(lower(relation, rows(first), rows(second)))


def joined(on, right, kind=JoinKind.INNER):
    return found(lower_join, Join(left=VISITS, right=right, on=on, kind=kind), VISITS, right)


def test_rows_of_one_unit_meet_where_their_keys_are_equal():
    assert joined((("vi", "si"),), STAYS) == [("a", *LEFT[0], *RIGHT[0]), ("a", *LEFT[1], *RIGHT[2])]


def test_without_keys_all_rows_of_a_unit_meet():
    pairs = [(*left[:1], *left, *right) for left in LEFT for right in RIGHT if left[0] == right[0]]
    assert joined((), STAYS) == sorted(pairs, key=repr)


def test_rows_of_any_unit_meet_public_rows():
    assert [row[4:] for row in joined((("vi", "ci"),), CODES)] == [RIGHT[0], RIGHT[1], RIGHT[2]]
    assert len(joined((), CODES)) == len(LEFT) * len(RIGHT)


def test_whole_numbers_meet_floats_as_doubles():
    assert [(row[2], row[6]) for row in joined((("vi", "cf"),), CODES)] == [
        (1, 1.0),
        (2, 2.0),
        (2**53 + 1, float(2**53)),
    ]


def test_a_left_join_keeps_rows_without_a_partner():
    kept = joined((("vi", "si"), ("vf", "sf")), STAYS, JoinKind.LEFT)
    assert sorted((row[1:4] for row in kept if row[4] is None), key=repr) == sorted(LEFT[1:], key=repr)
    assert ("a", *LEFT[0], *RIGHT[0]) in kept


PARTNERED = [
    (STAYS, (("vi", "si"),), 2),
    (STAYS, (("vi", "sf"),), 1),  # what a's 2 equals is b's
    (CODES, (("vf", "cf"),), 2),
    (STAYS, (), 4),
]


@pytest.mark.parametrize(("other", "on", "partnered"), PARTNERED)
def test_a_row_has_a_partner_or_has_none(other, on, partnered):
    having, lacking = (
        found(lower_semi_join, SemiJoin(child=VISITS, other=other, on=on, negated=negated), VISITS, other)
        for negated in (False, True)
    )
    assert (len(having), len(lacking)) == (partnered, len(LEFT) - partnered)
    assert sorted([*having, *lacking], key=repr) == sorted([(row[0], *row) for row in LEFT], key=repr)
