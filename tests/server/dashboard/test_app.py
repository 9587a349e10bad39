"""Pages stand beside the routes of the interface, whose document does not name them; files are public and kept."""

from fastapi.routing import APIRoute

from sfumato.server.dashboard.app import ROUTERS
from sfumato.server.dashboard.visits import Page


def test_every_route_of_the_dashboard_is_a_page_or_a_public_file():
    others = {route.path for router in ROUTERS for route in router.routes if not isinstance(route, Page)}
    assert others == {"/assets/{name}", "/favicon.ico"}
    assert all(isinstance(route, APIRoute) and not route.include_in_schema for one in ROUTERS for route in one.routes)


def test_the_interface_keeps_its_own_headers(beside):
    answer = beside.client("ann").get("/me")
    assert answer.headers["content-security-policy"] == "default-src 'none'"
    assert answer.headers["cache-control"] == "no-store"


def test_assets_are_kept_for_ever_under_an_address_of_their_own(visitor):
    nobody = visitor()
    page = nobody.get("/sign-in").text
    address = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
    found = nobody.client.get(address)
    assert found.status_code == 200
    assert "immutable" in found.headers["cache-control"]
    plain = nobody.client.get(address, headers={"Accept-Encoding": "identity"})
    assert found.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert found.content == plain.content
    assert nobody.client.get("/favicon.ico").headers["content-type"] == "image/svg+xml"
    assert nobody.client.get("/assets/..%2fapp.py").status_code == 404


def test_people_read_a_page_where_there_is_none_and_programs_a_problem_document(visitor):
    client = visitor(**{"Accept-Language": "de"}).client
    page = client.get("/nowhere", headers={"Accept": "text/html,*/*"})
    assert page.status_code == 404
    assert "Diese Seite gibt es nicht." in page.text
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    for path, accepted in (("/nowhere", "*/*"), ("/v1/nowhere", "text/html")):
        document = client.get(path, headers={"Accept": accepted})
        assert (document.status_code, document.headers["content-type"]) == (404, "application/problem+json")


def test_the_document_of_the_interface_names_no_page(visitor):
    paths = visitor().client.get("/v1/openapi.json").json()["paths"]
    assert all(path.startswith("/v1/") for path in paths)
