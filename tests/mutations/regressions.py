"""Seeded bugs of lines through pairs of rows: what a changed pair costs, and who is paired with whom."""

from tests.mutations.mutants import Mutant

_LINES = "tests/learn/linear/test_theil_sen.py"
_NEIGHBORS = f"{_LINES}::test_no_neighbor_makes_heights_more_probable_than_epsilon_allows"
_CLOSE = f"{_LINES}::test_replaced_rows_come_close_to_half_of_epsilon_at_one_place"
_PAIRED = f"{_LINES}::test_matchings_are_uniform"
_EACH = "half / (self.rows_per_unit * self.matchings)"

MUTANTS = (
    Mutant(
        name="one matching is paid for, whatever their number",
        edits=(("learn/linear/theil_sen.py", _EACH, "half / self.rows_per_unit"),),
        tests=(_CLOSE,),
    ),
    Mutant(
        name="medians of lines are priced for one row of a unit",
        edits=(("learn/linear/theil_sen.py", _EACH, "half / self.matchings"),),
        tests=(_CLOSE,),
    ),
    Mutant(
        name="a replaced height is priced as one that is added",
        edits=(("learn/linear/theil_sen.py", f"{_EACH}, neighboring_relation=REPLACE_ONE", _EACH),),
        tests=(_CLOSE,),
    ),
    Mutant(
        name="each median of lines has all of epsilon",
        edits=(("learn/linear/theil_sen.py", "half = self.charge.epsilon / 2", "half = self.charge.epsilon"),),
        tests=(_CLOSE,),
    ),
    Mutant(
        name="rows are paired by their places",
        edits=(("learn/linear/theil_sen.py", "order = np.argsort(words)", "order = np.arange(size)"),),
        tests=(_PAIRED,),
    ),
    Mutant(
        name="the row that is left over is in two pairs",
        edits=(
            (
                "learn/linear/theil_sen.py",
                "order[: size - size % 2].reshape(-1, 2)",
                "np.resize(order, size + size % 2).reshape(-1, 2)",
            ),
        ),
        tests=(_PAIRED,),
    ),
    Mutant(
        name="equal random words favor the first rows",
        edits=(("learn/linear/theil_sen.py", "if not (np.diff(words[order]) == 0).any():", "if size >= 0:"),),
        tests=(_PAIRED,),
    ),
    Mutant(
        name="exact medians of lines leave",
        edits=(("learn/linear/theil_sen.py", "int(self.median.release(heights))", "int(np.median(heights))"),),
        tests=(f"{_LINES}::test_only_private_medians_reach_a_model",),
    ),
)
