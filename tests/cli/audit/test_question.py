"""A question is asked of made-up rows only, each time afresh, with what its declarations say."""

import json
import os
import re
import sys

import pytest
from tests.cli.commands import refusal, run

from sfumato.audit import TESTERS, run_on
from sfumato.cli.audit.question import Asking, RunOptions, ask_child, audited, records_of
from sfumato.cli.options import CostOptions, DataOptions
from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.query.model.schema import Table, integer
from sfumato.query.policy.policy import Policy, SourceFacts

WARDS = ("--keys", "ward=A,B", "--copies", "ward")
AGE = ("--column", "age=int:17:90")
BY_WARD = "SELECT ward, SUM(age) AS years FROM people GROUP BY ward"
COUNT = "SELECT COUNT(*) AS n FROM people"
POLICY = """
version = "1"
[unit]
name = "patient"
neighboring_relation = "{relation}"
[tables.visits]
source = "nobody.parquet"
unit = "patient"
max_rows_per_unit = 2
[tables.visits.columns.patient]
type = "text"
[tables.visits.columns.cost]
type = "float"
bounds = [0, 100]
resolution = 1
[tables.visits.columns.ward]
type = "text"
values = ["A", "B"]
"""
TWO_TABLES = (
    POLICY + '[tables.beds]\nsource = "beds.parquet"\nunit = "row"\n[tables.beds.columns.code]\ntype = "text"\n'
)


def audit_of(*arguments, samples=2000):
    result = run("audit", "sql", *arguments, "--samples", samples, "--json")
    assert result.exit_code in {0, 1}, result.output
    return result.exit_code, json.loads(result.stdout)


def bound(report):
    return max(event["epsilon_lower_bound"] for event in report["events"])


def tried(report):
    return list(dict.fromkeys(event["pair"] for event in report["events"]))


@pytest.mark.statistical
def test_a_question_over_worlds_keeps_its_price_and_not_half_of_it():
    """Type-I error 1e-6; half of ε is refuted with a chance above 1 - 1e-6."""
    code, report = audit_of(BY_WARD, "--epsilon", "1", *AGE, *WARDS, "--most-pairs", "3")
    assert (code, len(tried(report)), report["title"]) == (0, 3, BY_WARD)
    code, report = audit_of(
        BY_WARD, "--epsilon", "1", "--claim", "0.5", *AGE, *WARDS, "--most-pairs", "1", samples=6000
    )
    assert (code, tried(report)) == (1, ["the first unit is removed"])
    assert bound(report) > 0.5


@pytest.mark.statistical
@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
def test_a_question_under_a_policy_keeps_its_price(tmp_path, relation):
    """Units with several rows, heavy ones among them, under both relations; type-I error 1e-6."""
    (tmp_path / "hospital.toml").write_text(POLICY.format(relation=relation), "utf-8")
    sql = "SELECT ward, SUM(cost) AS costs FROM visits GROUP BY ward"
    options = ("--policy", tmp_path / "hospital.toml", "--copies", "ward", "--most-pairs")
    code, report = audit_of(sql, "--epsilon", "1", *options, "2", samples=1000)
    assert (code, len(tried(report))) == (0, 2)
    code, report = audit_of(sql, "--epsilon", "2", "--claim", "0.2", *options, "1", samples=4000)
    assert (code, bound(report) > 0.2) == (1, True)


def test_a_question_without_groups_is_asked_run_by_run(tmp_path):
    (tmp_path / "rows.json").write_text('[{"age": 30}, {"age": 90}]', "utf-8")
    options = ("--rows", tmp_path / "rows.json", "--most-pairs", "1", "--engine", "reference")
    code, report = audit_of(
        tmp_path / "people.csv", COUNT, "--epsilon", "5", "--claim", "0.1", *AGE, *options, samples=100
    )
    assert (code, tried(report), bound(report) > 0.1) == (1, ["the first unit is removed"], True)


def test_a_file_is_never_read_only_its_name_counts(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("no table at all\x00", "utf-8")
    options = ("--epsilon", "1", *AGE, *WARDS, "--most-pairs", "1")
    assert audit_of(path, BY_WARD, *options, samples=100)[0] == 0
    assert audit_of("https://example.org/people.csv", BY_WARD, *options, samples=100)[0] == 0
    assert "people" in refusal("audit", "sql", tmp_path / "others.csv", BY_WARD, *options)


def asking(sql=COUNT, epsilon=1):
    table = Table(name="people", columns={"age": integer(17, 90)})
    policy = Policy(
        dataset="people", version="1", data_version="1", unit_name="row", tables={"people": table},
        sources={"people": SourceFacts(source=None)},
    )  # fmt: skip
    return Asking(policy=policy, table="people", sql=sql, cost=PureDP(epsilon), engine="reference")


def test_each_run_is_a_session_of_its_own():
    seen = {json.dumps(asking().of_rows(({"age": 30},))) for _ in range(20)}
    assert len(seen) > 1  # a stored answer would be the same each time, and a second one would exceed the budget


def test_what_an_analyst_sees_is_the_records():
    (record,) = asking(epsilon=1000).of_rows(({"age": 30}, {"age": None}))
    assert (record["n"], asking(epsilon=1000).of_rows(())[0]["n"]) == (2, 0)


@pytest.mark.parametrize("sql", ["SELECT age FROM people", "SELEC", "SELECT AVG(x) FROM people"])
def test_a_question_that_cannot_be_asked_is_no_answer_that_tells_nothing(sql):
    assert refusal("audit", "sql", sql, "--epsilon", "1", *AGE, *WARDS)


def test_records_say_which_world_they_are_of():
    assert records_of([{"ward": 0}, {"ward": 1}, "a note"], "ward") == [{"ward": 0}, {"ward": 1}]
    with pytest.raises(ParameterError, match="selects and groups by"):
        records_of([{"n": 3}], "ward")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((COUNT, *AGE, *WARDS), "selects and groups by"),
        ((BY_WARD, *AGE, "--column", "ward=text", "--copies", "ward"), "must have public keys"),
        ((BY_WARD, *AGE, "--keys", "ward=A,B", "--copies", "wing"), "wing"),
        ((BY_WARD, *AGE, *WARDS, "--unit", "ward", "--max-rows-per-unit", "1"), "privacy unit"),
        ((f"{BY_WARD} LIMIT 5", *AGE, *WARDS), "without LIMIT"),
        ((f"{BY_WARD} OFFSET 5", *AGE, *WARDS), "without LIMIT"),
        (("a.csv", "b.csv", COUNT, *AGE), "FILE and SQL"),
        (("SELECT COUNT(*) FROM a JOIN b ON a.x = b.x", *AGE), "one table"),
        ((COUNT, *AGE, "--policy", "none.toml"), "already declares the data"),
        ((COUNT, "--policy", "none.toml"), "none.toml"),
        ((COUNT, *AGE, "--engine", "abacus"), "must be one of"),
        ((COUNT, *AGE, "--rows", "none.json"), "cannot be read"),
    ],
)  # fmt: skip
def test_wrong_use_is_refused_before_anything_is_asked(arguments, said):
    result = run("audit", "sql", *arguments, "--epsilon", "1", "--samples", "100")
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert said in result.stderr


