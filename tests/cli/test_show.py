from sfumato.cli.show import console, note, table


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
