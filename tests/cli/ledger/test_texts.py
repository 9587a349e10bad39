import pytest

from sfumato.cli.ledger.texts import cell, console, counted, printable


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
    assert console().width == 200
