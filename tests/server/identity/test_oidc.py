"""A provider vouches for somebody by a token that it signed for this server and this attempt; nothing else does."""

import base64
import hmac
import json
from contextlib import closing
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from tests.server.openid import CLIENT, SECRET, code_and_state, provided

from sfumato.errors import ForbiddenError
from sfumato.server.identity.attempts import Attempt
from sfumato.server.identity.oidc import ALGORITHMS, OpenIDProvider
from sfumato.server.identity.sessions import new_token
from sfumato.server.providers import GroupEntry, Provider

URL = "http://127.0.0.1:9"
BACK = f"{URL}/sign-in/company/back"
PERSON = {"sub": "7", "name": "Ann", "groups": ["analysts", "choir"], "email": "ann@example.org"}


@pytest.fixture(scope="module")
def running():
    with provided(BACK) as found:
        yield found


@pytest.fixture
def openid(running):
    running.person, running.forge, running.described, running.more = dict(PERSON), None, {}, {}
    running.is_forgetful, running.is_secret = True, True
    return running


def declared(issuer, folder, **other):
    (folder / "secret").write_text(f"{SECRET}\n")
    facts = {
        "name": "company", "title": "Company", "issuer": issuer, "client_id": CLIENT, "scopes": ("openid",),
        "secret_file": folder / "secret", "groups_claim": "groups", "groups": (GroupEntry(name="analysts"),),
    }  # fmt: skip
    return Provider(**facts | other)


@pytest.fixture
def client(openid, tmp_path):
    made = OpenIDProvider(declared(openid.issuer, tmp_path), URL)
    yield made
    made.close()


def begun():
    return Attempt(state=new_token(), nonce=new_token(), verifier=new_token(), target="/")


@pytest.fixture
def attempt():
    return begun()


def come_back(client, attempt):
    """The address to which the provider sends a browser."""
    return httpx.get(client.authorization_url(attempt)).headers["location"]


def vouched(client, attempt, *, issuer=None, for_another=None):
    code, _ = code_and_state(come_back(client, attempt))
    return client.vouch(code, for_another or attempt, issuer=issuer or client.provider.issuer)


def signed(openid, *, key=None, alg="RS256", **changed):
    """Has the provider send an ID token with other claims, or signed otherwise."""

    def forge(claims):
        kept = {name: value for name, value in (claims | changed).items() if value is not None}
        used = key or openid.key
        return jwt.encode({"alg": alg, "kid": openid.key.kid}, kept, used, [alg])

    openid.forge = forge


def refused(client, attempt):
    with pytest.raises(ForbiddenError, match="Company did not vouch for you") as error:
        vouched(client, attempt)
    return str(error.value)


def test_whoever_signs_in_is_known_by_issuer_and_subject(client, openid, attempt):
    found = vouched(client, attempt)
    assert (found.issuer, found.subject, found.display_name) == (openid.issuer, "7", "Ann")
    assert found.groups == {"analysts", "choir"}


def test_the_way_there_says_what_the_way_back_must_prove(client, attempt):
    asked = dict(parse_qsl(urlsplit(client.authorization_url(attempt)).query))
    assert asked["response_type"] == "code"
    assert asked["code_challenge_method"] == "S256"
    assert (asked["state"], asked["nonce"], asked["redirect_uri"]) == (attempt.state, attempt.nonce, BACK)
    assert attempt.verifier not in asked.values()


def test_a_code_is_worth_nothing_without_its_verifier(client, openid, attempt):
    other = begun()
    with pytest.raises(ForbiddenError):
        vouched(client, attempt, for_another=other)
    code, _ = code_and_state(come_back(client, attempt))
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK}
    stolen = httpx.post(f"{openid.issuer}/token", data=fields, auth=(CLIENT, SECRET))
    assert (stolen.status_code, stolen.json()["error"]) == (400, "invalid_request")
    assert openid.brought[-2]["code_verifier"] == other.verifier


def test_a_code_is_taken_once(client, attempt):
    code, _ = code_and_state(come_back(client, attempt))
    client.vouch(code, attempt, issuer=client.provider.issuer)
    with pytest.raises(ForbiddenError):
        client.vouch(code, attempt, issuer=client.provider.issuer)


@pytest.mark.parametrize(
    "changed",
    [
        {"nonce": "0" * 64}, {"nonce": None}, {"aud": ["another"]}, {"aud": [CLIENT, "another"]},
        {"aud": ["another"], "azp": CLIENT}, {"azp": "another"}, {"iss": "https://evil.example"}, {"iss": None},
        {"exp": 1_000_000_000}, {"exp": None}, {"exp": "never"}, {"iat": 4_000_000_000},
        {"nbf": 4_000_000_000}, {"sub": None}, {"sub": ""}, {"sub": 7}, {"sub": "7" * 300}, {"aud": None},
        {"at_hash": "0000"},
    ],
    ids=lambda changed: " ".join(f"{name} {str(value)[:12]}" for name, value in changed.items()),
)  # fmt: skip
def test_a_token_for_anything_else_is_refused(client, openid, attempt, changed):
    signed(openid, **changed)
    refused(client, attempt)


def test_a_token_that_says_the_same_signed_by_the_same_key_is_taken(client, openid, attempt):
    signed(openid)
    assert vouched(client, attempt).subject == "7"


