"""Sign in by an API key, sign out, and choose a language and colors; `providers` signs in at providers."""

from typing import Final

from fastapi import APIRouter, Response
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from sfumato.errors import ForbiddenError, NotAuthenticatedError
from sfumato.server.dashboard.rendering import LANGUAGES, THEMES
from sfumato.server.dashboard.visits import Here, Page, Visit, local
from sfumato.server.gateway.problems import TooFastError
from sfumato.server.identity.acts import Act, ActOutcome
from sfumato.server.identity.people import Action

router = APIRouter(route_class=Page, include_in_schema=False)

_MISTAKES: Final = RateLimitItemPerMinute(10)
_MINUTE: Final = 60
_YEAR: Final = 365 * 24 * 3600
_mistaken: Final = MovingWindowRateLimiter(MemoryStorage())
"""How often each address has sent a wrong key of late."""


@router.get("/sign-in")
def form(visit: Here, next: str = "/") -> Response:  # noqa: A002 # its name in the address
    """The form; whoever has signed in goes on."""
    if visit.visitor is not None:
        return visit.to(local(next))
    return _form(visit, target=local(next), is_wrong=False)


@router.post("/sign-in")
def sign_in(visit: Here) -> Response:
    """Begin a session under a new name, whatever the browser had before."""
    gateway, address = visit.gateway, f"address {visit.host}"
    if not _mistaken.test(_MISTAKES, address):
        raise TooFastError("wrong keys from this address", _MINUTE)
    target = local(visit.form.get("next", "/"))
    try:
        principal = gateway.keys.authenticate(visit.form.get("key", "").strip())
    except NotAuthenticatedError:
        _mistaken.hit(_MISTAKES, address)
        gateway.acts.record(Act(person="", action=Action.SIGN_IN, outcome=ActOutcome.REFUSED), wait=False)
        return _form(visit, target=target, is_wrong=True)
    principal.require(Action.READ_SELF)  # a key that may read nothing has no use for pages
    if visit.visitor is not None:
        visit.dashboard.sessions.end(visit.token)
    token = visit.dashboard.sessions.begin(principal.name, api_key=principal.key)
    gateway.acts.record(Act(person=principal.name, action=Action.SIGN_IN, target=principal.key))
    response = visit.to(target)
    visit.dashboard.set_cookie(response, visit.dashboard.cookie, token)
    return response


@router.post("/sign-out")
def sign_out(visit: Here) -> Response:
    """End this session, or all sessions of whoever has it."""
    is_everywhere, provider = "everywhere" in visit.form, visit.who.provider
    with visit.who.doing(Action.SIGN_OUT, target="everywhere" if is_everywhere else "") as doing:
        if is_everywhere:
            visit.dashboard.sessions.end_all(doing.principal.name)
        else:
            visit.dashboard.sessions.end(visit.token)
    response = visit.to(f"/signed-out/{provider}" if provider else "/sign-in")
    response.delete_cookie(visit.dashboard.cookie, path="/", secure=visit.dashboard.is_secure, httponly=True)
    return response


@router.post("/preferences")
def preferences(visit: Here) -> Response:
    """Remember a language or colors, in cookies that say nothing else."""
    response = visit.to(local(visit.form.get("back", "/")))
    for name, allowed in (("language", LANGUAGES), ("theme", THEMES)):
        chosen = visit.form.get(name)
        if chosen is None:
            continue
        if chosen not in allowed:
            raise ForbiddenError("choose", f"{name} must be one of {', '.join(allowed)}")
        response.set_cookie(
            name, chosen, max_age=_YEAR, path="/", secure=visit.dashboard.is_secure, httponly=True, samesite="lax"
        )
    return response


def _form(visit: Visit, *, target: str, is_wrong: bool) -> Response:
    providers = [client.provider for client in visit.dashboard.providers.values()]
    status = 401 if is_wrong else 200
    return visit.page("sign_in.html", status=status, next=target, is_wrong=is_wrong, providers=providers)
