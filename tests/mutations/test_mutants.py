"""Each seeded bug must make the suite fail, and the same tests must pass without it."""

import pytest
from tests.mutations.mutants import Mutant, run_suite

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
        tests=("tests/session/test_pipeline.py",),
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
                'self.desk.engine.run(prepared.plan.statement, salt="00" * 16)\n'
                "            answer = execute(self.desk, charge(self.desk, prepared), library=__version__)",
            ),
        ),
        tests=("tests/session/test_question.py",),
    ),
)


@pytest.mark.mutation
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_suite_notices_the_bug(mutant, tmp_path):
    result = run_suite(tmp_path, mutant, broken=True)
    assert result.returncode == 1, result.stdout[-2000:] + result.stderr[-2000:]


@pytest.mark.mutation
def test_the_copy_without_bugs_passes(tmp_path):
    tests = tuple(sorted({test for mutant in MUTANTS for test in mutant.tests}))
    result = run_suite(tmp_path, Mutant(name="none", edits=(), tests=tests), broken=False)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
