"""The tutorial of a counter over a year and a restart, as a reader runs it; here of 40 days."""

import re

import pytest
from tests.meta.repository import ROOT

PAGE = (ROOT / "docs" / "tutorials" / "daily-visits.md").read_text("utf-8")
CODE = [
    code.replace("366", "41").replace("365", "40").replace("101", "11")
    for code in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
]


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("library"))
        found = {}
        for code in CODE:
            exec(compile(code, "daily-visits.md", "exec"), found)  # noqa: S102 # the page's own code
        yield found


def test_the_year_is_counted_over_a_restart_and_charged_once(names):
    total = names["total"]
    assert len(total) == 40
    assert names["visits"].is_over
    assert str(names["library"].remaining) == "ρ 0"
    exact = sum(len(set(readers)) for day, readers in names["days"].items() if day <= 40)
    assert abs(total.to_pandas().value.iloc[-1] - exact) < total.half_widths("0.9999999")[-1]
