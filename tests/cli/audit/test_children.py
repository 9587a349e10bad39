"""A real question end to end, as anybody would ask it: through `sfumato query` in a process of its own."""

import os
import sys

import pytest

from sfumato.audit import TESTERS, run_on
from sfumato.cli.audit.children import ask_child
from sfumato.cli.audit.question import How, audited
from sfumato.cli.query import Declared, Price
from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import ApproxDP
from sfumato.query.model.schema import integer

SQL = "SELECT ward, SUM(age) AS years FROM people GROUP BY ward"
DECLARED = ("--column", "age=int:17:90", "--keys", "ward=A,B")


@pytest.mark.statistical
def test_a_question_in_a_child_process_keeps_its_claim_and_not_half_of_it():
    """10,000 samples, about five processes. Type-I error 1e-6 each; half of ε is refuted, missed below 1e-6."""
    declared = Declared(
        policy=None, columns=DECLARED[1:2], keys=DECLARED[3:4], unit=None, names=None, name=None,
        max_rows_per_unit=None, max_groups_per_unit=None, max_rows_per_group_per_unit=None,
    )  # fmt: skip
    price = Price(epsilon="1", delta="0", budget=None, budget_delta=None)
    how = How(worlds="ward", child=True)
    with audited((SQL,), declared=declared, price=price, how=how, samples=10_000) as made:
        runs = run_on(made.pairs[0], made.mechanism, samples=10_000)
    assert runs.samples == 20_000
    whole, half = (
        {str(tester(runs, claim=ApproxDP(claim, 0), significance=1e-6).verdict) for tester in TESTERS}
        for claim in (1, "0.5")
    )
    assert (whole, half) == ({"nothing found"}, {"privacy violation"})


AGE = {"age": integer(17, 90)}
ANSWER = "import json, sys; from pyarrow import parquet; n = parquet.read_metadata(sys.argv[1]).num_rows\n"


def asked(code, tmp_path, rows=({"age": 30}, {"age": None}), *, must_answer=False):
    file = tmp_path / "people.parquet"
    program, options = [sys.executable, "-c", code], [str(file)]
    return ask_child(rows, program=program, options=options, file=file, columns=AGE, must_answer=must_answer)


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
    monkeypatch.setattr("sfumato.cli.audit.children._TIMEOUT", 0.2)
    with pytest.raises(ParameterError, match=r"within 0\.2 seconds"):
        asked("import signal; signal.pause()", tmp_path)
