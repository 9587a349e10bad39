"""`sfumato local`: values become reports, reports become counts, and counts become estimates."""

import json

import numpy as np
import pytest
from tests.cli.commands import refusal, run

from sfumato.local import (
    DirectEncoding,
    Domain,
    HadamardResponse,
    HybridMean,
    Rappor,
    SampledMeans,
    TreeSearch,
    load_protocol,
    save_protocol,
)
from sfumato.local.hitters.tree import TreeAggregator

DRINKS = 'tea,"black, sweet",none'
ORACLE = DirectEncoding(["tea", "coffee", "water"], epsilon=20)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_protocol(ORACLE, "survey.json")
    (tmp_path / "answers.csv").write_text("drink\n" + "tea\n" * 30 + "coffee\n" * 10, "utf-8")
    return tmp_path


def collect(*names):
    for name in names:
        assert run("local", "report", "survey.json", "answers.csv", "--column", "drink", "--to", name).exit_code == 0
    return run("local", "aggregate", "survey.json", *names, "--to", "counts.bin")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("ending", ["csv", "ndjson", "parquet"])
def test_values_go_all_the_way(ending):
    result = run("local", "report", "survey.json", "answers.csv", "--column", "drink", "--to", f"reports.{ending}")
    assert (result.exit_code, result.stdout) == (0, "reports written: 40\nε of each report: 20 for its person\n")
    result = run("local", "aggregate", "survey.json", f"reports.{ending}", "--to", "counts.bin")
    expected = "reports counted: 40\nrefused: 0 that are no reports of this protocol\n"
    assert (result.exit_code, result.stdout) == (0, expected)
    shown = run("local", "decode", "survey.json", "counts.bin", "--project", "norm_sub").stdout
    assert "reports: 40; confidence of each interval: 0.95" in shown
    assert "tea" in shown
    assert "0.7500" in shown
    assert "norm_sub" in shown


@pytest.mark.usefixtures("folder")
def test_json_has_all_digits():
    collect("reports.csv")
    result = run("local", "decode", "survey.json", "counts.bin", "--json", "--candidate", "tea", "--confidence", "0.5")
    found = json.loads(result.stdout)
    assert (found["reports"], found["confidence"]) == (40, "0.5")
    (row,) = found["estimates"]
    assert row["value"] == "tea"
    assert row["low"] < row["fraction"] == pytest.approx(0.75, abs=1e-6)


def test_counts_of_parts_are_merged(folder):
    collect("a.csv", "b.ndjson")
    (folder / "others.bin").write_bytes((folder / "counts.bin").read_bytes())
    result = run("local", "aggregate", "survey.json", "--merge", "counts.bin", "--merge", "others.bin", "--to", "all")
    assert result.stdout.startswith("reports counted: 160\n")


def test_what_is_no_report_is_counted_as_refused(folder):
    (folder / "odd.csv").write_text("report\nnonsense\n\nAWFi\n", "utf-8")
    result = run("local", "aggregate", "survey.json", "odd.csv", "--to", "counts.bin")
    assert result.stdout == "reports counted: 0\nrefused: 2 that are no reports of this protocol\n"


def test_a_plan_says_why_and_writes_the_protocol(tmp_path):
    path = tmp_path / "survey.json"
    result = run(
        "local", "plan", "--epsilon", "1", "--values", 'tea,"black, sweet",none', "--other", "none", "--to", path
    )
    assert result.exit_code == 0
    assert "n·Var" in result.stdout
    assert load_protocol(path).domain == Domain(["tea", "black, sweet", "none"], other="none")
    assert run("local", "plan", "--epsilon", "1", "--size", "1024", "--bytes", "2", "--to", path).exit_code == 0
    assert load_protocol(path) == HadamardResponse(1024, epsilon=1)
    assert run("local", "plan", "--epsilon", "0.5", "--bounds=-2.5:60", "--to", path).exit_code == 0
    assert load_protocol(path) == HybridMean("-2.5", 60, epsilon="0.5")


def test_plans_of_two_kinds_or_none_are_refused(tmp_path):
    plan = ("local", "plan", "--to", tmp_path / "x.json", "--epsilon")
    assert "--values" in refusal(*plan, "1")
    assert "--values" in refusal(*plan, "1", "--size", "3", "--bounds", "0:1")
    assert "--bounds" in refusal(*plan, "1", "--bounds", "0:1", "--bytes", "3")
    assert "epsilon" in refusal(*plan, "0", "--size", "3")
    assert "bytes" in refusal(*plan, "1", "--size", "1024", "--bytes", "1")
    assert "other" in refusal(*plan, "1", "--values", "a,b", "--other", "c")
    assert "low" in refusal(*plan, "1", "--bounds", "x:1")


@pytest.mark.usefixtures("folder")
def test_a_mean_goes_all_the_way(folder):
    (folder / "hours.csv").write_text("hours\n" + "38\n" * 3000 + "x\n", "utf-8")
    assert run("local", "plan", "--epsilon", "5", "--bounds", "0:60", "--to", "hours.json").exit_code == 0
    assert run("local", "report", "hours.json", "hours.csv", "--column", "hours", "--to", "h.csv").exit_code == 0
    run("local", "aggregate", "hours.json", "h.csv", "--to", "h.bin")
    (row,) = json.loads(run("local", "decode", "hours.json", "h.bin", "--json").stdout)["estimates"]
    assert row["mean"] == pytest.approx(38, abs=6 * row["standard_error"])
    assert "--project" in refusal("local", "decode", "hours.json", "h.bin", "--project", "em")


