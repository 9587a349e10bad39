"""Seeded bugs of what the house rests on: its oldest mechanisms, those of its choices, and the ledger."""

from tests.mutations.mutants import Mutant

MUTANTS = (
    Mutant(
        name="Laplace noise halved",
        edits=(
            (
                "mechanisms/additive/laplace.py",
                "discrete_laplace(self.scale, len(steps))",
                "discrete_laplace(self.scale / 2, len(steps))",
            ),
        ),
        tests=("tests/mechanisms/additive/test_laplace.py::test_vectors_of_rounded_values_stay_within_epsilon",),
    ),
    Mutant(
        name="Gaussian noise halved",
        edits=(
            (
                "mechanisms/additive/gaussian.py",
                "discrete_gaussian(self.stddev**2, len(steps))) if",
                "discrete_gaussian(self.stddev**2 / 4, len(steps))) if",
            ),
        ),
        tests=("tests/mechanisms/additive/test_gaussian.py",),
    ),
    Mutant(
        name="Gaussian noise of a given width halved",
        edits=(
            (
                "mechanisms/additive/gaussian.py",
                "discrete_gaussian(self.stddev**2, len(steps)))\n",
                "discrete_gaussian(self.stddev**2 / 4, len(steps)))\n",
            ),
        ),
        tests=("tests/mechanisms/additive/test_gaussian.py",),
    ),
    Mutant(
        name="several Gaussian answers are each as narrow as one alone",
        edits=(
            ("accounting/composition/joint_gaussian.py", " * sqrt_up(whole / weight)) for", ") for"),
            (
                "accounting/composition/joint_gaussian.py",
                "if _is_within(ComposedEvent(tuple(events)), epsilon, delta):",
                "if True:",
            ),
        ),
        tests=("tests/accounting/composition/test_joint_gaussian.py",),
    ),
    Mutant(
        name="ties rounded to even",
        edits=(
            (
                "mechanisms/lattice.py",
                "floor(as_rational(value) / resolution + _HALF)",
                "round(as_rational(value) / resolution)",
            ),
        ),
        tests=("tests/mechanisms/test_lattice.py",),
    ),
    Mutant(
        name="an extreme moves by half a rank",
        edits=(
            (
                "mechanisms/quantiles/extreme.py",
                "PermuteAndFlip(utility_sensitivity=1,",
                "PermuteAndFlip(utility_sensitivity='1/2',",
            ),
        ),
        tests=("tests/mechanisms/quantiles/test_extreme.py",),
    ),
    Mutant(
        name="an extreme is as far as the values are",
        edits=(
            (
                "mechanisms/quantiles/extreme.py",
                "np.maximum(beyond - (self.rank - 1), self.rank - reached))",
                "2 * np.maximum(beyond - (self.rank - 1), self.rank - reached))",
            ),
        ),
        tests=("tests/mechanisms/quantiles/test_extreme.py",),
    ),
    Mutant(
        name="a reservation is forgotten",
        edits=(("ledger/core/account.py", "self.lifetime.add(price, part)", "pass"),),
        tests=("tests/ledger/test_ledger.py::test_ten_tenths_fill_a_budget_of_one_and_the_eleventh_is_refused",),
    ),
    Mutant(
        name="a sum of many noises may go around the circle",
        edits=(
            (
                "numeric/many_noises.py",
                "span = far + _chernoff(parts, stddev, failure * _ALIAS)",
                "span = far",
            ),
        ),
        tests=("tests/numeric/test_many_noises.py",),
    ),
    Mutant(
        name="how often a weight stands in a sum of many noises is forgotten",
        edits=(("numeric/many_noises.py", "found += times[own] @ _LAWS", "found += (times[own] > 0) @ _LAWS"),),
        tests=("tests/numeric/test_many_noises.py",),
    ),
    Mutant(
        name="the characteristic function of Laplace noise is that of half of it",
        edits=(("numeric/many_noises.py", "(np.sin(angles / 2) / rest)", "(np.sin(angles / 4) / rest)"),),
        tests=("tests/numeric/test_many_noises.py",),
    ),
    Mutant(
        name="the margin of a ratio does not hold what is between two steps",
        edits=(("numeric/ratios.py", "deviations - 0.5 - margin", "deviations - margin"),),
        tests=("tests/numeric/test_ratios.py::test_so_are_ratios_that_make_the_noise_of_the_count_the_wider",),
    ),
    Mutant(
        name="a ratio is held half as often as is said",
        edits=(("numeric/ratios.py", "float(failure / 2)", "float(failure)"),),
        tests=("tests/numeric/test_ratios.py::test_wide_noise_is_covered_hardly_more_often_than_is_said",),
    ),
    Mutant(
        name="what may be any ratio ends somewhere",
        edits=(("numeric/ratios.py", "np.where(is_all_held, reach, far)", "far"),),
        tests=("tests/numeric/test_ratios.py::test_the_distances_reach_to_the_last_ratio_that_is_held",),
    ),
    Mutant(
        name="rows in the place of a parameter are shown",
        edits=(("errors.py", "    if _holds_rows(value):\n", "    if False:\n"),),
        tests=("tests/test_errors.py",),
    ),
    Mutant(
        name="a row is looked at for the name of the only column",
        edits=(("engines/sources/csv_text.py", "_MOST_LINES if len(wanted) > 1 else 0", "_MOST_LINES"),),
        tests=("tests/engines/sources/test_csv_text.py",),
    ),
)
