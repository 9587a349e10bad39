"""People, roles, keys and the log of acts: what each of them can be made to do by whom."""

import pytest

from sfumato.server.identity.people import Grant, KeyScope, Role


@pytest.fixture
def admin(beside):
    with beside.client("admin") as client:
        yield client


@pytest.fixture
def olga(beside):
    with beside.client("olga") as client:
        yield client


def added(beside, name, *grants, scopes=tuple(KeyScope)):
    """A person with grants, and a client with their key."""
    beside.gateway.people.add(name)
    for grant in grants:
        beside.gateway.people.grant(name, grant)
    return beside.client(token=beside.gateway.keys.make(name, scopes=scopes).token)


def test_76_a_secret_is_shown_once_and_a_revoked_key_ends_at_once_on_every_gateway(beside, curator):
    """Catalogue 76."""
    with beside.client("ann") as ann:
        made = ann.post("/keys", json={"name": "laptop", "scopes": ["read"]}).json()
        listed = ann.get("/keys").json()
        assert made["token"] not in str(listed)
        assert [key["scopes"] for key in listed if key["id"] == made["id"]] == [["read"]]
        headers = {"Authorization": f"Bearer {made['token']}"}
        with curator.client() as elsewhere:
            assert elsewhere.get("/me", headers=headers).status_code == 200
            assert ann.delete(f"/keys/{made['id']}").status_code == 204
            assert elsewhere.get("/me", headers=headers).status_code == 401


def test_76_no_key_makes_one_or_becomes_one_that_may_do_more(beside):
    """Catalogue 76: also not by turning another key of the same person into one whose secret it learns."""
    with added(beside, "gus") as whole:
        identities = {key["name"]: key["id"] for key in whole.get("/keys").json()}
        narrow = whole.post("/keys", json={"name": "narrow", "scopes": ["manage", "read"]}).json()
        with beside.client(token=narrow["token"]) as client:
            assert client.post("/keys", json={"scopes": ["ask"]}).status_code == 403
            assert client.post("/keys", json={}).status_code == 403
            rotated = client.post(f"/keys/{identities['']}/rotate", json={})
            assert (rotated.status_code, "scopes ask, estimate" in rotated.json()["detail"]) == (403, True)
            own = client.post(f"/keys/{narrow['id']}/rotate", json={})
            assert own.status_code == 200
        assert whole.get("/me").status_code == 200
        with beside.client(token=own.json()["token"]) as client:
            assert client.get("/me").json()["scopes"] == ["manage", "read"]


def test_76_a_key_that_ends_makes_none_that_lasts_longer(beside, admin):
    """Catalogue 76: else whoever has stolen a key for a day would have one for ever."""
    ends = "2099-01-01T00:00:00+00:00"
    made = admin.post("/keys", json={"person": "ann", "expires": ends}).json()
    ends_of = {}
    with beside.client("ann") as ann:
        ann.headers["Authorization"] = f"Bearer {made['token']}"
        for wanted in (None, "2099-06-01T00:00:00Z", "2098-01-01T00:00:00Z"):
            named = {} if wanted is None else {"expires": wanted}
            child = ann.post("/keys", json=named).json()["id"]
            ends_of[wanted] = next(one["expires"] for one in ann.get("/keys").json() if one["id"] == child)
    assert ends_of == {
        None: ends, "2099-06-01T00:00:00Z": ends, "2098-01-01T00:00:00Z": "2098-01-01T00:00:00+00:00",
    }  # fmt: skip


def test_a_rotated_key_works_until_the_stated_moment(beside):
    with added(beside, "hal") as client:
        made = client.post("/keys", json={}).json()
        with beside.client(token=made["token"]) as old:
            later = {"old_until": "2999-01-01T00:00:00Z"}
            fresh = old.post(f"/keys/{made['id']}/rotate", json=later).json()
            assert old.get("/me").status_code == 200
            with beside.client(token=fresh["token"]) as new:
                assert new.post(f"/keys/{made['id']}/rotate", json={}).status_code == 200
            assert old.get("/me").status_code == 401


@pytest.mark.parametrize(
    "moment",
    ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", "2030-01-01T00:00:00", "2001-01-01T00:00:00Z", "x", ""],
)
def test_a_moment_has_a_time_zone_and_lies_ahead(beside, moment):
    with beside.client("ann") as ann:
        assert ann.post("/keys", json={"expires": moment}).status_code == 422


