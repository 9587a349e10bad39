"""Routes of federations: owners of samples send messages of a secure sum to each other, which the server passes on.

Messages are public keys, seals, and numbers under masks. The server reads none of them and computes nothing. What it
could add up itself are the noisy sums, which all owners publish to each other anyway.
"""

import json
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from sfumato.errors import NotFoundError, ParameterError
from sfumato.server.gateway.access import Anybody, Caller, Guarded
from sfumato.server.identity.federations import FederationState, FederationTerms
from sfumato.server.identity.people import Action

router = APIRouter(prefix="/v1/federations", tags=["federations"], route_class=Guarded)

_MOST: Final = 2**31
_LONGEST_PLAN: Final = 20_000
_ENVELOPE: Final = 500
"""Characters of a request around its message."""

Count = Annotated[int, Field(ge=0, le=_MOST)]
Phase = Literal["keys", "boxes", "numbers", "agreed", "revealed"]


class NewFederation(BaseModel):
    """A federation, and what its owners agreed on."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9_.@:+-]+$")]
    parties: Annotated[list[str], Field(min_length=2, max_length=1_000)]
    rounds: Annotated[int, Field(ge=1, le=1_000_000)]
    least: Annotated[int, Field(ge=2)]
    seconds: Annotated[float, Field(gt=0, le=2_592_000)]
    message_characters: Annotated[int, Field(ge=1_000)]
    plan: dict[str, str]


class NewMessage(BaseModel):
    """A message of a phase of an attempt at a round."""

    model_config = ConfigDict(extra="forbid", strict=True)

    round: Count
    attempt: Count
    phase: Phase
    message: str


class NewResult(BaseModel):
    """The noisy sum of a round."""

    model_config = ConfigDict(extra="forbid", strict=True)

    round: Count
    result: str


@router.get("")
def federations(who: Anybody) -> list[str]:
    """The federations in which one takes part; for admins all."""
    with who.doing(Action.READ_FEDERATIONS):
        seen = None if who.principal.may(Action.MANAGE_FEDERATIONS) else who.principal.name
        return list(who.gateway.federations.names(seen))


@router.post("", status_code=201)
def open_federation(new: NewFederation, who: Anybody) -> dict[str, Any]:
    """Open a federation of people of this server; the same again changes nothing."""
    with who.doing(Action.MANAGE_FEDERATIONS, target=new.name):
        if not new.least <= len(set(new.parties)) == len(new.parties):
            raise ParameterError("parties", len(new.parties), "must be different people, at least as many as `least`")
        most = who.gateway.curator.limits.body_bytes - _ENVELOPE
        if new.message_characters > most:
            raise ParameterError("message_characters", new.message_characters, f"must be at most {most:,}")
        if len(json.dumps(new.plan)) > _LONGEST_PLAN:
            raise ParameterError("plan", "a long one", f"must have at most {_LONGEST_PLAN:,} characters")
        for person in new.parties:
            who.gateway.people.person(person)
        terms = FederationTerms(**new.model_dump(exclude={"name"}) | {"parties": tuple(new.parties)})
        who.gateway.federations.open(new.name, terms)
        return _shown(who, new.name)


@router.get("/{federation}")
def federation(federation: str, who: Anybody) -> dict[str, Any]:
    """What a federation agreed on and how far it is, for those who take part, and for admins."""
    with who.doing(Action.READ_FEDERATIONS, target=federation):
        _require_seen(who, federation)
        return _shown(who, federation)


@router.delete("/{federation}", status_code=204)
def remove_federation(federation: str, who: Anybody) -> Response:
    """End a federation, and delete its messages and its noisy sums."""
    with who.doing(Action.MANAGE_FEDERATIONS, target=federation):
        who.gateway.federations.remove(federation)
        return Response(status_code=204)


@router.post("/{federation}/messages")
def send(federation: str, new: NewMessage, who: Anybody) -> dict[str, Any]:
    """Send one's message of a phase, once; it is not taken where the phase is closed."""
    with who.doing(Action.TAKE_PART, target=federation):
        place = FederationState(round=new.round, attempt=new.attempt, phase=new.phase)
        is_taken = who.gateway.federations.send(federation, who.principal.name, place, new.message)
        return {"taken": is_taken, **_state(who, federation)}


@router.get("/{federation}/messages")
def messages(
    federation: str,
    who: Anybody,
    number: Annotated[int, Query(alias="round", ge=0, le=_MOST)],
    attempt: Annotated[int, Query(ge=0, le=_MOST)],
    phase: Annotated[Phase, Query()],
) -> dict[str, Any]:
    """The messages of a phase that is closed, by the numbers of their senders; none before, and none later."""
    with who.doing(Action.READ_FEDERATIONS, target=federation):
        _require_part(who, federation)
        place = FederationState(round=number, attempt=attempt, phase=phase)
        found = who.gateway.federations.messages(federation, place)
        return {"messages": found, **_state(who, federation)}


@router.post("/{federation}/results")
def finish(federation: str, new: NewResult, who: Anybody) -> dict[str, Any]:
    """Send the noisy sum of a round, with which it is over; another one than that of the others is refused."""
    with who.doing(Action.TAKE_PART, target=federation):
        is_taken = who.gateway.federations.finish(federation, who.principal.name, new.round, new.result)
        return {"taken": is_taken, **_state(who, federation)}


@router.get("/{federation}/results/{number}")
def result(
    federation: str, number: Annotated[int, Path(ge=0, le=_MOST)], who: Anybody
) -> dict[str, Any]:  # fmt: skip
    """The noisy sum of a round: null before it is over, and empty if it ended without one."""
    with who.doing(Action.READ_FEDERATIONS, target=federation):
        _require_part(who, federation)
        return {"result": who.gateway.federations.result(federation, number)}


def _require_part(who: Caller, name: str) -> None:
    """Refuse who takes no part, as if there were no such federation.

    Raises:
        NotFoundError: There is none, or they take no part in it.
    """
    if who.gateway.federations.terms(name).number_of(who.principal.name) is None:
        raise NotFoundError("federation", name)


def _require_seen(who: Caller, name: str) -> None:
    if not who.principal.may(Action.MANAGE_FEDERATIONS):
        _require_part(who, name)


def _state(who: Caller, name: str) -> dict[str, Any]:
    found = who.gateway.federations.state(name)
    return {"round": found.round, "attempt": found.attempt, "phase": found.phase}


def _shown(who: Caller, name: str) -> dict[str, Any]:
    """A federation as whoever asks sees it, with what they have sent."""
    terms = who.gateway.federations.terms(name)
    return {
        "name": name, "parties": terms.parties, "rounds": terms.rounds, "least": terms.least,
        "seconds": terms.seconds, "message_characters": terms.message_characters, "plan": terms.plan,
        "party": terms.number_of(who.principal.name), "sent": who.gateway.federations.sent(name, who.principal.name),
        **_state(who, name),
    }  # fmt: skip
