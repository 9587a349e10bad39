import os
import subprocess
import sys

import pytest
from tests.cli.commands import BY_SEX, COUNT, QUERY, in_one_line, refusal, run, spent

from sfumato.cli import app
from sfumato.version import __version__

HEAVY = ("numpy", "scipy", "duckdb", "pyarrow", "sqlglot", "matplotlib")


def process(*arguments, encoding="utf-8"):
    return subprocess.run(
        [sys.executable, "-m", "sfumato", *map(str, arguments)],
        capture_output=True, check=False, encoding=encoding, env=os.environ | {"PYTHONIOENCODING": encoding},
    )  # fmt: skip


def test_the_version_is_the_package_s():
    assert run("--version").stdout == f"sfumato {__version__}\n"


def test_without_a_command_the_commands_are_listed():
    shown = run().output
    assert all(command in shown for command in ("query", "account", "calibrate", "demo", "ledger"))


def test_help_says_what_each_argument_of_a_question_is():
    shown = run("query", "--help").stdout
    assert "[FILE] SQL" in shown
    assert "--epsilon" in shown


def test_help_loads_nothing_heavy():
    code = f"import sys, sfumato.cli.app; print(*(name for name in {HEAVY} if name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []


def test_a_count_is_printed_with_its_error_and_price(people_csv):
    result = run(*QUERY, people_csv, COUNT, "--epsilon", "50", "--budget", "60")
    assert result.exit_code == 0
    assert result.stdout == "n = 100 ± 0\n95% intervals; spent ε 50; remaining: ε 10 (about 0 such queries)\n"


def test_groups_come_in_the_order_of_the_keys(people_csv):
    result = run(*QUERY, people_csv, BY_SEX, "--epsilon", "50", "--keys", "sex=Male,Other,Female")
    assert [line.split()[:2] for line in result.stdout.splitlines() if line.endswith("± 0")] == [
        ["Male", "50"], ["Other", "0"], ["Female", "50"],
    ]  # fmt: skip


def test_an_epsilon_of_text_is_taken_exactly(people_csv, tmp_path):
    for _ in range(2):
        run(*QUERY, people_csv, COUNT, "--epsilon", "0.1", "--budget", "0.3", "--ledger", tmp_path / "l.db")
    run(*QUERY, people_csv, COUNT, "--epsilon", "0.2", "--ledger", tmp_path / "l.db")
    assert spent(tmp_path / "l.db") == "ε 0.3"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((COUNT, "--epsilon", "-1"), "epsilon = '-1'"),
        ((COUNT, "--epsilon", "nan"), "epsilon = 'nan'"),
        ((COUNT, "--epsilon", "abc"), "epsilon = 'abc'"),
        ((COUNT, "--epsilon", "inf"), "epsilon = 'inf'"),
        ((COUNT, "--epsilon", "1", "--delta", "1"), "delta"),
        ((COUNT, "--epsilon", "1", "--delta", "-0.1"), "delta"),
        ((COUNT, "--epsilon", "1", "--budget", "much"), "'much'"),
        ((COUNT, "--epsilon", "1", "--budget-delta", "1e-6"), "--budget"),
        (("SELECT COUNT(*) FROM people WHERE height > 2", "--epsilon", "1"), "height"),
        (("SELECT COUNT(*) FROM nobody", "--epsilon", "1"), "nobody"),
        (("SELEC COUNT(*) FROM people", "--epsilon", "1"), "SELEC COUNT(*) FROM people"),
        (("SELECT age FROM people", "--epsilon", "1", "--column", "age=int"), "age"),
        (("SELECT AVG(age) FROM people", "--epsilon", "1", "--column", "age=int"), "avg"),
        ((COUNT, "--epsilon", "1", "--column", "age=int:90:17"), "'age=int:90:17'"),
        ((COUNT, "--epsilon", "1", "--column", "age=int:17:17"), "'age=int:17:17'"),
        ((COUNT, "--epsilon", "1", "--column", "age"), "column = 'age'"),
        ((COUNT, "--epsilon", "1", "--column", "height=int"), "height"),
        ((BY_SEX, "--epsilon", "1", "--column", "sex=text"), "GROUP BY"),
        ((COUNT, "--epsilon", "1", "--unit", "sex"), "max_rows_per_unit"),
        ((COUNT, "--epsilon", "1", "--max-rows-per-unit", "2"), "limits"),
        ((COUNT, "more", "--epsilon", "1"), "FILE and SQL"),
    ],
)
def test_bad_input_is_refused_in_one_line_that_names_it_and_nothing_is_spent(people_csv, tmp_path, arguments, named):
    ledger = tmp_path / "l.db"
    run(*QUERY, people_csv, COUNT, "--epsilon", "0.5", "--budget", "2", "--ledger", ledger)
    assert named in refusal(*QUERY, people_csv, *arguments, "--ledger", ledger)
    assert spent(ledger) == "ε 0.5"


