"""Pages of maps: a released map that can be moved and read, in a frame of its own that runs no script but its own."""

import re
from typing import Any, Final

from fastapi import APIRouter, Response

from sfumato.errors import ParameterError, UnavailableError
from sfumato.geo.maps.page import map_page
from sfumato.server.dashboard.visits import HEADERS, Here, Page
from sfumato.server.gateway.routes import maps

router = APIRouter(route_class=Page, include_in_schema=False)

_POLICY: Final = "Content-Security-Policy"
_SCRIPTS: Final = re.compile(r"script-src ([^\"]*)")


@router.get("/maps")
def everything(visit: Here) -> Response:
    """The maps of this server."""
    return visit.page("maps.html", maps=maps.maps(visit.who))


@router.get("/maps/{map}")
def one(map: str, visit: Here) -> Response:  # noqa: A002 # its name in the address
    """One map, in a frame."""
    try:
        about = maps.saved_map(visit.who, map)["sfumato"]
    except UnavailableError:
        about = None
    page = visit.page("map.html", name=map, about=about)
    page.headers[_POLICY] = f"{HEADERS[_POLICY]}; frame-src 'self'"
    return page


@router.get("/maps/{map}/frame")
def frame(map: str, visit: Here) -> Response:  # noqa: A002 # its name in the address
    """What is in the frame: the page that a saved map is, which fetches nothing."""
    found: dict[str, Any] = maps.saved_map(visit.who, map)
    about = found["sfumato"]
    try:
        text = map_page(found, about["statistics"], title=map, about=about["guarantee"], query=about["query"])
    except (ParameterError, LookupError, TypeError):
        raise UnavailableError from None
    scripts = _SCRIPTS.search(text)
    allowed = "'none'" if scripts is None else scripts[1]
    return Response(text, media_type="text/html; charset=utf-8", headers={
        _POLICY: f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}; "
        "frame-ancestors 'self'; sandbox allow-scripts",
        "X-Frame-Options": "SAMEORIGIN",
    })  # fmt: skip
