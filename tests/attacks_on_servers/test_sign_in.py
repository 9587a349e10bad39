"""Attacks on signing in at a provider; `make soak` has a certified one, npm's, where there is node."""

import re
from urllib.parse import urlsplit

import httpx
import pytest
from tests.attacks_on_servers.providing import CLIENT, started
from tests.server.dashboard.browsing import Visitor, words
from tests.server.running import Beside, running
from tests.sizes import FULL_SIZE

from sfumato.server.dashboard.visits import clients_of
from sfumato.server.providers import GroupEntry, Provider

GROUPS = (
    GroupEntry(name="analysts", dataset="clinic", role="analyst", account="clinic/ann"),
    GroupEntry(name="owners", dataset="visits", role="owner"),
)
SECONDS = 120


@pytest.fixture(scope="module")
def beside():
    found = Beside(running())
    yield found
    found.stop()


@pytest.fixture(scope="module")
def elsewhere(beside, tmp_path_factory):
    folder = tmp_path_factory.mktemp("provider")
    host, port = beside.address
    url = f"http://{host}:{port}"
    (folder / "secret").write_text(CLIENT[1])
    with started(folder, f"{url}/sign-in/company/back", f"{url}/sign-in") as found:
        declared = Provider(
            name="company", title="Company", issuer=found.issuer, client_id="sfumato", secret_file=folder / "secret",
            scopes=("openid", "profile"), groups_claim="groups", groups=GROUPS,
        )  # fmt: skip
        dashboard = beside.server.config.app.state.dashboard
        dashboard.providers = clients_of({"company": declared}, url)
        yield found
        dashboard.providers.pop("company").close()


@pytest.fixture
def browser(elsewhere):
    with httpx.Client(timeout=SECONDS, base_url=elsewhere.issuer) as opened:
        yield opened


@pytest.fixture
def visitor(beside):
    made = []

    def one():
        made.append(Visitor(beside))
        made[-1].get("/sign-in")
        return made[-1]

    yield one
    for each in made:
        each.client.close()


def leave(visitor):
    return visitor.client.get("/sign-in/company").headers["location"]


def path_of(address):
    place = urlsplit(address)
    return f"{place.path}?{place.query}"


def is_in(visitor):
    return visitor.get("/").status_code == 200


def test_somebody_signs_in_and_the_way_back_is_gone_once(elsewhere, browser, visitor):
    elsewhere.set_groups(ann=["analysts"])
    ann = visitor()
    before, back = ann.client.cookies["sfumato"], path_of(elsewhere.walk(browser, leave(ann), "ann"))
    assert ann.get(back).status_code == 303
    assert "Name of ann" in words(ann.get("/"))
    assert ann.get("/datasets/clinic/query").status_code == 200
    attacker = visitor()
    attacker.client.cookies.set("sfumato", before)
    assert attacker.get(back).status_code == 403
    assert not is_in(attacker)


def test_nobody_is_signed_in_as_somebody_else(elsewhere, browser, visitor):
    elsewhere.set_groups(eve=["analysts"])
    eve, victim = visitor(), visitor()
    back = path_of(elsewhere.walk(browser, leave(eve), "eve"))
    assert victim.get(back).status_code == 403
    assert not is_in(victim)


def test_a_stolen_code_is_worth_nothing(elsewhere, browser, visitor):
    elsewhere.set_groups(bob=["analysts"])
    bob = visitor()
    back = elsewhere.walk(browser, leave(bob), "bob")
    fields = {
        "grant_type": "authorization_code",
        "code": httpx.URL(back).params["code"],
        "redirect_uri": elsewhere.redirect,
    }
    for verifier in ({}, {"code_verifier": "0" * 64}):
        stolen = httpx.post(f"{elsewhere.issuer}/token", data=fields | verifier, auth=CLIENT)
        assert stolen.status_code == 400
        assert "id_token" not in stolen.json()


def test_groups_end_with_the_provider(elsewhere, browser, visitor):
    elsewhere.set_groups(cem=["analysts", "owners"])
    first, second, third = visitor(), visitor(), visitor()
    first.get(path_of(elsewhere.walk(browser, leave(first), "cem")))
    assert first.get("/datasets/visits/people").status_code == 200
    elsewhere.set_groups(cem=["analysts"])
    second.get(path_of(elsewhere.walk(browser, leave(second), "cem")))
    assert [one.get("/datasets/visits/people").status_code for one in (first, second)] == [404, 404]
    elsewhere.set_groups(cem=["choir"])
    assert third.get(path_of(elsewhere.walk(browser, leave(third), "cem"))).status_code == 403
    assert [is_in(one) for one in (first, second, third)] == [False, False, False]


def test_whoever_signs_out_there_has_to_say_again_who_they_are(elsewhere, browser, visitor):
    elsewhere.set_groups(dee=["analysts"])
    dee, again = visitor(), visitor()
    dee.get(path_of(elsewhere.walk(browser, leave(dee), "dee")))
    dee.get("/keys")
    left = dee.post("/sign-out")
    (place,) = re.findall(r'href="([^"]+/end[^"]*)"', dee.get(left.headers["location"]).text)
    assert place.startswith(elsewhere.issuer)
    if FULL_SIZE:
        page = browser.get(place.replace("&amp;", "&"))
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page.text))
        out = browser.post(re.search(r'action="([^"]+)"', page.text)[1], data={**fields, "logout": "yes"})
        assert out.headers["location"].endswith("/sign-in")
        assert 'name="login"' in browser.get(leave(again), follow_redirects=True).text
