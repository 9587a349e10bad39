import json

import pytest
from tests.cli.commands import COUNT, QUERY, refusal, run, spent
from tests.ledger import postgres_ledgers

from sfumato.ledger.locations import FOLDER

POLICY = """
version = "1"
dataset = "hospital"
[unit]
name = "patient"
[tables.people]
source = "people.csv"
unit = "row"
[tables.people.columns.age]
type = "integer"
bounds = [0, 120]
"""


@pytest.fixture
def policy(people_csv):
    path = people_csv.with_name("hospital.toml")
    path.write_text(POLICY, "utf-8")
    return path


def test_json_holds_the_records_and_the_receipt_alone_on_stdout(people_csv):
    result = run(*QUERY, people_csv, COUNT, "--epsilon", "50", "--json")
    document = json.loads(result.stdout)
    assert document["records"] == [{"n": 100, "n_low": 100, "n_high": 100}]
    assert document["receipt"]["guarantee"] == {"type": "PureDP", "epsilon": "50"}
    assert (document["confidence"], document["reused"], document["notes"]) == (0.95, False, [])


def test_days_and_times_are_text_in_json(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("day,at\n2026-01-31,2026-01-31 12:00\n", "utf-8")
    columns = ("--column", "day=date", "--keys", "day=2026-01-31", "--column", "at=timestamp")
    sql = "SELECT day, at, COUNT(*) AS n FROM visits GROUP BY day, at"
    result = run("query", path, sql, *columns, "--keys", "at=2026-01-31 12:00", "--epsilon", "50", "--json")
    (record,) = json.loads(result.stdout)["records"]
    assert (record["day"], record["at"], record["n"]) == ("2026-01-31", "2026-01-31T12:00:00", 1)


def test_without_a_budget_or_a_ledger_both_are_said(people_csv):
    result = run(*QUERY, people_csv, COUNT, "--epsilon", "0.1")
    assert "the budget is the cost of this query, ε 0.1" in result.stderr
    assert "spending is not recorded" in result.stderr
    assert "spent ε 0.1; remaining: ε 0" in result.stdout


def test_a_stated_budget_is_kept_in_silence(people_csv):
    result = run(*QUERY, people_csv, COUNT, "--epsilon", "0.1", "--budget", "1", "--budget-delta", "1e-6")
    assert "no --budget" not in result.stderr
    assert "remaining: ε 0.9, δ 1e-06" in result.stdout


def test_delta_is_part_of_the_price(people_csv):
    result = run(*QUERY, people_csv, COUNT, "--epsilon", "1", "--delta", "1e-6", "--explain")
    assert "cost          ε 1, charged" in result.stdout


def test_intervals_of_quantiles_are_bought_if_that_is_said(people_csv, tmp_path):
    median = ("query", people_csv, "SELECT MEDIAN(age) AS m FROM people", "--column", "age=int:0:120")
    asked = (*median, "--epsilon", "1", "--json")
    plain, bought = run(*asked), run(*asked, "--intervals", "--budget", "1", "--ledger", tmp_path / "l.db")
    (without,), (record,) = (json.loads(answer.stdout)["records"] for answer in (plain, bought))
    assert (without["m_low"], without["m_high"]) == (None, None)
    assert record["m_low"] <= record["m_high"]


def test_explaining_spends_nothing_and_opens_no_account(people_csv, tmp_path):
    ledger = tmp_path / "l.db"
    result = run(*QUERY, people_csv, COUNT, "--epsilon", "2", "--budget", "1", "--ledger", ledger, "--explain")
    assert (result.exit_code, ledger.exists()) == (0, False)
    assert "cost          ε 2" in result.stdout


def test_a_new_account_needs_a_budget(people_csv, tmp_path):
    assert "--budget" in refusal(*QUERY, people_csv, COUNT, "--epsilon", "0.1", "--ledger", tmp_path / "l.db")
    assert not (tmp_path / "l.db").exists()


def test_an_account_on_a_server_keeps_its_budget(people_csv, tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    ledger = postgres_ledgers.location()
    assert "add --budget" in refusal(*QUERY, people_csv, COUNT, "--epsilon", "0.1", "--ledger", ledger)
    run(*QUERY, people_csv, COUNT, "--epsilon", "0.1", "--budget", "1", "--ledger", ledger)
    again = run(*QUERY, people_csv, COUNT, "--epsilon", "0.1", "--ledger", ledger).stdout
    assert "stored answer, nothing spent; remaining: ε 0.9" in again


def test_an_account_keeps_its_budget_and_its_answers(people_csv, tmp_path):
    ledger = tmp_path / "l.db"
    first = run(*QUERY, people_csv, COUNT, "--epsilon", "0.1", "--budget", "1", "--ledger", ledger).stdout
    again = run(*QUERY, people_csv, COUNT, "--epsilon", "0.1", "--ledger", ledger).stdout
    assert again.splitlines()[0] == first.splitlines()[0]
    assert "stored answer, nothing spent; remaining: ε 0.9" in again
    assert spent(ledger) == "ε 0.1"


def test_a_ledger_that_has_to_be_there_is_not_made(people_csv, tmp_path):
    ledger, question = tmp_path / "l.db", (*QUERY, people_csv, COUNT, "--epsilon", "0.1", "--budget", "1", "--existing")
    assert "does not exist" in refusal(*question, "--ledger", ledger)
    assert not ledger.exists()
    assert "--ledger" in refusal(*question)
    run(*question[:-1], "--ledger", ledger)
    assert run(*question, "--ledger", ledger).exit_code == 0


def test_another_account_in_the_same_ledger_needs_a_budget_of_its_own(people_csv, tmp_path):
    run(*QUERY, people_csv, COUNT, "--epsilon", "0.1", "--budget", "1", "--ledger", tmp_path / "l.db")
    question = (*QUERY, people_csv, "SELECT COUNT(*) AS n FROM folk", "--name", "folk", "--epsilon", "0.1")
    assert "'folk'" in refusal(*question, "--ledger", tmp_path / "l.db")
    assert run(*question, "--ledger", tmp_path / "l.db", "--budget", "1").exit_code == 0


def test_an_account_does_not_take_another_budget(people_csv, tmp_path):
    question = (*QUERY, people_csv, COUNT, "--epsilon", "0.1", "--ledger", tmp_path / "l.db")
    run(*question, "--budget", "1")
    assert "was opened with budget ε 1, not ε 2" in refusal(*question, "--budget", "2")


def test_a_file_without_a_header_gets_names(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("30,x\n40,x\n", "utf-8")
    sql = "SELECT COUNT(*) AS n FROM bare WHERE age > 35"
    result = run(*QUERY, path, sql, "--epsilon", "50", "--names", "age,hours", "--column", "age=int")
    assert result.stdout.startswith("n = 1 ± 0")


def test_rows_of_one_person_are_bounded(people_csv):
    options = ("--unit", "sex", "--max-rows-per-unit", "3", "--epsilon", "100")
    assert run(*QUERY, people_csv, COUNT, *options).stdout.startswith("n = 6 ± 0")


def test_keys_of_an_int_column_are_ints(people_csv):
    sql = "SELECT age, COUNT(*) AS n FROM people GROUP BY age"
    options = ("--column", "age=int", "--keys", "age=20,21", "--epsilon", "50", "--json")
    assert [row["age"] for row in json.loads(run(*QUERY, people_csv, sql, *options).stdout)["records"]] == [20, 21]


def test_with_a_policy_the_statement_stands_alone(policy, tmp_path):
    options = ("--policy", policy, "--epsilon", "50", "--budget", "60", "--ledger", tmp_path / "l.db")
    assert run("query", "SELECT AVG(age) AS a FROM people", *options).exit_code == 0
    assert spent(tmp_path / "l.db", "hospital") == "ε 50"


def test_a_file_beside_a_policy_replaces_the_source_of_its_one_table(policy, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("age,sex,hours\n" + "30,M,1\n" * 500, "utf-8")
    result = run("query", other, COUNT, "--policy", policy, "--epsilon", "50")
    assert result.stdout.startswith("n = 500 ± 0")


def test_a_policy_takes_no_declarations(policy):
    line = refusal("query", COUNT, "--policy", policy, "--epsilon", "1", "--unit", "sex", "--column", "age=int")
    assert "--column, --unit" in line


def test_a_file_needs_a_question_beside_it(people_csv):
    assert "FILE and SQL" in refusal(*QUERY, people_csv, "--epsilon", "1")


def test_at_least_one_column_must_be_declared(people_csv):
    assert "columns" in refusal("query", people_csv, COUNT, "--epsilon", "1")


@pytest.mark.parametrize("lasting", [True, False])
def test_an_answer_goes_to_a_file_if_one_is_named(people_csv, tmp_path, lasting):
    ledger = ["--ledger", tmp_path / "ledger.db", "--budget", "50"] if lasting else []
    path = tmp_path / "answer.parquet"
    result = run(*QUERY, people_csv, COUNT, "--epsilon", "50", "--to", path, "--json", *ledger)
    document = json.loads(result.stdout)
    assert (document["file"], document["rows"], document["reused"]) == (str(path), 1, False)
    assert "1 groups released" in result.stderr
    assert "1 rows in" in run(*QUERY, people_csv, COUNT, "--epsilon", "50", "--to", path, *ledger).stdout


@pytest.mark.parametrize("more", [("--explain",), ("--json",)])
def test_a_file_that_cannot_be_written_is_refused_before_an_account_is_opened(people_csv, tmp_path, more):
    ledger = ("--ledger", tmp_path / "l.db", "--budget", "1")
    assert "Parquet" in refusal(*QUERY, people_csv, COUNT, "--epsilon", "1", "--to", tmp_path / "a.csv", *ledger, *more)
    assert not (tmp_path / "l.db").exists()


@pytest.fixture
def clinic_csv(tmp_path):
    """Fifty visits of January as a program in Germany writes them."""
    path = tmp_path / "klinik.csv"
    rows = [f"{1 + index % 30:02}.01.2026;{index % 3}.000,5;{'k.A.' if index % 2 else 'Süd'}" for index in range(50)]
    path.write_text("\n".join(["sep=;", "Tag;Kosten;Größe", *rows]) + "\n", "latin-1")
    return path


WRITTEN = (
    "--delimiter", ";", "--encoding", "latin-1", "--decimal", ",", "--thousands", ".", "--dates", "%d.%m.%Y", "--null",
    "k.A.", "--skip-lines", 1, "--column", "Tag=date", "--column", "Kosten=float:0:9999", "--keys", "Größe=Süd,Nord",
)  # fmt: skip


def test_a_csv_file_is_read_as_the_options_say(clinic_csv):
    sums = "COUNT(Tag) AS days, COUNT(Größe) AS sizes, SUM(Kosten) AS costs"
    late = f"SELECT {sums} FROM klinik WHERE Tag > DATE '2026-01-10'"
    result = run("query", clinic_csv, late, *WRITTEN, "--epsilon", 10**6, "--json")
    (record,) = json.loads(result.stdout)["records"]
    kept = [index for index in range(50) if index % 30 >= 10]
    costs = sum(index % 3 * 1000 + 0.5 for index in kept)
    assert (record["days"], record["sizes"]) == (len(kept), sum(index % 2 == 0 for index in kept))
    assert record["costs"] == pytest.approx(costs, abs=1)  # 30 times the scale of the noise


def test_a_file_that_is_written_otherwise_is_refused_with_the_option_that_is_missing(clinic_csv):
    line = refusal("query", clinic_csv, "SELECT COUNT(*) FROM klinik", *WRITTEN[2:], "--epsilon", 1)
    assert 'delimiter=";"' in line
    assert "'%d'" in refusal("query", clinic_csv, "SELECT COUNT(*) FROM klinik", "--dates", "%d", "--epsilon", 1)


def test_a_tab_can_be_said_and_a_policy_says_it_itself(people_csv, policy):
    people_csv.write_text(people_csv.read_text("utf-8").replace(",", "\t"), "utf-8")
    assert "n" in run("query", people_csv, COUNT, "--delimiter", "tab", "--column", "age=int", "--epsilon", 1).stdout
    assert "--delimiter" in refusal("query", COUNT, "--policy", policy, "--delimiter", "tab", "--epsilon", 1)


TWO = f"{COUNT}; SELECT COUNT(hours) AS known FROM people"


def test_several_statements_are_answered_together_for_one_cost(people_csv, tmp_path):
    ledger = tmp_path / "ledger.db"
    told = ("--epsilon", "0.5", "--budget", "1", "--ledger", ledger)
    result = run(*QUERY, people_csv, TWO, *told)
    assert "n = " in result.stdout
    assert "known = " in result.stdout
    assert result.stdout.count("one of 2 answers that cost ε 0.5 together") == 2
    assert "spent ε 0.5; remaining: ε 0.5" in result.stdout
    document = json.loads(run(*QUERY, people_csv, TWO, *told, "--json").stdout)
    assert [next(iter(one["records"][0])) for one in document["answers"]] == ["n", "known"]
    assert document["reused"]
    assert document["receipt"]["question"] == TWO


def test_several_statements_are_explained_together(people_csv):
    shown = run(*QUERY, people_csv, TWO, "--epsilon", "0.5", "--explain").stdout
    assert shown.count("cost          ε 0.5, charged before data is read") == 2


@pytest.mark.parametrize("option", [("--intervals",), ("--to", "answer.parquet")])
def test_options_of_one_statement_are_refused_for_several(people_csv, option):
    assert "belongs to one statement" in refusal(*QUERY, people_csv, TWO, "--epsilon", "0.5", *option)


def test_stored_answers_are_used_for_another_query_at_no_cost(people_csv, tmp_path):
    ledger = tmp_path / "ledger.db"
    both = "SELECT COUNT(*) AS n FROM people WHERE sex IN ('Male', 'Female')"
    keys = ("--keys", "sex=Male,Female", "--ledger", ledger)
    run(*QUERY, people_csv, "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", *keys, "--epsilon", 1, "--budget", 1)
    result = run(*QUERY, people_csv, both, *keys, "--from-releases")
    assert "computed from the answer to: SELECT sex" in result.stdout
    document = json.loads(run(*QUERY, people_csv, both, *keys, "--from-releases", "--json").stdout)
    assert [next(iter(one)) for one in document["records"]] == ["n"]
    assert "is not determined" in refusal(*QUERY, people_csv, COUNT, *keys, "--from-releases")


def test_stored_answers_are_in_a_ledger(people_csv, tmp_path):
    assert "needs --ledger" in refusal(*QUERY, people_csv, COUNT, "--from-releases")
    missing = tmp_path / "none.db"
    assert "has no account" in refusal(*QUERY, people_csv, COUNT, "--from-releases", "--ledger", missing)
    assert not missing.exists()


def test_a_query_has_a_cost_of_its_own(people_csv):
    assert "--epsilon" in refusal(*QUERY, people_csv, COUNT)
