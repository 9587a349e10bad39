"""Seeded bugs of moments and clusters: noise of several parts, exact numbers in a model, steps that depend on rows."""

from tests.mutations.mutants import Mutant

_PARTS = "tests/learn/core/test_parts.py"
_PRODUCTS = "tests/learn/moments/test_products.py"
_SCALER = "tests/learn/moments/test_scaler.py"
_COMPONENTS = "tests/learn/moments/test_components.py"
_LLOYD = "tests/learn/clusters/test_lloyd.py"
_KMEANS = "tests/learn/clusters/test_kmeans.py"
_STEP = f"{_LLOYD}::test_no_neighbor_moves_a_step_further_than_noise_is_made_for"
_CENTERS = f"{_LLOYD}::test_only_noisy_numbers_reach_centers"

MUTANTS = (
    Mutant(
        name="a part that is released several times is paid for once",
        edits=(("learn/core/parts.py", "each = epsilon * part.share / part.times", "each = epsilon * part.share"),),
        tests=(_STEP, f"{_PARTS}::test_laplace_noise_is_that_of_the_share_of_one_time"),
    ),
    Mutant(
        name="each time of a part has Gaussian noise as if it were the only one",
        edits=(
            ("learn/core/parts.py", "every = [part for part in parts for _ in range(part.times)]", "every = parts"),
            ("learn/core/parts.py", "accumulate((part.times for part in parts), initial=0)", "range(len(parts))"),
        ),
        tests=(f"{_PARTS}::test_all_parts_together_cost_no_more_than_the_charge",),
    ),
    Mutant(
        name="noise of products is made for one row",
        edits=(
            ("learn/moments/products.py", "moved * ((l1**2 + square) // 2)", "((l1**2 + square) // 2)"),
            ("learn/moments/products.py", "moved * sqrt_up(triangle)", "sqrt_up(triangle)"),
        ),
        tests=(f"{_PRODUCTS}::test_no_neighbor_moves_moments_further_than_noise_is_made_for",),
    ),
    Mutant(
        name="squares of centered features count half",
        edits=(
            (
                "learn/moments/products.py",
                "Fraction(square**2 + square * min(square, UNIT**2), 2)",
                "Fraction(square**2, 2)",
            ),
        ),
        tests=(f"{_PRODUCTS}::test_rows_at_the_bounds_reach_the_sensitivities",),
    ),
    Mutant(
        name="moments are divided by the exact number of rows",
        edits=(
            (
                "learn/moments/products.py",
                "for noise, part in zip(self.noises, found, strict=True)]",
                "for noise, part in zip(self.noises, found, strict=True)]\n        noisy[0] = found[0]",
            ),
        ),
        tests=(f"{_PRODUCTS}::test_only_noisy_numbers_reach_a_model",),
    ),
    Mutant(
        name="bounds are those of the data",
        edits=(
            (
                "learn/core/estimators.py",
                "columns = declared_columns(names, bounds=self.bounds, norm=self.norm)",
                "columns = declared_columns(names, bounds=(features.min(axis=0) - 1, features.max(axis=0)), norm=None)",
            ),
        ),
        tests=tuple(
            f"{path}::test_no_attribute_holds_an_exact_fact_of_the_data" for path in (_SCALER, _COMPONENTS, _KMEANS)
        ),
    ),
    Mutant(
        name="a scale may be 0",
        edits=(
            (
                "learn/moments/scaler.py",
                "max(of_squares - mean**2, smallest, min(by_noise, 1.0))",
                "max(of_squares - mean**2, 0.0)",
            ),
        ),
        tests=(f"{_SCALER}::test_a_scale_is_never_0_and_has_a_public_floor",),
    ),
    Mutant(
        name="a variance of rows is kept where noise makes it negative",
        edits=(("learn/moments/components.py", "np.maximum(values[::-1], 0.0)", "values[::-1]"),),
        tests=(f"{_COMPONENTS}::test_components_are_orthonormal_with_a_largest_entry_above_0",),
    ),
    Mutant(
        name="sums of a step have noise made for one row",
        edits=(
            ("learn/clusters/lloyd.py", "l1_sensitivity=moved * self.design.l1", "l1_sensitivity=self.design.l1"),
            (
                "learn/clusters/lloyd.py",
                "moved * sqrt_up(Fraction(self.design.square))",
                "sqrt_up(Fraction(self.design.square))",
            ),
        ),
        tests=(_STEP,),
    ),
    Mutant(
        name="the number of rows of each center is read exactly",
        edits=(
            (
                "learn/clusters/lloyd.py",
                "self.moved(centers, noisy_counts, ",
                "self.moved(centers, noisy_counts * 0 + counts, ",
            ),
        ),
        tests=(_CENTERS,),
    ),
    Mutant(
        name="the number of steps depends on the number of rows",
        edits=(
            (
                "learn/clusters/lloyd.py",
                "for _ in range(self.iterations):",
                "for _ in range(min(self.iterations, len(features))):",
            ),
        ),
        tests=(_CENTERS,),
    ),
    Mutant(
        name="a step is left out where a center has no rows",
        edits=(
            (
                "learn/clusters/lloyd.py",
                "counts, sums = tallied(features, centers)",
                "counts, sums = tallied(features, centers)\n            if not counts.all():\n                continue",
            ),
        ),
        tests=(_CENTERS,),
    ),
    Mutant(
        name="a row belongs to the center in whose direction it lies",
        edits=(("learn/clusters/lloyd.py", 'centers.T - np.einsum("ij,ij->i", centers, centers)', "centers.T"),),
        tests=(f"{_LLOYD}::test_each_row_adds_to_its_nearest_center_by_another_computation",),
    ),
    Mutant(
        name="labels of rows are kept in the model",
        edits=(
            (
                "learn/clusters/kmeans.py",
                "        self._design = fit.design\n",
                "        self._design = fit.design\n        self.labels_ = self._rows\n",
            ),
            (
                "learn/clusters/kmeans.py",
                "is_array = not isinstance(data, TrainingSet)\n",
                "is_array = not isinstance(data, TrainingSet)\n        self._rows = data.rows.open_for_noise().codes\n",
            ),
        ),
        tests=(f"{_KMEANS}::test_no_attribute_holds_an_exact_fact_of_the_data",),
    ),
)
