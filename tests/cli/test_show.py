import io
import sys

import pytest

from sfumato.cli.show import cell, console, counted, note, printable, progress, table, wide_console


def printed(capsys, thing):
    console().print(thing)
    return capsys.readouterr().out


def test_a_table_aligns_words_left_and_figures_right(capsys):
    shown = printed(capsys, table(("name", "n"), [("a", "1"), ("long name", "1,000")]))
    assert [line.rstrip() for line in shown.splitlines() if "a" in line][1:] == [
        " a               1",
        " long name   1,000",
    ]


def test_brackets_in_data_are_no_markup(capsys):
    assert "[red]x[/red]" in printed(capsys, table(("name",), [("[red]x[/red]",)]))
    assert "[bold]" in printed(capsys, "[bold]")


def test_a_note_is_on_stderr(capsys):
    note("careful")
    assert capsys.readouterr() == ("", "note: careful\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ann", "ann"), ("Zoë ε δ", "Zoë ε δ"), ("a\x1b[31m", "a\\x1b[31m"), ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\u202eabc", "\\u202eabc"), ("a\u200bb", "a\\u200bb"), ("\x07\x00", "\\x07\\x00"),
    ],
)  # fmt: skip
def test_what_steers_a_terminal_is_an_escape(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize("first", "=+-@")
def test_a_cell_is_no_formula(first):
    assert cell(f"{first}1") == f"'{first}1"
    assert cell(f"a{first}1") == f"a{first}1"


def test_a_cell_that_begins_with_a_tab_is_no_formula_either():
    assert cell("\t=1") == "\\t=1"


def test_things_are_counted_by_one_or_several():
    assert [counted(number, "entry", "entries") for number in (0, 1, 2_000)] == [
        "0 entries",
        "1 entry",
        "2,000 entries",
    ]


def test_what_is_piped_on_is_wide():
    assert wide_console().width == 200


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("stream", "is_shown"), [(Terminal(), True), (io.StringIO(), False)])
def test_a_bar_is_shown_to_people_alone(monkeypatch, stream, is_shown):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    with progress() as bars:
        bars.update(bars.add_task("entries", total=10), completed=10)
    assert ("entries" in stream.getvalue()) == is_shown
