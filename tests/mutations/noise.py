"""Seeded bugs of samplers."""

from tests.mutations.mutants import Mutant

MUTANTS = (
    Mutant(
        name="proposals below the weights",
        edits=(("noise/selection.py", "edges[1:] += 2", "edges[1:] += 0"),),
        tests=("tests/noise/test_selection.py",),
    ),
    Mutant(
        name="first bits of a coin trusted too far",
        edits=(("noise/permute_and_flip.py", "_ERROR: Final = 0.125", "_ERROR: Final = -0.25"),),
        tests=("tests/noise/test_permute_and_flip.py",),
    ),
    Mutant(
        name="zero counted twice in Cauchy noise",
        edits=(("noise/discrete_cauchy.py", "kept & ~(negative & (magnitudes == 0))", "kept"),),
        tests=("tests/noise/test_discrete_cauchy.py",),
    ),
    Mutant(
        name="the top stair never ends",
        edits=(
            (
                "noise/staircase.py",
                "top * (whole - ratio) + 2 * sensitivity * ratio",
                "top * (whole - ratio) + sensitivity * ratio",
            ),
        ),
        tests=("tests/noise/test_staircase.py",),
    ),
    Mutant(
        name="a choice is decided before the enclosures settle it",
        edits=(("noise/enclosed_choice.py", "(-(-(upper << bits) //", "(-(-(lower << bits) //"),),
        tests=("tests/noise/test_enclosed_choice.py",),
    ),
    Mutant(
        name="ties of a word table not settled",
        edits=(("noise/word_table.py", "for i in np.flatnonzero(ties).tolist():", "for i in ():"),),
        tests=("tests/noise/test_word_table.py::test_many_at_once_are_settled_as_one_by_one",),
    ),
    Mutant(
        name="a guide that forgets words at the ends of its parts",
        edits=(
            (
                "noise/word_table.py",
                'np.searchsorted(self.words, highest, side="right")',
                'np.searchsorted(self.words, highest, side="left")',
            ),
        ),
        tests=("tests/noise/test_word_table.py",),
    ),
    Mutant(
        name="mirrored blocks overlap",
        edits=(("noise/block_table.py", "self._width - places, places)", "self._width - places - 1, places)"),),
        tests=("tests/noise/test_block_table.py::test_the_coin_of_each_proposal_is_that_of_its_own_value",),
    ),
    Mutant(
        name="universal zero counted twice",
        edits=(("noise/universal_laplace.py", "signed[(magnitudes | (1 - negative)) != 0]", "signed"),),
        tests=("tests/noise/test_universal_laplace.py",),
    ),
    Mutant(
        name="floats decide coins they cannot see",
        edits=(("noise/acceptance.py", "MARGIN: Final = 2.0**-40", "MARGIN: Final = 2.0**-70"),),
        tests=("tests/noise/test_acceptance.py::test_uniforms_next_to_the_edge_are_decided_as_the_integers_decide",),
    ),
    Mutant(
        name="uniform integers without rejection",
        edits=(
            ("noise/uniform.py", "words.dtype.type(bits), low >= (1 << bits) % n", "words.dtype.type(bits), low >= 0"),
        ),
        tests=("tests/noise/test_uniform.py",),
    ),
)
