"""Routes of maps: noisy maps that an owner released and saved as GeoJSON, for their readers.

Nothing is charged here: a map was charged when it was released.
"""

import json
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter

from sfumato.errors import UnavailableError
from sfumato.server.gateway.access import Anybody, Caller, Guarded
from sfumato.server.gateway.routes.counters import may_read, readable
from sfumato.server.identity.people import Action

_ABOUT: Final = "sfumato"
"""The member of a saved map that says what it is of."""

_FACTS: Final = ("guarantee", "query", "statistics")

router = APIRouter(prefix="/v1/maps", tags=["maps"], route_class=Guarded)


@router.get("")
def maps(who: Anybody) -> list[dict[str, Any]]:
    """The maps of this server, and which of them one may read."""
    with who.doing(Action.READ_MAPS):
        return [{"name": name, "may_read": may_read(who, each)} for name, each in who.gateway.curator.maps.items()]


@router.get("/{map}")
def one(map: str, who: Anybody) -> dict[str, Any]:  # noqa: A002 # its name in the address
    """A map as GeoJSON: each cell with its noisy statistics and their intervals, and what the map guarantees."""
    with who.doing(Action.READ_MAPS, target=map):
        return saved_map(who, map)


def saved_map(who: Caller, name: str) -> dict[str, Any]:
    """The GeoJSON of a map, for those who may read it.

    Raises:
        NotFoundError: There is no such map.
        ForbiddenError: It has other readers.
        UnavailableError: Its file is missing, or no map that was saved as GeoJSON.
    """
    entry = readable(who, who.gateway.curator.maps, name, Action.READ_MAPS, thing="map")
    try:
        found = json.loads(Path(entry.releases).read_bytes())
        if all(found[_ABOUT][fact] for fact in _FACTS) and isinstance(found["features"], list):
            return dict(found)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise UnavailableError
