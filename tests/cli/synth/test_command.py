"""The options of `sfumato synth`: each has a help text, and those that must be given are asked for."""

import re

from tests.cli.commands import run


def test_every_option_is_explained():
    result = run("synth", "--help")
    assert result.exit_code == 0
    shown = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    for option in (
        "--policy",
        "--out",
        "--columns",
        "--bins",
        "--quantiles",
        "--method",
        "--rows",
        "--seed",
        "--total",
        "--tree-limit",
        "--explain",
    ):
        assert option in shown
    assert "charged once" in shown


def test_the_policy_and_the_file_must_be_given():
    for arguments in (("--out", "rows.csv"), ("--policy", "clinic.toml")):
        result = run("synth", *arguments, "--epsilon", "1", "--delta", "1e-6")
        assert result.exit_code == 2
        assert "Missing option" in result.stderr
