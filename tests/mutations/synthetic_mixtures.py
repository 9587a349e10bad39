"""Seeded bugs of mixtures: fits, conditions and rows, and where they take the place of trees."""

from tests.mutations.mutants import Mutant

_MIXTURE = "synth/models/mixture.py"
_RELAXED = "synth/models/relaxed.py"
_STATED = "synth/methods/stated.py"
_OF_MIXTURE = "tests/synth/models/test_mixture.py"
_OF_RELAXED = "tests/synth/models/test_relaxed.py"
_OF_STATED = "tests/synth/methods/test_stated.py"

MUTANTS = (
    Mutant(
        name="a mixture given values forgets the weights of its components",
        edits=((_MIXTURE, "chances += np.log(self.weights)", "pass"),),
        tests=(f"{_OF_MIXTURE}::test_a_condition_is_exact",),
    ),
    Mutant(
        name="a mixture given values counts one column of several",
        edits=((_MIXTURE, "chances += np.log(narrowed[block]", "chances = np.log(narrowed[block]"),),
        tests=(f"{_OF_MIXTURE}::test_a_condition_is_exact",),
    ),
    Mutant(
        name="a mixture given values keeps the total of all rows",
        edits=((_MIXTURE, "total = self.total * min(1.0, ", "total = self.total * max(1.0, "),),
        tests=(f"{_OF_MIXTURE}::test_a_condition_is_exact",),
    ),
    Mutant(
        name="all components of a mixture have as many rows",
        edits=((_MIXTURE, 'self.weights[np.newaxis], "component"',
                'np.full((1, len(self.weights)), 1 / len(self.weights)), "component"'),),
        tests=(f"{_OF_MIXTURE}::test_rows_of_components_are_in_proportion",),
    ),
    Mutant(
        name="columns of made-up rows are drawn for other components",
        edits=((_MIXTURE, "drawn_values(component, array.reshape",
                "drawn_values(np.roll(component, place), array.reshape"),),
        tests=(_OF_MIXTURE,),
    ),
    Mutant(
        name="all components of a marginal weigh alike",
        edits=((_MIXTURE, "products(arrays[:cut], len(self.weights)) * self.weights[:, np.newaxis]",
                "products(arrays[:cut], len(self.weights)) / len(self.weights)"),),
        tests=(f"{_OF_MIXTURE}::test_marginals_are_those_of_the_whole_table",),
    ),
    Mutant(
        name="a marginal of a mixture takes whatever memory it needs",
        edits=((_MIXTURE, "if needed > self.memory_limit:", "if needed < 0:"),),
        tests=(f"{_OF_MIXTURE}::test_a_marginal_beyond_memory_is_refused",),
    ),
    Mutant(
        name="the slope of one side of a marginal is missing",
        edits=((_RELAXED, "(weighted @ residuals, slice(target.cut, None)),",
                "(0 * (weighted @ residuals), slice(target.cut, None)),"),),
        tests=(f"{_OF_RELAXED}::test_the_slope_is_that_of_finite_differences",),
    ),
    Mutant(
        name="the slope of weights is missing",
        edits=((_RELAXED, "slopes[0] += np.sum(left * toward, axis=1, keepdims=True)", "pass"),),
        tests=(f"{_OF_RELAXED}::test_the_slope_is_that_of_finite_differences",),
    ),
    Mutant(
        name="the slope through a softmax leaves out what others gain",
        edits=((_RELAXED, "(slope - np.sum(shares * slope, axis=1, keepdims=True))", "slope"),),
        tests=(f"{_OF_RELAXED}::test_the_slope_is_that_of_finite_differences",),
    ),
    Mutant(
        name="a mixture is fitted until noise is",
        edits=((_RELAXED, "loss <= problem.expected or step", "loss <= 0 or step"),),
        tests=(f"{_OF_RELAXED}::test_the_search_ends_where_noise_would_be_fitted",),
    ),
    Mutant(
        name="a search that is cut short is called converged",
        edits=((_RELAXED, "iterations=used, is_converged=is_converged", "iterations=used, is_converged=True"),),
        tests=(f"{_OF_RELAXED}::test_a_search_that_is_cut_short_says_so",),
    ),
    Mutant(
        name="counts of what is impossible pull at a mixture",
        edits=((_RELAXED, "counts=np.where(is_possible, counts, 0.0)", "counts=counts"),),
        tests=(f"{_OF_RELAXED}::test_the_slope_is_that_of_finite_differences",),
    ),
    Mutant(
        name="what is impossible is possible in a mixture",
        edits=((_RELAXED, "found += aligned(logs, columns, block)",
                "found += np.maximum(aligned(logs, columns, block), -9)"),),
        tests=(f"{_OF_RELAXED}::test_what_is_impossible_has_probability_zero_and_its_counts_are_ignored",),
    ),
    Mutant(
        name="a fit of a mixture takes more memory than it says",
        edits=((_RELAXED, "cells += 4 * prod(lengths)", "cells += prod(lengths)"),),
        tests=(f"{_OF_RELAXED}::test_marginals_of_which_a_tree_is_far_too_large_are_fitted_within_memory",),
    ),
    Mutant(
        name="a limit of trees is ignored",
        edits=(("synth/models/fitting.py", "memory_limit=min(most, memory_limit)", "memory_limit=memory_limit"),),
        tests=(f"{_OF_RELAXED}::test_a_tree_limit_decides_which_model_is_fitted",),
    ),
    Mutant(
        name="a synthesis beyond a tree limit has the key of one without",
        edits=((_STATED, 'found["tree_limit"] = self.tree_limit', "pass"),),
        tests=(f"{_OF_STATED}::test_a_tree_limit_is_stored_only_where_it_is_stated",),
    ),
    Mutant(
        name="groups are chosen for which a mixture has no memory",
        edits=((_STATED, "return is_small and mixture_memory(", "return is_small or mixture_memory("),),
        tests=(_OF_STATED,),
    ),
    Mutant(
        name="a tree limit is taken whatever columns need",
        edits=((_STATED, "zeros) > _MOST_FOR_COLUMNS:", "zeros) < 0:"),),
        tests=(f"{_OF_STATED}::test_columns_for_which_a_mixture_has_no_memory_are_refused",),
    ),
)  # fmt: skip