def encoded(part):
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def by_hand(claims, alg, password=None):
    """A token that nobody signed, or one signed with a password."""
    text = ".".join(encoded(json.dumps(part).encode()) for part in ({"alg": alg, "kid": "first"}, claims))
    return f"{text}." + ("" if password is None else encoded(hmac.digest(password, text.encode(), "sha256")))


def test_a_token_that_nobody_signed_is_refused(client, openid, attempt):
    openid.forge = lambda claims: by_hand(claims, "none")
    refused(client, attempt)
    openid.described = {"id_token_signing_alg_values_supported": ["none", "RS256"]}
    client._known.clear()
    refused(client, attempt)


@pytest.mark.parametrize("said", [["RS256"], ["HS256", "RS256"]])
def test_a_token_signed_by_the_public_key_as_a_password_is_refused(client, openid, attempt, said):
    openid.described = {"id_token_signing_alg_values_supported": said}
    pem = openid.key.as_pem(private=False)
    for password in (pem, pem.strip(), json.dumps(openid.key.as_dict(private=False)).encode(), SECRET.encode()):
        openid.forge = lambda claims, password=password: by_hand(claims, "HS256", password)
        refused(client, attempt)


def test_a_token_signed_by_another_key_is_refused(client, openid, attempt):
    signed(openid, key=RSAKey.generate_key(2048))
    refused(client, attempt)


def test_no_algorithm_is_allowed_whose_key_others_have():
    assert {name[:2] for name in ALGORITHMS} == {"RS", "PS", "ES", "Ed"}


def test_new_keys_of_a_provider_are_found(client, openid, attempt, monkeypatch):
    vouched(client, attempt)
    new = RSAKey.generate_key(2048, {"kid": "second", "use": "sig"})
    monkeypatch.setattr(openid, "key", new)
    monkeypatch.setattr("sfumato.server.identity.oidc._KEYS_AGAIN", 0.0)
    assert vouched(client, attempt).subject == "7"


@pytest.mark.parametrize("issuer", ["https://evil.example", ""])
def test_an_answer_of_another_provider_is_refused(client, attempt, issuer):
    code, _ = code_and_state(come_back(client, attempt))
    with pytest.raises(ForbiddenError):
        client.vouch(code, attempt, issuer=issuer)


def test_an_answer_without_an_issuer_is_refused_where_the_provider_writes_one(client, openid, attempt):
    code, _ = code_and_state(come_back(client, attempt))
    with pytest.raises(ForbiddenError):
        client.vouch(code, attempt, issuer=None)
    openid.described = {"authorization_response_iss_parameter_supported": False}
    client._known.clear()
    assert client.vouch(code, attempt, issuer=None).subject == "7"


@pytest.mark.parametrize(
    "described",
    [
        {"issuer": "https://evil.example"}, {"token_endpoint": "http://evil.example/token"},
        {"authorization_endpoint": "http://evil.example/"}, {"jwks_uri": None},
        {"code_challenge_methods_supported": ["plain"]},
    ],
)  # fmt: skip
def test_a_provider_that_describes_itself_otherwise_is_refused(client, openid, attempt, described):
    openid.described = described
    with pytest.raises(ForbiddenError):
        client.authorization_url(attempt)


def test_a_provider_that_cannot_be_reached_is_an_error_that_names_no_place(tmp_path, attempt):
    with closing(OpenIDProvider(declared("http://127.0.0.1:9", tmp_path), URL)) as gone:
        with pytest.raises(ForbiddenError) as error:
            gone.authorization_url(attempt)
        assert "127" not in str(error.value)
        assert gone.sign_out_url() is None


def test_what_a_provider_sends_is_bounded(client, attempt, monkeypatch):
    monkeypatch.setattr("sfumato.server.identity.oidc._LARGEST", 100)
    with pytest.raises(ForbiddenError):
        client.authorization_url(attempt)


def test_groups_may_be_told_apart_from_the_token_for_the_same_subject_alone(client, openid, attempt):
    signed(openid, groups=None)
    assert vouched(client, attempt).groups == {"analysts", "choir"}
    openid.more = {"sub": "8"}
    refused(client, attempt)
    openid.more = {"groups": "analysts"}
    refused(client, attempt)


def test_a_server_without_a_secret_has_pkce_alone(openid, tmp_path, attempt):
    openid.is_secret = False
    with closing(OpenIDProvider(declared(openid.issuer, tmp_path, secret_file=None), URL)) as client:
        assert vouched(client, attempt).subject == "7"


def test_people_are_sent_to_where_they_sign_out(client, openid):
    place = urlsplit(client.sign_out_url())
    assert f"{place.scheme}://{place.netloc}{place.path}" == f"{openid.issuer}/end"
    assert dict(parse_qsl(place.query)) == {"client_id": CLIENT, "post_logout_redirect_uri": f"{URL}/sign-in"}
    openid.described = {"end_session_endpoint": "javascript:alert(1)"}
    client._known.clear()
    assert client.sign_out_url() is None


def test_no_part_of_a_token_is_logged(client, openid, attempt, caplog):
    signed(openid, iss="https://evil.example", name="canary")
    text = refused(client, attempt)
    assert "refused" in caplog.text
    assert "canary" not in caplog.text + text
    assert SECRET not in caplog.text + text
