"""A provider of OpenID Connect, asked by the authorization code flow with PKCE, and what of its ID tokens is believed.

An ID token counts if a key of the provider signed it by an asymmetric algorithm of a fixed list, and if it names this
provider, this server, this attempt and a moment that is not over [SBJ14] [LBLF25]. Whatever is wrong, people hear the
same words; the log of the process has the kind of the failure and never a part of a token.
"""

import json
import logging
import time
from typing import Any, Final

import httpx
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from sfumato.errors import ForbiddenError, PolicyError
from sfumato.server.identity.attempts import Attempt
from sfumato.server.identity.vouching import Vouched
from sfumato.server.providers import Provider, is_safe

ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""How ID tokens may be signed: by a key that only the provider has."""

_LOG: Final = logging.getLogger("sfumato.sign_in")
_KEY_TYPES: Final = frozenset({"RSA", "EC", "OKP"})
_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_KEPT: Final = 600.0
"""Seconds after which what a provider says of itself is read again."""

_KEYS_AGAIN: Final = 10.0
_PATIENCE: Final = 10.0
_LARGEST: Final = 1_000_000
_LEEWAY: Final = 60
_LONGEST: Final = 255
_MOST_GROUPS: Final = 10_000


class _ProviderError(Exception):
    """What a provider sent is not as it must be."""


class OpenIDProvider:
    """A provider, as it describes itself.

    Args:
        provider: As the curator's file declares it.
        public_url: Where browsers reach this server.

    Raises:
        PolicyError: The file of the secret is missing; processes that ask no provider need not have it.
    """

    def __init__(self, provider: Provider, public_url: str) -> None:
        if provider.secret_file is not None and not provider.secret_file.is_file():
            place = f"providers.{provider.name}.client_secret_file"
            raise PolicyError(place, "must be an existing file that this user may read")
        self.provider = provider
        self.redirect_uri = f"{public_url}/sign-in/{provider.name}/back"
        self._after = f"{public_url}/sign-in"
        self._client = httpx.Client(timeout=_PATIENCE, follow_redirects=False)
        self._known: dict[str, tuple[float, dict[str, Any]]] = {}

    def authorization_url(self, attempt: Attempt) -> str:
        """Where a browser is sent.

        Raises:
            ForbiddenError: The provider cannot be reached, or does not do what is needed.
        """
        try:
            return str(
                prepare_grant_uri(
                    self._metadata()["authorization_endpoint"], self.provider.client_id, "code",
                    redirect_uri=self.redirect_uri, scope=" ".join(self.provider.scopes), state=attempt.state,
                    nonce=attempt.nonce, code_challenge=create_s256_code_challenge(attempt.verifier),
                    code_challenge_method="S256",
                )
            )  # fmt: skip
        except (_ProviderError, httpx.HTTPError) as error:
            raise self._refused(error) from None

    def vouch(self, code: str, attempt: Attempt, *, issuer: str | None) -> Vouched:
        """Whom the provider vouches for, by the code with which a browser came back.

        Args:
            code: The code.
            attempt: The attempt that it belongs to.
            issuer: The issuer in the address, where there was one [MF22].

        Raises:
            ForbiddenError: It vouches for nobody, or what it sent cannot be believed.
        """
        try:
            self._require_issuer(issuer)
            tokens = self._tokens(code, attempt)
            return self._vouched(self._claims(tokens, attempt), tokens)
        except (_ProviderError, httpx.HTTPError, JoseError, ValueError, TypeError, KeyError) as error:
            raise self._refused(error) from None

    def sign_out_url(self) -> str | None:
        """Where people sign out at the provider, if it offers that."""
        try:
            place = self._metadata().get("end_session_endpoint")
        except (_ProviderError, httpx.HTTPError):
            return None
        if not isinstance(place, str) or not is_safe(place):
            return None
        query = httpx.QueryParams(client_id=self.provider.client_id, post_logout_redirect_uri=self._after)
        return str(httpx.URL(place).copy_merge_params(query))

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def _require_issuer(self, issuer: str | None) -> None:
        """Refuse an answer of another provider that a browser was made to bring here."""
        is_announced = self._metadata().get("authorization_response_iss_parameter_supported") is True
        if (issuer is not None or is_announced) and issuer != self.provider.issuer:
            raise _ProviderError("another issuer in the address")

    def _tokens(self, code: str, attempt: Attempt) -> dict[str, Any]:
        """What the provider gives for a code."""
        metadata = self._metadata()
        methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        secret, method = None, "none"
        if self.provider.secret_file is not None:
            secret = self.provider.secret_file.read_text("utf-8").strip()
            method = "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post"
        body = prepare_token_request(
            "authorization_code", redirect_uri=self.redirect_uri, code=code, code_verifier=attempt.verifier
        )
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        auth = ClientAuth(self.provider.client_id, secret, method)
        url, headers, body = auth.prepare("POST", metadata["token_endpoint"], headers, body)
        return self._fetched("POST", url, headers=headers, content=body)

    def _claims(self, tokens: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        """What an ID token says, once it is believed."""
        text = tokens["id_token"]
        stated = self._metadata().get("id_token_signing_alg_values_supported", ["RS256"])
        registry = JWSRegistry(algorithms=sorted(ALGORITHMS.intersection(stated)), strict_check_header=False)
        try:
            token = jwt.decode(text, self._keys(), registry=registry)
        except InvalidKeyIdError:  # it has got new keys
            token = jwt.decode(text, self._keys(again=True), registry=registry)
        own = {"essential": True, "value": self.provider.client_id}
        claims = CodeIDToken(
            token.claims, token.header,
            {"iss": {"essential": True, "value": self.provider.issuer}, "aud": own, "sub": {"essential": True}},
            {"nonce": attempt.nonce, "client_id": self.provider.client_id, "access_token": tokens.get("access_token")},
        )  # fmt: skip
        claims.validate(leeway=_LEEWAY)
        return dict(claims)

    def _vouched(self, claims: dict[str, Any], tokens: dict[str, Any]) -> Vouched:
        """Who that is; what the ID token lacks the provider is asked for, by the access token."""
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST:
            raise _ProviderError("no subject")
        place = self._metadata().get("userinfo_endpoint")
        if self.provider.groups_claim not in claims and is_safe(place) and "access_token" in tokens:
            more = self._fetched("GET", str(place), headers={"Authorization": f"Bearer {tokens['access_token']}"})
            if more.get("sub") != subject:
                raise _ProviderError("another subject")
            claims = more | claims
        groups = claims.get(self.provider.groups_claim, [])
        if not isinstance(groups, list) or len(groups) > _MOST_GROUPS:
            raise _ProviderError("no list of groups")
        name = claims.get("name")
        return Vouched(
            issuer=self.provider.issuer, subject=subject, display_name=name if isinstance(name, str) else "",
            groups=frozenset(group for group in groups if isinstance(group, str)),
        )  # fmt: skip

    def _metadata(self) -> dict[str, Any]:
        """What the provider says of itself."""
        found = self._kept(f"{self.provider.issuer.rstrip('/')}/.well-known/openid-configuration", _KEPT)
        if found.get("issuer") != self.provider.issuer:
            raise _ProviderError("another issuer in the description")
        if not all(is_safe(found.get(name)) for name in _ENDPOINTS):
            raise _ProviderError("an endpoint without TLS")
        if "S256" not in found.get("code_challenge_methods_supported", ["S256"]):
            raise _ProviderError("no PKCE with S256")
        return found

    def _keys(self, *, again: bool = False) -> KeySet:
        """The keys of the provider that may have signed."""
        found = self._kept(self._metadata()["jwks_uri"], _KEYS_AGAIN if again else _KEPT)
        keys: Any = [key for key in found["keys"] if key.get("kty") in _KEY_TYPES and key.get("use", "sig") == "sig"]
        return KeySet.import_key_set({"keys": keys})

    def _kept(self, url: str, seconds: float) -> dict[str, Any]:
        """A document, read again if the one that was read is older."""
        now, (at, found) = time.monotonic(), self._known.get(url, (0.0, {}))
        if not found or now - at >= seconds:
            found = self._fetched("GET", url)
            self._known[url] = (now, found)
        return found

    def _fetched(self, method: str, url: str, **options: Any) -> dict[str, Any]:
        """A JSON object, of a bounded size and within a bounded time."""
        end, content = time.monotonic() + _PATIENCE, b""
        headers = {"Accept": "application/json", **options.pop("headers", {})}
        with self._client.stream(method, url, headers=headers, **options) as response:
            if response.status_code != httpx.codes.OK:
                raise _ProviderError(f"status {response.status_code}")
            for part in response.iter_bytes():
                content += part
                if len(content) > _LARGEST or time.monotonic() > end:
                    raise _ProviderError("too much, or too slow")
        found = json.loads(content)
        if not isinstance(found, dict):
            raise _ProviderError("no object")
        return found

    def _refused(self, error: Exception) -> ForbiddenError:
        reason = str(error) if isinstance(error, _ProviderError) else type(error).__name__
        _LOG.warning("a sign-in at %s was refused: %s", self.provider.name, reason)
        return ForbiddenError(
            "sign in", f"{self.provider.title} did not vouch for you; begin again, or ask its operators"
        )
