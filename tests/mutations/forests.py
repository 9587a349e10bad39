"""Seeded bugs of private forests: what a tree sees of rows, noise on leaves, and splits."""

from tests.mutations.mutants import Mutant

_LEAVES = "tests/learn/trees/test_leaves.py"
_SPLITS = "tests/learn/trees/test_splits.py"
_FOREST = "tests/learn/trees/test_forest.py"
_MOVES = f"{_LEAVES}::test_no_neighbor_costs_more_than_epsilon"

MUTANTS = (
    Mutant(
        name="each tree of a forest has the whole budget",
        edits=(
            ("learn/trees/leaves.py", "l1_sensitivity=self.moved_rows * self.trees", "l1_sensitivity=self.moved_rows"),
        ),
        tests=(_MOVES,),
    ),
    Mutant(
        name="Gaussian noise of leaves is made for one tree",
        edits=(("learn/trees/leaves.py", "Fraction(self.moved_rows**2 * self.trees)", "Fraction(self.moved_rows**2)"),),
        tests=(_MOVES,),
    ),
    Mutant(
        name="rows of a unit are taken for rows in different leaves",
        edits=(
            (
                "learn/trees/leaves.py",
                "Fraction(self.moved_rows**2 * self.trees)",
                "Fraction(self.moved_rows * self.trees)",
            ),
        ),
        tests=(f"{_LEAVES}::test_several_rows_of_a_unit_move_counts_no_further_than_stated",),
    ),
    Mutant(
        name="noise of leaves is made for one row",
        edits=(
            ("learn/trees/leaves.py", "l1_sensitivity=self.moved_rows * self.trees", "l1_sensitivity=self.trees"),
            (
                "learn/trees/leaves.py",
                "l0_sensitivity=self.trees * min(self.moved_rows, self.classes << self.depth)",
                "l0_sensitivity=self.trees",
            ),
        ),
        tests=(_MOVES,),
    ),
    Mutant(
        name="leaves are counted exactly",
        edits=(("learn/trees/leaves.py", "np.asarray(self.noise.release(exact.reshape(-1)))", "exact.reshape(-1)"),),
        tests=(f"{_LEAVES}::test_only_noisy_counts_reach_a_model",),
    ),
    Mutant(
        name="a leaf is empty or noisy",
        edits=(
            (
                "learn/trees/leaves.py",
                "np.asarray(self.noise.release(exact.reshape(-1)))",
                "np.asarray(self.noise.release(exact.reshape(-1))) * (exact.reshape(-1) > 0)",
            ),
        ),
        tests=(f"{_LEAVES}::test_only_noisy_counts_reach_a_model",),
    ),
    Mutant(
        name="trees are drawn for the levels that occur",
        edits=(
            (
                "learn/trees/leaves.py",
                "forest = [random_tree(self.features, depth=self.depth) for _ in range(self.trees)]\n",
                "rows.open_for_noise()\n        forest = [random_tree(self.features, depth=self.depth)] * self.trees\n",
            ),
        ),
        tests=(f"{_LEAVES}::test_trees_are_drawn_before_rows_are_seen",),
    ),
    Mutant(
        name="a label of a forest may be no class",
        edits=(("learn/trees/leaves.py", "np.clip(target, 0, classes - 1).astype", "target.astype"),),
        tests=(f"{_LEAVES}::test_a_row_is_counted_once_in_each_tree_whatever_stands_in_it",),
    ),
    Mutant(
        name="codes of a forest may lie outside of their column",
        edits=(("learn/trees/splits.py", "np.clip(codes, -1, self.steps).astype", "codes.astype"),),
        tests=(f"{_LEAVES}::test_a_row_is_counted_once_in_each_tree_whatever_stands_in_it", _SPLITS),
    ),
    Mutant(
        name="a column is split again of which one level is left",
        edits=(("learn/trees/splits.py", "_random_open(lowest < highest)", "_random_open(lowest <= highest)"),),
        tests=(_SPLITS,),
    ),
    Mutant(
        name="thresholds of a node lie anywhere in its column",
        edits=(
            (
                "learn/trees/splits.py",
                "lowest[2 * nodes + 1, chosen] = np.minimum(split + 1, high)",
                "lowest[2 * nodes + 1, chosen] = low",
            ),
        ),
        tests=(_SPLITS,),
    ),
    Mutant(
        name="categories of all trees have the order of their list",
        edits=(
            (
                "learn/trees/splits.py",
                "np.argsort(np.argsort(uniform_below(1 << 62, feature.levels)))",
                "np.arange(feature.levels)",
            ),
        ),
        tests=(_SPLITS,),
    ),
    Mutant(
        name="leaves forget the nodes above them",
        edits=(("learn/trees/leaves.py", "found = moved / moved.sum(axis=2, keepdims=True)", "pass"),),
        tests=(f"{_LEAVES}::test_probabilities_are_corrected_on_the_way_down",),
    ),
    Mutant(
        name="the noise of the leaves below a node is that of one",
        edits=(("learn/trees/leaves.py", "noise = below * variance *", "noise = variance *"),),
        tests=(f"{_LEAVES}::test_probabilities_are_corrected_on_the_way_down",),
    ),
    Mutant(
        name="a forest shares what it knows of its classes exactly",
        edits=(
            (
                "learn/trees/leaves.py",
                '"counts": [int(one) for one in noisy]}',
                '"counts": [int(one) for one in noisy], "classes": exact.sum(axis=(0, 1)).tolist()}',
            ),
        ),
        tests=(f"{_LEAVES}::test_only_noisy_counts_reach_a_model",),
    ),
    Mutant(
        name="a single tree counts twice",
        edits=(
            (
                "learn/trees/forest.py",
                'min(float(positive(self.independent_trees, "independent_trees")), trees)',
                'float(positive(self.independent_trees, "independent_trees"))',
            ),
        ),
        tests=(f"{_FOREST}::test_without_noise_trees_that_end_in_single_rows_know_them",),
    ),
)
