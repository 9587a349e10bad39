"""The tutorial from a hospital's export to a picture, as a reader runs it."""

import re
from datetime import date, timedelta

import pytest
from tests.meta.repository import ROOT

PAGE = (ROOT / "docs" / "tutorials" / "first-file.md").read_text("utf-8")
MADE_UP, PICTURE, COSTS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
MOST_LINES = 12


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What the page defines, in a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("hospital"))
        found = {}
        for code in (MADE_UP, PICTURE, COSTS):
            exec(compile(code, "first-file.md", "exec"), found)  # noqa: S102 # the page's own code
        yield found


def test_from_the_file_to_the_picture_are_at_most_twelve_lines():
    assert len([line for line in PICTURE.splitlines() if line]) <= MOST_LINES
    assert max(map(len, PICTURE.splitlines())) <= 130


def test_the_picture_is_there_and_shows_each_week(names):
    assert (names["Path"]("weeks.png")).stat().st_size > 10_000
    weeks = [week for (week,) in names["answer"].groups]
    first = date(2025, 12, 29)
    assert weeks == [first + timedelta(weeks=number) for number in range(len(weeks))]
    assert len(weeks) == 13


def test_weeks_and_costs_are_near_to_those_of_the_file(names):
    """Noise of scale 18 reaches 300 once in 10^7 times; the mean of 2,000 costs is off by less than 5% more often."""
    for record in names["answer"].records()[1:-1]:
        assert abs(record["Besuche"] - 500) < 300
    for record in names["costs"].records():
        assert abs(record["Kosten"] - 3_000) < 400
