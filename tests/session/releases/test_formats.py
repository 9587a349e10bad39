"""Other formats say what a release says; no cell of a CSV file is a formula, and what is no release is refused."""

import csv
import json
import subprocess
import sys
from dataclasses import replace
from datetime import date, datetime
from io import BytesIO, StringIO

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.attacks_on_questions.databases import databases
from tests.attacks_on_questions.questions import QUESTIONS
from tests.session.opened import CANARY

import sfumato as sf
from sfumato.query.model.kinds import Kind
from sfumato.query.statistics.estimates import AnswerValue
from sfumato.session.releases import formats
from sfumato.session.releases.documents import encode_release
from sfumato.session.releases.formats import converted, csv_text

READERS = {
    "arrow": lambda found: pa.ipc.open_stream(found).read_all(),
    "parquet": lambda f: parquet.read_table(BytesIO(f)),
}


def votes():
    session = sf.open(
        sf.datasets.votes(), name="votes", columns={"sport": sf.text(values=["Football", "Tennis"])},
        budget=sf.PureDP(1),
    )  # fmt: skip
    return session.sql("SELECT sport, COUNT(*) AS n FROM votes GROUP BY sport", epsilon="0.5")


VOTES = votes()
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", '=HYPERLINK("http://x","y")']


def of_groups(*groups, kind=Kind.TEXT):
    """A release with one key and these values of it."""
    one = AnswerValue(value=-3, low=-5, high=None)
    kinds = (kind, *VOTES.kinds[1:])
    return replace(VOTES, kinds=kinds, groups=tuple((group,) for group in groups), estimates=((one,),) * len(groups))


def read(text):
    return list(csv.reader(StringIO(text, newline="")))


def run(*arguments, given):
    command = [sys.executable, "-m", "sfumato.session.releases.formats", *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=False)


def document(release):
    return json.dumps(encode_release(release)).encode()


@pytest.mark.parametrize("to", READERS)
@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.name)
def test_every_kind_of_answer_is_the_same_table(asked, to):
    with asked.open(databases(asked.open)["ordinary"], engine="reference") as session:
        release = asked.of(session).release(epsilon=1, delta="1e-6")
    assert READERS[to](converted(release, to)).equals(release.to_arrow())
    header, *lines = read(csv_text(release))
    assert header == release.to_arrow().column_names
    assert len(lines) == len(release)


@pytest.mark.parametrize("to", READERS)
def test_the_program_converts_a_document(to):
    done = run(to, given=document(VOTES))
    assert (done.returncode, done.stderr) == (0, b"")
    assert READERS[to](done.stdout).equals(VOTES.to_arrow())


def test_csv_has_each_kind_of_cell():
    for cell, kind, shown in (
        ("a;b", Kind.TEXT, '"a;b"'), ('say "x"', Kind.TEXT, '"say ""x"""'), (None, Kind.TEXT, '""'),
        (-7, Kind.INTEGER, "-7"), (True, Kind.BOOLEAN, '"true"'), (date(2026, 1, 31), Kind.DATE, '"2026-01-31"'),
        (datetime(2026, 1, 31, 12), Kind.TIMESTAMP, '"2026-01-31T12:00:00"'),  # noqa: DTZ001 # without a zone
    ):  # fmt: skip
        assert csv_text(of_groups(cell, kind=kind)) == f'"sport","n","n_low","n_high"\r\n{shown},-3,-5,""\r\n'


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_a_spreadsheet_would_run_begins_with_an_apostrophe(text):
    assert read(csv_text(of_groups(text)))[1][0] == f"'{text}"
    named = replace(of_groups("x"), keys=(text,), statistics=(text,))
    assert read(csv_text(named))[0][:2] == [f"'{text}"] * 2
    released = of_groups("x")
    shown = replace(released, estimates=((AnswerValue(value=text, low=None, high=None),),))
    assert read(csv_text(shown))[1][1] == f"'{text}"


@pytest.mark.parametrize("text", ["a=1", "1-1", "'x", "", " =1"])
def test_other_text_stays_as_it_is(text):
    assert read(csv_text(of_groups(text)))[1][0] == text


def test_text_is_quoted_so_that_no_other_separator_makes_a_formula_of_it():
    assert '"x;=1+1"' in csv_text(of_groups("x;=1+1"))


BROKEN = {
    "empty": b"", "no text": b"\xff\xfe", "no JSON": CANARY.encode(), "deep": b"[" * 100_000,
    "another thing": json.dumps({"x": CANARY}).encode(), "cut": document(of_groups(CANARY))[:-9],
    "more": json.dumps(encode_release(VOTES) | {"more": CANARY}).encode(),
    "a text that is a number": document(of_groups(CANARY, kind=Kind.INTEGER)),
    "a number beyond 64 bits": document(of_groups(3141592653**9, kind=Kind.INTEGER)),
    "half a surrogate": document(of_groups(CANARY + "\ud800")),
    "a column too many": document(replace(of_groups(CANARY), keys=("sport", CANARY))),
    "a kind too few": document(replace(of_groups(CANARY), kinds=(Kind.TEXT,))),
}  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_no_release_is_refused_in_constant_words(broken, monkeypatch, capsysbinary):
    monkeypatch.setattr(sys, "stdin", type("Input", (), {"buffer": BytesIO(BROKEN[broken])}))
    assert formats.main(["arrow"]) == 2
    said = capsysbinary.readouterr()
    assert said.out == b""
    assert said.err.startswith(b"release: the input is no release of this version")
    assert CANARY.encode() not in said.err


def test_the_program_says_so_too():
    done = run("parquet", given=BROKEN["a text that is a number"])
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"release: the input is no release")
    assert len(done.stderr.splitlines()) == 1


def test_a_document_that_is_too_large_is_refused(monkeypatch, capsysbinary):
    monkeypatch.setattr(formats, "MOST_BYTES", 1_000)
    monkeypatch.setattr(sys, "stdin", type("Input", (), {"buffer": BytesIO(b" " * 1_001)}))
    assert formats.main(["arrow"]) == 2
    assert b"larger than" in capsysbinary.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["csv"], ["arrow", "parquet"]])
def test_another_format_is_refused(arguments, capsysbinary):
    assert formats.main(arguments) == 2
    assert capsysbinary.readouterr().err.startswith(b"usage: python -m sfumato.session.releases.formats arrow|parquet")


WITHOUT_ARROW = """
import json, sys
from sfumato.session.releases.documents import decode_release
from sfumato.session.releases.formats import csv_text
assert csv_text(decode_release(json.load(sys.stdin))).startswith('"sport"')
loaded = {name.partition(".")[0] for name in sys.modules}
assert not loaded & {"duckdb", "pyarrow", "pandas", "polars"}, loaded
"""


def test_csv_needs_no_pyarrow():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ARROW], input=document(VOTES), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
