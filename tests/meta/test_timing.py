"""Of slow tests `make test` runs a part: the same each time, some of each file, and all of what is quick."""

import json

import pytest
from tests import timing
from tests.meta.repository import ROOT
from tests.timing import TIMES, Stopwatch, function_of, part_of_slow

QUICK = [f"tests/x/test_x.py::test_quick[{number}]" for number in range(100)]
SLOW = [f"tests/x/test_x.py::test_slow[{number}]" for number in range(100)]
SLOWEST = ["tests/x/test_x.py::test_slowest"]


@pytest.fixture(autouse=True)
def listed(tmp_path, monkeypatch):
    seconds = {function_of(QUICK[0]): timing.SLOW, function_of(SLOW[0]): 10 * timing.SLOW, SLOWEST[0]: 60.0}
    path = tmp_path / "times.json"
    path.write_text(json.dumps({"files": {}, "tests": seconds}), "utf-8")
    monkeypatch.setattr(timing, "TIMES", path)


def test_a_tenth_of_what_takes_ten_times_as_long_is_run_and_all_of_what_is_quick():
    kept = part_of_slow([*QUICK, *SLOW])
    assert kept >= set(QUICK)
    assert len(kept & set(SLOW)) == len(SLOW) // 10


def test_of_what_is_essential_more_is_run():
    assert part_of_slow(SLOW, essential=frozenset({function_of(SLOW[0])})) == set(SLOW)
    assert part_of_slow([*SLOWEST, *QUICK], essential=frozenset(SLOWEST)) == {*SLOWEST, *QUICK}


def test_what_is_long_is_left_out_unless_its_module_has_no_other_tests():
    assert part_of_slow([*QUICK, *SLOWEST]) == set(QUICK)
    assert part_of_slow(SLOWEST) == set()  # there is no src/sfumato/slowest.py
    longer = ["tests/test_errors.py::test_longer", "tests/test_errors.py::test_longest"]
    listed = json.loads(timing.TIMES.read_text("utf-8"))
    listed["tests"] |= {longer[0]: 2 * timing.LONG, longer[1]: 3 * timing.LONG}
    timing.TIMES.write_text(json.dumps(listed), "utf-8")
    assert part_of_slow([*longer, *QUICK]) == {longer[0], *QUICK}
    assert part_of_slow([*longer, "tests/test_errors.py::test_quick"]) == {"tests/test_errors.py::test_quick"}
    assert part_of_slow(longer, essential=frozenset({longer[1]})) == {longer[1]}


def test_the_part_is_the_same_in_every_order_and_process():
    assert part_of_slow(SLOW) == part_of_slow(SLOW[::-1])
    assert sorted(part_of_slow(SLOW), key=SLOW.index) == [SLOW[i] for i in PART]


PART = (3, 12, 42, 49, 61, 63, 75, 87, 95, 96)
"""By a hash of their names, which no version of Python changes."""


def test_the_part_is_spread_over_all_parameters():
    places = [SLOW.index(test) for test in part_of_slow(SLOW)]
    assert min(places) < len(SLOW) // 4
    assert max(places) > 3 * len(SLOW) // 4


def test_the_list_is_of_files_that_exist():
    listed = json.loads(TIMES.read_text("utf-8"))
    files = {*listed["files"], *(test.partition("::")[0] for test in listed["tests"])}
    assert sorted(file for file in files if not (ROOT / file).is_file()) == []


def test_what_was_measured_of_other_files_stays_unless_they_are_gone(tmp_path, monkeypatch):
    class Reporter:
        def section(self, _):
            pass

        def line(self, _):
            pass

    class Report:
        nodeid, user_properties = "tests/meta/test_timing.py::test_new[1]", [("cpu", 2.0)]

    monkeypatch.chdir(ROOT)
    known = [
        "tests/meta/test_timing.py::test_old",
        "tests/meta/test_docs.py::test_slow",
        "tests/x/test_x.py::test_gone",
    ]
    path = tmp_path / "measured.json"
    path.write_text(json.dumps({"files": {}, "tests": dict.fromkeys(known, 1.0)}), "utf-8")
    stopwatch = Stopwatch(path)
    stopwatch.pytest_runtest_logreport(Report())
    stopwatch.pytest_terminal_summary(Reporter())
    written = json.loads(path.read_text("utf-8"))
    assert written["tests"] == {"tests/meta/test_docs.py::test_slow": 1.0, function_of(Report.nodeid): 2.0}
    assert written["files"] == {"tests/meta/test_timing.py": 2.0}


def test_of_each_function_at_most_so_many_cases_are_run_if_that_is_asked():
    kept = part_of_slow([*QUICK, *SLOW], cases=1)
    assert {function_of(test) for test in kept} == {function_of(test) for test in (*QUICK, *SLOW)}
    assert len(kept) == len({function_of(test) for test in kept})
