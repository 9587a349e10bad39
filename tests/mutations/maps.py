"""Seeded bugs of maps: rows in two cells or in none, cells that are left out, bounds and prices that are skipped."""

from tests.mutations.mutants import Mutant

_CELLS = "tests/geo/maps/test_cells.py::"
_REGIONS = "tests/geo/maps/test_regions.py::"
_NEIGHBORS = (
    "tests/geo/maps/test_noisy_map.py::"
    "test_all_a_person_can_have_changes_a_map_within_the_bounds_of_the_policy"
)  # fmt: skip
_KEPT = "rows[ROW].between(0, height - 1), rows[COLUMN].between(0, width - 1)"

MUTANTS = (
    Mutant(
        name="the edge of a map is ignored",
        edits=(("geo/maps/cells.py", _KEPT, "rows[ROW].between(0, height), rows[COLUMN].between(0, width)"),),
        tests=(f"{_CELLS}test_a_cell_has_its_southern_and_its_western_edge_alone",),
    ),
    Mutant(
        name="points outside of a map count for its edge",
        edits=(
            (
                "geo/maps/cells.py",
                "self.north.of(latitude).floor().cast",
                "self.north.of(latitude).floor().clip(0, self.rows - 1).cast",
            ),
        ),
        tests=(f"{_CELLS}test_a_cell_has_its_southern_and_its_western_edge_alone",),
    ),
    Mutant(
        name="a map's cells are rounded and not cut off",
        edits=(("geo/maps/cells.py", "self.east.of(turned).floor().cast", "self.east.of(turned).cast"),),
        tests=(f"{_CELLS}test_squares_are_those_of_the_grid",),
    ),
    Mutant(
        name="a hexagon has the points of the farther center",
        edits=(("geo/maps/cells.py", 'near["map_v"] * 3 < 1', 'near["map_v"] * 2 < 1'),),
        tests=(f"{_CELLS}test_a_hexagon_has_the_points_to_which_its_center_is_the_nearest",),
    ),
    Mutant(
        name="a map loses what lies beyond the meridian",
        edits=(
            (
                "geo/maps/cells.py",
                "turned = longitude if self.turn is None else self.turn.of(longitude)",
                "turned = longitude",
            ),
        ),
        tests=(f"{_CELLS}test_maps_lie_across_the_meridian",),
    ),
    Mutant(
        name="empty cells of a map are left out",
        edits=(
            (
                "geo/maps/result.py",
                "if isinstance(self.cells, Quadtree) else list(rows)",
                "if isinstance(self.cells, Quadtree) else [k for k, row in rows.items() if row[0].value > 0]",
            ),
        ),
        tests=("tests/geo/maps/test_result.py::test_geojson_has_every_cell_its_values_and_what_is_promised",),
    ),
    Mutant(
        name="the bounds of the policy are not applied to a map",
        edits=(
            (
                "engines/reference/groups.py",
                "rows = _within(limits.max_rows_per_unit, in_all[entry.unit], here)",
                "rows = here",
            ),
        ),
        tests=(_NEIGHBORS,),
    ),
    Mutant(
        name="a cell of a public table has several regions",
        edits=(("geo/maps/regions.py", "matches={(CELL,): 1}", "matches={(CELL,): 2}"),
               ("geo/maps/regions.py", "relation.table.matches == {(CELL,): 1}", "True")),
        tests=(f"{_REGIONS}test_a_cell_that_stands_twice_in_the_table_counts_once",),
    ),
    Mutant(
        name="the last region has a center that lies in two",
        edits=(("geo/maps/regions.py", "places[(places == _NOWHERE) & shapely", "places[shapely"),),
        tests=(f"{_REGIONS}test_centers_belong_to_the_first_region_that_has_them",),
    ),
    Mutant(
        name="levels of a quadtree are not priced",
        edits=(
            (
                "query/planning/allocation.py",
                "return [epsilon * weight / whole if weight",
                "return [epsilon * weight if weight",
            ),
        ),
        tests=("tests/geo/maps/test_quadtree.py::test_levels_of_a_tree_add_up_and_share_one_charge",),
    ),
    Mutant(
        name="levels of a quadtree do not add up",
        edits=(("geo/maps/quadtree.py", "_bit(kept[ROW], size) * 2", "_bit(kept[ROW], size)"),),
        tests=("tests/geo/maps/test_quadtree.py::test_levels_of_a_tree_add_up_and_share_one_charge",),
    ),
    Mutant(
        name="a cell stands out of its own noise alone",
        edits=(
            ("geo/maps/result.py", "return log(cells / rest) / log(1 / rest) if 0 < rest < 1 else inf", "return 1.0"),
        ),
        tests=(
            "tests/geo/maps/test_result.py::test_what_stands_out_is_farther_from_0_than_the_noise_of_all_cells",
        ),
    ),
    Mutant(
        name="a name on a map may end its script",
        edits=(("geo/maps/page.py", '.replace("<", "\\\\u003c")', ""),),
        tests=(
            "tests/geo/maps/test_page.py::test_only_the_scripts_of_the_page_may_run_and_nothing_is_fetched",
        ),
    ),
)  # fmt: skip
