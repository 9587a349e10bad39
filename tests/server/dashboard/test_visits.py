"""Every page is shown to whoever has signed in alone, takes only its own forms, and is never inside of another page."""

import pytest
from fastapi.routing import APIRoute
from tests.server.dashboard.browsing import words

from sfumato.server.dashboard.app import ROUTERS
from sfumato.server.dashboard.visits import Page, local

PAGES = [(method, route.path) for router in ROUTERS for route in router.routes
         if isinstance(route, Page) for method in route.methods]  # fmt: skip
OPEN = {"/sign-in", "/preferences"}


def filled(path):
    return path.replace("{dataset}", "clinic").replace("{release}", "0" * 16).replace("{name}", "answer.csv").replace(
        "{question}", "0" * 32
    )  # fmt: skip


def test_every_route_of_the_dashboard_is_a_page_or_a_public_file():
    others = {route.path for router in ROUTERS for route in router.routes if not isinstance(route, Page)}
    assert others == {"/assets/{name}", "/favicon.ico"}
    assert all(isinstance(route, APIRoute) and not route.include_in_schema for one in ROUTERS for route in one.routes)
    assert len(PAGES) > 30


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


def test_the_interface_keeps_its_own_headers(beside):
    answer = beside.client("ann").get("/me")
    assert answer.headers["content-security-policy"] == "default-src 'none'"
    assert answer.headers["cache-control"] == "no-store"


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


def test_assets_are_kept_for_ever_under_an_address_of_their_own(visitor):
    nobody = visitor()
    page = nobody.get("/sign-in").text
    address = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
    found = nobody.client.get(address)
    assert found.status_code == 200
    assert "immutable" in found.headers["cache-control"]
    assert nobody.client.get("/favicon.ico").headers["content-type"] == "image/svg+xml"
    assert nobody.client.get("/assets/..%2fapp.py").status_code == 404


@pytest.mark.parametrize("path", ["/", "/log?after=3", "/datasets/clinic/budgets?account=a%2Fb"])
def test_a_path_of_this_server_stays_as_it_is(path):
    assert local(path) == path
