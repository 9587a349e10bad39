"""The page that walks through the code names the files in the order in which they are really called."""

import re
import sys
import threading

import pytest
from tests.meta.repository import ROOT, SOURCE, text

PAGE = text(ROOT / "docs" / "explanation" / "walk.md")
WALKS = re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
STATION = re.compile(r"^\| \d+ \| `([\w/]+\.py)` \|", re.MULTILINE)


@pytest.fixture(scope="module")
def walked():
    """Of each walk the files of the package in the order of their first call, in whatever thread."""
    called: list[str] = []

    def note(frame, event, _argument):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(f"{SOURCE}/"):
            called.append(path.removeprefix(f"{SOURCE}/"))

    names, found = {}, {}
    before = sys.getprofile(), threading.getprofile()
    threading.setprofile(note)
    try:
        for heading, walk in WALKS:
            first, traced = BLOCK.findall(walk)
            exec(compile(first, "walk.md", "exec"), names)  # noqa: S102 # the page's own code
            called.clear()
            sys.setprofile(note)
            exec(compile(traced, "walk.md", "exec"), names)  # noqa: S102 # the page's own code
            sys.setprofile(before[0])
            found[heading] = list(dict.fromkeys(called))
    finally:
        sys.setprofile(before[0])
        threading.setprofile(before[1])
    names["people"].close()
    names["ledger"].close()
    return found


@pytest.mark.parametrize(("heading", "walk"), WALKS, ids=[heading for heading, _ in WALKS])
def test_files_are_called_in_the_order_of_the_page(heading, walk, walked):
    stations = STATION.findall(walk)
    assert len(stations) > 5
    assert [station for station in stations if station not in walked[heading]] == []
    assert stations == sorted(stations, key=walked[heading].index)
