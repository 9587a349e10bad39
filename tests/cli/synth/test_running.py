"""`sfumato synth`: what it writes and prints, and that nothing is charged for what cannot be made."""

import json
import re
from collections import Counter

import pytest
from pyarrow import csv, parquet
from tests.cli.commands import refusal, run, spent

from sfumato.synth import read_synthetic

POLICY = """
version = "1"
dataset = "clinic"
[unit]
name = "patient"
[tables.people]
source = "people.csv"
unit = "row"
[tables.people.columns.age]
type = "integer"
bounds = [20, 69]
[tables.people.columns.sex]
type = "text"
values = ["Female", "Male"]
[tables.people.columns.hours]
type = "text"
"""
COST = ("--epsilon", "1", "--delta", "1e-6")


@pytest.fixture
def policy(people_csv):
    path = people_csv.with_name("clinic.toml")
    path.write_text(POLICY, "utf-8")
    return path


@pytest.fixture
def asked(policy, tmp_path):
    """A command that charges a ledger, and where its rows go."""
    return (
        "synth",
        "--policy",
        policy,
        *COST,
        "--bins",
        "age=5",
        "--method",
        "mst",
        "--out",
        tmp_path / "rows.parquet",
    )


@pytest.fixture
def ledger(tmp_path):
    return ("--ledger", tmp_path / "l.db", "--budget", "2", "--budget-delta", "1e-5")


def test_rows_are_written_and_all_is_said(asked, tmp_path):
    result = run(*asked, "--rows", "30", "--seed", "1")
    assert result.exit_code == 0, result.output
    rows = parquet.read_table(tmp_path / "rows.parquet")
    assert (rows.num_rows, rows.column_names) == (30, ["age", "sex"])
    assert {*rows["sex"].to_pylist()} <= {"Female", "Male", None}
    shown = [line.split() for line in result.stdout.splitlines() if line.strip()]
    *singles, pair = [line for line in shown if line[0] in {"age", "sex", "age,"}]
    assert singles == [["age", "6"], ["sex", "3"]]
    assert pair[:2] == ["age,", "sex"]
    assert int(pair[2]) <= 18  # rare values are one
    assert f"30 rows in {tmp_path / 'rows.parquet'}; spent ε 1, δ 1e-06; remaining: ε 0" in result.stdout
    assert "the budget is the cost of these rows, ε 1, δ 1e-06" in result.stderr
    assert "spending is not recorded" in result.stderr
    assert "hours is left out: " in result.stderr


def test_the_same_command_charges_once(asked, ledger, tmp_path):
    first = run(*asked, *ledger, "--seed", "4", "--json")
    kept = parquet.read_table(tmp_path / "rows.parquet")
    again = run(*asked, *ledger, "--seed", "4", "--json")
    told = [json.loads(one.stdout) for one in (first, again)]
    assert [one["reused"] for one in told] == [False, True]
    assert parquet.read_table(tmp_path / "rows.parquet").equals(kept)
    assert spent(tmp_path / "l.db", "clinic") == "ε 1, δ 1e-06"
    assert told[0]["measured"] == [["age"], ["sex"], ["age", "sex"]]
    assert told[0]["rows"] == kept.num_rows
    assert "stored counts, nothing spent; remaining: ε 1" in run(*asked, *ledger).stdout
    assert run(*asked, *ledger, "--method", "independent").exit_code == 0
    assert spent(tmp_path / "l.db", "clinic") == "ε 2, δ 2e-06"


def test_a_known_account_needs_no_budget(asked, ledger):
    run(*asked, *ledger)
    assert run(*asked, *ledger[:2], "--existing").exit_code == 0
    assert "no account" in refusal(*asked, "--ledger", f"{ledger[1]}x")


