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
        edits=(
            (
                "audit/laws.py",
                "min(p_value(noise, law.cdf), spread_p_value(noise, law.cdf))",
                "p_value(noise, law.cdf) / 2",
            ),
        ),
        tests=("tests/audit/test_laws.py",),
    ),
    Mutant(
        name="a set seen once counts as an attack",
        edits=(("attacks/floating_point.py", "counts[cell] >= enough", "counts[cell] >= 1"),),
        tests=("tests/attacks/test_floating_point.py",),
    ),
)
