"""Seeded bugs of the choice of a model: a row in both parts, too little noise, exact answers, costs left out."""

from tests.mutations.mutants import Mutant

_CHOICE = "tests/learn/choosing/test_choice.py"
_LAW = f"{_CHOICE}::test_no_neighbor_makes_a_choice_more_probable_than_its_epsilon_allows"
_CHARGE = f"{_CHOICE}::test_one_part_is_charged_where_one_row_moves_else_both"
_FILE = "learn/choosing/choice.py"

MUTANTS = (
    Mutant(
        name="models see the rows by which one of them is chosen",
        edits=((_FILE, "opened.codes[~is_later], target=target[~is_later]", "opened.codes, target=target"),),
        tests=(f"{_CHOICE}::test_a_row_is_in_one_part_alone",),
    ),
    Mutant(
        name="the choice of a model has noise for one row of a unit",
        edits=((_FILE, "utility_sensitivity=self.rows_per_unit", "utility_sensitivity=1"),),
        tests=(_LAW,),
    ),
    Mutant(
        name="counts of right answers are taken for monotonic whatever moves",
        edits=((_FILE, "monotonic=self.neighboring_relation is ADD_OR_REMOVE_ONE", "monotonic=True"),),
        tests=(_LAW,),
    ),
    Mutant(
        name="the model that is exactly the best is chosen",
        edits=(
            (
                _FILE,
                "self.selection.release(self.exact(released, opened.codes[is_later], target[is_later]))",
                "int(np.argmax(self.exact(released, opened.codes[is_later], target[is_later])))",
            ),
        ),
        tests=(f"{_CHOICE}::test_only_the_chosen_model_leaves",),
    ),
    Mutant(
        name="models that are not chosen are not charged",
        edits=((_FILE, "sum((cost.epsilon for cost in costs), start=Fraction(0))", "costs[0].epsilon"),),
        tests=(_CHARGE,),
    ),
    Mutant(
        name="how often each model is right leaves",
        edits=(
            (
                _FILE,
                '"model": released[chosen]}',
                '"model": released[chosen], "right": self.exact(released, opened.codes, target)}',
            ),
        ),
        tests=(f"{_CHOICE}::test_only_the_chosen_model_leaves",),
    ),
)