@pytest.mark.usefixtures("folder")
def test_each_refusal_is_one_line():
    collect("reports.csv")
    report = ("local", "report", "survey.json", "answers.csv")
    assert "column" in refusal(*report, "--column", "x", "--to", "new.csv")
    assert "exists already" in refusal(*report, "--column", "drink", "--to", "reports.csv")
    assert "must end in" in refusal(*report, "--column", "drink", "--to", "new.txt")
    assert "protocol" in refusal("local", "report", "none.json", "answers.csv", "--column", "drink", "--to", "n.csv")
    decode = ("local", "decode", "survey.json")
    assert "counts" in refusal(*decode, "missing.bin")
    assert "snapshot" in refusal(*decode, "reports.csv")
    assert "--candidate" in refusal(*decode, "counts.bin", "--candidate", "beer")
    assert "method" in refusal(*decode, "counts.bin", "--project", "clip")
    assert "confidence" in refusal(*decode, "counts.bin", "--confidence", "2")


@pytest.mark.usefixtures("folder")
def test_reports_are_shuffled_apart_from_their_collector():
    collect("a.csv", "b.csv")
    mix = ("local", "shuffle", "survey.json", "a.csv", "b.csv", "--honest", "60", "--delta", "1e-6")
    assert "must be at least 81" in refusal(*mix, "--least", "81", "--to", "mixed.shuffled")
    assert "ends in .shuffled" in refusal(*mix, "--to", "mixed.csv")
    result = run(*mix, "--least", "80", "--to", "mixed.shuffled")
    assert result.exit_code == 0
    shuffled, refused, together, alone = result.stdout.splitlines()
    assert (shuffled, refused[:10]) == ("reports shuffled: 80", "refused: 0")
    assert together.startswith("ε of all of them: ")
    assert together.endswith(" for each person at δ 1e-6, if 60 are honest")
    assert alone == "ε of a report that reaches the collector in any other way: 20"
    counted = run("local", "aggregate", "survey.json", "mixed.shuffled", "--to", "mixed.bin")
    assert counted.stdout.startswith("reports counted: 80\n")
    assert run("local", "decode", "survey.json", "mixed.bin").stdout == run(
        "local", "decode", "survey.json", "counts.bin"
    ).stdout  # fmt: skip


def test_a_search_that_finds_nothing_says_so(folder, monkeypatch):
    monkeypatch.setattr(TreeAggregator, "_found", lambda _: np.empty(0, dtype=np.int64))
    save_protocol(TreeSearch(2, epsilon="0.01"), "survey.json")
    assert "reports counted: 40" in collect("reports.csv").stdout
    result = run("local", "decode", "survey.json", "counts.bin")
    assert (result.exit_code, result.stdout) == (0, "found: nothing that is frequent beyond doubt\nreports: 40\n")
    assert json.loads(run("local", "decode", "survey.json", "counts.bin", "--json").stdout)["estimates"] == []
    assert folder.exists()


@pytest.mark.usefixtures("folder")
def test_json_has_no_infinity():
    """Both texts always set the same bit, so that nothing tells them apart."""
    save_protocol(Rappor(bits=4, hashes=1, cohorts=1, f="0.5", p=0, q=1), "survey.json")
    collect("reports.csv")
    shown = run(
        "local", "decode", "survey.json", "counts.bin", "--json", "--candidate", "tea", "--candidate", "juice"
    ).stdout
    assert "Infinity" not in shown
    assert "NaN" not in shown
    assert [row["standard_error"] for row in json.loads(shown)["estimates"]] == [None, None]
    shown = run("local", "decode", "survey.json", "counts.bin", "--candidate", "tea", "--candidate", "juice").stdout
    assert shown.count("unknown") == 6


@pytest.mark.usefixtures("folder")
def test_no_file_is_counted_twice():
    collect("reports.csv")
    for given in (("reports.csv", "./reports.csv"), ("reports.csv", "--merge", "counts.bin", "--merge", "counts.bin")):
        assert "named twice" in refusal("local", "aggregate", "survey.json", *given, "--to", "twice.bin")


def test_a_size_that_nobody_can_count_is_refused_before_anyone_reports(tmp_path):
    refused = refusal("local", "plan", "--epsilon", "1", "--size", "2000000", "--to", str(tmp_path / "survey.json"))
    assert "must be at most 1,048,576" in refused
    assert list(tmp_path.iterdir()) == []


def test_some_of_several_attributes_are_estimated_by_their_names(folder):
    save_protocol(SampledMeans({"age": (0, 9), "size": (0, 9)}, epsilon=20), "survey.json")
    (folder / "people.csv").write_text("age,size\n" + "3,6\n" * 300, "utf-8")
    run("local", "report", "survey.json", "people.csv", "--to", "reports.csv")
    run("local", "aggregate", "survey.json", "reports.csv", "--to", "counts.bin")
    shown = run("local", "decode", "survey.json", "counts.bin", "--candidate", "size", "--json").stdout
    (row,) = json.loads(shown)["estimates"]
    assert row["attribute"] == "size"
    assert row["mean"] == pytest.approx(6, abs=0.5)
    assert "must be among age, size" in refusal("local", "decode", "survey.json", "counts.bin", "--candidate", "x")
