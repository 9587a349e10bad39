"""Who makes a request is found out once, before anything of it is read, and each request leaves one act."""

from datetime import UTC, datetime

import httpx
import pytest
from tests.server.running import COUNT, GRANTS, PROTOCOLS, SECONDS

from sfumato.errors import NotFoundError
from sfumato.server.gateway.access import Caller, account_for, account_of, is_own
from sfumato.server.identity.acts import ActOutcome
from sfumato.server.identity.people import Action, Grant, KeyScope, Principal, Role

WRONG = [
    "", "Bearer", "Bearer x", "Basic YW5uOmFubg==", "Bearer sfk_0123456789abcdef_" + "0" * 64, "bearer  sfk_",
    "Bearer sfk_" + "é".encode().decode("latin-1"), "Digest username=ann", "Bearer " + "s" * 5_000,
]  # fmt: skip


BATCH = {
    "Idempotency-Key": f"{datetime.now(UTC):%Y-%m-%d}.a-batch-of-no-reports",
    "Content-Type": "application/octet-stream",
}


def asked(client, method="GET", path="/me", **options):
    return client.request(method, path, **options)


def test_68_every_wrong_key_gets_the_same_answer(beside):
    """Catalogue 68: no key, an invalid one, an expired and a revoked one cannot be told apart."""
    keys = beside.gateway.keys
    revoked, left = keys.make("cem", name="revoked"), keys.make("ann", name="rotated")
    keys.revoke(revoked.id)
    keys.rotate(left.id)
    with beside.client() as nobody:
        answers = [
            asked(nobody, headers={} if not text else {"Authorization": text.encode("latin-1")})
            for text in [*WRONG, f"Bearer {revoked.token}", f"Bearer {left.token}"]
        ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({(answer.content, tuple(sorted(answer.headers.items()))) for answer in answers}) == 1
    assert answers[0].headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("body", [b"{", b'{"sql": 1}', b"\xff", b""])
@pytest.mark.parametrize("path", ["/datasets/clinic/ask", "/datasets/none/ask", "/people", "/keys"])
def test_whoever_has_no_key_hears_nothing_of_what_they_sent(beside, path, body):
    with beside.client() as nobody:
        answer = nobody.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 401


@pytest.mark.parametrize(
    "name", ["user-name", "X-Forwarded-User", "X-Remote-User", "X-Forwarded-For", "Forwarded", "X-Original-URL"]
)
def test_70_headers_that_name_somebody_are_ignored(beside, name):
    """Catalogue 70: only a key says who asks."""
    with beside.client() as nobody, beside.client("ann") as ann:
        assert asked(nobody, headers={name: "admin"}).status_code == 401
        assert asked(ann, headers={name: "admin"}).json()["name"] == "ann"


def test_71_a_dataset_without_a_grant_is_as_one_that_does_not_exist(beside):
    """Catalogue 71: one answer for both, whatever is wanted with it."""
    wanted = [
        ("GET", ""), ("GET", "/label"), ("GET", "/relations"), ("GET", "/accounts"), ("GET", "/accounts/ann"),
        ("GET", "/accounts/history"), ("GET", "/people"), ("POST", "/ask"), ("POST", "/estimate"), ("POST", "/dry-run"),
        ("POST", "/versions"), ("POST", "/accounts"),
    ]  # fmt: skip
    bodies = {
        "/versions": {"data_version": "2"}, "/accounts": {"name": "x", "budget": {"epsilon": 1}},
    }  # fmt: skip
    with beside.client("cem") as cem, beside.client("bob") as bob:
        for client in (cem, bob):
            for method, path in wanted:
                options = {"json": bodies.get(path, {"sql": COUNT, "epsilon": 1})} if method == "POST" else {}
                hidden, missing = (
                    client.request(method, f"/datasets/{name}{path}", **options) for name in ("visits", "nobody")
                )
                assert hidden.status_code == missing.status_code == 404, path
                assert hidden.text.replace("visits", "nobody") == missing.text, path
                assert hidden.headers == missing.headers, path


REQUESTS = [
    ("cem", "GET", "/me", {}, "read_self", "done"),
    (None, "GET", "/me", {}, "sign_in", "refused"),
    (None, "POST", "/datasets/clinic/ask", {"content": b"{"}, "sign_in", "refused"),
    ("ann", "POST", "/datasets/clinic/ask", {"content": b"{"}, "sign_in", "failed"),
    ("ann", "POST", "/datasets/clinic/ask", {"json": {"sql": 3}}, "sign_in", "failed"),
    ("ann", "GET", "/acts?after=-1", {}, "sign_in", "failed"),
    ("ann", "GET", "/datasets", {}, "read_self", "done"),
    ("ann", "GET", "/datasets/clinic", {}, "read_schema", "done"),
    ("cem", "GET", "/datasets/clinic", {}, "read_schema", "refused"),
    ("ann", "GET", "/datasets/nowhere", {}, "read_schema", "refused"),
    ("ann", "GET", "/datasets/clinic/label", {}, "read_schema", "done"),
    ("olga", "GET", "/datasets/clinic/relations", {}, "read_relations", "refused"),
    ("ann", "POST", "/datasets/clinic/estimate", {"json": {"sql": COUNT, "epsilon": 1}}, "estimate", "done"),
    ("ann", "POST", "/datasets/clinic/dry-run", {"json": {"sql": COUNT, "epsilon": 1}}, "estimate", "done"),
    ("ann", "POST", "/datasets/clinic/ask", {"json": {"sql": COUNT, "epsilon": 1}}, "ask", "done"),
    ("ann", "POST", "/datasets/clinic/ask", {"json": {"sql": COUNT, "epsilon": 10_000}}, "ask", "failed"),
    ("ann", "POST", "/datasets/clinic/ask", {"json": {"sql": "SELECT age FROM clinic", "epsilon": 1}}, "ask", "failed"),
    ("olga", "POST", "/datasets/clinic/ask", {"json": {"sql": COUNT, "epsilon": 1}}, "ask", "refused"),
    ("ann", "POST", "/datasets/clinic/from-releases", {"json": {"sql": COUNT}}, "read_own_releases", "done"),
    ("ann", "GET", "/questions/nothing", {}, "ask", "refused"),
    ("ann", "GET", "/releases?dataset=clinic", {}, "read_own_releases", "done"),
    ("ann", "GET", "/releases/nothing", {}, "read_own_releases", "refused"),
    ("ann", "GET", "/datasets/clinic/accounts", {}, "read_own_account", "done"),
    ("aude", "GET", "/datasets/clinic/accounts", {}, "read_accounts", "done"),
    ("ann", "GET", "/datasets/clinic/accounts/bob", {}, "read_own_account", "refused"),
    ("olga", "GET", "/datasets/clinic/accounts/history", {}, "read_accounts", "done"),
    ("ann", "POST", "/datasets/clinic/accounts/ann/close", {"json": {"reason": "x"}}, "close_account", "refused"),
    ("olga", "POST", "/datasets/clinic/accounts/no/close", {"json": {"reason": "x"}}, "close_account", "refused"),
    ("ann", "GET", "/approvals", {}, "read_self", "done"),
    ("olga", "POST", "/approvals/nothing", {"json": {"granted": True}}, "decide", "refused"),
    ("ann", "GET", "/people", {}, "read_everybody", "refused"),
    ("admin", "GET", "/people", {}, "read_everybody", "done"),
    ("olga", "GET", "/datasets/clinic/people", {}, "read_people", "done"),
    ("ann", "GET", "/keys", {}, "read_self", "done"),
    ("ann", "DELETE", "/keys/nothing", {}, "manage_own_keys", "refused"),
    ("ann", "POST", "/keys", {"json": {"person": "bob"}}, "manage_keys", "refused"),
    ("ann", "GET", "/acts", {}, "read_acts", "refused"),
    ("aude", "GET", "/acts", {}, "read_acts", "done"),
    ("aude", "GET", "/acts/verify", {}, "read_acts", "done"),
    ("ann", "GET", "/metrics", {}, "read_metrics", "refused"),
    ("admin", "GET", "/metrics", {}, "read_metrics", "done"),
    ("cem", "GET", "/collections", {}, "read_collections", "done"),
    ("cem", "GET", "/collections/nothing", {}, "read_collections", "refused"),
    (None, "GET", "/collections/drinks", {}, "sign_in", "refused"),
    ("cem", "POST", "/collections/drinks/reports", {"headers": BATCH}, "send_reports", "done"),
    ("cem", "GET", "/collections/votes/estimate", {}, "read_estimates", "refused"),
    ("ann", "GET", "/collections/votes/estimate?candidate=yes&confidence=2", {}, "read_estimates", "failed"),
    ("ann", "GET", "/collections/drinks/estimate", {}, "read_estimates", "done"),
]


@pytest.mark.essential
def test_77_every_request_leaves_one_act(beside):
    """Catalogue 77: whether it is done, refused, fails, or is none of the interface."""
    report = bytes(PROTOCOLS["drinks"].client().report("tea"))
    with beside.client("cem") as cem:  # without a report there is no estimate
        assert cem.post("/collections/drinks/reports", content=report, headers=BATCH).json()["accepted"] == 1
    for person, method, path, options, action, outcome in REQUESTS:
        before = len(beside.acts())
        with beside.client(person) as client:
            if "content" in options:
                client.headers["Content-Type"] = "application/json"
            answer = client.request(method, path, **options)
        written = beside.acts()[before:]
        assert [(act.person, str(act.action), str(act.outcome)) for act in written] == [
            (person or "", action, outcome)
        ], (path, answer.status_code)


def test_devices_without_a_key_leave_no_act(beside):
    """Acts have moments and are kept for ever: of a public collection they would say when each report came."""
    before = len(beside.acts())
    reports = b"".join(map(bytes, PROTOCOLS["votes"].client().report_many(["yes"] * 3)))
    with beside.client() as nobody:
        answers = [
            nobody.get("/collections/votes"),
            nobody.post("/collections/votes/reports", content=reports, headers=BATCH),
            nobody.post("/collections/votes/reports", content=b"x", headers=BATCH),
            nobody.post("/collections/votes/reports", headers={}),
        ]
    assert [answer.status_code for answer in answers] == [200, 200, 422, 422]
    assert len(beside.acts()) == before


def test_a_request_counts_once_whatever_it_does(strict):
    """Routes that need to know who asks before they know what is asked do not ask twice."""
    paths = [
        "/keys", "/acts", "/releases/nothing", "/questions/nothing", "/datasets/clinic/accounts", "/approvals",
    ]  # fmt: skip
    gateway = strict(requests_per_minute=len(paths))
    with gateway.client("aude") as aude:
        answers = [aude.get(path).status_code for path in [*paths, "/me"]]
    assert answers[-1] == 429
    assert 429 not in answers[:-1]


def test_what_is_over_the_limit_leaves_no_act_so_that_nobody_fills_the_log(strict):
    gateway = strict(requests_per_minute=3)
    before = len(gateway.acts())
    with gateway.client() as nobody, gateway.client("cem") as cem:
        assert [nobody.get("/me").status_code for _ in range(10)] == [401] * 3 + [429] * 7
        assert [cem.get("/me").status_code for _ in range(10)] == [200] * 3 + [429] * 7
    assert len(gateway.acts()) - before == 6


def test_who_signed_in_not_may_do_nothing(beside):
    somebody = Caller(beside.gateway, "", "127.0.0.1")
    for action in Action:
        for dataset in (None, "clinic"):
            with pytest.raises(Exception, match=r"not allowed|not found"), somebody.doing(action, dataset):
                raise AssertionError(action)


@pytest.mark.parametrize("scope", KeyScope)
def test_the_scope_of_a_key_is_asked_for(beside, scope):
    token = beside.gateway.keys.make("ann", name="scoped", scopes=[scope]).token
    wanted = {
        KeyScope.READ: ("GET", "/datasets/clinic", {}),
        KeyScope.ESTIMATE: ("POST", "/datasets/clinic/estimate", {"json": {"sql": COUNT, "epsilon": 1}}),
        KeyScope.ASK: ("POST", "/datasets/clinic/ask", {"json": {"sql": COUNT, "epsilon": 1}}),
        KeyScope.MANAGE: ("POST", "/keys", {"json": {"scopes": [str(scope)]}}),
        KeyScope.REPORT: ("POST", "/collections/drinks/reports", {"headers": BATCH}),
    }
    with beside.client(token=token) as client:
        answers = {one: client.request(method, path, **rest) for one, (method, path, rest) in wanted.items()}
    assert {one for one, answer in answers.items() if answer.is_success} == {scope}
    assert {answer.status_code for one, answer in answers.items() if one is not scope} == {403}


def test_accounts_are_those_of_the_dataset_alone(beside):
    ann = Principal(name="ann", grants=GRANTS["ann"])
    assert account_for(ann, "clinic") == "clinic/ann"
    assert is_own(ann, "clinic", "clinic/ann")
    assert not is_own(ann, "visits", "clinic/ann")
    assert account_of(beside.gateway, "clinic", "") == "clinic"
    for path in ("nobody", "../visits", "ann/../bob", "/", "ann/"):
        with pytest.raises(NotFoundError):
            account_of(beside.gateway, "clinic", path)
    with pytest.raises(Exception, match="ask an owner"):
        account_for(Principal(name="x", grants=(Grant("clinic", Role.OWNER),)), "clinic")


def test_an_act_is_on_the_disk_before_a_change_is_confirmed(beside, curator):
    with beside.client("admin") as admin:
        assert admin.post("/people", json={"name": "written"}).status_code == 201
    last = beside.gateway.acts.read(limit=1_000_000)[-1].act
    assert (last.action, last.target, last.outcome) == (Action.MANAGE_PEOPLE, "written", ActOutcome.DONE)
    assert httpx.get(f"{curator.url}/v1/health", timeout=SECONDS).status_code == 200
