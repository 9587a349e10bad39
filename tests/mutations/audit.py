"""Seeded bugs of audits and attacks."""

from tests.mutations.mutants import Mutant

MUTANTS = (
    Mutant(
        name="an audit tests on the half it searched",
        edits=(("audit/split_search.py", "for outputs in runs.test)", "for outputs in runs.search)"),),
        tests=("tests/audit/test_split_search.py",),
    ),
    Mutant(
        name="an audit's coins are not fair",
        edits=(("audit/runs.py", "bernoulli(Fraction(1, 2), tested)", "bernoulli(Fraction(1, 3), tested)"),),
        tests=("tests/audit/test_runs.py",),
    ),
    Mutant(
        name="the conditional test expects too few events",
        edits=(("audit/bounds.py", "likelier / (1 + likelier)", "likelier / (2 + likelier)"),),
        tests=("tests/audit/test_bounds.py",),
    ),
    Mutant(
        name="the spread of a law is not looked at",
        edits=(("audit/laws.py", "2 * min(chi_square, spread)", "chi_square"),),
        tests=("tests/audit/test_laws.py",),
    ),
    Mutant(
        name="a set seen once counts as an attack",
        edits=(("attacks/floating_point.py", "counts[cell] >= enough", "counts[cell] >= 1"),),
        tests=("tests/attacks/test_floating_point.py",),
    ),
    Mutant(
        name="an audit reads an array with the dtype that its oddest output needs",
        edits=(("audit/columns.py", "(_without_dtype(plain(row)) for row in rows)", "map(plain, rows)"),),
        tests=("tests/audit/test_columns.py",),
    ),
    Mutant(
        name="a sum of coordinates rounds as it goes",
        edits=(("audit/reading.py", "return fsum(numbers)", "return sum(numbers, start=0.0)"),),
        tests=("tests/audit/test_reading.py",),
    ),
    Mutant(
        name="an audit does not see what a double misses",
        edits=(
            ("audit/reading.py", "exact != (held := Fraction(nearest))", "exact == (held := Fraction(nearest)) + 1"),
        ),
        tests=("tests/audit/test_reading.py",),
    ),
    Mutant(
        name="an audit does not count outputs",
        edits=(("audit/runs.py", "if len(read) == count:", "if True:"),),
        tests=("tests/audit/test_runs.py",),
    ),
    Mutant(
        name="repeated noise is never found",
        edits=(("audit/repeats.py", "exp(same_order - lgamma(len(answers) + 1))", "1.0"),),
        tests=("tests/audit/test_repeats.py",),
    ),
    Mutant(
        name="a law of two cells is tested by an approximation",
        edits=(
            (
                "audit/laws.py",
                "if len(expected) == _TWO:\n        return _binomial_p_value",
                "if len(expected) == 0:\n        return _binomial_p_value",
            ),
        ),
        tests=("tests/audit/test_laws.py",),
    ),
    Mutant(
        name="an attack runs where it could find nothing",
        edits=(("attacks/floating_point.py", "epsilon=claimed) > samples:", "epsilon=claimed) < 0:"),),
        tests=("tests/attacks/test_floating_point.py::test_too_few_samples_to_find_anything_are_refused",),
    ),
)