def test_keys_of_others_are_as_keys_that_do_not_exist(beside, admin):
    key = next(key["id"] for key in admin.get("/keys").json() if key["person"] == "bob")
    with beside.client("ann") as ann:
        assert {one["person"] for one in ann.get("/keys").json()} == {"ann"}
        for method, path in (("POST", "/rotate"), ("DELETE", "")):
            theirs, none = (
                ann.request(method, f"/keys/{one}{path}", json={} if path else None) for one in (key, "0" * 16)
            )
            assert (theirs.status_code, theirs.text.replace(key, "0" * 16)) == (404, none.text)
        assert ann.post("/keys", json={"person": "bob"}).status_code == 403
        assert ann.post("/keys", json={"person": "nobody"}).status_code == 403


def test_an_admin_makes_people_and_ends_them(beside, admin):
    made = admin.post("/people", json={"name": "ivy", "display_name": "Ivy"})
    assert (made.status_code, made.json()["grants"]) == (201, [])
    assert admin.post("/people", json={"name": "ivy"}).status_code == 422
    token = admin.post("/keys", json={"person": "ivy"}).json()["token"]
    with beside.client(token=token) as ivy:
        assert ivy.get("/datasets").json() == []
        assert admin.patch("/people/ivy", json={"is_active": False}).status_code == 200
        assert ivy.get("/me").status_code == 401
    assert admin.patch("/people/admin", json={"is_platform_admin": False}).status_code == 422
    assert admin.patch("/people/nobody", json={"is_active": False}).status_code == 404
    assert admin.patch("/people/ivy", json={"is_active": "yes"}).status_code == 422


def test_roles_are_given_by_admins_to_owners_and_by_owners_to_others(admin, olga):
    admin.post("/people", json={"name": "jon"})
    wanted = [
        (admin, {"dataset": "clinic", "role": "owner"}, 201), (olga, {"dataset": "clinic", "role": "owner"}, 403),
        (admin, {"dataset": "clinic", "role": "auditor"}, 404), (olga, {"dataset": "clinic", "role": "auditor"}, 201),
        (olga, {"dataset": "clinic", "role": "analyst", "account": "clinic/ann"}, 201),
        (olga, {"dataset": "clinic", "role": "analyst", "account": "visits/ann"}, 404),
        (olga, {"dataset": "clinic", "role": "analyst", "account": "clinic/none"}, 404),
        (olga, {"dataset": "clinic", "role": "analyst"}, 422), (olga, {"dataset": "clinic", "role": "god"}, 422),
        (admin, {"dataset": "nowhere", "role": "owner"}, 404),
    ]  # fmt: skip
    for client, body, status in wanted:
        answer = client.post("/people/jon/grants", json=body)
        assert (answer.status_code, body) == (status, body), answer.text
    assert olga.post("/people/nobody/grants", json=wanted[3][1]).status_code == 404
    listed = [one for one in olga.get("/datasets/clinic/people").json() if one["person"] == "jon"]
    assert {one["role"] for one in listed} == {"owner", "auditor", "analyst"}
    assert olga.delete("/people/jon/grants/clinic?role=owner").status_code == 403
    assert admin.delete("/people/jon/grants/clinic?role=owner").status_code == 200
    assert olga.delete("/people/jon/grants/clinic?role=analyst").json() == [
        {"dataset": "clinic", "role": "auditor", "account": ""}
    ]
    assert olga.delete("/people/jon/grants/clinic?role=analyst").status_code == 404


def test_acts_are_read_of_one_s_datasets_alone(beside, admin):
    """A dataset without a name is none: acts of no dataset are for admins."""
    with added(beside, "kim", Grant("visits", Role.AUDITOR)) as kim, beside.client("ann") as ann:
        ann.get("/datasets/clinic")
        ann.get("/datasets/visits")
        admin.get("/acts")
        assert {one["dataset"] for one in kim.get("/acts?limit=1000").json()} == {"visits"}
        assert {one["dataset"] for one in kim.get("/acts?limit=1000&dataset=visits").json()} == {"visits"}
        assert [kim.get(f"/acts?dataset={name}").status_code for name in ("clinic", "nowhere", "")] == [404] * 3
        assert {"clinic", "visits", ""} <= {one["dataset"] for one in admin.get("/acts?limit=1000").json()}
        assert {one["dataset"] for one in admin.get("/acts?limit=1000&dataset=clinic").json()} == {"clinic"}
        assert ann.get("/acts?dataset=").status_code == 404
        pages = [admin.get(f"/acts?limit=3&after={after}").json() for after in (0, 3)]
        assert [one["number"] for page in pages for one in page] == [1, 2, 3, 4, 5, 6]


def test_the_log_verifies_and_says_its_length_and_head(admin):
    chain = admin.get("/acts/verify").json()
    assert (chain["broken"], chain["length"] > 5, len(chain["head"])) == (None, True, 64)
    assert [admin.get(f"/acts?after={after}").status_code for after in (-1, 10**30, "x")] == [422] * 3
    assert admin.get(f"/acts?after={2**63 - 1}").json() == []
