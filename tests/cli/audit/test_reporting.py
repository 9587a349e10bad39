import json
import sys
from pathlib import Path

import pytest
import typer

from sfumato.audit import CAVEAT, NeighborPair
from sfumato.cli.audit import reporting
from sfumato.cli.audit.reporting import AuditOptions, audit_and_report
from sfumato.errors import ParameterError

PAIRS = (NeighborPair(0, 1, "one \x1b[2J more"),)


def constant(_, count):
    return [7] * count


def exact(database, count):
    return [database] * count


def told(mechanism, **options):
    stated = {"epsilon": "1", "delta": "0", "samples": 200, "significance": 1e-6, "html": None, "as_json": False}
    with pytest.raises(typer.Exit) as caught:
        audit_and_report(mechanism, PAIRS, title="a mechanism", wanted=AuditOptions(**stated | options), at_once=30)
    return caught.value.exit_code


def test_nothing_found_is_exit_code_0_and_the_caveat(capsys):
    assert told(constant) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("a mechanism\n  on two databases: one \\x1b[2J more\n")
    assert CAVEAT in shown


def test_a_violation_is_exit_code_1_and_no_steering_of_the_terminal(capsys):
    assert told(exact) == 1
    shown = capsys.readouterr().out
    assert "privacy violation" in shown
    assert "\x1b" not in shown


def test_the_report_can_be_json(capsys):
    assert told(exact, as_json=True) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["title"], document["refuted"]) == ("a mechanism", True)


def test_a_mechanism_is_called_for_a_few_runs_at_a_time_and_all_are_heard():
    asked, heard = [], []

    def mechanism(_, count):
        asked.append(count)
        return range(count)

    in_parts = reporting._counted(mechanism, heard.append, 30)
    assert in_parts(0, 70) == [*range(30), *range(30), *range(10)]
    assert asked == heard == [30, 30, 10]
    assert reporting._counted(mechanism, heard.append, None)(0, 70) == range(70)


def test_a_page_is_written_with_the_title_and_what_was_found(tmp_path, capsys):
    assert told(exact, html=str(tmp_path / "report.html")) == 1
    page = (tmp_path / "report.html").read_text("utf-8")
    assert all(words in page for words in ("a mechanism", "privacy violation", "<svg"))
    assert "privacy violation" in capsys.readouterr().out


def wanting(path):
    return AuditOptions(epsilon="1", delta="0", samples=200, significance=1e-6, html=str(path), as_json=False)


def test_a_page_that_cannot_be_written_is_refused(tmp_path):
    for path in (tmp_path / "no" / "folder", tmp_path):
        with pytest.raises(ParameterError, match="in a folder that exists"):
            audit_and_report(lambda *_: pytest.fail("too early"), PAIRS, title="a mechanism", wanted=wanting(path))


def test_a_page_that_fails_in_the_end_costs_no_report_and_leaves_no_half(tmp_path, capsys):
    (tmp_path / "x.html.draft").mkdir()
    with pytest.raises(ParameterError, match="cannot be written"):
        audit_and_report(exact, PAIRS, title="a mechanism", wanted=wanting(tmp_path / "x.html"))
    assert "privacy violation" in capsys.readouterr().out
    assert not (tmp_path / "x.html").exists()


def test_a_page_may_go_to_a_device_which_stays_one_and_through_a_link(tmp_path):
    with pytest.raises(typer.Exit):
        audit_and_report(constant, PAIRS, title="a mechanism", wanted=wanting("/dev/null"))
    assert Path("/dev/null").is_char_device()
    (tmp_path / "link.html").symlink_to(tmp_path / "x.html")
    with pytest.raises(typer.Exit):
        audit_and_report(constant, PAIRS, title="a mechanism", wanted=wanting(tmp_path / "link.html"))
    assert (tmp_path / "link.html").is_symlink()
    assert "<svg" in (tmp_path / "x.html").read_text("utf-8")


def test_half_a_character_does_not_stop_a_page(tmp_path):
    pairs = [NeighborPair(0, 1, "half \ud800")]
    with pytest.raises(typer.Exit):
        audit_and_report(constant, pairs, title="a mechanism", wanted=wanting(tmp_path / "x.html"))
    assert "half ?" in (tmp_path / "x.html").read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]


def test_what_the_audited_code_prints_is_not_told_as_the_report(capsys):
    def prints(database, count):
        print("chatter")  # noqa: T201 # as the code of others does
        return constant(database, count)

    assert told(prints, as_json=True) == 0
    shown = capsys.readouterr()
    assert not json.loads(shown.out)["refuted"]
    assert "chatter" in shown.err


def test_a_page_without_its_packages_is_refused_before_the_work_begins(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ParameterError, match="jinja2"):
        audit_and_report(lambda *_: pytest.fail("too early"), PAIRS, title="a mechanism", wanted=wanting("x.html"))
