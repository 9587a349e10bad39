"""A provider of OpenID Connect that runs: Authlib's own server, which requires PKCE, behind a socket of this machine.

It asks for no password: whoever comes is `person`. A test may have it say something else than it should.
"""

import base64
import json
import secrets
import socket
from contextlib import contextmanager
from threading import Thread
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import uvicorn
from authlib.oauth2 import AuthorizationServer, OAuth2Request
from authlib.oauth2.rfc6749 import ClientMixin, OAuth2Error
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc9207 import IssuerParameter
from authlib.oidc.core import OpenIDCode
from joserfc.jwk import ECKey, RSAKey
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

CLIENT, SECRET = "sfumato", "s:cret of a test%"


class _Request(OAuth2Request):
    def __init__(self, method, fields, headers):
        super().__init__(method, "https://provider", headers=headers)
        self.payload, self._fields = BasicOAuth2Payload(fields), fields

    args = form = property(lambda self: self._fields)


class _Client(ClientMixin):
    client_id = CLIENT

    def __init__(self, provider):
        self.redirects, self.is_secret, self.secret = provider.redirects, provider.is_secret, provider.secret

    def get_client_id(self):
        return CLIENT

    def get_default_redirect_uri(self):
        return ""

    def get_allowed_scope(self, scope):
        return scope

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri in self.redirects

    def check_client_secret(self, client_secret):
        return secrets.compare_digest(client_secret, self.secret)

    def check_endpoint_auth_method(self, method, _endpoint):
        return (method != "none") is self.is_secret

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type == "authorization_code"


class _Code(SimpleNamespace):
    """A code that was given out, with what it was asked for."""

    def __getattr__(self, name):
        if name.startswith("get_"):
            return lambda: getattr(self, name.removeprefix("get_"), None)
        raise AttributeError(name)


class _Answer(Response):
    @property
    def location(self):
        return self.headers.get("location", "")

    @location.setter
    def location(self, place):
        self.headers["location"] = place


class _Server(AuthorizationServer):
    def __init__(self, provider):
        super().__init__()
        self.provider = provider

    def query_client(self, client_id):
        return _Client(self.provider) if client_id == CLIENT else None

    def save_token(self, token, request):
        self.provider.tokens[token["access_token"]] = request.user

    def create_oauth2_request(self, request):
        return request

    def handle_response(self, status, body, headers):
        content = json.dumps(body) if isinstance(body, dict) else body
        return _Answer(content, status, dict(headers))

    def send_signal(self, name, *args, **kwargs):
        pass


class _Grant(AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic", "client_secret_post", "none")

    def save_authorization_code(self, code, request):
        fields = request.payload.data
        self.server.provider.codes[code] = _Code(
            code=code, user=request.user, scope=request.payload.scope, nonce=fields.get("nonce"),
            redirect_uri=fields.get("redirect_uri"), code_challenge=fields.get("code_challenge"),
            code_challenge_method=fields.get("code_challenge_method"),
        )  # fmt: skip

    def query_authorization_code(self, code, _client):
        return self.server.provider.codes.get(code)

    def delete_authorization_code(self, authorization_code):
        if self.server.provider.is_forgetful:
            del self.server.provider.codes[authorization_code.code]

    def authenticate_user(self, authorization_code):
        return authorization_code.user


class _Tokens(OpenIDCode):
    def __init__(self, provider):
        super().__init__(require_nonce=True)
        self.provider = provider

    def exists_nonce(self, _nonce, _request):
        return False

    def resolve_client_private_key(self, _client):
        return self.provider.key

    def get_encode_header(self, _client):
        return {"alg": "RS256", "kid": self.provider.key.kid}

    def get_client_claims(self, _client):
        return {"iss": self.provider.issuer, "aud": [CLIENT]}

    def generate_user_info(self, user, _scope):
        return user

    def encode_id_token(self, token, request):
        made = super().encode_id_token(token, request)
        part = made.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        return made if self.provider.forge is None else self.provider.forge(claims)


class _Issuer(IssuerParameter):
    def __init__(self, provider):
        super().__init__()
        self.provider = provider

    def get_issuer(self):
        return self.provider.issuer


class OpenID:
    """The provider.

    Args:
        redirects: Where it sends browsers back to.

    Attributes:
        person: The claims of whoever comes.
        forge: Makes another ID token of the claims of the right one; None for the right one.
        described: What it says of itself beside or instead of the truth.
        codes: The codes that it has given out.
        brought: The fields of all requests for a token.
    """

    def __init__(self, *redirects, is_secret=True, secret=SECRET, host="127.0.0.1"):
        self.redirects, self.is_secret, self.secret = list(redirects), is_secret, secret
        self.key = RSAKey.generate_key(2048, {"kid": "first", "use": "sig", "alg": "RS256"})
        self.curve = ECKey.generate_key("P-256", {"kid": "curve", "use": "sig"})
        self.person, self.forge, self.described, self.more = {"sub": "7"}, None, {}, {}
        self.codes, self.tokens, self.brought, self.is_forgetful = {}, {}, [], True
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.issuer = f"http://{host}:{self._listening.getsockname()[1]}"
        self._server = uvicorn.Server(uvicorn.Config(self._app(), log_config=None, ws="none"))
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [self._listening]}, daemon=True)
        self._thread.start()

    def stop(self):
        self._server.should_exit = True
        self._thread.join()
        self._listening.close()

    def description(self):
        """What it says of itself."""
        named = {name: f"{self.issuer}/{place}" for name, place in {
            "authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys",
            "userinfo_endpoint": "person", "end_session_endpoint": "end",
        }.items()}  # fmt: skip
        return {
            "issuer": self.issuer, **named, "code_challenge_methods_supported": ["S256"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256"],
            "authorization_response_iss_parameter_supported": True,
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
            **self.described,
        }  # fmt: skip

    def _app(self):
        provider, server = self, _Server(self)

        server.register_grant(_Grant, [_Tokens(provider), CodeChallenge(required=True)])
        server.register_token_generator("default", BearerTokenGenerator(lambda **_: secrets.token_urlsafe(24)))
        server.register_extension(_Issuer(provider))

        async def authorize(request):
            asked = _Request("GET", dict(request.query_params), request.headers)
            try:
                grant = server.get_consent_grant(asked, provider.person)
            except OAuth2Error as error:
                return server.handle_error_response(asked, error)
            return server.create_authorization_response(asked, grant_user=provider.person, grant=grant)

        async def token(request):
            fields = dict(parse_qsl((await request.body()).decode()))
            provider.brought.append(fields)
            return server.create_token_response(_Request("POST", fields, request.headers))

        async def person(request):
            known = provider.tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))
            return JSONResponse(known and {**known, **provider.more}, 200 if known else 401)

        async def described(_):
            return JSONResponse(provider.description())

        async def keys(_):
            return JSONResponse({"keys": [key.as_dict(private=False) for key in (provider.key, provider.curve)]})

        places = {
            "/.well-known/openid-configuration": described,
            "/authorize": authorize,
            "/keys": keys,
            "/person": person,
        }
        routes = [Route(path, what) for path, what in places.items()]
        return Starlette(routes=[*routes, Route("/token", token, methods=["POST"])])


def code_and_state(address):
    """What a browser brings back."""
    fields = dict(parse_qsl(urlsplit(address).query))
    return fields.get("code", ""), fields.get("state", "")


@contextmanager
def provided(*redirects, **options):
    """A provider that runs."""
    found = OpenID(*redirects, **options)
    try:
        yield found
    finally:
        found.stop()
