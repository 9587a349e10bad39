"""Who signs in gets a session that only they know; who has none gets nothing, and nobody is led away."""

import pytest
from tests.server.dashboard.browsing import Visitor, words

from sfumato.server.identity.people import Action

ELSEWHERE = ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/%0d%0aSet-Cookie:x",
             "http:evil", "\thttps://evil.example", "///evil.example", "/a\nb"]  # fmt: skip


def cookies_of(response):
    return [value for name, value in response.headers.multi_items() if name == "set-cookie"]


def test_a_page_without_a_session_is_that_of_signing_in(visitor):
    nobody = visitor()
    page = nobody.get("/datasets/clinic/query")
    assert (page.status_code, page.headers["location"]) == (303, "/sign-in?next=/datasets/clinic/query")
    assert "clinic" not in nobody.get("/sign-in").text


def test_scripts_cannot_read_the_cookie_and_other_sites_cannot_send_it(visitor):
    nobody = visitor()
    nobody.get("/sign-in")
    (cookie,) = cookies_of(nobody.post("/sign-in", key=nobody.keys["ann"]))
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie


def test_beyond_this_machine_the_cookie_is_for_tls_and_this_host_alone(beside, visitor, monkeypatch):
    dashboard = beside.server.config.app.state.dashboard
    monkeypatch.setattr(dashboard, "is_secure", True)
    (cookie,) = cookies_of(visitor().get("/sign-in"))
    assert cookie.startswith("__Host-sfumato=")
    assert {"Secure", "Path=/", "HttpOnly"} <= set(cookie.split("; "))


def test_signing_in_begins_a_session_under_a_new_name(visitor):
    victim = visitor()
    victim.get("/sign-in")
    planted = victim.client.cookies["sfumato"]
    victim.post("/sign-in", key=victim.keys["ann"])
    own = victim.client.cookies["sfumato"]
    assert own != planted
    attacker = visitor()
    attacker.client.cookies.set("sfumato", planted)
    assert attacker.get("/").status_code == 303
    victim.get("/sign-in")
    victim.get("/")
    victim.post("/sign-in", key=victim.keys["bob"])
    attacker.client.cookies.set("sfumato", own)
    assert attacker.get("/").status_code == 303  # ended when somebody else signed in there


@pytest.mark.parametrize("key", ["", "sfk_x", "é", f"sfk_{'0' * 16}_{'0' * 64}"])
def test_a_wrong_key_begins_nothing_and_every_wrong_key_hears_the_same(visitor, key):
    nobody = visitor()
    nobody.get("/sign-in")
    page = nobody.post("/sign-in", key=key)
    assert page.status_code == 401
    assert "This is no valid key." in words(page)
    assert nobody.get("/").status_code == 303


def test_keys_cannot_be_guessed_one_after_the_other(visitor):
    nobody = visitor()
    nobody.get("/sign-in")
    statuses = [nobody.post("/sign-in", key=f"sfk_{number}").status_code for number in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    assert nobody.post("/sign-in", key=nobody.keys["ann"]).status_code == 429


def test_signing_out_ends_the_session_and_everywhere_all_of_them(visitor):
    first, second = visitor("cem"), visitor("cem")
    kept = first.client.cookies["sfumato"]
    assert first.post("/sign-out").headers["location"] == "/sign-in"
    first.client.cookies.set("sfumato", kept)
    assert first.get("/").status_code == 303
    assert second.get("/").status_code == 200
    third = visitor("cem")
    second.post("/sign-out", everywhere="yes")
    assert [one.get("/").status_code for one in (second, third)] == [303, 303]


def test_the_log_says_who_signed_in_and_out(beside, visitor):
    before = len(beside.acts())
    visitor("cem").post("/sign-out", everywhere="yes")
    nobody = visitor()
    nobody.get("/sign-in")
    nobody.post("/sign-in", key="sfk_wrong")
    acts = [(act.person, act.action, str(act.outcome)) for act in beside.acts()[before:]]
    assert ("cem", Action.SIGN_IN, "done") in acts
    assert ("cem", Action.SIGN_OUT, "done") in acts
    assert ("", Action.SIGN_IN, "refused") in acts


@pytest.mark.parametrize("target", ELSEWHERE)
def test_nobody_is_led_to_another_site(visitor, target):
    nobody = visitor()
    nobody.client.get("/sign-in", params={"next": target})
    nobody.get("/sign-in")
    for page in (
        nobody.post("/preferences", theme="dark", back=target),
        nobody.post("/sign-in", key=nobody.keys["ann"], next=target),
        nobody.client.get("/sign-in", params={"next": target}),
    ):  # fmt: skip
        assert page.status_code == 303
        assert page.headers["location"].startswith("/")
        assert "evil" not in page.headers["location"].partition("?")[0]
        assert not page.headers["location"].startswith(("//", "/\\"))


def test_language_and_colors_are_remembered(visitor):
    nobody = visitor(**{"Accept-Language": "de-AT,de;q=0.9"})
    assert "Anmelden" in words(nobody.get("/sign-in"))
    nobody.post("/preferences", language="en", back="/sign-in")
    nobody.post("/preferences", theme="dark", back="/sign-in")
    page = nobody.get("/sign-in")
    assert "Paste an API key" in words(page)
    assert 'data-theme="dark"' in page.text
    assert nobody.post("/preferences", theme="<script>", back="/").status_code == 403


def test_a_key_without_the_right_to_read_opens_no_pages(beside, visitor):
    made = beside.client("cem").post("/keys", json={"scopes": ["estimate"]}).json()
    nobody = visitor()
    nobody.get("/sign-in")
    assert nobody.post("/sign-in", key=made["token"]).status_code == 403
    assert isinstance(nobody, Visitor)
    assert nobody.get("/").status_code == 303
