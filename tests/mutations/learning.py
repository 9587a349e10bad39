"""Seeded bugs of private learning: rows that reach a fit, clipping, noise and certificates."""

from tests.mutations.mutants import Mutant

_DESCENT = "tests/learn/linear/test_descent.py"
_OBJECTIVE = "tests/learn/linear/test_objective.py"
_TALLIES = "tests/learn/bayes/test_tallies.py"
_LOGISTIC = "tests/learn/linear/test_logistic.py"
_SUMS = "tests/learn/linear/test_least_squares.py"
_SPLIT = "tests/learn/conformal/test_split.py"
_SUMS_MOVE = f"{_SUMS}::test_no_neighbor_moves_the_sums_further_than_noise_is_made_for"

MUTANTS = (
    Mutant(
        name="sums of marginals stand for marginals of units with several rows",
        edits=(("session/training/marginals.py", "if self._query.rows_per_unit > 1:", "if False:"),),
        tests=("tests/session/training/test_marginals.py",),
    ),
    Mutant(
        name="a marginal counts all rows of a unit",
        edits=(
            (
                "session/training/marginals.py",
                "measures=(RowCount(),), limits=self.limits",
                "measures=(RowCount(),), limits=Limits(max_rows_per_unit=99)",
            ),
        ),
        tests=("tests/session/training/test_marginals.py",),
    ),
    Mutant(
        name="what is missing is no value of an attribute",
        edits=(
            (
                "session/training/attributes.py",
                "return value if missing is None else Case",
                "return value if missing is not None else Case",
            ),
        ),
        tests=("tests/session/training/test_attributes.py",),
    ),
    Mutant(
        name="a fit sees all rows of a unit",
        edits=(("session/training/plan.py", "measures=(RowCount(),), limits=kept,", "measures=(RowCount(),),"),),
        tests=("tests/session/training/test_plan.py",),
    ),
    Mutant(
        name="another fit of the same rows returns the model of the first",
        edits=(("session/training/plan.py", '"parameters": plan.fit.document()}', '"parameters": None}'),),
        tests=("tests/session/asking/test_training_set.py::test_what_differs_is_another_fit",),
    ),
    Mutant(
        name="a code of an engine may lie outside of its column",
        edits=(
            (
                "session/training/columns.py",
                "np.clip(np.array(found, dtype=np.int64), 0, column.steps)",
                "np.array(found, dtype=np.int64)",
            ),
        ),
        tests=("tests/session/training/test_columns.py",),
    ),
    Mutant(
        name="numbers of arrays are not clamped",
        edits=(
            ("session/training/columns.py", "codes = np.clip(lattice, 0, self.steps)", "codes = lattice"),
            (
                "session/training/columns.py",
                "np.clip(np.where(np.isnan(numbers), lower, numbers), lower, upper)",
                "np.where(np.isnan(numbers), lower, numbers)",
            ),
        ),
        tests=("tests/session/training/test_columns.py",),
    ),
    Mutant(
        name="classes are those that occur",
        edits=(
            (
                "learn/core/estimators.py",
                "classes = declared_classes(self.classes)\n        if y is None",
                "classes = declared_classes(self.classes if y is None else np.unique(y))\n        if y is None",
            ),
        ),
        tests=(f"{_LOGISTIC}::test_no_attribute_holds_an_exact_fact_of_the_data",),
    ),
    Mutant(
        name="replacing a row moves one",
        edits=(("learn/core/inputs.py", "(2 if replaces else 1)", "1"),),
        tests=("tests/learn/core/test_inputs.py", f"{_LOGISTIC}::test_the_relation_of_arrays_is_stated"),
    ),
    Mutant(
        name="rows beyond a norm stay as they are",
        edits=(("learn/linear/design.py", "features[over] = np.trunc(features[over] * factors[:, None])", "return"),),
        tests=("tests/learn/linear/test_design.py",),
    ),
    Mutant(
        name="rows that are scaled down are rounded to the nearest step",
        edits=(("learn/linear/design.py", "features[over] = np.trunc(", "features[over] = np.round("),),
        tests=("tests/learn/linear/test_design.py",),
    ),
    Mutant(
        name="gradients are not clipped",
        edits=(
            (
                "learn/linear/descent.py",
                "clipped: Matrix = np.clip(residuals, -most[:, None], most[:, None])",
                "clipped: Matrix = residuals",
            ),
        ),
        tests=(f"{_DESCENT}::test_no_neighbor_moves_a_gradient_further_than_noise_is_made_for",),
    ),
    Mutant(
        name="gradients of several classes are clipped each by itself",
        edits=(
            (
                "learn/linear/descent.py",
                "norms = np.sqrt(squares_of(residuals))",
                "norms = np.abs(residuals).max(axis=1)",
            ),
        ),
        tests=(f"{_DESCENT}::test_no_neighbor_moves_a_gradient_further_than_noise_is_made_for",),
    ),
    Mutant(
        name="support vectors are fitted to the logistic loss",
        edits=(("learn/linear/support_vectors.py", '(data, total, "hinge")', '(data, total, "logistic")'),),
        tests=("tests/learn/linear/test_support_vectors.py::test_a_session_is_charged_once_for_one_model",),
    ),
    Mutant(
        name="each class of support vectors has a clip of its own",
        edits=(
            (
                "learn/linear/descent.py",
                "most[:, None])\n            return clipped\n",
                (
                    "most[:, None])\n            return clipped\n"
                    '        if self._loss == "hinge":\n'
                    "            return np.clip(residuals, -most[:, None], most[:, None])\n"
                ),
            ),
        ),
        tests=(f"{_DESCENT}::test_no_neighbor_moves_a_gradient_further_than_noise_is_made_for",),
    ),
    Mutant(
        name="the number of rows is read exactly",
        edits=(("learn/linear/descent.py", "float(self.count.release(len(target)))", "float(len(target))"),),
        tests=(f"{_DESCENT}::test_only_noisy_numbers_reach_a_model",),
    ),
    Mutant(
        name="the exact gradient goes into the momentum",
        edits=(
            (
                "learn/linear/descent.py",
                "np.asarray(self.gradient.release(gradients.exact(weights).reshape(-1)), dtype=np.float64)",
                "gradients.exact(weights).reshape(-1) + 0 * self.gradient.release(weights.reshape(-1).astype(int))",
            ),
        ),
        tests=(f"{_DESCENT}::test_only_noisy_numbers_reach_a_model",),
    ),
    Mutant(
        name="one step more is taken than was charged",
        edits=(("learn/linear/descent.py", "for _ in range(self.steps):", "for _ in range(self.steps + 1):"),),
        tests=(f"{_DESCENT}::test_only_noisy_numbers_reach_a_model",),
    ),
    Mutant(
        name="noise of gradients is made for one row",
        edits=(
            (
                "learn/linear/descent.py",
                "distances = (self.moved_rows, *[self.moved_rows * self.clip_steps] * self.steps)",
                "distances = (self.moved_rows, *[self.clip_steps] * self.steps)",
            ),
        ),
        tests=(_DESCENT,),
    ),
    Mutant(
        name="noise of tallies is made for one row",
        edits=(
            ("learn/bayes/tallies.py", "l1_sensitivity=self.moved_rows * ", "l1_sensitivity="),
            ("learn/bayes/tallies.py", "l2_sensitivity=self.moved_rows * ", "l2_sensitivity="),
        ),
        tests=(_TALLIES,),
    ),
    Mutant(
        name="each column of naive Bayes has the whole budget",
        edits=(("learn/bayes/tallies.py", "each = (1 - COUNT_SHARE) / len(self.columns)", "each = 1 - COUNT_SHARE"),),
        tests=(f"{_TALLIES}::test_no_neighbor_costs_more_than_epsilon",),
    ),
    Mutant(
        name="the noise of squares is made for numbers alone",
        edits=(("learn/bayes/tallies.py", "np.abs(table).sum(axis=1).max()", "np.abs(table)[:, 0].max() // 2 + 1"),),
        tests=(f"{_TALLIES}::test_no_neighbor_costs_more_than_epsilon",),
    ),
    Mutant(
        name="rows of a class are counted exactly",
        edits=(
            (
                "learn/bayes/tallies.py",
                "np.asarray(self.count.release(tallied(target, np.zeros_like(target), self.classes, _ONE)[:, 0]))",
                "tallied(target, np.zeros_like(target), self.classes, _ONE)[:, 0]",
            ),
        ),
        tests=(f"{_TALLIES}::test_only_noisy_numbers_reach_a_model",),
    ),
    Mutant(
        name="a class that there is not is an error",
        edits=(("learn/bayes/tallies.py", "np.clip(target, 0, classes - 1)", "target"),),
        tests=(f"{_TALLIES}::test_a_row_adds_to_one_class_whatever_stands_in_it",),
    ),
    Mutant(
        name="the Hessian is not paid for",
        edits=(
            (
                "learn/linear/objective.py",
                "by_noise = self.charge.epsilon * (1 - OUTPUT_SHARE) - by_hessian",
                "by_noise = self.charge.epsilon * (1 - OUTPUT_SHARE)",
            ),
        ),
        tests=(_OBJECTIVE,),
    ),
    Mutant(
        name="gradients of several classes are taken for those of two",
        edits=(("learn/linear/objective.py", "(1 if classes == 2 else 2)", "1"),),
        tests=(f"{_OBJECTIVE}::test_no_neighbor_changes_the_density_of_the_minimum_by_more_than_its_share",),
    ),
    Mutant(
        name="the Hessian of several classes has the rank of two",
        edits=(
            ("learn/linear/objective.py", "rank, trace = classes - 1, design", "rank, trace = 1, design"),
            ("learn/linear/objective.py", "(1 - Fraction(1, classes))\n    return", "Fraction(1, 4)\n    return"),
        ),
        tests=(f"{_OBJECTIVE}::test_the_hessian_of_a_row_has_the_stated_rank_and_trace",),
    ),
    Mutant(
        name="the linear term is whole lattice steps",
        edits=(("learn/linear/objective.py", "dtype=np.float64) + 0.5\n", "dtype=np.float64)\n"),),
        tests=(f"{_OBJECTIVE}::test_the_linear_term_is_the_middle_of_the_step_in_which_a_laplace_variable_lies",),
    ),
    Mutant(
        name="weights leave without noise",
        edits=(
            (
                "learn/linear/objective.py",
                "np.asarray(self.output.release(np.floor(found / step + 0.5).reshape(-1)))",
                "np.floor(found / step + 0.5).reshape(-1)",
            ),
        ),
        tests=(f"{_OBJECTIVE}::test_only_the_minimum_with_noise_reaches_a_model",),
    ),
    Mutant(
        name="the lattice of weights is as fine as the search is near",
        edits=(
            ("learn/linear/objective.py", "while step < 4 * off:", "while step < off / 4:"),
            ("learn/linear/objective.py", "while step > 4 * off:", "while step > off / 4:"),
        ),
        tests=(f"{_OBJECTIVE}::test_near_minima_lie_in_the_same_lattice_step_or_the_next",),
    ),
    Mutant(
        name="a gradient is certified without the error of its floats",
        edits=(
            ("learn/linear/certified.py", " + sqrt(gradient.size) * error", ""),
            ("learn/linear/certified.py", "(1 + 2.0**-40)", "(1 - 2.0**-40)"),
        ),
        tests=("tests/learn/linear/test_certified.py::test_a_gradient_is_within_its_bound_of_the_exact_one",),
    ),
    Mutant(
        name="what Newton's method ends with is taken without a certificate",
        edits=(
            (
                "learn/linear/certified.py",
                "weights, value = weights - length * move, lower\n    return None",
                "weights, value = weights - length * move, lower\n    return weights",
            ),
        ),
        tests=("tests/learn/linear/test_certified.py::test_where_newton_does_not_converge_slower_steps_do",),
    ),
    Mutant(
        name="noise of sums is made for one row",
        edits=(
            (
                "learn/linear/least_squares.py",
                "return self.moved_rows * ((l1**2 + square) // 2 + l1 * UNIT)",
                "return (l1**2 + square) // 2 + l1 * UNIT",
            ),
        ),
        tests=(_SUMS_MOVE,),
    ),
    Mutant(
        name="sums with the target have no noise of their own",
        edits=(
            (
                "learn/linear/least_squares.py",
                "self.moved_rows * sqrt_up(triangle + square * UNIT**2)",
                "self.moved_rows * sqrt_up(triangle)",
            ),
        ),
        tests=(f"{_SUMS}::test_rows_at_the_bounds_reach_the_sensitivities",),
    ),
    Mutant(
        name="squares of features count half",
        edits=(
            (
                "learn/linear/least_squares.py",
                "Fraction(square**2 + square * min(square, UNIT**2), 2)",
                "Fraction(square**2, 2)",
            ),
        ),
        tests=(f"{_SUMS}::test_rows_at_the_bounds_reach_the_sensitivities",),
    ),
    Mutant(
        name="the intercept is not counted in the norms",
        edits=(
            (
                "learn/linear/least_squares.py",
                "design.square + UNIT**2 * design.intercept",
                "design.square",
            ),
        ),
        tests=(_SUMS_MOVE,),
    ),
    Mutant(
        name="the exact sums with the target are solved for",
        edits=(
            (
                "learn/linear/least_squares.py",
                "solved(matrix, noisy[-width:], ",
                "solved(matrix, self.exact(rows.open_for_noise())[-width:] / UNIT**2, ",
            ),
        ),
        tests=(f"{_SUMS}::test_only_noisy_numbers_reach_a_model",),
    ),
    Mutant(
        name="the model sees the rows of the calibration",
        edits=(
            (
                "learn/conformal/split.py",
                "opened.codes[~is_later], target=target[~is_later]",
                "opened.codes, target=target",
            ),
        ),
        tests=(f"{_SPLIT}::test_a_row_is_in_one_part_alone",),
    ),
    Mutant(
        name="the threshold is priced for one row of a unit",
        edits=(("learn/conformal/split.py", "self.epsilon / self.rows_per_unit", "self.epsilon"),),
        tests=(f"{_SPLIT}::test_no_neighbor_makes_a_threshold_more_probable_than_its_epsilon_allows",),
    ),
    Mutant(
        name="one part is charged whatever moves",
        edits=(
            (
                "learn/conformal/split.py",
                "rows_per_unit == 1 and neighboring_relation is ADD_OR_REMOVE_ONE",
                "rows_per_unit >= 1 and neighboring_relation is not None",
            ),
        ),
        tests=(f"{_SPLIT}::test_one_part_is_charged_where_one_row_moves_else_both",),
    ),
    Mutant(
        name="the threshold errs downward",
        edits=(("learn/conformal/split.py", "is_upper=True", "is_upper=False"),),
        tests=(f"{_SPLIT}::test_noise_makes_intervals_wider_and_never_wrong",),
    ),
    Mutant(
        name="the exact quantile of distances leaves",
        edits=(
            (
                "learn/conformal/split.py",
                "int(self.threshold.release(beyond))",
                "int(np.quantile(beyond, float(self.threshold.quantile)))",
            ),
        ),
        tests=(f"{_SPLIT}::test_only_the_model_and_the_noisy_threshold_leave",),
    ),
    Mutant(
        name="scores of rows are multiplied all at once",
        edits=(
            (
                "learn/linear/design.py",
                "            found += rows[:, place, None] * weight\n",
                "            found = rows @ weights + 0 * place * weight\n",
            ),
        ),
        tests=(f"{_SPLIT}::test_a_score_depends_on_no_other_row_to_the_last_digit",),
    ),
    Mutant(
        name="an eigenvalue may be 0",
        edits=(
            (
                "learn/linear/least_squares.py",
                "np.maximum(values + strength, least)",
                "values",
            ),
        ),
        tests=(f"{_SUMS}::test_solving_is_total_and_no_eigenvalue_is_smaller_than_stated",),
    ),
)
