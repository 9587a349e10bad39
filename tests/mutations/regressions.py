"""Seeded bugs of lines through pairs of rows and of draws from posteriors: prices, pairs, and what leaves."""

from tests.mutations.mutants import Mutant

_LINES = "tests/learn/linear/test_theil_sen.py"
_NEIGHBORS = f"{_LINES}::test_no_neighbor_makes_heights_more_probable_than_epsilon_allows"
_CLOSE = f"{_LINES}::test_replaced_rows_come_close_to_half_of_epsilon_at_one_place"
_PAIRED = f"{_LINES}::test_matchings_are_uniform"
_DRAWS = "tests/learn/bayes/test_draws.py"
_SPANS = f"{_DRAWS}::test_no_neighbor_costs_more_than_the_event_of_each_column"
_PRICED = "self.charge.epsilon * share / (self.moved_rows * max(count, 1))"
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
    Mutant(
        name="draws are priced for one row of a unit",
        edits=(
            ("learn/bayes/draws.py", _PRICED, "self.charge.epsilon * share / max(count, 1)"),
            ("learn/bayes/draws.py", "self.moved_rows * count * one.epsilon", "count * one.epsilon"),
        ),
        tests=(_SPANS,),
    ),
    Mutant(
        name="all draws of a column are priced as one",
        edits=(
            ("learn/bayes/draws.py", _PRICED, "self.charge.epsilon * share / self.moved_rows"),
            ("learn/bayes/draws.py", "self.moved_rows * count * one.epsilon", "self.moved_rows * one.epsilon"),
        ),
        tests=(_SPANS,),
    ),
    Mutant(
        name="a row is an observation of all values, also of those after its own",
        edits=(("learn/bayes/draws.py", "(values[values >= value] == value)", "(values == value)"),),
        tests=(f"{_DRAWS}::test_a_row_is_one_observation_of_each_parameter_up_to_its_value",),
    ),
    Mutant(
        name="a row is an observation in every class",
        edits=(("learn/bayes/draws.py", "_each_value(values[labels == label], ", "_each_value(values, "),),
        tests=(_SPANS,),
    ),
    Mutant(
        name="shares of bits leave instead of draws",
        edits=(("learn/bayes/draws.py", "float(one.release(seen))", "float(np.mean(seen) if len(seen) else 0)"),),
        tests=(f"{_DRAWS}::test_only_draws_reach_a_model",),
    ),
    Mutant(
        name="likelihoods of draws are not tempered",
        edits=(("learn/bayes/draws.py", f"epsilon={_PRICED},", "epsilon=None,"),),
        tests=(f"{_DRAWS}::test_the_charge_covers_all_draws_and_is_no_more_than_they_cost",),
    ),
)
