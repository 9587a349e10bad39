"""A few of the seeded bugs of networks, as tests/mutations/test_mutants.py tries those of everything else."""

import pytest
from tests.mutations.mutants import run_suite
from tests.mutations.test_mutants import OF_NETWORKS, SEED, sampled
from tests.sizes import FULL_SIZE

MUTANTS = tuple(mutant for module in OF_NETWORKS for mutant in module.MUTANTS)
TRIED = () if FULL_SIZE else sampled(MUTANTS, SEED)[:2]
"""`make audit` tries all, in tests/mutations/test_mutants.py."""


@pytest.mark.mutation
@pytest.mark.parametrize("mutant", TRIED, ids=lambda mutant: mutant.name)
def test_the_suite_notices_the_bug(mutant, tmp_path):
    result = run_suite(tmp_path, mutant, broken=True)
    assert result.exit_code == 1, f"{mutant.name}, of the sample {SEED[:12]}: {result.output[-4000:]}"


def test_there_are_seeded_bugs_of_every_room():
    rooms = {name.split("/")[2] for mutant in MUTANTS for name, _, _ in mutant.edits if name.startswith("learn/torch/")}
    assert rooms >= {"attacks", "federated", "gradients", "noise", "training"}
