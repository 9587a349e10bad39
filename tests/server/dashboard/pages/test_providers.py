"""Somebody signs in at a provider that runs, and everything that is not exactly that is refused."""

from contextlib import ExitStack
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from tests.server.dashboard.browsing import words
from tests.server.openid import CLIENT, provided

from sfumato.server.dashboard.visits import clients_of
from sfumato.server.identity.people import Action
from sfumato.server.providers import GroupEntry, Provider

GROUPS = (
    GroupEntry(name="analysts", dataset="clinic", role="analyst", account="clinic/ann"),
    GroupEntry(name="owners", dataset="visits", role="owner"),
)
ANALYST = {"sub": "71", "name": "Ann <b>", "groups": ["analysts"]}


@pytest.fixture(scope="module")
def both(gateway_beside):
    """Two providers, and the clients by which the gateway asks them."""
    host, port = gateway_beside.address
    url = f"http://{host}:{port}"
    with ExitStack() as opened:
        running = {name: opened.enter_context(provided(f"{url}/sign-in/{name}/back", is_secret=False))
                   for name in ("company", "other")}  # fmt: skip
        declared = {
            name: Provider(
                name=name, title=f"The {name} & co", issuer=one.issuer, client_id=CLIENT, secret_file=None,
                scopes=("openid",), groups_claim="groups", groups=GROUPS,
            ) for name, one in running.items()
        }  # fmt: skip
        clients = clients_of(declared, url)
        for client in clients.values():
            opened.callback(client.close)
        yield SimpleNamespace(running=running, clients=clients)


@pytest.fixture(autouse=True)
def company(beside, both, monkeypatch):
    monkeypatch.setattr(beside.server.config.app.state.dashboard, "providers", both.clients)
    found = both.running["company"]
    found.person, found.forge, found.is_forgetful = dict(ANALYST), None, True
    return found


def leave(visitor, provider="company", **sent):
    """The address at the provider to which a browser is sent."""
    visitor.get("/sign-in")
    response = visitor.client.get(f"/sign-in/{provider}", params=sent)
    assert response.status_code == 303, response.text
    return response.headers["location"]


def way_back(address):
    """The address to which the provider sends a browser, without the server."""
    place = urlsplit(httpx.get(address).headers["location"])
    return f"{place.path}?{place.query}"


def signed_in(visitor, **sent):
    page = visitor.get(way_back(leave(visitor, **sent)))
    visitor.get("/keys")
    return page


def is_in(visitor):
    return visitor.get("/").status_code == 200


def test_somebody_new_signs_in_with_the_roles_of_their_groups(visitor):
    ann = visitor()
    page = signed_in(ann, next="/datasets/clinic/query")
    assert (page.status_code, page.headers["location"]) == (303, "/datasets/clinic/query")
    assert "Ann <b>" in words(ann.get("/"))
    assert ann.get("/datasets/clinic/query").status_code == 200
    assert ann.get("/datasets/visits").status_code == 404


def test_the_page_of_signing_in_names_the_providers(visitor):
    page = visitor().get("/sign-in?next=/log")
    assert 'href="/sign-in/company?next=/log"' in page.text
    assert "Sign in at The company & co" in words(page)


def test_signing_in_begins_a_session_under_a_new_name(visitor):
    ann, attacker = visitor(), visitor()
    ann.get("/sign-in")
    planted = ann.client.cookies["sfumato"]
    signed_in(ann)
    assert ann.client.cookies["sfumato"] != planted
    attacker.client.cookies.set("sfumato", planted)
    assert not is_in(attacker)


def test_the_way_back_is_gone_once(company, visitor):
    company.is_forgetful = False  # even where the provider takes a code twice
    ann = visitor()
    ann.get("/sign-in")
    before, back = ann.client.cookies["sfumato"], way_back(leave(ann))
    assert ann.get(back).status_code == 303
    attacker = visitor()
    attacker.client.cookies.set("sfumato", before)
    assert attacker.get(back).status_code == 403
    assert not is_in(attacker)


def test_whoever_was_not_sent_is_not_let_in(visitor):
    """An attacker's own way back, opened in somebody else's browser, would sign them in as the attacker."""
    attacker, victim = visitor(), visitor()
    victim.get("/sign-in")
    for back in (way_back(leave(attacker)), way_back(leave(victim)).replace("state=", "state=0")):
        page = victim.get(back)
        assert page.status_code == 403
        assert "not begun here" in words(page)
    assert not is_in(victim)


def test_a_code_of_another_attempt_is_refused(visitor):
    ann = visitor()
    first = dict(parse_qsl(urlsplit(way_back(leave(ann))).query))
    second = way_back(leave(ann))
    code = dict(parse_qsl(urlsplit(second).query))["code"]
    assert ann.get(second.replace(code, first["code"])).status_code == 403
    assert not is_in(ann)


def test_providers_are_not_mixed_up(company, both, visitor):
    both.running["other"].person = dict(ANALYST)
    ann = visitor()
    back = way_back(leave(ann, "other"))
    assert ann.get(back.replace("/sign-in/other/", "/sign-in/company/")).status_code == 403
    at_company = way_back(leave(ann))
    issuer = httpx.QueryParams(urlsplit(at_company).query)["iss"]
    swapped = str(httpx.QueryParams(urlsplit(at_company).query).set("iss", both.running["other"].issuer))
    assert issuer == company.issuer
    assert ann.get(f"/sign-in/company/back?{swapped}").status_code == 403
    assert not is_in(ann)


