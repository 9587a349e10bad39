"""The page to learn on has every word, and a playground whose answers are within their error as often as it says."""

import json
import re
from html import unescape

import pytest
from tests.server.dashboard.browsing import words

from sfumato.server.dashboard.pages import learning
from sfumato.server.dashboard.pages.learning import STEPS, WORDS
from sfumato.server.dashboard.rendering import translated


def test_every_word_has_its_meaning_in_the_language_of_the_reader(visitor):
    for language in ("en", "de"):
        page = words(visitor("cem", **{"Accept-Language": language}).get("/learn"))
        for word in WORDS:
            assert translated(language, f"meaning.{word}") in page


@pytest.mark.parametrize("step", range(len(STEPS)))
def test_a_smaller_epsilon_has_a_larger_error(visitor, step):
    cem = visitor("cem", **{"HX-Request": "true"})
    part = cem.post("/learn", step=step)
    assert f"At ε {STEPS[step]}" in words(part)
    data = json.loads(unescape(re.search(r'data-chart="([^"]*)"', part.text)[1]))
    assert len(data["points"]) == 20
    assert data["low"] <= min(data["points"]) <= max(data["points"]) <= data["high"]


def test_answers_are_within_the_error_that_is_said_of_them():
    games = [learning._game(3) for _ in range(100)]
    error, exact = games[0]["error"], games[0]["exact"]
    inside = sum(abs(answer - exact) <= error for game in games for answer in game["answers"])
    assert inside / 2_000 > 0.92  # P(fewer of 2,000 at 0.95) < 1e-8


def test_the_whole_page_comes_back_without_a_script(visitor):
    page = visitor("cem").post("/learn", step="0")
    assert "<html" in page.text
    assert "ε 0.02" in words(page)
    for wrong in ("99", "", "x", "-1", "9" * 5_000):
        assert visitor("cem").post("/learn", step=wrong).status_code == 422
