import pytest
import typer
from typer.testing import CliRunner

from sfumato.cli.app import REFUSED, RefusingGroup
from sfumato.errors import ParameterError

app = typer.Typer(cls=RefusingGroup, pretty_exceptions_enable=False)


@app.callback()
def group():
    """Several commands."""


@app.command()
def refuse():
    raise ParameterError("epsilon", "x", "must be\n  a number")


@app.command()
def fail():
    raise KeyError("a defect")


def test_an_error_of_the_package_is_one_line_on_stderr():
    result = CliRunner().invoke(app, ["refuse"])
    assert (result.exit_code, result.stdout) == (REFUSED, "")
    assert result.stderr == "sfumato: epsilon = 'x': must be a number\n"


def test_another_error_is_not_hidden():
    with pytest.raises(KeyError):
        CliRunner().invoke(app, ["fail"], catch_exceptions=False)
