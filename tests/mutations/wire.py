"""Seeded bugs of what comes from elsewhere: what is believed of a text that nobody here wrote."""

from tests.mutations.mutants import Mutant

STRATEGIES = "tests/mechanisms/workloads/test_codec.py::test_what_is_no_strategy_is_refused"

MUTANTS = (
    Mutant(
        name="a strategy is orthogonal if it says so",
        edits=(
            (
                "mechanisms/workloads/strategies.py",
                "if self.is_orthogonal and not _see_nothing_in_common(self.measurements):",
                "if self.is_orthogonal and not self.measurements:",
            ),
        ),
        tests=(STRATEGIES,),
    ),
    Mutant(
        name="a measurement twice has nothing in common with itself",
        edits=(
            (
                "mechanisms/workloads/strategies.py",
                "return are_apart and len({each.components for each in measurements}) == len(measurements)",
                "return are_apart",
            ),
        ),
        tests=(STRATEGIES,),
    ),
    Mutant(
        name="the rows of a matrix add up to zero if it says so",
        edits=(
            (
                "mechanisms/workloads/components.py",
                "if is_centered and matrix.sum(axis=1).any():",
                "if is_centered and not matrix.size:",
            ),
        ),
        tests=(STRATEGIES,),
    ),
    Mutant(
        name="what is measured within blocks may see their total",
        edits=(
            (
                "mechanisms/workloads/blocks.py",
                "if not lower.is_centered or cells > upper.cells * lower.cells:",
                "if cells > upper.cells * lower.cells:",
            ),
        ),
        tests=(STRATEGIES,),
    ),
    Mutant(
        name="a measurement may be multiplied by less than nothing",
        edits=(
            (
                "mechanisms/workloads/sensitivity.py",
                'positive_integer(self.multiplier, "multiplier")',
                "self.size",
            ),
        ),
        tests=(STRATEGIES,),
    ),
)