def test_columns_bins_file_and_total_are_as_stated(policy, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("age,sex,hours\n" + "30,Male,1\n" * 400, "utf-8")
    out = tmp_path / "rows.csv"
    asked = ("synth", other, "--policy", policy, "--epsilon", "50", "--delta", "1e-6", "--out", out)
    result = run(*asked, "--columns", "sex,age", "--bins", "age=20,30,40,69", "--total", "400", "--tree-limit", "3")
    assert result.exit_code == 0, result.output
    rows = csv.read_csv(out)
    assert (rows.num_rows, rows.column_names) == (400, ["sex", "age"])
    counted = Counter(age // 10 for age in rows["age"].to_pylist() if age is not None)
    assert counted[3] > 380
    assert "left out" not in result.stderr


def test_explaining_spends_and_writes_nothing(asked, ledger, tmp_path):
    result = run(*asked, *ledger, "--explain")
    assert result.exit_code == 0, result.output
    assert re.search(r"^ age +6 $", result.stdout, re.MULTILINE)
    assert "left out      hours: " in result.stdout
    assert "cost          ε 1, δ 1e-06, charged before data is read" in result.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv", "clinic.toml"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("--columns", "age,name"), "--columns = 'name': must be one of: age, sex, hours"),
        (("--columns", "hours"), "hours"), (("--bins", "hours=4"), "must be of columns of the query"),
        (("--quantiles", "age"), "must look like income=8"), (("--quantiles", "age=x"), "must look like income=8"),
        (("--quantiles", "sex=2"), "must be columns of the query that are numbers"),
        (("--bins", "age"), "must look like age=10"), (("--bins", "age=0"), "bins"),
        (("--method", "gan"), "method"), (("--delta", "0"), "--delta"), (("--epsilon", "0"), "epsilon"),
        (("--epsilon", "3"), "remain"), (("--table", "visits"), "--table"), (("--rows", "-1"), "--rows"),
        (("--seed", "-1"), "--seed"), (("--total", "0"), "--total"), (("--out", "rows.xlsx"), ".parquet"),
        (("--out", "nowhere/rows.csv"), "existing folder"), (("--tree-limit", "0"), "tree_limit"),
    ],
    ids=range(19),
)  # fmt: skip
def test_what_cannot_be_made_is_said_before_anything_is_charged(asked, ledger, tmp_path, changed, said):
    assert said in refusal(*asked, *ledger, *changed)
    assert not (tmp_path / "l.db").exists() or spent(tmp_path / "l.db", "clinic") == "ε 0"
    assert not (tmp_path / "rows.parquet").exists()


def test_the_table_itself_is_not_written_over(asked, people_csv):
    before = people_csv.read_bytes()
    assert "is the file that a table is read from" in refusal(*asked, "--out", people_csv)
    assert people_csv.read_bytes() == before


def test_without_a_column_that_can_be_made_reasons_are_said(asked, policy):
    policy.write_text(POLICY.replace("bounds = [20, 69]", "").replace('values = ["Female", "Male"]', ""), "utf-8")
    line = refusal(*asked)
    assert "must name columns with bounds or listed values" in line
    assert line.count("Declare bounds or values") == 3


def test_a_file_that_fails_at_last_is_made_again_at_no_cost(asked, ledger, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr("sfumato.synth.synthetic.Synthetic.save", full)
        assert "at no cost" in refusal(*asked, *ledger)
    assert run(*asked, *ledger).exit_code == 0
    assert spent(tmp_path / "l.db", "clinic") == "ε 1, δ 1e-06"


def test_of_a_person_with_several_rows_the_unit_is_left_out(people_csv, policy, asked):
    rows = "".join(f"{index % 40},{20 + index % 50},{'Male' if index % 3 else 'Female'}\n" for index in range(120))
    people_csv.write_text(f"who,age,sex\n{rows}", "utf-8")
    several = POLICY.replace('unit = "row"', 'unit = "who"\nmax_rows_per_unit = 3').replace(".hours]", ".who]")
    policy.write_text(several, "utf-8")
    result = run(*asked)
    assert result.exit_code == 0, result.output
    assert "who is left out: it says whose row it is" in result.stderr


def test_what_a_server_shows_is_written_beside(asked, tmp_path):
    file = tmp_path / "clinic.json"
    result = run(*asked, "--publish", file)
    assert result.exit_code == 0, result.output
    assert f"for a server: {file}" in result.stdout
    assert [one.columns for one in read_synthetic(file).marginals] == [("age",), ("sex",), ("age", "sex")]


def test_a_name_that_cannot_be_published_is_refused_before_anything_is_charged(asked, ledger, tmp_path, people_csv):
    (tmp_path / "old.json").write_bytes(people_csv.read_bytes())
    for wrong in (tmp_path / "clinic.csv", tmp_path / "none" / "clinic.json"):
        assert "--publish" in refusal(*asked, *ledger, "--publish", wrong)
    assert not (tmp_path / "rows.parquet").exists()
