"""`make near` finds what is near to a file, and leaves out what is measured to be slow."""

import json
import subprocess

import pytest
from tests import near
from tests.meta.repository import modules, name
from tests.mutations.mutants import Mutant

LAPLACE = "src/sfumato/mechanisms/additive/laplace.py"
QUICK, SLOW = "tests/x/test_quick.py", "tests/x/test_slow.py"
TIMES = near.Times(files={QUICK: 4, SLOW: 60}, tests={f"{SLOW}::test_a": 20, f"{SLOW}::test_b": 20})


def bug(label, *tests):
    return Mutant(name=label, edits=(), tests=tests)


def test_every_source_has_something_near():
    assert [name(path) for path in modules() if not near.near_all([name(path)])] == []


def test_its_tests_come_first_and_then_its_examples():
    assert list(near.near_all([LAPLACE]))[:2] == ["tests/mechanisms/additive/test_laplace.py", LAPLACE]


def test_tests_of_a_proof_are_near_to_the_code_that_it_is_about():
    of_skellam = near.near_all(["src/sfumato/accounting/gaussian/skellam.py"])
    elsewhere = "tests/numeric/test_skellam.py::test_the_remainder_covers_what_follows"
    assert of_skellam[elsewhere] == "named in proofs/accounting/gaussian/skellam.md"
    assert "tests/noise/uniform/test_bernoulli.py" in near.near_all(
        ["src/sfumato/noise/uniform/uniform.py"]
    )  # named as its code


def test_tests_of_whatever_keeps_its_contract_are_near_to_a_role():
    assert {"tests/accounting/renyi/test_accountant.py", "tests/accounting/pld/test_accountant.py"} <= near.near_all(
        ["src/sfumato/accounting/core/accountant.py"]
    ).keys()
    assert "tests/engines/duckdb/test_engine.py" in near.near_all(["src/sfumato/engines/base.py"])
    assert "tests/mechanisms/selection/test_exponential.py" in near.near_all(
        ["src/sfumato/mechanisms/selection/selection.py"]
    )  # inherits


def test_changed_tests_examples_and_documents_have_what_is_near_too():
    assert near.near_all([QUICK]) == {QUICK: "itself"}
    assert "tests/ledger/stores/test_sqlite.py" in near.near_all(["tests/ledger/store_contract.py"])
    assert "tests/accounting/pld/test_composite.py" in near.near_all(["tests/accounting/conftest.py"])
    assert near.near_all(["tests/mutations/noise.py"]).keys() == {near.BUGS_FIT}
    example = near.near_all(["examples/d06_city_vote.py"])
    assert list(example) == ["tests/examples/test_d06_city_vote.py", f"{near.A_SCRIPT_RUNS}[d06_city_vote]"]
    note = near.near_all(["proofs/mechanisms/additive/laplace.md"])
    assert {"tests/meta/test_docs.py", "tests/mechanisms/additive/test_laplace.py"} <= note.keys()
    assert near.near_all(["Makefile"]) == {}


def test_a_test_is_named_once_if_its_file_is_near_to_another_change():
    both = near.near_all(["tests/numeric/test_skellam.py", "src/sfumato/accounting/gaussian/skellam.py"])
    assert not any(target.startswith("tests/numeric/test_skellam.py::") for target in both)


def test_slow_tests_of_a_file_are_left_out_until_the_rest_fits():
    plan = near.fitting({QUICK: "its tests", SLOW: "its proof"}, [], TIMES)
    assert plan.targets == {QUICK: "its tests", SLOW: "its proof"}
    assert plan.deselected == (f"{SLOW}::test_a", f"{SLOW}::test_b")
    assert plan.seconds == 24


def test_a_file_whose_rest_does_not_fit_is_left_out():
    plan = near.fitting({SLOW: "its tests"}, [], near.Times(files={SLOW: 60}, tests={}))
    assert plan.targets == {}
    assert plan.left_out == (f"{SLOW}, 60 s: its tests",)


def test_one_slow_test_that_is_named_alone_is_left_out():
    plan = near.fitting({f"{SLOW}::test_a": "its proof"}, [], near.Times(files={}, tests={f"{SLOW}::test_a": 40}))
    assert plan.left_out == (f"{SLOW}::test_a, 40 s: its proof",)


def test_bugs_that_are_noticed_slowly_are_left_out():
    bugs = [bug("slow", SLOW), bug("quick", QUICK), bug("unmeasured", "tests/x/test_new.py")]
    plan = near.fitting({QUICK: "its tests"}, bugs, TIMES)
    assert [mutant.name for mutant in plan.mutants] == ["unmeasured", "quick"]
    assert plan.left_out == ("seeded bug, 62 s: slow",)


def test_a_plan_says_what_is_run_and_what_is_not():
    times = near.Times(files={QUICK: 4}, tests={f"{SLOW}::test_a": 40})
    plan = near.fitting({QUICK: "its tests", f"{SLOW}::test_a": "its proof"}, [bug("halved", QUICK)], times)
    assert str(plan).splitlines() == [
        "near, about 10 CPU seconds:",
        f"  {QUICK}: its tests",
        "  seeded bug: halved",
        f"  left out: {SLOW}::test_a, 40 s: its proof",
    ]
    assert "nothing" in str(near.fitting({}, [], TIMES))


def test_a_slow_test_costs_what_its_part_does(tmp_path, monkeypatch):
    listed = {"files": {QUICK: 4.0, SLOW: 60.0}, "tests": {f"{SLOW}::test_a": 50 + near.SLOW, f"{SLOW}::test_b": 0.2}}
    (tmp_path / "times.json").write_text(json.dumps(listed))
    monkeypatch.setattr(near, "TIMES", tmp_path / "times.json")
    measured = near.measured()
    assert [measured.of(target) for target in (QUICK, SLOW, f"{SLOW}::test_a", f"{SLOW}::test_b")] == [
        4,
        10,
        near.SLOW,
        0.2,
    ]


def test_what_has_changed_is_what_git_says(tmp_path, monkeypatch):
    monkeypatch.setattr(near, "ROOT", tmp_path)
    for file in ("kept.py", "changed.py", "deleted.py"):
        (tmp_path / file).write_text("")
    author = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "Add files"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "changed.py").write_text("x = 1\n")
    (tmp_path / "new.py").write_text("")
    (tmp_path / "deleted.py").unlink()
    assert near.changed() == ["changed.py", "new.py"]


@pytest.mark.parametrize(("content", "passes"), [("assert True", True), ("assert False", False)])
def test_a_run_passes_if_its_tests_do(tmp_path, capfd, content, passes):
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_addoption\n")
    (tmp_path / "test_it.py").write_text(f"def test_it():\n    {content}\n")
    assert near.run(near.Plan(targets={str(tmp_path / "test_it.py"): "its tests"})) == passes
    assert "1 passed" in capfd.readouterr().out or not passes


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(SystemExit, match=r"no such file: src/sfumato/no\.py"):
        near.main(["src/sfumato/no.py"])
