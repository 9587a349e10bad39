"""Each seeded bug must make the suite fail, and the same tests must pass without it: all of them in `make audit`.

Elsewhere a few are tried, so that it is seen at once if none is found any more. Which ones depends on the sources of
the package: they are sorted by a digest of those and of their name. So a change of the package tries others than the
one before, and in time all of them. The same tree tries the same ones on every machine and every day: a failure can be
repeated, and no change fails by the date alone. Any bug is tried by its name, here those with "rounding" in it:
`SFUMATO_FULL_SIZE=1 pytest tests/mutations -k rounding`.
"""

import os
import subprocess
import sys
from hashlib import sha256

import pytest
from tests.mutations import (
    accounting,
    attacking,
    audit,
    audited,
    boosting,
    browsers,
    canaries,
    choosing,
    clients,
    clusters,
    counters,
    engines,
    engines_by_hash,
    engines_elsewhere,
    engines_in_sql,
    federating,
    forests,
    house,
    learning,
    ledgers,
    local,
    local_counts,
    local_reports,
    maps,
    mechanisms,
    monitors,
    narrowing,
    networks_federated,
    networks_ghost,
    networks_leakage,
    networks_noise,
    networks_rows,
    networks_training,
    noise,
    operations,
    ordered_fits,
    parties,
    places,
    plans,
    regressions,
    sampled_groups,
    selected_keys,
    server,
    server_gateway,
    server_pages,
    server_sign_in,
    server_work,
    sessions,
    streams,
    streams_sources,
    synthetic,
    synthetic_baskets,
    synthetic_flows,
    synthetic_generalization,
    synthetic_methods,
    synthetic_mixtures,
    synthetic_pages,
    synthetic_relational,
    synthetic_reports,
    teachers,
    traffic,
    wire,
)
from tests.mutations.mutants import ROOT, Mutant, run_suite
from tests.sizes import FULL_SIZE

MODULES = (
    accounting, attacking, audit, audited, boosting, browsers, canaries, choosing, clients, clusters, counters,
    engines, engines_by_hash, engines_elsewhere, engines_in_sql, federating, forests, house, learning, ledgers, local,
    local_counts, local_reports, maps, mechanisms, monitors, narrowing, noise, operations, ordered_fits, parties,
    places, plans, regressions, sampled_groups, selected_keys, server, server_gateway, server_pages, server_sign_in,
    server_work, sessions, streams, streams_sources, synthetic, synthetic_baskets, synthetic_flows,
    synthetic_generalization, synthetic_methods, synthetic_mixtures, synthetic_pages, synthetic_relational,
    synthetic_reports, teachers, traffic, wire,
)  # fmt: skip
OF_NETWORKS = (
    networks_federated, networks_ghost, networks_leakage, networks_noise, networks_rows, networks_training,
)  # fmt: skip
"""Modules of seeded bugs that need torch: some are tried by tests/learn/torch/test_seeded_bugs.py."""
MUTANTS = tuple(mutant for module in (*MODULES, *OF_NETWORKS) for mutant in module.MUTANTS)
PACKAGE = ROOT / "src" / "sfumato"
SAMPLE = 12
"""So many are tried where not all are."""

SLOW = frozenset({
    "proposals below the weights", "first bits of a coin trusted too far", "a vector is taken to move in one number",
    "bets pay less than e^ε on the other side", "a lower bound on ε skips a claim that holds",
    "a page believes what outputs say",
})  # fmt: skip
"""Seeded bugs that take long to be noticed, as all do that audits notice: `make audit` tries them."""


def digest_of(folder):
    """A digest of all sources in a folder, and of where they lie."""
    digest = sha256()
    for path in sorted(path for kind in ("*.py", "*.js") for path in folder.rglob(kind)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def sampled(mutants, seed, *, slow=frozenset()):
    """Some of the mutants, by a seed; those that take long are left to `make audit`."""
    quick = [mutant for mutant in mutants if mutant.name not in slow]
    return sorted(quick, key=lambda mutant: sha256(f"{seed} {mutant.name}".encode()).digest())[:SAMPLE]


SEED = digest_of(PACKAGE)
ELSEWHERE = {mutant.name for module in (audited, *OF_NETWORKS) for mutant in module.MUTANTS}
TRIED = MUTANTS if FULL_SIZE else sampled(MUTANTS, SEED, slow=SLOW | ELSEWHERE)


@pytest.mark.mutation
@pytest.mark.parametrize("mutant", TRIED, ids=lambda mutant: mutant.name)
def test_the_suite_notices_the_bug(mutant, tmp_path):
    result = run_suite(tmp_path, mutant, broken=True)
    assert result.exit_code == 1, f"{mutant.name}, of the sample {SEED[:12]}: {result.output[-4000:]}"


def test_what_is_broken_is_there_to_be_broken_once():
    edits = [(mutant.name, *edit) for mutant in MUTANTS for edit in mutant.edits]
    texts = {name: (PACKAGE / name).read_text(encoding="utf-8") for name in {name for _, name, _, _ in edits}}
    assert [(mutant, name) for mutant, name, old, _ in edits if texts[name].count(old) != 1] == []


def test_each_mutant_is_called_otherwise():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert {mutant.name for mutant in MUTANTS} >= SLOW


def test_the_sample_is_of_the_seed_alone_and_all_come_in_their_turn():
    first = sampled(MUTANTS, "first")
    assert sampled(MUTANTS[::-1], "first") == first != sampled(MUTANTS, "second")
    assert len(first) == SAMPLE
    assert {mutant.name for seed in range(1_500) for mutant in sampled(MUTANTS, seed)} == {m.name for m in MUTANTS}


def test_the_seed_follows_every_source(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    before = digest_of(tmp_path)
    (tmp_path / "a.py").write_text("x = 2\n", encoding="utf-8")
    changed = digest_of(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert len({before, changed, digest_of(tmp_path)}) == 3


BESIDE = """
import sys
from pathlib import Path
from tests.mutations import accounting
from tests.mutations.mutants import run_suite
from tests.ledger import processes  # the last one says what the server of processes imports

if __name__ == "__main__":
    processes.started(int).join()
    sys.exit(run_suite(Path(sys.argv[1]), accounting.MUTANTS[0], broken=True).exit_code)
"""


@pytest.mark.mutation
def test_a_bug_is_noticed_where_other_tests_have_the_package_imported_beforehand(tmp_path):
    script = tmp_path / "beside.py"
    script.write_text(BESIDE, encoding="utf-8")
    (tmp_path / "copy").mkdir()
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script, tmp_path / "copy"], cwd=ROOT, env=environment, check=False)
    assert done.returncode == 1


@pytest.mark.mutation
def test_the_copy_without_bugs_passes(tmp_path):
    control = Mutant(name="none", edits=(), tests=("tests/query/analysis/test_bounding.py",))
    result = run_suite(tmp_path, control, broken=False)
    assert result.exit_code == 0, result.output[-4000:]
