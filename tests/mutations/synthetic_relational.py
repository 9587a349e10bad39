"""Seeded bugs of synthetic data of two tables."""

from tests.mutations.mutants import Mutant

_ROOM = "tests/synth/relational"

MUTANTS = (
    Mutant(
        name="parents take the whole cost of two tables",
        edits=(
            ("synth/relational/plan.py", "_FOR_PARENTS: Final = Fraction(1, 2)", "_FOR_PARENTS: Final = Fraction(1)"),
        ),
        tests=(f"{_ROOM}/test_plan.py::test_both_parts_together_cost_what_was_charged",),
    ),
    Mutant(
        name="each of two tables takes the whole cost",
        edits=(
            (
                "synth/relational/plan.py",
                "shares = (rho * _FOR_PARENTS, rho - rho * _FOR_PARENTS)",
                "shares = (rho, rho)",
            ),
        ),
        tests=(f"{_ROOM}/test_plan.py::test_both_parts_together_cost_what_was_charged",),
    ),
    Mutant(
        name="a synthesis of two tables is stored by what is read of children alone",
        edits=(
            (
                "synth/relational/plan.py",
                "return [question_text(self.parents.question), self.parents.lattices, self.children.lattices]",
                "return [self.children.lattices]",
            ),
        ),
        tests=(f"{_ROOM}/test_plan.py::test_what_is_read_of_both_is_in_the_key",),
    ),
    Mutant(
        name="parents may have several rows each",
        edits=(("synth/relational/reading.py", "if self.parents.limits.max_rows_per_unit != 1:", "if False:"),),
        tests=(f"{_ROOM}/test_reading.py",),
    ),
    Mutant(
        name="made-up children do not follow from their parents",
        edits=(("synth/relational/tables.py", "for name in parents if any(", "for name in parents if not any("),),
        tests=(f"{_ROOM}/test_tables.py::test_children_follow_from_their_parents",),
    ),
    Mutant(
        name="a made-up child is given to several parents",
        edits=(("synth/relational/tables.py", "is_there = rank < counts[ours]", "is_there = counts[ours] > 0"),),
        tests=(f"{_ROOM}/test_tables.py::test_rows_that_fit_are_taken_once_each",),
    ),
    Mutant(
        name="the bin of a number of children is taken for the number",
        edits=(
            ("synth/relational/tables.py", "counts = parents[two.number].to_numpy()", "counts = codes[two.number]"),
        ),
        tests=(f"{_ROOM}/test_tables.py::test_many_children_are_numbers_in_bins_and_no_numbers_of_bins",),
    ),
)
