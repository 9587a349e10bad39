"""Cells of SQL in notebooks."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from tests.client.curator import TOKEN

import sfumato as sf
from sfumato.client.magic import load_ipython_extension
from sfumato.client.session import RemoteSession
from sfumato.errors import ParameterError
from sfumato.session.releases.release import Release

SQL = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


@pytest.fixture
def shell(served, monkeypatch):
    monkeypatch.setenv("SFUMATO_TOKEN", TOKEN)
    monkeypatch.setenv("SFUMATO_URL", served[1])
    made = InteractiveShell()
    load_ipython_extension(made)
    yield made
    found = made.magics_manager.registry["SfumatoMagics"].session
    if found is not None:
        found.close()
    made.history_manager.end_session()


def test_a_cell_is_asked_and_its_answer_is_its_value(shell):
    release = shell.run_cell_magic("sfumato", "epsilon=0.5 into=by_sex", SQL)
    assert isinstance(release, Release)
    assert release.receipt.guarantee == sf.PureDP("0.5")
    assert shell.user_ns["by_sex"] is release
    assert shell.run_cell_magic("sfumato", "epsilon=0.5 delta=0", SQL).reused
    dry = shell.run_cell_magic("sfumato", "epsilon=0.5 dry_run=yes", SQL)
    assert any("made" in note for note in dry.notes)


def test_a_line_connects(shell, served):
    session = shell.run_line_magic("sfumato", f"{served[1]} people")
    assert isinstance(session, RemoteSession)
    assert shell.run_cell_magic("sfumato", "epsilon=1", SQL).receipt.guarantee == sf.PureDP(1)


@pytest.mark.parametrize(
    "line", ["epsilon", "epsilon=", "budget=1", "epsilon=1 epsilon=2", "epsilon=1 into=1a", "epsilon=1 size=x", ""]
)
def test_other_options_are_refused(shell, line):
    with pytest.raises(ParameterError):
        shell.run_cell_magic("sfumato", line, SQL)


def test_without_an_address_one_hears_how_to_give_it(shell, monkeypatch):
    monkeypatch.delenv("SFUMATO_URL")
    with pytest.raises(ParameterError, match="SFUMATO_URL"):
        shell.run_cell_magic("sfumato", "epsilon=1", SQL)
