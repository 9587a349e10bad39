"""Seeded bugs of mechanisms and their accounting."""

from tests.mutations.mutants import Mutant

MUTANTS = (
    Mutant(
        name="a center is priced for replacement as for adding",
        edits=(
            (
                "mechanisms/posterior/models.py",
                "return 2 * (self.high - self.low) / self.scale",
                "return (self.high - self.low) / self.scale",
            ),
        ),
        tests=("tests/mechanisms/posterior/test_sampling.py", "tests/mechanisms/posterior/test_models.py"),
    ),
    Mutant(
        name="the bound of truncated noise is one too small",
        edits=(
            (
                "mechanisms/additive/truncated_laplace.py",
                "first = exp_bounds((bound - steps + 1) / scale, bits)[1]",
                "first = exp_bounds((bound - steps + 2) / scale, bits)[1]",
            ),
        ),
        tests=("tests/mechanisms/additive/test_truncated_laplace.py",),
    ),
    Mutant(
        name="numbers that move together do not share the delta of truncated noise",
        edits=(
            (
                "mechanisms/additive/truncated_laplace.py",
                "_bound(scale, steps, self.delta / each)",
                "_bound(scale, steps, self.delta)",
            ),
        ),
        tests=(
            "tests/mechanisms/additive/test_truncated_laplace.py::test_the_budget_is_shared_by_the_numbers_that_move",
        ),
    ),
    Mutant(
        name="gaps are told below the threshold too",
        edits=(
            (
                "mechanisms/selection/sparse_vector_session.py",
                "(noisy - self._noisy_threshold) * unit if said else None",
                "(noisy - self._noisy_threshold) * unit",
            ),
        ),
        tests=(
            "tests/mechanisms/selection/test_sparse_vector.py::test_gaps_are_those_of_the_definition_for_every_noise",
        ),
    ),
    Mutant(
        name="scores that move both ways get the noise of counts",
        edits=(("mechanisms/selection/noisy_max.py", "directions = 1 if self.monotonic else 2", "directions = 1"),),
        tests=("tests/mechanisms/selection/test_noisy_max.py::test_scores_of_any_sensitivity_stay_within_epsilon",),
    ),
    Mutant(
        name="whole numbers are rounded toward zero on their way to the lattice",
        edits=(
            (
                "mechanisms/lattice.py",
                "(2 * denominator * remainder + numerator) //",
                "(2 * denominator * remainder) //",
            ),
        ),
        tests=(
            "tests/mechanisms/test_lattice.py::test_an_array_of_integers_lands_on_the_same_steps_as_its_numbers_one_by_one",
        ),
    ),
    Mutant(
        name="whole numbers wrap on their way to a fine lattice",
        edits=(("mechanisms/lattice.py", "whole.clip(-beyond, beyond) * denominator", "whole * denominator"),),
        tests=(
            "tests/mechanisms/test_lattice.py::test_an_array_of_integers_lands_on_the_same_steps_as_its_numbers_one_by_one",
        ),
    ),
    Mutant(
        name="a vector is not clamped from above",
        edits=(("mechanisms/additive/geometric.py", "min(last, _LAST))", "_LAST)"),),
        tests=("tests/mechanisms/additive/test_geometric.py::test_a_vector_is_clamped_as_its_numbers_are",),
    ),
    Mutant(
        name="whole floats are clamped where whole numbers are not, so that a missing cell moves all others",
        edits=(
            (
                "mechanisms/lattice.py",
                "return narrow(python_integers(within(int(value)) for value in floats.tolist()))",
                "return np.clip(floats, -_EXACT, _EXACT).astype(np.int64)",
            ),
        ),
        tests=(
            "tests/mechanisms/test_base.py::test_that_one_cell_is_missing_moves_no_other_by_more_than_pandas_rounds",
        ),
    ),
    Mutant(
        name="only floats are clamped",
        edits=(
            (
                "mechanisms/base.py",
                "np.clip(exact, -LARGEST, LARGEST) if exact.dtype == object else exact",
                "exact",
            ),
        ),
        tests=("tests/mechanisms/test_base.py::test_there_is_one_clamp_for_all",),
    ),
    Mutant(
        name="a continuous calibration shows what the noise drawn misses",
        edits=(
            ("mechanisms/additive/gaussian.py", "l0_sensitivity=moved) <= self.delta:", "l0_sensitivity=moved) < 1:"),
        ),
        tests=("tests/mechanisms/additive/test_gaussian.py::test_no_calibration_shows_what_its_noise_misses",),
    ),
    Mutant(
        name="a hint names a package that anybody may register",
        edits=(("plots/panels.py", "pip install matplotlib", "pip install sfumato[plots]"),),
        tests=("tests/plots/test_panels.py::test_without_matplotlib_the_error_says_what_to_install",),
    ),
    Mutant(
        name="a share that did not arrive counts as one without noise",
        edits=(
            (
                "mechanisms/distributed/shares.py",
                'requirement = "must be integers, or one-dimensional',
                'return np.zeros(1, dtype=np.int64)\n    requirement = "must be integers, or one-dimensional',
            ),
        ),
        tests=("tests/mechanisms/distributed/test_shares.py::test_what_is_no_share_is_never_counted_as_one",),
    ),
    Mutant(
        name="a respondent who gave no answer said no",
        edits=(("mechanisms/response/survey.py", "else list(answers)", "else list(map(bool, answers))"),),
        tests=("tests/mechanisms/response/test_survey.py::test_an_answer_that_nobody_gave_is_not_counted_as_no",),
    ),
    Mutant(
        name="noise of a stated width takes unknown coordinates for one",
        edits=(
            (
                "mechanisms/additive/gaussian.py",
                "self.l2_sensitivity, self.l0_sensitivity)",
                "self.l2_sensitivity, self.l0_sensitivity or 1)",
            ),
        ),
        tests=(
            "tests/mechanisms/additive/test_gaussian.py::test_how_many_numbers_move_is_unknown_unless_it_is_stated",
        ),
    ),
    Mutant(
        name="permute-and-flip pays for one direction only",
        edits=(("mechanisms/selection/selection.py", "(1 if self.monotonic else 2)", "1"),),
        tests=("tests/mechanisms/selection/test_permute_and_flip.py",),
    ),
    Mutant(
        name="rounding of utilities not paid for",
        edits=(
            (
                "mechanisms/selection/selection.py",
                "ceil(self.utility_sensitivity / self.resolution)",
                "self.utility_sensitivity / self.resolution",
            ),
        ),
        tests=("tests/mechanisms/selection/test_permute_and_flip.py",),
    ),
    Mutant(
        name="a lie that may be the truth",
        edits=(
            (
                "mechanisms/response/kary_randomized_response.py",
                "others += others >= truths[liars]",
                "others += others > truths[liars]",
            ),
        ),
        tests=("tests/mechanisms/response/test_kary_randomized_response.py",),
    ),
    Mutant(
        name="sparse vector with half the noise of comparisons",
        edits=(
            (
                "mechanisms/selection/sparse_vector.py",
                "self._steps_moved * (1 if self.monotonic else 2)",
                "self._steps_moved",
            ),
        ),
        tests=("tests/mechanisms/selection/test_sparse_vector.py",),
    ),
    Mutant(
        name="sparse vector never halts",
        edits=(
            (
                "mechanisms/selection/sparse_vector_session.py",
                "self._remaining -= int(np.count_nonzero(above[:asked]))",
                "pass",
            ),
        ),
        tests=("tests/mechanisms/selection/test_sparse_vector_session.py",),
    ),
    Mutant(
        name="the lead of a winner is the difference",
        edits=(("mechanisms/selection/noisy_top_k.py", " - (rival < index)", ""),),
        tests=(
            "tests/mechanisms/selection/test_noisy_top_k.py::test_the_code_ranks_and_measures_leads_as_the_definition_for_every_noise",
        ),
    ),
    Mutant(
        name="a quantile with half the range",
        edits=(
            (
                "mechanisms/quantiles/grid.py",
                "return 2 * max(quantile, 1 - quantile) if",
                "return max(quantile, 1 - quantile) if",
            ),
        ),
        tests=("tests/mechanisms/quantiles/test_quantile.py",),
    ),
    Mutant(
        name="as many values added beyond an end as there are",
        edits=(
            (
                "mechanisms/quantiles/quantile.py",
                "mirrored, 1 - self.quantile, rate, added=self.margin",
                "mirrored, 1 - self.quantile, rate, added=len(steps)",
            ),
        ),
        tests=("tests/mechanisms/quantiles/test_quantile.py",),
    ),
    Mutant(
        name="a replaced value charged once a level",
        edits=(
            ("mechanisms/quantiles/quantiles.py", "apart = 2 * apart if node.level", "apart = apart if node.level"),
        ),
        tests=("tests/mechanisms/quantiles/test_quantiles.py",),
    ),
    Mutant(
        name="several quantiles as if a value moved them in one direction",
        edits=(("mechanisms/quantiles/joint.py", "self.epsilon / (2 * PARTS)", "self.epsilon / PARTS"),),
        tests=("tests/mechanisms/quantiles/test_joint.py",),
    ),
    Mutant(
        name="tuples whose points are as far counted twice",
        edits=(
            (
                "mechanisms/quantiles/joint.py",
                "other, distance, is_closer=other < quantile",
                "other, distance, is_closer=False",
            ),
        ),
        tests=("tests/mechanisms/quantiles/test_joint.py",),
    ),
    Mutant(
        name="tuples taken for hopeless that are not",
        edits=(("mechanisms/quantiles/joint.py", "<= all_tuples + HOPELESS", "<= HOPELESS"),),
        tests=("tests/mechanisms/quantiles/test_joint.py",),
    ),
    Mutant(
        name="several quantiles certified as one",
        edits=(
            (
                "mechanisms/quantiles/joint.py",
                "len(self._grid) ** len(self.quantiles) / failure",
                "len(self._grid) / failure",
            ),
        ),
        tests=("tests/mechanisms/quantiles/test_joint.py",),
    ),
    Mutant(
        name="smooth bounds rounded one by one",
        edits=(
            ("mechanisms/stable/median.py", "_RESERVE: Final = Fraction(1, 1 << 28)", "_RESERVE: Final = Fraction(0)"),
        ),
        tests=(
            "tests/mechanisms/stable/test_median.py::test_the_bound_is_smooth_exactly_and_covers_the_local_sensitivity",
        ),
    ),
    Mutant(
        name="smooth noise halved",
        edits=(
            (
                "mechanisms/stable/smooth_sensitivity.py",
                "scale = self.scale_factor * min(",
                "scale = self.scale_factor / 2 * min(",
            ),
        ),
        tests=("tests/mechanisms/stable/test_smooth_sensitivity.py",),
    ),
    Mutant(
        name="a tie passes the test of stability",
        edits=(("mechanisms/stable/propose_test_release.py", "<= self.threshold:", "< self.threshold:"),),
        tests=("tests/mechanisms/stable/test_propose_test_release.py",),
    ),
    Mutant(
        name="a threshold one too low",
        edits=(
            (
                "mechanisms/partitions/thresholds.py",
                "self.max_rows_per_group_per_unit + 1 + width",
                "self.max_rows_per_group_per_unit + width",
            ),
        ),
        tests=("tests/mechanisms/partitions/test_thresholds.py",),
    ),
    Mutant(
        name="delta not split over the keys of a unit",
        edits=(("mechanisms/partitions/partition_selection.py", "share = delta / keys", "share = delta"),),
        tests=("tests/mechanisms/partitions/test_truncated_geometric.py",),
    ),
    Mutant(
        name="keys of nobody shown",
        edits=(
            (
                "mechanisms/partitions/thresholds.py",
                "(exact_counts > 0) & (noisy >= self.threshold)",
                "noisy >= self.threshold",
            ),
        ),
        tests=("tests/mechanisms/partitions/test_thresholds.py",),
    ),
    Mutant(
        name="shares of noise sized for everybody although some may drop out",
        edits=(("mechanisms/distributed/shares.py", "Fraction(1, parties.needed)", "Fraction(1, parties.parties)"),),
        tests=("tests/mechanisms/distributed/test_laplace.py",),
    ),
    Mutant(
        name="Skellam privacy summed from the wrong place",
        edits=(("accounting/gaussian/skellam.py", "first = -(linf_sensitivity // 2)", "first = linf_sensitivity"),),
        tests=("tests/accounting/gaussian/test_skellam.py",),
    ),
    Mutant(
        name="a posterior is not tempered",
        edits=(("mechanisms/posterior/sampling.py", "power=affordable / price)", "power=price / price)"),),
        tests=("tests/mechanisms/posterior/test_sampling.py",),
    ),
    Mutant(
        name="replaced units move measurements like added ones",
        edits=(("mechanisms/matrix/strategies.py", "_movement(columns - columns[:, [cell]])", "_movement(columns)"),),
        tests=("tests/mechanisms/matrix/test_matrix.py",),
    ),
    Mutant(
        name="a clamped count gets half its noise",
        edits=(
            (
                "mechanisms/additive/geometric.py",
                "            l1_sensitivity=l1_sensitivity,\n            epsilon=epsilon,\n",
                "            l1_sensitivity=l1_sensitivity,\n            epsilon=2 * epsilon,\n",
            ),
        ),
        tests=("tests/mechanisms/additive/test_geometric.py",),
    ),
    Mutant(
        name="floats rounded to the lattice on their own",
        edits=(("mechanisms/lattice.py", "np.flatnonzero(~settled)", "np.flatnonzero(settled & False)"),),
        tests=(
            "tests/mechanisms/test_lattice.py::test_an_array_of_floats_lands_on_the_same_steps_as_its_numbers_one_by_one",
        ),
    ),
    Mutant(
        name="the mask of an array passes through",
        edits=(
            (
                "mechanisms/lattice.py",
                "if isinstance(values, np.ma.MaskedArray) else np.asarray(values)",
                "if False else np.asanyarray(values)",
            ),
        ),
        tests=("tests/mechanisms/test_base.py",),
    ),
    Mutant(
        name="the rounding of vectors costs nothing",
        edits=(
            (
                "mechanisms/lattice.py",
                "ceil(l1_sensitivity / resolution) + l0_sensitivity - 1",
                "ceil(l1_sensitivity / resolution)",
            ),
        ),
        tests=("tests/mechanisms/test_lattice.py",),
    ),
    Mutant(
        name="the object of the first row shown",
        edits=(
            (
                "mechanisms/partitions/partition_selection.py",
                "canonical_counts(opened(counts))",
                "dict(opened(counts))",
            ),
        ),
        tests=("tests/mechanisms/partitions/test_partition_selection.py",),
    ),
    Mutant(
        name="counts of keys that fall together added up",
        edits=(
            (
                "mechanisms/partitions/keys.py",
                "largest[key] = max(count, largest.get(key, count))",
                "largest[key] = count + largest.get(key, 0)",
            ),
        ),
        tests=("tests/mechanisms/partitions/test_keys.py",),
    ),
    Mutant(
        name="clocks set back tell which of two equal moments came first",
        edits=(("mechanisms/partitions/keys.py", "key.replace(fold=0).astimezone(UTC)", "key.astimezone(UTC)"),),
        tests=("tests/mechanisms/partitions/test_keys.py",),
    ),
    Mutant(
        name="fair coins lie half as often",
        edits=(
            (
                "mechanisms/response/randomized_response.py",
                "_FALSEHOOD: Final = _FAIR * (1 - _FAIR)",
                "_FALSEHOOD: Final = _FAIR * (1 - _FAIR) / 2",
            ),
        ),
        tests=("tests/mechanisms/response/test_randomized_response.py",),
    ),
    Mutant(
        name="noisy max under replacement with the noise for adding",
        edits=(("mechanisms/selection/noisy_max.py", "units = 2 if", "units = 1 if"),),
        tests=("tests/mechanisms/selection/test_noisy_max.py",),
    ),
    Mutant(
        name="Skellam shares sized for everybody although some may drop out",
        edits=(("mechanisms/distributed/shares.py", "Fraction(1, parties.needed)", "Fraction(1, parties.parties)"),),
        tests=("tests/mechanisms/distributed/test_skellam.py",),
    ),
    Mutant(
        name="a vector is taken to move in one number",
        edits=(("mechanisms/base.py", "if l0_sensitivity is None and numbers != 1:", "if False:"),),
        tests=("tests/mechanisms/additive/test_gaussian.py",),
    ),
    Mutant(
        name="floats beyond 2^53 spread by their decimals",
        edits=(("mechanisms/lattice.py", " or abs(float(value)) >= _SPARSE", ""),),
        tests=(
            "tests/mechanisms/test_lattice.py::test_neighbouring_floats_beyond_2_to_the_53_stay_neighbours_on_the_lattice",
        ),
    ),
    Mutant(
        name="half of the rounding of a vector paid for in L2",
        edits=(
            (
                "mechanisms/lattice.py",
                "steps + sqrt_up(Fraction(l0_sensitivity))",
                "steps + sqrt_up(Fraction(l0_sensitivity)) / 2",
            ),
        ),
        tests=("tests/mechanisms/test_lattice.py::test_the_l2_sensitivity_is_reached_but_for_as_little_as_one_likes",),
    ),
    Mutant(
        name="sums of squared differences of a strategy wrap",
        edits=(
            ("mechanisms/matrix/strategies.py", "LARGEST_ENTRY: Final = 1 << 20", "LARGEST_ENTRY: Final = 1 << 22"),
        ),
        tests=("tests/mechanisms/matrix/test_strategies.py::test_the_largest_entries_and_rows_do_not_wrap",),
    ),
    Mutant(
        name="a strategy costs what it would without rounding to whole numbers",
        edits=(
            (
                "mechanisms/workloads/components.py",
                "diagonal=(int(diagonal.min()), int(diagonal.max())),",
                "diagonal=(int(diagonal.min()), min(1 << 24, int(diagonal.max()))),",
            ),
        ),
        tests=(
            "tests/mechanisms/workloads/test_sensitivity.py::test_one_row_changes_the_measured_numbers_exactly_as_much",
        ),
    ),
    Mutant(
        name="every residual is taken to have the noise of the last",
        edits=(
            (
                "mechanisms/workloads/sensitivity.py",
                "parts = [(each.multiplier**2, [",
                "parts = [(measurements[-1].multiplier**2, [",
            ),
        ),
        tests=(
            "tests/mechanisms/workloads/test_sensitivity.py::test_one_row_changes_the_measured_numbers_exactly_as_much",
        ),
    ),
    Mutant(
        name="shares of the budget are squared twice",
        edits=(
            (
                "mechanisms/workloads/strategies.py",
                "multipliers = np.sqrt(best_shares(terms, _costs(measured, unit), np.array(weights), objective))",
                "multipliers = best_shares(terms, _costs(measured, unit), np.array(weights), objective)",
            ),
        ),
        tests=("tests/mechanisms/workloads/test_strategies.py::test_marginals_have_the_least_possible_variance",),
    ),
    Mutant(
        name="a unit of several cells changes a strategy as if they had nothing in common",
        edits=(
            (
                "mechanisms/workloads/sensitivity.py",
                "by_products = (gram.diagonal - highest) * unit.l2_squared + highest * unit.l1**2",
                "by_products = gram.diagonal * unit.l2_squared",
            ),
        ),
        tests=("tests/mechanisms/workloads/test_sensitivity.py::test_no_unit_changes_the_measured_numbers_more",),
    ),
    Mutant(
        name="a replaced row of a workload costs as much as an added one",
        edits=(
            (
                "mechanisms/workloads/sensitivity.py",
                "return 1 if self.neighboring_relation is ADD_OR_REMOVE_ONE else 2",
                "return 1",
            ),
        ),
        tests=("tests/mechanisms/workloads/test_sensitivity.py::test_no_unit_changes_the_measured_numbers_more",),
    ),
    Mutant(
        name="the multiplier of a measurement is left out of what is measured",
        edits=(
            (
                "mechanisms/workloads/workload_mechanism.py",
                "numbers: Integers = measurement.multiplier * values.ravel()",
                "numbers: Integers = values.ravel()",
            ),
        ),
        tests=("tests/mechanisms/workloads/test_workload_mechanism.py::test_without_noise_the_answers_are_exact",),
    ),
    Mutant(
        name="rows of a centered strategy no longer add up to zero",
        edits=(
            (
                "mechanisms/workloads/optimal.py",
                "(floors + (ranks < missing)).astype(np.int64)",
                "np.rint(matrix + 0 * ranks * missing).astype(np.int64)",
            ),
        ),
        tests=(
            "tests/mechanisms/workloads/test_optimal.py::test_rows_that_add_up_to_zero_do_so_when_they_are_rounded",
        ),
    ),
)