def test_a_question_that_cannot_be_asked_opens_no_account(people_csv, tmp_path):
    refusal(*QUERY, people_csv, "SELEC", "--epsilon", "1", "--budget", "9", "--ledger", tmp_path / "l.db")
    assert not (tmp_path / "l.db").exists()


def test_a_budget_that_is_too_small_refuses_and_spends_nothing(people_csv, tmp_path):
    line = refusal(*QUERY, people_csv, COUNT, "--epsilon", "2", "--budget", "1", "--ledger", tmp_path / "l.db")
    assert "the query costs ε 2; the account has ε 1 remaining; nothing was spent" in line
    assert spent(tmp_path / "l.db") == "ε 0"


def test_missing_files_are_named(people_csv, tmp_path):
    assert "none.csv" in refusal(*QUERY, tmp_path / "none.csv", COUNT, "--epsilon", "1")
    assert "none.toml" in refusal("query", COUNT, "--policy", tmp_path / "none.toml", "--epsilon", "1")
    nowhere = tmp_path / "none" / "l.db"
    assert "none" in refusal(*QUERY, people_csv, COUNT, "--epsilon", "1", "--budget", "1", "--ledger", nowhere)


def test_a_file_that_is_no_ledger_is_refused(people_csv):
    other = people_csv.with_name("other.db")
    other.write_bytes(b"not a ledger" * 100)
    assert "other.db" in refusal(*QUERY, people_csv, COUNT, "--epsilon", "1", "--budget", "1", "--ledger", other)


def test_a_question_without_epsilon_is_refused(people_csv):
    result = run(*QUERY, people_csv, COUNT)
    assert result.exit_code == 2
    assert "--epsilon" in result.stderr


def test_control_c_ends_with_130(people_csv, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.cli.query.ask", interrupted)
    assert run(*QUERY, people_csv, COUNT, "--epsilon", "1").exit_code == 130


def test_a_defect_keeps_its_traceback(people_csv, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("sfumato.cli.query.ask", broken)
    assert isinstance(run(*QUERY, people_csv, COUNT, "--epsilon", "1").exception, ZeroDivisionError)


def test_the_process_answers_on_stdout_and_remarks_on_stderr(people_csv):
    done = process(*QUERY, people_csv, COUNT, "--epsilon", "50")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "n = 100 ± 0")
    assert "spending is not recorded" in in_one_line(done.stderr)


def test_the_process_refuses_with_2_and_no_traceback():
    done = process("ledger", "show", "no.db")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "no.db" in done.stderr


def test_a_terminal_without_greek_gets_question_marks(people_csv):
    done = process(*QUERY, people_csv, COUNT, "--epsilon", "50", encoding="latin-1")
    assert (done.returncode, done.stdout.splitlines()[1]) == (
        0,
        "95% intervals; spent ? 50; remaining: ? 0 (about 0 such queries)",
    )


def test_main_runs_the_app(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["sfumato", "--version"])
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == 0
