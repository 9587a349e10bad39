"""A statement as a query of Polars: what of it runs, and that nobody's rows are sampled."""

import polars as pl
import pytest
from tests.engines.running import SALT, statement

from sfumato.engines.frames.lowering import lower
from sfumato.engines.sampling import Sampling
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.schema import Limits, Table, integer, text

CELLS = pl.LazyFrame({"u": ["a", "a", "b"], "c0": ["a", "a", "b"], "c1": ["x", "y", "x"], "c2": [1, 2, 3]})


def lowered(asked, unit=None, **settings):
    limits = Limits() if unit is EACH_ROW else Limits(max_rows_per_unit=1)
    columns = {"u": text(), "k": text(values=["x", "y", "z"]), "v": integer(0, 9)}
    table = Table(name="visits", columns=columns, unit=unit or UnitColumn("u"), limits=limits)
    frame = CELLS.drop("u") if unit is EACH_ROW else CELLS
    return lower(statement(asked, table), lambda _: frame, salt=SALT, **settings)


def test_only_totals_and_what_is_grouped_by_come_back():
    found = lowered("SELECT COUNT(*), SUM(v) FROM visits GROUP BY k")
    assert found.totals.collect_schema().names() == ["k0", "kept", "t0", "t1"]
    assert ([mark.name for mark in found.keys], found.cell, found.measure_count) == (["k0"], None, 2)


def test_a_group_of_which_no_entry_is_kept_is_not_shown():
    assert lowered("SELECT COUNT(*) FROM visits GROUP BY k").totals.collect().sum()["kept"].item() == 2
    assert lowered("SELECT COUNT(*) FROM visits WHERE v > 5").totals.collect().rows() == []


@pytest.mark.parametrize(("sampling", "hashed"), [(Sampling.MD5, "md5"), (Sampling.NATIVE, "hash")])
def test_units_above_a_limit_are_sampled_by_the_hash_that_is_asked_for(sampling, hashed):
    assert hashed in lowered("SELECT SUM(v) FROM visits GROUP BY k", sampling=sampling).totals.explain()


def test_rows_that_are_units_are_neither_hashed_nor_put_in_order():
    plan = lowered("SELECT COUNT(*), SUM(v) FROM visits GROUP BY k", EACH_ROW).totals.explain()
    assert [word for word in ("md5", "SORT", "JOIN") if word in plan] == []
