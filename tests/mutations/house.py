"""Seeded bugs of plans, engines, ledger and session, and of the mechanisms they rest on."""

from tests.mutations.mutants import Mutant

MUTANTS = (
    Mutant(
        name="Laplace noise halved",
        edits=(
            (
                "mechanisms/laplace.py",
                "discrete_laplace(self.scale, len(steps))",
                "discrete_laplace(self.scale / 2, len(steps))",
            ),
        ),
        tests=("tests/mechanisms/test_laplace.py",),
    ),
    Mutant(
        name="Gaussian noise halved",
        edits=(
            ("mechanisms/gaussian.py", "discrete_gaussian(self.stddev**2, ", "discrete_gaussian(self.stddev**2 / 4, "),
        ),
        tests=("tests/mechanisms/test_gaussian.py",),
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
        name="unit bounding skipped",
        edits=(
            ("engines/reference.py", "entries = _bounded([", "entries = (lambda rows, *_: rows)(["),
            ("engines/lowering.py", "bounded = _bounded(entries, limits, statement, salt)", "bounded = entries"),
        ),
        tests=("tests/query/test_stability.py",),
    ),
    Mutant(
        name="values not clamped",
        edits=(
            ("engines/values.py", "if scaled >= measure.upper:", "if False:"),
            (
                "engines/values.py",
                "return min(max(math.floor(scaled + 0.5), measure.lower), measure.upper)",
                "return math.floor(scaled + 0.5)",
            ),
        ),
        tests=("tests/query/test_stability.py",),
    ),
    Mutant(
        name="charged after the data was read",
        edits=(
            (
                "session/question.py",
                "answer = execute(self.desk, charge(self.desk, prepared), library=__version__)",
                (
                    "self.desk.engine.run(prepared.plan.statement, salt='0' * 32); "
                    "answer = execute(self.desk, charge(self.desk, prepared), library=__version__)"
                ),
            ),
        ),
        tests=("tests/session/test_pipeline.py",),
    ),
    Mutant(
        name="a reservation is forgotten",
        edits=(("ledger/replay.py", "self.outside = self.outside + entry.charge", "pass"),),
        tests=("tests/ledger/test_ledger.py",),
    ),
    Mutant(
        name="a partition charges its cheapest parts",
        edits=(("accounting/conversions.py", "from heapq import nlargest", "from heapq import nsmallest as nlargest"),),
        tests=("tests/session/test_partition.py",),
    ),
)
