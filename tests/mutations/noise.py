"""Seeded bugs of samplers."""

from tests.mutations.mutants import Mutant

MUTANTS = (
    Mutant(
        name="a tie of many at once stays below",
        edits=(
            (
                "noise/tables/word_table.py",
                'np.searchsorted(self.words, prefixes, side="right")',
                'np.searchsorted(self.words, prefixes, side="left")',
            ),
        ),
        tests=("tests/noise/tables/test_word_table.py::test_many_at_once_are_settled_as_one_by_one",),
    ),
    Mutant(
        name="a Laplace scale is cut to six digits below",
        edits=(
            (
                "noise/laws/discrete_laplace.py",
                "return _supply(*scale.as_integer_ratio()).draw(size)",
                "return _supply(*scale.limit_denominator(10**6).as_integer_ratio()).draw(size)",
            ),
        ),
        tests=("tests/noise/laws/test_discrete_laplace.py::test_a_scale_of_long_terms_arrives_exactly_whatever_draws",),
    ),
    Mutant(
        name="a Gaussian variance is whole from 100 on",
        edits=(
            (
                "noise/laws/discrete_gaussian.py",
                "return _supply(*variance.as_integer_ratio()).draw(size)",
                "return _supply(*(variance if variance < 100 else variance // 1).as_integer_ratio()).draw(size)",
            ),
        ),
        tests=(
            "tests/noise/laws/test_discrete_gaussian.py::test_a_variance_of_long_terms_arrives_exactly_whatever_draws",
        ),
    ),
    Mutant(
        name="a mechanism cuts its Laplace scale to three digits below",
        edits=(
            (
                "mechanisms/additive/laplace.py",
                "discrete_laplace(self.scale, ",
                "discrete_laplace(self.scale.limit_denominator(10**3), ",
            ),
        ),
        tests=("tests/mechanisms/test_exact_noise.py::test_the_parameters_of_noise_are_not_rounded_on_their_way",),
    ),
    Mutant(
        name="a mechanism draws with a whole variance from 100 on",
        edits=(
            (
                "mechanisms/additive/gaussian.py",
                "discrete_gaussian_one(self.stddev**2)",
                "discrete_gaussian_one(Fraction(int(self.stddev**2)) if self.stddev >= 10 else self.stddev**2)",
            ),
        ),
        tests=("tests/mechanisms/test_exact_noise.py::test_the_parameters_of_noise_are_not_rounded_on_their_way",),
    ),
    Mutant(
        name="a long scale is rounded down",
        edits=(
            (
                "noise/uniform/integers.py",
                "return dyadic_up(scale, bits=_DIGITS)",
                "return Fraction(int(scale * 2**20), 2**20)",
            ),
        ),
        tests=(
            "tests/noise/uniform/test_integers.py::test_a_short_scale_is_never_smaller_and_hardly_larger",
            "tests/mechanisms/additive/test_laplace.py::test_a_long_scale_is_rounded_up_and_the_event_says_so",
        ),
    ),
    Mutant(
        name="the event has the scale before it was rounded",
        edits=(
            (
                "mechanisms/additive/laplace.py",
                "event=DiscreteLaplaceEvent(scale, steps) if",
                "event=DiscreteLaplaceEvent(steps / budget, steps) if",
            ),
        ),
        tests=("tests/mechanisms/additive/test_laplace.py::test_a_long_scale_is_rounded_up_and_the_event_says_so",),
    ),
    Mutant(
        name="sums of noise wrap at the edge of int64",
        edits=(
            ("noise/uniform/integers.py", "largest(first) + largest(second) < 1 << 63", "largest(first) < 1 << 63"),
        ),
        tests=("tests/noise/uniform/test_integers.py::test_sums_at_the_edge_of_int64_do_not_wrap",),
    ),
    Mutant(
        name="a ratio of Skellam weights is rounded inward",
        edits=(
            (
                "noise/tables/word_table.py",
                "return one // (whole + 1 + above[1]),",
                "return one // (whole + 1 + above[0]) + 1,",
            ),
        ),
        tests=("tests/noise/tables/test_word_table.py::test_every_weight_of_a_skellam_law_lies_between_its_bounds",),
    ),
    Mutant(
        name="parts of a Skellam draw each have the whole mean",
        edits=(("noise/laws/poisson.py", "skellam_weights(mean / parts)", "skellam_weights(mean)"),),
        tests=("tests/noise/laws/test_poisson.py::test_a_large_mean_is_drawn_in_parts_that_add_up_to_it",),
    ),
    Mutant(
        name="logarithms of weights are taken for exact",
        edits=(("noise/choice/selection.py", "shift * log(2)) * _INFLATION", "shift * log(2))"),),
        tests=("tests/noise/choice/test_selection.py",),
    ),
    Mutant(
        name="proposals below the weights",
        edits=(("noise/choice/selection.py", "edges[1:] += 2", "edges[1:] += 0"),),
        tests=("tests/noise/choice/test_selection.py",),
    ),
    Mutant(
        name="a place in a block is kept by the chance of a whole scale",
        edits=(("noise/laws/discrete_laplace.py", "numerator * _PARTS, leading=halves", "numerator, leading=halves"),),
        tests=("tests/noise/laws/test_discrete_laplace.py::test_a_place_in_a_block_is_kept_by_its_own_chance",),
    ),
    Mutant(
        name="first bits of a coin trusted too far",
        edits=(("noise/choice/selection.py", "_ERROR: Final = 0.125", "_ERROR: Final = -0.25"),),
        tests=("tests/noise/choice/test_selection.py",),
    ),
    Mutant(
        name="zero counted twice in Cauchy noise",
        edits=(("noise/laws/discrete_cauchy.py", "kept & ~(negative & (magnitudes == 0))", "kept"),),
        tests=("tests/noise/laws/test_discrete_cauchy.py",),
    ),
    Mutant(
        name="the top stair never ends",
        edits=(
            (
                "noise/laws/staircase.py",
                "top * (whole - ratio) + 2 * sensitivity * ratio",
                "top * (whole - ratio) + sensitivity * ratio",
            ),
        ),
        tests=("tests/noise/laws/test_staircase.py",),
    ),
    Mutant(
        name="a choice is decided before the enclosures settle it",
        edits=(("noise/choice/enclosed_choice.py", "(-(-(upper << bits) //", "(-(-(lower << bits) //"),),
        tests=("tests/noise/choice/test_enclosed_choice.py",),
    ),
    Mutant(
        name="ties of a word table not settled",
        edits=(("noise/tables/word_table.py", "for i in np.flatnonzero(ties).tolist():", "for i in ():"),),
        tests=("tests/noise/tables/test_word_table.py::test_many_at_once_are_settled_as_one_by_one",),
    ),
    Mutant(
        name="a guide that forgets words at the ends of its parts",
        edits=(
            (
                "noise/tables/word_table.py",
                'np.searchsorted(self.words, highest, side="right")',
                'np.searchsorted(self.words, highest, side="left")',
            ),
        ),
        tests=("tests/noise/tables/test_word_table.py",),
    ),
    Mutant(
        name="mirrored blocks overlap",
        edits=(("noise/tables/block_table.py", "self._width - places, places)", "self._width - places - 1, places)"),),
        tests=("tests/noise/tables/test_block_table.py::test_the_coin_of_each_proposal_is_that_of_its_own_value",),
    ),
    Mutant(
        name="universal zero counted twice",
        edits=(("noise/laws/discrete_laplace.py", "signed[(magnitudes | (1 - negative)) != 0]", "signed"),),
        tests=("tests/noise/laws/test_discrete_laplace.py",),
    ),
    Mutant(
        name="floats decide coins they cannot see",
        edits=(("noise/uniform/bernoulli.py", "MARGIN: Final = 2.0**-40", "MARGIN: Final = 2.0**-70"),),
        tests=(
            "tests/noise/uniform/test_bernoulli.py::test_uniforms_next_to_the_edge_are_decided_as_the_integers_decide",
        ),
    ),
    Mutant(
        name="a float decides every single coin",
        edits=(
            (
                "noise/uniform/bernoulli.py",
                "difference > 0 if abs(difference) > MARGIN else",
                "difference > 0 if True else",
            ),
        ),
        tests=(
            "tests/noise/uniform/test_bernoulli.py::test_uniforms_next_to_the_edge_are_decided_as_the_integers_decide",
        ),
    ),
    Mutant(
        name="uniform integers without rejection",
        edits=(
            (
                "noise/uniform/uniform.py",
                "words.dtype.type(bits), low >= (1 << bits) % n",
                "words.dtype.type(bits), low >= 0",
            ),
        ),
        tests=("tests/noise/uniform/test_uniform.py",),
    ),
)
