"""The page on models is done as it is written, in a session and on a server."""

import re
from contextlib import redirect_stdout
from io import StringIO

import pytest
from tests.meta.repository import ROOT
from tests.server.demonstrated import demo

PAGE = (ROOT / "docs" / "how-to" / "models.md").read_text("utf-8")
BLOCK = re.compile(r"^```python\n(.*?)^```\n\n```\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.docs
def test_a_model_is_fitted_from_sql_in_a_session_and_on_a_server(monkeypatch):
    monkeypatch.setenv("URL", demo().url)
    monkeypatch.setenv("ANN", demo().keys["ann"])
    blocks, names = BLOCK.findall(PAGE), {}
    assert len(blocks) == 3
    for code, shown in blocks:
        with redirect_stdout(StringIO()) as printed:
            exec(code, names)  # noqa: S102 # the page's own lines
        for said, expected in zip(printed.getvalue().splitlines(), shown.splitlines(), strict=True):
            if re.fullmatch(r"0\.\d+", expected):
                assert float(said) == pytest.approx(float(expected), abs=0.03)
            else:
                assert said == expected
