"""Routes of counters: what they have released so far, from the file that each of them publishes.

Nothing here is charged or computed of data: a counter was charged for all its steps before its first event, and lets go
of a step before it is in the file.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query

from sfumato.errors import ForbiddenError, NotFoundError, ParameterError, UnavailableError
from sfumato.server.config import PublishedEntry
from sfumato.server.gateway.access import Anybody, Caller, Guarded
from sfumato.server.identity.people import Action
from sfumato.streams.counting.published import PublishedSteps, read_published

_MOST: Final = 10_000

router = APIRouter(prefix="/v1/counters", tags=["counters"], route_class=Guarded)


@router.get("")
def counters(who: Anybody) -> list[dict[str, Any]]:
    """The counters of this server, and which of them one may read."""
    with who.doing(Action.READ_COUNTERS):
        return [{"name": name, "may_read": may_read(who, each)} for name, each in who.gateway.curator.counters.items()]


@router.get("/{counter}")
def counter(counter: str, who: Anybody) -> dict[str, Any]:
    """What a counter counts, what all its steps cost together, and which was released last."""
    with who.doing(Action.READ_COUNTERS, target=counter):
        found = published(who, counter, most=1)
        return {
            "name": counter, "account": found.account, "horizon": found.horizon, "last_step": found.last_step,
            "labels": found.labels, "clock": dict(found.clock), "receipt": found.receipt.to_dict(),
        }  # fmt: skip


@router.get("/{counter}/releases")
def steps(
    counter: str,
    who: Anybody,
    after: Annotated[int | None, Query(ge=0, description="Steps after this one; the last ones, without it.")] = None,
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 1_000,
) -> dict[str, Any]:
    """What a counter has released at its steps, with the half-width of 95% intervals."""
    with who.doing(Action.READ_COUNTERS, target=counter):
        found = published(who, counter, after=after, most=limit)
        return {
            "counter": counter, "last_step": found.last_step, "confidence": 0.95,
            "steps": [
                {"step": one.step, "end": one.end, "values": one.values, "half_width": one.half_width}
                for one in found.steps
            ],
        }  # fmt: skip


def published(who: Caller, name: str, *, after: int | None = None, most: int) -> PublishedSteps:
    """Some steps of a counter, for those who may read it.

    Raises:
        NotFoundError: There is no such counter.
        ForbiddenError: It has other readers.
        UnavailableError: It has published nothing yet, or its file cannot be read.
    """
    found = readable(who, who.gateway.curator.counters, name, Action.READ_COUNTERS, thing="counter")
    try:
        return read_published(found.releases, after=after, most=most)
    except ParameterError:
        raise UnavailableError from None


def readable(
    who: Caller, entries: Mapping[str, PublishedEntry], name: str, action: Action, *, thing: str
) -> PublishedEntry:
    """The entry of a name, for those who may read what it publishes.

    Raises:
        NotFoundError: There is none.
        ForbiddenError: It has other readers.
    """
    found = entries.get(name)
    if found is None:
        raise NotFoundError(thing, name)
    if not may_read(who, found):
        raise ForbiddenError(str(action), "ask operators to name you among its readers")
    return found


def may_read(who: Caller, entry: PublishedEntry) -> bool:
    """Whether somebody may read what is published."""
    return entry.public or who.principal.name in entry.readers
