"""Seeded bugs of boosted models: bins, clipped gradients, noise and what reaches a model."""

from tests.mutations.mutants import Mutant

_CURVES = "tests/learn/boosting/test_curves.py"
_LOSSES = "tests/learn/boosting/test_losses.py"
_MOVE = f"{_CURVES}::test_no_neighbor_moves_sums_further_than_noise_is_made_for"
_NOISY = f"{_CURVES}::test_only_noisy_numbers_reach_a_model"
_TREES = "tests/learn/boosting/test_noisy_trees.py"
_TREES_MOVE = f"{_TREES}::test_no_neighbor_moves_sums_further_than_noise_is_made_for"
_TREES_NOISY = f"{_TREES}::test_only_noisy_numbers_reach_a_model"

MUTANTS = (
    Mutant(
        name="gradients of boosting are not clipped",
        edits=(("learn/boosting/losses.py", "np.clip(found, -self.clip, self.clip)[:, None]", "found[:, None]"),),
        tests=(f"{_LOSSES}::test_no_row_has_a_gradient_longer_than_the_clip", _MOVE),
    ),
    Mutant(
        name="gradients of several classes are rounded to the nearest step",
        edits=(("learn/boosting/losses.py", "scaled = np.trunc(", "scaled = np.round("),),
        tests=(f"{_LOSSES}::test_no_row_has_a_gradient_longer_than_the_clip",),
    ),
    Mutant(
        name="each score of a row is clipped by itself",
        edits=(
            (
                "learn/boosting/losses.py",
                'squares = np.einsum("ij,ij->i", found, found)',
                "squares = (found**2).max(axis=1)",
            ),
        ),
        tests=(f"{_LOSSES}::test_no_row_has_a_gradient_longer_than_the_clip", _MOVE),
    ),
    Mutant(
        name="noise of boosting is made for one row",
        edits=(("learn/boosting/curves.py", "Fraction(moved * self.loss.clip)", "Fraction(self.loss.clip)"),),
        tests=(_MOVE,),
    ),
    Mutant(
        name="a row is counted in one column alone",
        edits=(("learn/boosting/curves.py", "moved * COUNT * sqrt_up(Fraction(width))", "Fraction(moved * COUNT)"),),
        tests=(_MOVE,),
    ),
    Mutant(
        name="rows of bins are counted exactly",
        edits=(
            (
                "learn/boosting/curves.py",
                "np.asarray(self.count.release(np.concatenate(exact)), dtype=np.float64) / COUNT",
                "np.concatenate(exact) / COUNT + 0.0 * np.asarray(self.count.release(np.concatenate(exact)))",
            ),
        ),
        tests=(_NOISY,),
    ),
    Mutant(
        name="the exact sum of gradients makes the step",
        edits=(
            (
                "learn/boosting/curves.py",
                "np.asarray(self.gradient.release(sums.reshape(-1)), dtype=np.float64).reshape(sums.shape)",
                "sums + 0.0 * np.asarray(self.gradient.release(sums.reshape(-1)), dtype=float).reshape(sums.shape)",
            ),
        ),
        tests=(_NOISY,),
    ),
    Mutant(
        name="boosting has one round more than was charged",
        edits=(("learn/boosting/curves.py", "for _ in range(self.rounds):", "for _ in range(self.rounds + 1):"),),
        tests=(_NOISY,),
    ),
    Mutant(
        name="a code beyond the bins of boosting is an error",
        edits=(
            (
                "learn/boosting/bins.py",
                "np.clip(codes[:, place], 0 if column.is_number else -1, column.steps)",
                "codes[:, place]",
            ),
        ),
        tests=("tests/learn/boosting/test_bins.py::test_whatever_stands_in_a_row_it_has_one_bin_of_each_column",),
    ),
    Mutant(
        name="kinds of sums have the whole budget each",
        edits=(
            (
                "learn/core/parts.py",
                "[part.share / part.times for part in every]",
                "[Fraction(1) for _ in every]",
            ),
        ),
        tests=("tests/learn/boosting/test_calibrated.py::test_a_share_is_that_of_the_inverse_variance",),
    ),
    Mutant(
        name="noise of boosted trees is made for one row",
        edits=(("learn/boosting/noisy_trees.py", "Fraction(moved * self.loss.clip)", "Fraction(self.loss.clip)"),),
        tests=(_TREES_MOVE,),
    ),
    Mutant(
        name="a row is counted in one tree alone",
        edits=(
            (
                "learn/boosting/noisy_trees.py",
                "moved * COUNT * sqrt_up(Fraction(self.rounds))",
                "Fraction(moved * COUNT)",
            ),
        ),
        tests=(_TREES_MOVE,),
    ),
    Mutant(
        name="rows of leaves are counted exactly",
        edits=(
            (
                "learn/boosting/noisy_trees.py",
                "np.asarray(self.count.release(np.concatenate(exact) * COUNT), dtype=np.float64) / COUNT",
                "np.concatenate(exact) + 0.0 * np.asarray(self.count.release(np.concatenate(exact) * COUNT))",
            ),
        ),
        tests=(_TREES_NOISY,),
    ),
    Mutant(
        name="the exact sum of gradients is what a leaf adds",
        edits=(
            (
                "learn/boosting/noisy_trees.py",
                "np.asarray(self.gradient.release(sums.reshape(-1)), dtype=np.float64).reshape(sums.shape)",
                "sums + 0.0 * np.asarray(self.gradient.release(sums.reshape(-1)), dtype=float).reshape(sums.shape)",
            ),
        ),
        tests=(_TREES_NOISY,),
    ),
    Mutant(
        name="boosting has one tree more than was charged",
        edits=(("learn/boosting/noisy_trees.py", "for _ in range(self.rounds)]", "for _ in range(self.rounds + 1)]"),),
        tests=(_TREES_NOISY,),
    ),
    Mutant(
        name="trees of boosting are drawn after rows are opened",
        edits=(
            (
                "learn/boosting/noisy_trees.py",
                "trees = [random_level_tree(self.bins, depth=self.depth) for _ in range(self.rounds)]",
                "rows.open_for_noise(); trees = [random_level_tree(self.bins, depth=self.depth)] * self.rounds",
            ),
        ),
        tests=(f"{_TREES}::test_trees_are_drawn_before_rows_are_opened",),
    ),
    Mutant(
        name="the bounds of a target are those that occur",
        edits=(
            (
                "learn/core/regressors.py",
                'TrainingColumn(name="y", lower=pair[0], upper=pair[1])',
                'TrainingColumn(name="y", lower=exact(numbers.min(), "y"), upper=exact(numbers.max(), "y"))',
            ),
        ),
        tests=("tests/learn/core/test_regressors.py::test_a_target_has_the_bounds_that_are_declared_whatever_occurs",),
    ),
)
