"""Every page is shown to whoever has signed in alone, takes only its own forms, and is never inside of another page."""

import pytest
from tests.server.dashboard.browsing import words

from sfumato.server.dashboard.app import ROUTERS
from sfumato.server.dashboard.visits import Page, local

PAGES = [(method, route.path) for router in ROUTERS for route in router.routes
         if isinstance(route, Page) for method in route.methods]  # fmt: skip
OPEN = {"/sign-in", "/sign-in/{provider}", "/sign-in/{provider}/back", "/signed-out/{provider}", "/preferences"}


def filled(path):
    return path.replace("{dataset}", "clinic").replace("{release}", "0" * 16).replace("{name}", "answer.csv").replace(
        "{question}", "0" * 32
    )  # fmt: skip


@pytest.mark.parametrize(("method", "path"), PAGES)
def test_nobody_sees_a_page_without_a_session(visitor, method, path):
    if path in OPEN:
        return
    nobody = visitor()
    nobody.get("/sign-in")
    page = nobody.get(filled(path)) if method == "GET" else nobody.post(filled(path))
    assert (page.status_code, page.text) == (303, "")
    assert page.headers["location"].startswith("/sign-in")


@pytest.mark.parametrize("path", sorted({path for method, path in PAGES if method == "POST"}))
def test_no_form_is_taken_but_from_a_page_of_the_same_session(visitor, path):
    olga, other = visitor("olga"), visitor("olga")
    for proof in ("", "0" * 64, other.proof):
        page = olga.client.post(filled(path), data={"proof": proof, "reason": "forged", "theme": "dark"})
        assert page.status_code == 403
        assert "not allowed" in words(page)
    page = olga.client.post(filled(path), data={"proof": olga.proof}, headers={"Sec-Fetch-Site": "cross-site"})
    assert page.status_code == 403


def test_pages_have_strict_headers(visitor):
    for page in (visitor().get("/sign-in"), visitor("ann").get("/"), visitor("ann").get("/datasets/none")):
        policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers.get_list("content-security-policy") == [page.headers["content-security-policy"]]


def test_pages_have_no_script_style_or_event_inside(visitor):
    ann = visitor("ann")
    pages = [ann.get(path).text for path in ("/", "/datasets/clinic", "/datasets/clinic/query", "/learn", "/keys")]
    for text in pages:
        assert "style=" not in text
        assert " on" + "click" not in text
        assert "<style" not in text
        assert text.count("<script") == text.count('<script src="/assets/')


def test_errors_are_pages_that_name_the_fix(visitor):
    page = visitor("ann").get("/datasets/nothing")
    assert page.status_code == 404
    assert "That did not work" in words(page)
    assert visitor("ann").get("/people").status_code == 403


@pytest.mark.parametrize("path", ["/", "/log?after=3", "/datasets/clinic/budgets?account=a%2Fb"])
def test_a_path_of_this_server_stays_as_it_is(path):
    assert local(path) == path
