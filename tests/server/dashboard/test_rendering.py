"""Texts stand in one catalog, in every language, and nothing that is shown can become markup."""

import json
import re
import string
from hashlib import sha256
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.meta.repository import ROOT

from sfumato.server.dashboard.pages.learning import WORDS
from sfumato.server.dashboard.rendering import (
    FOLDER,
    LANGUAGES,
    Look,
    Pages,
    assets,
    budget_text,
    catalog,
    language_of,
    number,
    share,
    translated,
)

TEMPLATES = sorted(FOLDER.rglob("*.html"))
NAMED = re.compile(r'\bt\(\s*["\x27]([a-z_0-9.]+)["\x27](?!\s*~)')
BUILT = re.compile(r'\bt\(\s*["\x27]([a-z_]+\.[a-z_]*)["\x27]\s*~')
CHOSEN = re.compile(r'"((?:about|base|people|keys)\.(?!html)[a-z_]*[a-z])"')
CHART = Pages()._environment.from_string('<div data-chart="{{ data }}"></div>')
LARGEST = 600_000
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&{{7*7}}"


def fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_text_is_there_in_every_language_with_the_same_gaps():
    for name, texts in catalog().items():
        assert len(texts) == len(LANGUAGES), name
        assert len({frozenset(fields(text)) for text in texts}) == 1, name
        assert not any(character in text for text in texts for character in "<>&"), name


def test_every_text_of_a_template_is_in_the_catalog_and_every_other_one_is_used():
    content = "\n".join(path.read_text("utf-8") for path in TEMPLATES)
    named = {*NAMED.findall(content), *CHOSEN.findall(content)}
    assert named <= set(catalog())
    beginnings = tuple(BUILT.findall(content))
    assert [name for name in catalog() if name not in named and not name.startswith(beginnings)] == []
    assert {f"meaning.{word}" for word in WORDS} <= set(catalog())


def test_templates_turn_nothing_into_markup():
    content = "\n".join(path.read_text("utf-8") for path in TEMPLATES)
    assert "autoescape" not in content
    assert re.findall(r"\{\{[^}]*\|\s*safe[^}]*\}\}", content) == ['{{ "&amp;reads=yes"|safe if asked.reads }}']
    assert not re.search(r"<[a-z]+[^>]* (on[a-z]+|style)=", content)


@given(st.text())
def test_data_inside_of_a_page_is_what_it_was_and_ends_no_attribute(text):
    shown = CHART.render(data=json.dumps({"name": text + HOSTILE}))
    (content,) = re.findall(r'data-chart="([^"]*)"', shown)
    assert json.loads(unescape(content)) == {"name": text + HOSTILE}
    assert "<" not in content


@pytest.mark.parametrize("look", [Look(language, theme) for language in LANGUAGES for theme in ("auto", "dark")])
def test_hostile_values_stay_text_in_pages(look):
    facts = {
        "name": HOSTILE, "privacy_unit": HOSTILE, "data_version": HOSTILE, "policy_version": HOSTILE,
        "account": HOSTILE,
        "tables": [{"name": HOSTILE, "unit": HOSTILE, "limits": {"max_rows_per_unit": 3}, "columns": [
            {"name": HOSTILE, "type": "text", "bounds": None, "values": [HOSTILE]},
            {"name": HOSTILE, "type": "integer", "bounds": [HOSTILE, 2], "values": None}]}],
        "views": {HOSTILE: HOSTILE},
    }  # fmt: skip
    label = {
        "privacy_unit": HOSTILE, "guarantee": [], "bounds": [], "window": HOSTILE, "state": "suspended",
        "acknowledged_failures": 1,
    }  # fmt: skip
    text = Pages().text(
        "dataset.html", look, dataset=facts, label=label, is_owner=True, visitor=None, path="/", here="/", proof="0"
    )
    assert "<img" not in text.replace('<img src="/assets/', "")
    assert "</script><" not in text.replace("defer></script>\n", "")
    assert "49" not in re.sub(r"\?[0-9a-f]{12}", "", text)
    assert "&lt;img" in text


def test_numbers_and_budgets_are_short():
    shown = [number(value) for value in (0, -3, 1234567, 0.5, 2.0, True, "1e3", -float("inf"))]
    assert shown == ["0", "−3", "1\u202f234\u202f567", "0.5", "2", "True", "1e3", "−∞"]
    assert budget_text({"type": "ZCDP", "rho": "1/8", "delta": "0"}) == "ρ 0.125"
    assert budget_text({"type": "NoGuarantee"}) == "ε ∞"
    assert share({"epsilon": "1/2"}, {"epsilon": "2"}) == 0.25
    assert share({"epsilon": "1"}, {"rho": "2"}) == share({"epsilon": "1"}, {"epsilon": "0"}) == 0


@given(st.text(max_size=50))
def test_any_header_of_languages_chooses_one(accepted):
    assert language_of(accepted) in LANGUAGES


def test_a_text_may_be_filled_with_braces():
    assert "{0} {x}" in translated("en", "home.hello", name="{0} {x}")


def test_scripts_of_others_are_what_npm_has():
    listed = (ROOT / "requirements" / "vendor.sha256").read_text("utf-8").split()
    for digest, name in zip(listed[::2], listed[1::2], strict=True):
        assert sha256((FOLDER / "assets" / name).read_bytes()).hexdigest() == digest, name


def test_scripts_are_small_and_none_is_fetched_from_elsewhere():
    scripts = {name: content for name, content in assets().items() if name.endswith(".js")}
    assert sum(map(len, scripts.values())) <= LARGEST
    assert b"http://" not in assets()["dashboard.js"]
    assert b"url(" not in assets()["style.css"]
