"""A map is one query: its bounds are those of the policy, its cost is one charge, and all of its cells are answered."""

from itertools import combinations_with_replacement

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.geo.maps.cells import DegreeGrid, HexagonGrid
from sfumato.geo.maps.noisy_map import finest_grid, noisy_map
from sfumato.geo.maps.quadtree import Quadtree
from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection

PLANE = LocalProjection(0, 0)
EXACT = 10**6
COLUMNS = {"lat": sf.real(-90, 90), "lon": sf.real(-180, 180), "speed": sf.real(0, 50, resolution=1)}
PLACES = [(-0.001, -0.001), (0.0, 0.0), (0.2, 0.0), (float("nan"), 0.0)]
"""In the south-west, on an inner edge, outside, and nowhere."""

TINY = [list(own) for size in range(4) for own in combinations_with_replacement(PLACES, size)]


def opened(rows, *, rows_per_unit=2, groups=None, budget=10**9):
    data = pa.table(
        {
            "who": pa.array([who for who, _ in rows], pa.string()),
            "lat": pa.array([place[0] for _, place in rows], pa.float64()),
            "lon": pa.array([place[1] for _, place in rows], pa.float64()),
            "speed": pa.array([60.0] * len(rows), pa.float64()),
        }
    )
    limits = sf.Limits(max_rows_per_unit=rows_per_unit, max_groups_per_unit=groups)
    columns = {"who": sf.text()} | COLUMNS
    return sf.open(
        data, name="t", columns=columns, unit="who", limits=limits, budget=sf.PureDP(budget), engine="reference"
    )  # fmt: skip


def exact(rows, cells, **options):
    with opened(rows, **options) as db:
        found = noisy_map(db.table(), cells=cells, n=sf.count(), total=sf.sum("speed")).release(epsilon=EXACT)
        return [[round(one.value) for one in row] for row in found.release.estimates]


@pytest.mark.parametrize(
    "cells", [Grid(PLANE, cell=500, columns=2, rows=2), HexagonGrid(PLANE, width=500, columns=2, rows=2)],
    ids=["squares", "hexagons"],
)  # fmt: skip
@pytest.mark.parametrize("groups", [None, 1], ids=["rows", "groups"])
def test_all_a_person_can_have_changes_a_map_within_the_bounds_of_the_policy(cells, groups):
    others = [("other", PLACES[0])]
    before = exact(others, cells, groups=groups)
    moves = set()
    for own in TINY[:: 1 if groups is None and isinstance(cells, Grid) else 5]:
        after = exact([*others, *(("one", place) for place in own)], cells, groups=groups)
        changed = [[abs(a - b) for a, b in zip(*pair, strict=True)] for pair in zip(after, before, strict=True)]
        rows, cells_changed = sum(n for n, _ in changed), sum(n > 0 for n, _ in changed)
        assert rows <= 2
        assert sum(total for _, total in changed) == 50 * rows  # a speed of 60 is one of 50
        assert groups is None or cells_changed <= groups
        moves.add((rows, cells_changed))
    assert (2, 1) in moves
    assert groups == 1 or isinstance(cells, HexagonGrid) or (2, 2) in moves


def test_a_map_counts_if_nothing_else_is_asked_and_takes_several_statistics():
    cells = Grid(PLANE, cell=500, columns=2, rows=2)
    with opened([("a", PLACES[0])]) as db:
        assert noisy_map(db.table(), cells=cells).release(epsilon=EXACT).statistics == ("n",)
        asked = noisy_map(
            db.table(), db.table().lat + 0, "lon", cells=cells, people=sf.count_units(), speed=sf.mean("speed")
        )
        assert asked.release(epsilon=EXACT).statistics == ("people", "speed")
        assert [one.column for one in asked.error(epsilon=1)] == ["people", "speed"]
        assert "4 cells" in repr(asked)


def test_a_map_is_charged_once_and_nothing_before():
    with opened([("a", PLACES[0])], budget=1) as db:
        asked = noisy_map(db.table(), cells=Quadtree(PLANE, width=1000, levels=3))
        asked.explain(epsilon=1)
        asked.error(epsilon=1)
        assert asked.cost(epsilon="0.5") == sf.PureDP("0.5")
        assert db.spent == sf.PureDP(0)
        first = asked.release(epsilon="0.5")
        assert db.spent == sf.PureDP("0.5") == first.receipt.guarantee
        assert asked.release(epsilon="0.5").release.reused
        with pytest.raises(sf.errors.BudgetExceededError):
            asked.release(epsilon="0.6")
        assert asked.release(error={"n": 10**5}).release.groups == first.release.groups


def test_what_is_no_map_is_refused_before_a_charge():
    with opened([]) as db:
        table, cells = db.table(), DegreeGrid(30)
        for options in (
            {"table": "t"}, {"latitude": "nowhere"}, {"latitude": "who"}, {"latitude": 3}, {"cells": None},
            {"table": table.with_columns(map_row=table.lat)}, {"n": "count"},
        ):  # fmt: skip
            with pytest.raises(ParameterError):
                noisy_map(**({"table": table, "cells": cells} | options))
        assert db.spent == sf.PureDP(0)


def test_the_finest_grid_has_the_error_and_the_next_finer_one_has_not():
    with opened([], rows_per_unit=1) as db:
        options = {"around": PLANE, "width": 10_000, "height": 5_000, "relative_error": "0.2", "epsilon": 1}
        grid = finest_grid(db.table(), rows=100_000, **options)
        error = noisy_map(db.table(), cells=grid).error(epsilon=1)[0].half_width
        assert (grid.cell, grid.columns, grid.rows) == (100, 100, 50)
        assert error <= 0.2 * 100_000 * 100**2 / (10_000 * 5_000)
        assert error > 0.2 * 100_000 * 50**2 / (10_000 * 5_000)
        assert finest_grid(db.table(), rows=1000, **options).cell > grid.cell
        with pytest.raises(ParameterError, match="larger epsilon"):
            finest_grid(db.table(), rows=1, **options)
        with pytest.raises(ParameterError):
            finest_grid(db.table(), rows=1000, **(options | {"around": 3}))
