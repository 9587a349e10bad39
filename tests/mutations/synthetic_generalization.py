"""Seeded bugs of generalized tables: scores, choices, counts, and what is in which cell."""

from tests.mutations.mutants import Mutant

_ROOM = "synth/generalization"
_PLAN = f"{_ROOM}/plan.py"
_TESTS = "tests/synth/generalization"
_LAW = f"{_TESTS}/test_plan.py::test_no_neighbor_makes_an_outcome_more_probable_than_epsilon_allows"
_COST = f"{_TESTS}/test_plan.py::test_choices_and_counts_together_cost_what_is_charged"
_SCORES = f"{_TESTS}/test_scores.py::test_scores_are_those_of_the_definition"

MUTANTS = (
    Mutant(
        name="the score of a specialization moves half as far as it does",
        edits=((_PLAN, "utility_sensitivity=rows,", "utility_sensitivity=Fraction(rows, 2),"),),
        tests=(_LAW,),
    ),
    Mutant(
        name="scores of specializations are monotonic where units replace one another",
        edits=((_PLAN, "monotonic=self.relation is ADD_OR_REMOVE_ONE and rows == 1", "monotonic=rows == 1"),),
        tests=(_LAW,),
    ),
    Mutant(
        name="scores of specializations are monotonic where units have several rows",
        edits=((_PLAN, "is ADD_OR_REMOVE_ONE and rows == 1", "is ADD_OR_REMOVE_ONE"),),
        tests=(f"{_TESTS}/test_plan.py::test_units_of_several_rows_move_scores_and_counts_by_all_of_them",),
    ),
    Mutant(
        name="split points are those that rows have",
        edits=(
            (
                _PLAN,
                "candidates = grid.candidates(most_cells=self.most_cells)",
                (
                    "candidates = tuple(one for one in grid.candidates(most_cells=self.most_cells)"
                    " if np.isin(rows.codes[:, one.attribute], one.parts[0].codes).any())"
                ),
            ),
        ),
        tests=(f"{_TESTS}/test_plan.py::test_what_can_be_chosen_does_not_depend_on_rows",),
    ),
    Mutant(
        name="cells without rows are left out",
        edits=((_PLAN, "Secret(exact.reshape(-1))", "Secret(exact[exact.sum(axis=1) > 0].reshape(-1))"),),
        tests=(
            f"{_TESTS}/test_plan.py::test_every_cell_and_class_is_counted_whatever_the_rows_and_all_choices_are_made",
        ),
    ),
    Mutant(
        name="the budget of the last specialization is spent twice",
        edits=((_PLAN, "range(self.steps)", "range(self.steps + 1)"),),
        tests=(
            f"{_TESTS}/test_plan.py::test_every_cell_and_class_is_counted_whatever_the_rows_and_all_choices_are_made",
        ),
    ),
    Mutant(
        name="specializations share their budget with one fewer",
        edits=((_PLAN, "FOR_CHOICES / self.steps", "FOR_CHOICES / max(1, self.steps - 1)"),),
        tests=(_COST, _LAW),
    ),
    Mutant(
        name="the event of a generalized table has one specialization",
        edits=((_PLAN, "SelfComposedEvent(self.choice.event, self.steps)", "SelfComposedEvent(self.choice.event, 1)"),),
        tests=(_COST,),
    ),
    Mutant(
        name="counts of cells have half of their noise",
        edits=((_PLAN, "epsilon=min(for_counts,", "epsilon=min(2 * for_counts,"),),
        tests=(_COST, _LAW),
    ),
    Mutant(
        name="counts of cells are priced for a row that enters where one is replaced",
        edits=((_PLAN, "l1_sensitivity=moved,", "l1_sensitivity=rows,"),),
        tests=(_LAW,),
    ),
    Mutant(
        name="rows without a class count for the first",
        edits=(
            (
                _PLAN,
                "has_class = codes[:, -1] < classes",
                "has_class = codes[:, -1] >= 0; codes[codes[:, -1] >= classes, -1] = 0",
            ),
        ),
        tests=(f"{_TESTS}/test_plan.py::test_without_noise_it_is_the_best_table_of_the_rows",),
    ),
    Mutant(
        name="tables of other hierarchies are stored as one",
        edits=((_PLAN, '"hierarchies": [one.document() for one in self.hierarchies], "steps"', '"steps"'),),
        tests=(
            f"{_TESTS}/test_plan.py::test_what_it_depends_on_is_in_its_document",
            f"{_TESTS}/test_release.py::test_a_table_is_charged_once_and_stored",
        ),
    ),
    Mutant(
        name="rows outside of a specialized group do not count",
        edits=((f"{_ROOM}/scores.py", "everywhere - before", "0"),),
        tests=(_SCORES,),
    ),
    Mutant(
        name="values of a group are taken in the order of their numbers",
        edits=((f"{_ROOM}/scores.py", "order[list(codes)] =", "order[sorted(codes)] ="),),
        tests=(_SCORES,),
    ),
    Mutant(
        name="a specialization may make more cells than are allowed",
        edits=((f"{_ROOM}/grid.py", "if len(parts) <= room", "if len(parts) <= room + 1"),),
        tests=(f"{_TESTS}/test_grid.py::test_no_more_cells_are_made_than_are_allowed_and_all_that_are",),
    ),
    Mutant(
        name="a value may be in two groups",
        edits=((f"{_ROOM}/hierarchies.py", "sorted(codes) != list(", "sorted(set(codes)) != list("),),
        tests=(f"{_TESTS}/test_hierarchies.py::test_what_is_no_hierarchy_is_refused",),
    ),
    Mutant(
        name="negative counts of cells are shown",
        edits=((f"{_ROOM}/table.py", "return np.maximum(self.noisy, 0)", "return self.noisy"),),
        tests=(f"{_TESTS}/test_table.py::test_cells_have_their_groups_and_counts_that_are_not_negative",),
    ),
)
