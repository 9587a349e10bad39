"""Sign in at a provider: the way there, the way back, and what is left to do after signing out.

The way there is a link and no form, as pages let forms lead to this server alone. A link on another site does not begin
it. Whoever comes back without having been sent from this browser, to this provider, at this moment, is refused.
"""

from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Response
from starlette.responses import RedirectResponse

from sfumato.errors import AccessError, ForbiddenError, NotAuthenticatedError, NotFoundError
from sfumato.server.dashboard.visits import Here, Page, Visit, local
from sfumato.server.identity.acts import Act, ActOutcome
from sfumato.server.identity.people import Action

if TYPE_CHECKING:
    from sfumato.server.identity.oidc import OpenIDProvider

router = APIRouter(route_class=Page, include_in_schema=False)

_LONGEST: Final = 4_000


@router.get("/sign-in/{provider}")
def leave(provider: str, visit: Here, next: str = "/") -> Response:  # noqa: A002 # its name in the address
    """Send a browser to a provider."""
    client = _client(visit, provider)
    if not visit.is_from_here:
        return visit.to("/sign-in")
    visit.gateway.rates.hit(f"address {visit.host}")
    attempt = visit.dashboard.attempts.begin(provider, browser=visit.token, target=local(next))
    response = RedirectResponse(client.authorization_url(attempt), 303)
    if visit.is_new:
        visit.dashboard.set_cookie(response, visit.dashboard.cookie, visit.token)
    return response


@router.get("/sign-in/{provider}/back")
def come_back(
    provider: str, visit: Here, code: str = "", state: str = "", iss: str | None = None
) -> Response:  # fmt: skip
    """Begin a session of whomever the provider vouches for, under a new name."""
    gateway, dashboard, client = visit.gateway, visit.dashboard, _client(visit, provider)
    gateway.rates.hit(f"address {visit.host}")
    try:
        attempt = dashboard.attempts.take(state[:_LONGEST], provider, browser=visit.token)
        if not code or len(code) > _LONGEST:
            raise ForbiddenError("sign in", f"{client.provider.title} did not let you in; begin again")
        person = dashboard.vouching.arrive(client.provider, client.vouch(code, attempt, issuer=iss))
    except AccessError as error:
        act = Act(person="", action=Action.SIGN_IN, target=f"provider/{provider}", outcome=ActOutcome.REFUSED)
        gateway.acts.record(act, wait=False)
        if isinstance(error, NotAuthenticatedError):
            raise ForbiddenError("sign in", "this was not begun here, or took too long; begin again") from None
        raise
    if visit.visitor is not None:
        dashboard.sessions.end(visit.token)
    token = dashboard.sessions.begin(person, provider=provider)
    gateway.acts.record(Act(person=person, action=Action.SIGN_IN, target=f"provider/{provider}"))
    response = visit.to(attempt.target)
    dashboard.set_cookie(response, dashboard.cookie, token)
    return response


@router.get("/signed-out/{provider}")
def signed_out(provider: str, visit: Here) -> Response:
    """What is left to do: the provider still knows whoever has signed in there."""
    client = _client(visit, provider)
    return visit.page("signed_out.html", title=client.provider.title, place=client.sign_out_url())


def _client(visit: Visit, name: str) -> "OpenIDProvider":
    """A provider that the curator's file declares."""
    found = visit.dashboard.providers.get(name)
    if found is None:
        raise NotFoundError("provider", name)
    return found