def test_policies_of_several_tables_and_worlds_of_a_policy_in_a_child_are_refused(tmp_path):
    (tmp_path / "two.toml").write_text(TWO_TABLES.format(relation="add_or_remove_one"), "utf-8")
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    line = refusal("audit", "sql", sql, "--epsilon", "1", "--policy", tmp_path / "two.toml")
    assert "exactly one private table" in line
    (tmp_path / "one.toml").write_text(POLICY.format(relation="add_or_remove_one"), "utf-8")
    options = ("--policy", tmp_path / "one.toml", "--copies", "ward", "--child", "--most-pairs", "99")
    assert "needs --column" in refusal("audit", "sql", sql, "--epsilon", "1", *options)


def test_what_is_left_out_and_what_would_be_quicker_is_said():
    result = run("audit", "sql", BY_WARD, "--epsilon", "1", *AGE, *WARDS, "--most-pairs", "1", "--samples", "100")
    assert re.search("note: 1 of [0-9]+ pairs of neighbors are tried; use --most-pairs [0-9]+ for all", result.stderr)
    assert "--copies" not in result.stderr


SQL = "SELECT ward, SUM(age) AS years FROM people GROUP BY ward"
DECLARED = ("--column", "age=int:17:90", "--keys", "ward=A,B")


@pytest.mark.statistical
def test_a_question_in_a_child_process_keeps_its_claim_and_not_half_of_it():
    """10,000 samples, about five processes. Type-I error 1e-6 each; half of ε is refuted, missed below 1e-6."""
    data = DataOptions(
        policy=None, columns=DECLARED[1:2], keys=DECLARED[3:4], unit=None, names=None, name=None,
        max_rows_per_unit=None, max_groups_per_unit=None, max_rows_per_group_per_unit=None,
    )  # fmt: skip
    cost = CostOptions(epsilon="1", delta="0", budget=None, budget_delta=None)
    options = RunOptions(copies="ward", child=True)
    with audited((SQL,), data=data, cost=cost, runs=options, samples=10_000) as made:
        runs = run_on(made.pairs[0], made.mechanism, samples=10_000)
    assert runs.samples == 20_000
    whole, half = (
        {str(tester(runs, claim=ApproxDP(claim, 0), significance=1e-6).verdict) for tester in TESTERS}
        for claim in (1, "0.5")
    )
    assert (whole, half) == ({"nothing found"}, {"privacy violation"})


AGE_COLUMN = {"age": integer(17, 90)}
ANSWER = "import json, sys; from pyarrow import parquet; n = parquet.read_metadata(sys.argv[1]).num_rows\n"


def asked(code, tmp_path, rows=({"age": 30}, {"age": None}), *, must_answer=False):
    file = tmp_path / "people.parquet"
    program, options = [sys.executable, "-c", code], [str(file)]
    return ask_child(rows, program=program, options=options, file=file, columns=AGE_COLUMN, must_answer=must_answer)


def test_a_child_finds_the_rows_and_its_records_and_notes_are_the_output(tmp_path):
    code = f"{ANSWER}print(json.dumps({{'records': [{{'n': n}}], 'notes': sys.argv[2:], 'receipt': 5}}))"
    assert asked(code, tmp_path) == [{"n": 2}, "--json"]
    assert asked(code, tmp_path, rows=()) == [{"n": 0}, "--json"]


def test_a_failure_is_what_an_analyst_sees_unless_it_must_answer(tmp_path):
    code = "raise SystemExit('no such column')"
    assert asked(code, tmp_path) == f"exit code 1: no such column{os.linesep}"
    with pytest.raises(ParameterError, match="no such column"):
        asked(code, tmp_path, must_answer=True)


@pytest.mark.parametrize("printed", ["", "[]", "{}", "ready"])
def test_an_answer_that_is_no_document_is_an_error(tmp_path, printed):
    with pytest.raises(ParameterError, match="must print the answer as JSON"):
        asked(f"print({printed!r})", tmp_path)


def test_a_child_that_never_answers_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.cli.audit.question._TIMEOUT", 0.2)
    with pytest.raises(ParameterError, match=r"within 0\.2 seconds"):
        asked("import signal; signal.pause()", tmp_path)
