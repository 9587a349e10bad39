"""A visit: whoever looks at a page, in which language, with which form; and what every page has in common.

A page is shown to somebody with a session, whose text is in a cookie that scripts cannot read and other sites cannot
send. A form is taken only if it has the proof that a page of this session sent; so no other site can send one.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from fastapi import Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.responses import RedirectResponse

from sfumato.errors import ForbiddenError, NotAuthenticatedError, ParameterError, SfumatoError
from sfumato.server.dashboard.rendering import LANGUAGES, THEMES, Look, Pages, language_of
from sfumato.server.gateway.access import Caller, Gateway
from sfumato.server.gateway.problems import status_of
from sfumato.server.identity.attempts import Attempts
from sfumato.server.identity.sessions import Sessions, SignedIn, new_token
from sfumato.server.identity.vouching import Vouching
from sfumato.server.providers import Provider

if TYPE_CHECKING:
    from sfumato.server.identity.oidc import OpenIDProvider

HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
"""What every page is sent with: it runs only scripts of this server, and nobody shows it inside of another page."""

PROOF: Final = "proof"
"""The field of a form that has its proof."""

_Model = TypeVar("_Model", bound=BaseModel)
_COOKIE: Final = "sfumato"
_MOST_FIELDS: Final = 1_000
_OPEN: Final = frozenset(
    {"/sign-in", "/sign-in/{provider}", "/sign-in/{provider}/back", "/signed-out/{provider}", "/preferences"}
)
"""Pages for whoever has not signed in."""


class Visitor(Caller):
    """Whoever has a session, as routes know them.

    Args:
        gateway: The server.
        signed_in: Whose session it is.
        host: The address that they sent the request from.
    """

    def __init__(self, gateway: Gateway, signed_in: SignedIn, host: str) -> None:
        super().__init__(gateway, "", host)
        self.principal, self.display_name = signed_in.principal, signed_in.display_name
        self.provider = signed_in.provider


class Dashboard:
    """What all pages work with.

    Args:
        gateway: The server.
    """

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        curator = gateway.curator
        self.sessions = Sessions(gateway.database, secret=curator.secret)
        self.attempts = Attempts(gateway.database, secret=curator.secret)
        self.vouching = Vouching(gateway.database, gateway.acts)
        self.providers = clients_of(curator.providers, curator.public_url)
        self.pages = Pages()
        is_public = curator.public_url is not None and curator.public_url.startswith("https:")
        self.is_secure = curator.tls is not None or curator.insecure or is_public

    def close(self) -> None:
        """Close what is open to providers."""
        for client in self.providers.values():
            client.close()

    @property
    def cookie(self) -> str:
        """The name of the cookie; with its prefix, browsers take it from this server alone, and over TLS alone."""
        return f"__Host-{_COOKIE}" if self.is_secure else _COOKIE

    def set_cookie(self, response: Response, name: str, value: str) -> None:
        """Have a browser keep something that scripts cannot read and other sites cannot send."""
        response.set_cookie(name, value, path="/", secure=self.is_secure, httponly=True, samesite="lax")


class Visit:
    """One request for a page.

    Args:
        dashboard: What all pages work with.
        request: The request.
        form: The fields that were sent.
    """

    def __init__(self, dashboard: Dashboard, request: Request, form: list[tuple[str, str]]) -> None:
        self.dashboard, self.gateway, self.request = dashboard, dashboard.gateway, request
        self.form: Mapping[str, str] = dict(form)
        self.fields = form
        self.host = request.client.host if request.client else ""
        self.token = request.cookies.get(dashboard.cookie, "")
        self.visitor: Visitor | None = None
        self.is_new = not self.token
        if self.is_new:
            self.token = new_token()
        language = request.cookies.get("language", "")
        theme = request.cookies.get("theme", "")
        self.look = Look(
            language=language if language in LANGUAGES else language_of(request.headers.get("accept-language", "")),
            theme=theme if theme in THEMES else "auto",
        )

    @property
    def who(self) -> Visitor:
        """Whoever has signed in.

        Raises:
            NotAuthenticatedError: Nobody has.
        """
        if self.visitor is None:
            raise NotAuthenticatedError
        return self.visitor

    @property
    def is_partial(self) -> bool:
        """Whether only a part of the page is wanted, to be put into one that is shown."""
        return self.request.headers.get("hx-request") == "true"

    @property
    def is_from_here(self) -> bool:
        """Whether a page of this server or its reader asks, as far as the browser says, and no other site."""
        return self.request.headers.get("sec-fetch-site", "same-origin") in {"same-origin", "none"}

    def find(self) -> None:
        """Find out who has signed in, and count the request."""
        try:
            found = self.dashboard.sessions.find(self.token)
        except NotAuthenticatedError:
            return
        if found.provider and found.provider not in self.dashboard.providers:
            return  # the curator's file does not name it any more
        self.gateway.rates.hit(f"person {found.principal.name}")
        self.visitor = Visitor(self.gateway, found, self.host)

    def require_proof(self) -> None:
        """Refuse a form that no page of this session sent.

        Raises:
            ForbiddenError: The proof is missing or another's, or the browser says that another site sent it.
        """
        if (
            not self.is_from_here
            or self.is_new
            or not self.dashboard.sessions.is_proved(self.token, self.form.get(PROOF, ""))
        ):
            raise ForbiddenError("send a form", "open the page again, and send it from there")

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """A page, or a part of one."""
        path, query = self.request.url.path, self.request.url.query
        here = "/sign-in" if path.startswith("/sign-in/") else f"{path}?{query}" if query else path
        shown = self.dashboard.pages.text(
            template, self.look, visitor=self.visitor, path=path, proof=self.dashboard.sessions.proof(self.token),
            here=here, **values,
        )  # fmt: skip
        response = Response(shown, status, media_type="text/html; charset=utf-8")
        if self.is_new:
            self.dashboard.set_cookie(response, self.dashboard.cookie, self.token)
        return response

    def to(self, path: str) -> Response:
        """Have the browser go on to another page of this server."""
        if self.is_partial:
            return Response(status_code=204, headers={"HX-Redirect": path})
        return RedirectResponse(path, 303)

    def error(self, error: SfumatoError) -> Response:
        """The page that says an error."""
        if isinstance(error, NotAuthenticatedError):
            target = self.request.url.path if self.request.method == "GET" else "/"
            return self.to(f"/sign-in?next={quote(target)}")
        template = "parts/problem.html" if self.is_partial else "problem.html"
        status = status_of(error).value
        return self.page(template, status=200 if self.is_partial else status, problem=str(error), status_shown=status)


def clients_of(providers: Mapping[str, Provider], public_url: str | None) -> "dict[str, OpenIDProvider]":
    """What asks each provider; where there is none, nothing of it is loaded."""
    if not providers or public_url is None:
        return {}
    from sfumato.server.identity.oidc import OpenIDProvider  # noqa: PLC0415 # 20 MB that few servers need

    return {name: OpenIDProvider(provider, public_url) for name, provider in providers.items()}


def local(path: str) -> str:
    """A path of this server; of anything else the first page, so that nobody is led to another site.

    Example:
        >>> [local(path) for path in ("/log?after=3", "//evil.example", "https://evil.example", "evil.example")]
        ['/log?after=3', '/', '/', '/']
    """
    try:
        parts = urlsplit(path)
    except ValueError:
        return "/"
    is_path = path.startswith("/") and not path.startswith("//") and not parts.scheme and not parts.netloc
    return path if is_path and path.isprintable() and "\\" not in path else "/"


def built(model: type[_Model], **values: Any) -> _Model:
    """What a form says, as the interface takes it.

    Raises:
        ParameterError: It says something that the interface does not take.
    """
    try:
        return model(**values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ParameterError(".".join(map(str, first["loc"])), None, f"must be otherwise: {first['msg']}") from None


def whole(text: str, most: int) -> int | None:
    """The whole number that a field says; None if it says none, or a larger one.

    Example:
        >>> [whole(text, 99) for text in ("7", "-7", "7.0", "", "100", "9" * 9_999)]
        [7, None, None, None, None, None]
    """
    is_short = len(text) <= len(str(most)) and text.isascii() and text.isdecimal()
    return int(text) if is_short and int(text) <= most else None


class Page(APIRoute):
    """A route that shows pages: who looks is known before it runs, and its errors are pages too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        handle = super().get_route_handler()

        async def shown(request: Request) -> Response:
            dashboard: Dashboard = request.app.state.dashboard
            body = await request.body() if request.method == "POST" else b""
            visit = request.state.visit = Visit(dashboard, request, _fields(body))
            try:
                await run_in_threadpool(visit.find)
                if visit.visitor is None and self.path not in _OPEN:
                    raise NotAuthenticatedError
                if request.method == "POST":
                    visit.require_proof()
                response = await handle(request)
            except SfumatoError as error:
                response = await run_in_threadpool(visit.error, error)
            except RequestValidationError:
                response = await run_in_threadpool(
                    visit.error, ParameterError("address", request.url.path, "must be one of a page")
                )
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        return shown


def _fields(body: bytes) -> list[tuple[str, str]]:
    """The fields of a form; of what is none, nothing."""
    try:
        return parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return []


async def _visit(request: Request) -> Visit:
    found: Visit = request.state.visit
    return found


Here = Annotated[Visit, Depends(_visit)]
"""An argument of a page: the request for it."""
