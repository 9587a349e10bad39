"""A curator's file says which providers may vouch for people; what would let in the wrong ones is refused."""

import re
from contextlib import closing

import pytest
from tests.meta.repository import ROOT
from tests.server.running import write_files

from sfumato.errors import PolicyError
from sfumato.server.config import load_curator
from sfumato.server.dashboard.visits import clients_of

TOP = 'public_url = "https://curator.example"\n'
COMPANY = """
[providers.company]
title = "Company"
issuer = "https://login.example/realm"
client_id = "sfumato"

[[providers.company.groups]]
name = "analysts"
dataset = "clinic"
role = "analyst"
account = "clinic/research"

[[providers.company.groups]]
name = "it"
platform_admin = true
"""


def loaded(folder, text=COMPANY, top=TOP):
    config = write_files(folder)
    config.write_text(top + config.read_text("utf-8") + text, "utf-8")
    return load_curator(config)


def test_a_provider_is_as_the_file_declares_it(tmp_path):
    curator = loaded(tmp_path)
    company = curator.providers["company"]
    assert (company.name, company.title, company.issuer) == ("company", "Company", "https://login.example/realm")
    assert company.scopes == ("openid", "profile")
    assert [entry.name for entry in company.given({"it", "analysts", "choir"})] == ["analysts", "it"]
    assert company.given({"IT"}) == ()
    assert curator.public_url == "https://curator.example"


def test_without_a_provider_none_is_needed(tmp_path):
    assert loaded(tmp_path, text="", top="").providers == {}


def test_the_secret_of_a_client_is_a_file_that_gateways_alone_need(tmp_path):
    text = COMPANY.replace('client_id = "sfumato"', 'client_id = "sfumato"\nclient_secret_file = "s"')
    company = loaded(tmp_path, text).providers["company"]
    assert company.secret_file == tmp_path / "s"
    with pytest.raises(PolicyError, match="client_secret_file"):
        clients_of({"company": company}, "https://curator.example")
    (tmp_path / "s").write_text("x")
    with closing(clients_of({"company": company}, "https://curator.example")["company"]) as client:
        assert client.redirect_uri == "https://curator.example/sign-in/company/back"


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("https://login.example/realm", "http://login.example", "providers.company.issuer"),
        ("https://login.example/realm", "https://login.example?a=b", "providers.company.issuer"),
        ("https://login.example/realm", "https://ann@login.example", "providers.company.issuer"),
        ("https://login.example/realm", "", "providers.company.issuer"),
        ('dataset = "clinic"', 'dataset = "clinc"', "providers.company.groups.0.dataset"),
        ('account = "clinic/research"', "", "providers.company.groups.0.account"),
        ("clinic/research", "visits/research", "providers.company.groups.0.account"),
        ("clinic/research", "clinical", "providers.company.groups.0.account"),
        ('role = "analyst"', 'role = "owner"', "providers.company.groups.0.account"),
        ('role = "analyst"', 'role = "king"', "providers.company.groups.0.role"),
        ('role = "analyst"', "", "providers.company.groups.0"),
        ("platform_admin = true", "", "providers.company.groups.1"),
        ("platform_admin = true", 'platform_admin = true\ndataset = "clinic"', "providers.company.groups.1"),
        ("providers.company", "providers.Company", "providers.Company"),
        ('client_id = "sfumato"', 'client_id = "sfumato"\nclient_secret = "s"', "client_secret"),
    ],
)
def test_what_is_impossible_is_refused_where_it_stands(tmp_path, old, new, place):
    assert old in COMPANY
    with pytest.raises(PolicyError) as error:
        loaded(tmp_path, COMPANY.replace(old, new))
    assert place in str(error.value)


@pytest.mark.parametrize(
    "top",
    ["", 'public_url = "http://curator.example"\n', 'public_url = "https://curator.example/path"\n',
     'public_url = "https://curator.example?x=y"\n', 'public_url = "curator.example"\n'],
)  # fmt: skip
def test_where_people_come_back_to_is_declared_and_safe(tmp_path, top):
    with pytest.raises(PolicyError, match="public_url"):
        loaded(tmp_path, top=top)


def test_two_providers_have_two_issuers(tmp_path):
    with pytest.raises(PolicyError, match="another issuer"):
        loaded(tmp_path, COMPANY + COMPANY.replace("providers.company", "providers.other"))
    other = COMPANY.replace("providers.company", "providers.other").replace("/realm", "/other")
    assert set(loaded(tmp_path, COMPANY + other).providers) == {"company", "other"}


def test_the_example_of_the_page_declares_a_provider(tmp_path):
    page = ROOT / "docs" / "how-to" / "server" / "sign-in.md"
    (example,) = re.findall(r"```toml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    text = example.replace('"hospital"', '"clinic"').replace('"hospital/', '"clinic/')
    top, _, tables = text.partition("\n\n")
    company = loaded(tmp_path, tables, f"{top}\n").providers["company"]
    assert [entry.role for entry in company.groups] == ["analyst", "owner", None]