def test_the_same_subject_of_another_provider_is_somebody_else(both, visitor, beside):
    both.running["other"].person = dict(ANALYST)
    names = []
    for provider in ("company", "other"):
        visitor_of = visitor()
        visitor_of.get(way_back(leave(visitor_of, provider)))
        names.append([act.person for act in beside.acts() if act.target == f"provider/{provider}"][-1])
    assert names[0].startswith("company-")
    assert names[1].startswith("other-")


@pytest.mark.parametrize("person", [{"groups": []}, {"groups": ["choir"]}, {"groups": "analysts"}, {}])
def test_whoever_has_no_mapped_group_is_refused(company, visitor, person, beside):
    company.person = {"sub": "72", "name": "olga", "preferred_username": "olga", "email": "olga"} | person
    nobody = visitor()
    assert signed_in(nobody).status_code == 403
    assert not is_in(nobody)
    refused = beside.acts()[-1]
    assert (refused.person, refused.action, str(refused.outcome)) == ("", Action.SIGN_IN, "refused")


def test_a_name_or_an_address_makes_nobody_an_owner(company, visitor):
    company.person = ANALYST | {"sub": "73", "name": "olga", "preferred_username": "olga", "email": "olga@example.org"}
    nobody = visitor()
    signed_in(nobody)
    assert nobody.get("/datasets/clinic/people").status_code == 403


def test_a_group_that_is_gone_ends_rights_at_the_next_sign_in(company, visitor):
    company.person = ANALYST | {"sub": "74", "groups": ["analysts", "owners"]}
    first, second = visitor(), visitor()
    signed_in(first)
    assert first.get("/datasets/visits/people").status_code == 200
    company.person["groups"] = ["analysts"]
    signed_in(second)
    assert [one.get("/datasets/visits/people").status_code for one in (first, second)] == [404, 404]
    company.person["groups"] = []
    assert signed_in(visitor()).status_code == 403
    assert [is_in(one) for one in (first, second)] == [False, False]


def test_whoever_is_switched_off_keeps_no_session(company, visitor, beside):
    company.person = ANALYST | {"sub": "75"}
    ann = visitor()
    signed_in(ann)
    name = [act.person for act in beside.acts() if act.target == "provider/company"][-1]
    beside.gateway.people.change(name, is_active=False)
    assert not is_in(ann)
    assert signed_in(visitor()).status_code == 403


def test_a_provider_that_is_declared_no_more_ends_its_sessions(both, visitor, monkeypatch, beside):
    ann = visitor()
    signed_in(ann)
    assert is_in(ann)
    monkeypatch.setattr(beside.server.config.app.state.dashboard, "providers", {"other": both.clients["other"]})
    assert not is_in(ann)
    assert ann.client.get("/sign-in/company").status_code == 404


def test_signing_out_ends_the_session_and_leads_to_the_providers_own_page(company, visitor):
    first, second = visitor(), visitor()
    signed_in(first)
    signed_in(second)
    kept = first.client.cookies["sfumato"]
    left = first.post("/sign-out", everywhere="yes")
    assert left.headers["location"] == "/signed-out/company"
    first.client.cookies.set("sfumato", kept)
    assert [is_in(one) for one in (first, second)] == [False, False]
    page = first.get("/signed-out/company")
    assert f'href="{company.issuer}/end?client_id=sfumato' in page.text


def test_keys_that_are_made_after_signing_in_end(visitor, beside):
    ann = visitor()
    signed_in(ann)
    page = ann.post("/keys", action="make", name="mine", scope="read")
    assert page.status_code == 200
    (made,) = [key for key in beside.gateway.keys.list() if key.name == "mine"]
    assert made.person.startswith("company-")
    assert (made.expires - made.created).days in {29, 30}


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_nobody_is_led_to_another_site(visitor, target):
    ann = visitor()
    page = signed_in(ann, next=target)
    assert (page.status_code, page.headers["location"]) == (303, "/")


def test_a_link_of_another_site_begins_nothing(visitor):
    response = visitor().client.get("/sign-in/company", headers={"Sec-Fetch-Site": "cross-site"})
    assert (response.status_code, response.headers["location"]) == (303, "/sign-in")


@pytest.mark.parametrize("sent", [{"error": "access_denied", "error_description": "<b>call +1 555"}, {"code": ""}, {}])
def test_a_refusal_of_the_provider_is_a_page_without_its_words(visitor, sent):
    nobody = visitor()
    state = dict(parse_qsl(urlsplit(leave(nobody)).query))["state"]
    page = nobody.client.get("/sign-in/company/back", params={"state": state, **sent})
    assert page.status_code == 403
    assert "did not let you in" in words(page)
    assert "555" not in page.text


def test_a_token_that_is_not_right_lets_nobody_in(company, visitor):
    company.forge = lambda _: "eyJhbGciOiJub25lIn0.e30."
    nobody = visitor()
    page = signed_in(nobody)
    assert page.status_code == 403
    assert "did not vouch for you" in words(page)
    assert not is_in(nobody)


def test_the_log_says_who_signed_in_and_where(company, visitor, beside):
    before = len(beside.acts())
    company.person = ANALYST | {"sub": "76"}
    signed_in(visitor())
    acts = beside.acts()[before:]
    person = next(act.person for act in acts if act.action is Action.SIGN_IN)
    assert person.startswith("company-")
    assert {(act.action, act.person) for act in acts if act.target == "provider/company"} == {
        (Action.SIGN_IN, person), (Action.GRANT_ROLES, person),
    }  # fmt: skip
