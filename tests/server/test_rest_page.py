"""The page of the interface lists every route, each with its method, and no other."""

import re

from fastapi.routing import APIRoute
from tests.meta.repository import ROOT

from sfumato.server.gateway.app import ROUTERS
from sfumato.server.gateway.problems import status_of

PAGE = (ROOT / "docs" / "reference" / "rest.md").read_text("utf-8")


def routes():
    found = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    return sorted((method, re.sub(r":path}", "}", route.path)) for route in found for method in route.methods)


def test_the_page_lists_every_route_once_and_no_other():
    listed = sorted(re.findall(r"^\| `(GET|POST|PATCH|DELETE) (/v1[^`]*)`", PAGE, re.MULTILINE))
    assert listed == routes()


def test_every_route_says_in_a_sentence_what_it_does():
    silent = [route.path for router in ROUTERS for route in router.routes if not (route.description or "").strip()]
    assert silent == []


def test_the_page_explains_every_status_of_an_error():
    statuses = {status_of(error).value for error in errors()} | {401, 408, 413, 429, 500}
    listed = {int(number) for row in re.findall(r"^\| ([\d, ]+) \|", PAGE, re.MULTILINE) for number in row.split(",")}
    assert statuses <= listed


def errors():
    """One of each class of error, made without its arguments."""
    from sfumato import errors as tree

    kinds = [kind for kind in vars(tree).values() if isinstance(kind, type) and issubclass(kind, tree.SfumatoError)]
    return [kind.__new__(kind) for kind in kinds if kind is not tree.SfumatoError]
