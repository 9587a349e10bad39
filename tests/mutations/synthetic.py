"""Seeded bugs of synthetic data: what is chosen and measured, and models of released counts."""

from tests.mutations.mutants import Mutant

_ROOM = "synth/models"
_TREE = f"{_ROOM}/tree.py"
_MEASURED = f"{_ROOM}/measured.py"
_FITTING = f"{_ROOM}/fitting.py"
_TESTS = "tests/synth/models"

_MEASURING = "synth/methods/measuring.py"
_METHODS = "tests/synth/methods"

MUTANTS = (
    Mutant(
        name="a score may move twice as far as is said",
        edits=((_MEASURING, "heavy[columns] * self._sensitivity(columns).l1 for", "heavy[columns] for"),),
        tests=(f"{_METHODS}/test_measuring.py::test_a_choice_is_priced_by_how_far_scores_move",),
    ),
    Mutant(
        name="weights of a choice do not count",
        edits=((_MEASURING, "reach = max(heavy[columns] * self", "reach = max(self"),),
        tests=(f"{_METHODS}/test_measuring.py::test_a_choice_is_priced_by_how_far_scores_move",),
    ),
    Mutant(
        name="the last round of a synthesis overspends",
        edits=(("synth/methods/aim.py", "min(round_cost * _FOR_NOISE, measuring.left)", "round_cost"),),
        tests=(f"{_METHODS}/test_aim.py",),
    ),
    Mutant(
        name="a choice among marginals is free",
        edits=((_MEASURING, "cost = self._taken(exponential_to_zcdp(epsilon))", "cost = Fraction(0)"),),
        tests=(f"{_METHODS}/test_odometer.py",),
    ),
    Mutant(
        name="a marginal is measured for less than it costs",
        edits=(
            (
                _MEASURING,
                "cost = self._taken(distance**2 / (2 * stddev**2))",
                "cost = self._taken(distance**2 / (4 * stddev**2))",
            ),
        ),
        tests=(f"{_METHODS}/test_measuring.py",),
    ),
    Mutant(
        name="what is spent of a synthesis has no end",
        edits=((_MEASURING, "if rho > self.left:", "if rho < 0:"),),
        tests=(f"{_METHODS}/test_measuring.py::test_nothing_is_opened_once_too_little_is_left",),
    ),
    Mutant(
        name="merged values move no further where a unit has several rows",
        edits=(("session/training/marginals.py", "if self.rows_per_unit == 1 else", "if True else"),),
        tests=("tests/session/training/test_marginals.py::test_merged_cells_move_no_further_than_is_said",),
    ),
    Mutant(
        name="a synthesis is priced for less than it is charged",
        edits=(("synth/methods/plan.py", "return 1 / (2 * noise**2)", "return 1 / noise**2"),),
        tests=(f"{_METHODS}/test_plan.py::test_the_event_costs_what_is_charged",),
    ),
    Mutant(
        name="columns of a circle are not joined",
        edits=((_TREE, "neighbors[other] |= around - {other}", "pass"),),
        tests=(f"{_TESTS}/test_tree.py",),
    ),
    Mutant(
        name="cliques are joined by their smallest separators",
        edits=((_TREE, "if len(other & clique) > most:", "if len(other & clique) < most:"),),
        tests=(f"{_TESTS}/test_tree.py",),
    ),
    Mutant(
        name="memory is checked clique by clique",
        edits=((_TREE, "cells += shape.cells(clique)", "cells = shape.cells(clique)"),),
        tests=(f"{_TESTS}/test_tree.py",),
    ),
    Mutant(
        name="a limit of memory is checked for one array of several",
        edits=((_TREE, "(memory_limit - beside) // (NUMBER * arrays)", "(memory_limit - beside) // NUMBER"),),
        tests=(f"{_TESTS}/test_tree.py",),
    ),
    Mutant(
        name="children of a clique do not hear what its parent says",
        edits=((f"{_ROOM}/beliefs.py", "if parent == ROOT or not separator:", "if parent < 1 or not separator:"),),
        tests=(f"{_TESTS}/test_beliefs.py",),
    ),
    Mutant(
        name="a clique that joins two wanted columns is left out",
        edits=((f"{_ROOM}/beliefs.py", "if not has_child and not added", "if not added"),),
        tests=(f"{_TESTS}/test_beliefs.py",),
    ),
    Mutant(
        name="a marginal across cliques takes whatever memory it needs",
        edits=((f"{_ROOM}/beliefs.py", "if NUMBER * largest > limit:", "if largest > limit:"),),
        tests=(f"{_TESTS}/test_beliefs.py",),
    ),
    Mutant(
        name="a row that is impossible makes its neighbors unknown",
        edits=((f"{_ROOM}/factors.py", "peaks[np.isneginf(peaks)] = 0", "pass"),),
        tests=(f"{_TESTS}/test_factors.py", f"{_TESTS}/test_beliefs.py"),
    ),
    Mutant(
        name="marginals of the same columns count alike whatever their noise",
        edits=((_MEASURED, "weight = marginal.stddev**-2", "weight = 1.0"),),
        tests=(f"{_TESTS}/test_measured.py",),
    ),
    Mutant(
        name="axes of a marginal stay in the order in which they were named",
        edits=((_MEASURED, "values.transpose([columns.index(column) for column in shape.ordered(columns)])",
                "values.reshape(shape.lengths(shape.ordered(columns)))"),),
        tests=(f"{_TESTS}/test_measured.py", f"{_TESTS}/test_model.py"),
    ),
    Mutant(
        name="counts of impossible combinations count for the total",
        edits=((_FITTING, "kept = [(part.counts[mask], part.variance)", "kept = [(part.counts, part.variance)"),),
        tests=(f"{_TESTS}/test_fitting.py",),
    ),
    Mutant(
        name="impossible combinations are possible in the model",
        edits=((_FITTING, "potentials[group] = potentials.get(group, 0.0) + mask",
                "potentials[group] = potentials.get(group, 0.0) + np.maximum(mask, -9.0)"),),
        tests=(f"{_TESTS}/test_fitting.py",),
    ),
    Mutant(
        name="every step starts from the uniform distribution",
        edits=((_FITTING, "replace(problem, center=point.at)", "problem"),),
        tests=(f"{_TESTS}/test_fitting.py",),
    ),
    Mutant(
        name="the gap is half of what it is",
        edits=((_FITTING, "float(residuals @ residuals) / 2", "float(residuals @ residuals) / 4"),),
        tests=(f"{_TESTS}/test_fitting.py",),
    ),
    Mutant(
        name="a public total is estimated all the same",
        edits=((_FITTING, "estimated_total(kept) if total is None else", "estimated_total(kept) if kept else"),),
        tests=(f"{_TESTS}/test_fitting.py",),
    ),
    Mutant(
        name="rows of one value are drawn in the order of earlier columns",
        edits=((f"{_ROOM}/rows.py", "keys = (uniform * 2.0**random).astype(np.uint64) << np.uint64(of_row)",
                "keys = np.zeros(len(groups), dtype=np.uint64)"),),
        tests=(f"{_TESTS}/test_rows.py",),
    ),
    Mutant(
        name="every count is rounded with the same offset",
        edits=((f"{_ROOM}/rows.py", "ends += offsets[:, np.newaxis]", "pass"),),
        tests=(f"{_TESTS}/test_rows.py",),
    ),
    Mutant(
        name="a model given values keeps the total of all rows",
        edits=((f"{_ROOM}/model.py", "total=self.total * min(1.0, share)", "total=self.total"),),
        tests=(f"{_TESTS}/test_model.py",),
    ),
)  # fmt: skip
