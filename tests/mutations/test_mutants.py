"""Each seeded bug must make the suite fail, and the same tests must pass without it: all of them in `make audit`."""

import pytest
from tests.mutations import (
    accounting,
    audit,
    audited,
    canaries,
    engines,
    engines_elsewhere,
    engines_in_sql,
    house,
    ledgers,
    mechanisms,
    noise,
    plans,
    sessions,
)
from tests.mutations.mutants import ROOT, Mutant, run_suite
from tests.sizes import FULL_SIZE

MODULES = (
    accounting, audit, audited, canaries, engines, engines_elsewhere, engines_in_sql, house, ledgers, mechanisms, noise,
    plans, sessions,
)  # fmt: skip
MUTANTS = tuple(mutant for module in MODULES for mutant in module.MUTANTS)
EACH = 1 if FULL_SIZE else 24
"""Elsewhere every 24th one is tried, so that it is seen at once if none is found any more."""


@pytest.mark.mutation
@pytest.mark.parametrize("mutant", MUTANTS[::EACH], ids=lambda mutant: mutant.name)
def test_the_suite_notices_the_bug(mutant, tmp_path):
    result = run_suite(tmp_path, mutant, broken=True)
    assert result.exit_code == 1, result.output[-4000:]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_what_is_broken_is_there_to_be_broken(mutant):
    for name, old, _ in mutant.edits:
        assert (ROOT / "src" / "sfumato" / name).read_text(encoding="utf-8").count(old) == 1, name


@pytest.mark.mutation
def test_the_copy_without_bugs_passes(tmp_path):
    control = Mutant(name="none", edits=(), tests=("tests/mechanisms/test_lattice.py", "tests/query/test_bounding.py"))
    result = run_suite(tmp_path, control, broken=False)
    assert result.exit_code == 0, result.output[-4000:]
