"""Admins keep people; everybody keeps their own keys, whose secrets are shown once."""

import itertools
import re

from tests.server.dashboard.browsing import words

NUMBERS = itertools.count()
HOSTILE = '<img src=x onerror=alert(1)>"'


def test_an_admin_adds_people_and_names_owners(visitor, beside):
    admin, name = visitor("admin"), f"new{next(NUMBERS)}"
    assert admin.post("/people", action="add", name=name, display_name=HOSTILE).status_code == 303
    page = admin.get("/people")
    assert name in words(page)
    assert "<img src=x" not in page.text
    assert admin.post("/people", action="owner", name=name, dataset="visits").status_code == 303
    assert beside.gateway.people.grants(name)[0].role == "owner"
    assert admin.post("/people", action="not-owner", name=name, dataset="visits").status_code == 303
    assert admin.post("/people", action="off", name=name).status_code == 303
    assert not beside.gateway.people.person(name).is_active
    assert admin.post("/people", action="dance", name=name).status_code == 422


def test_nobody_else_keeps_people_or_sees_the_health(visitor):
    for person in ("olga", "ann", "aude", "cem"):
        other = visitor(person)
        assert other.get("/people").status_code == other.get("/health").status_code == 403
        assert other.post("/people", action="add", name="sneaked").status_code == 403
        assert 'href="/people"' not in other.get("/").text


def test_a_key_is_shown_once_and_works_until_it_is_revoked(visitor, beside):
    cem = visitor("cem")
    page = cem.post("/keys", action="make", name="laptop", scope="read", expires="2099-01-31")
    (token,) = re.findall(r"sfk_[0-9a-f]{16}_[0-9a-f]{64}", page.text)
    assert beside.client(token=token).get("/me").json()["scopes"] == ["read"]
    assert token not in cem.get("/keys").text
    key = token.split("_")[1]
    page = cem.post("/keys", action="rotate", key=key)
    (other,) = re.findall(r"sfk_[0-9a-f]{16}_[0-9a-f]{64}", page.text)
    assert beside.client(token=token).get("/me").status_code == 401
    assert beside.client(token=other).get("/me").status_code == 200
    assert cem.post("/keys", action="revoke", key=key).status_code == 303
    assert beside.client(token=other).get("/me").status_code == 401
    assert "revoked" in words(cem.get("/keys"))


def test_others_keys_are_none(visitor, beside):
    made = beside.client("bob").post("/keys", json={"name": "bobs"}).json()
    cem = visitor("cem")
    assert made["id"] not in cem.get("/keys").text
    assert made["id"] in visitor("admin").get("/keys").text
    assert cem.post("/keys", action="revoke", key=made["id"]).status_code == 404
    assert cem.post("/keys", action="make", person="bob", scope="read").status_code == 403


def test_what_a_form_of_keys_lacks_is_said(visitor):
    cem = visitor("cem")
    assert "give at least one of" in words(cem.post("/keys", action="make", name="none"))
    assert cem.post("/keys", action="make", scope="read", expires="soon").status_code == 422
    assert cem.post("/keys", action="make", scope="king").status_code == 422


def test_the_health_names_datasets_answers_and_settings_and_no_secret(visitor, beside):
    page = words(visitor("admin").get("/health"))
    for part in ("clinic can be asked", "HTTP 2xx", "limits.body_bytes", "300 rows declared"):
        assert part in page, part
    assert str(beside.gateway.curator.state) not in page
    assert "ledger.db" not in page
