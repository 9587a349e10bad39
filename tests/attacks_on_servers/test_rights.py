"""What owners, admins and analysts cannot do by giving things names: each is tried on a gateway over HTTP."""

import pytest
from tests.server.running import Beside, running

ASK = {"sql": "SELECT COUNT(*) AS n FROM clinic WHERE age < 50", "epsilon": "0.01"}


@pytest.fixture(scope="module")
def beside():
    opened = Beside(running())
    yield opened
    opened.stop()


@pytest.mark.parametrize(
    "account", ["visits", "visits/ann", "clinicvisits", "clinic", "clinic/", "ann", "/ann", "clinic//ann"]
)
def test_a_grant_charges_no_account_of_another_dataset(beside, account):
    """An account below one's dataset that is called as another dataset is not that one."""
    with beside.client("olga") as olga, beside.client("admin") as admin:
        for name in ("visits", "ann"):
            olga.post("/datasets/clinic/accounts", json={"name": name, "budget": {"epsilon": 1, "delta": "1e-6"}})
        admin.post("/people", json={"name": "eve"})
        grant = {"dataset": "clinic", "role": "analyst", "account": account}
        given = olga.post("/people/eve/grants", json=grant)
    held = {one.account for one in beside.gateway.people.grants("eve")}
    assert held <= {"clinic", "clinic/visits", "clinic/ann"}
    assert given.status_code == (201 if account == "clinic" else 404)


def test_an_owner_reads_no_answers_by_joining_the_account_of_an_analyst(beside):
    with beside.client("ann") as ann:
        kept = ann.post("/datasets/clinic/ask", json=ASK).json()["ids"][0]
    with beside.client("omar") as omar:
        joined = {"dataset": "clinic", "role": "analyst", "account": "clinic/ann"}
        assert omar.post("/people/omar/grants", json=joined).status_code == 201
        refused = [
            omar.get(f"/releases/{kept}"), omar.get("/releases?dataset=clinic"),
            omar.post("/datasets/clinic/from-releases", json={"sql": ASK["sql"]}),
            omar.post("/datasets/clinic/ask", json=ASK),
        ]  # fmt: skip
        omar.delete("/people/omar/grants/clinic?role=analyst")
    assert [one.status_code for one in refused] == [403] * 4


def test_nobody_has_a_name_that_no_act_can_hold(beside):
    """Whoever was called as keys are did what they liked, and left no acts."""
    with beside.client("admin") as admin, beside.client("olga") as olga:
        person = admin.post("/people", json={"name": "sfk_a_b"})
        new = {"name": "sfk_a_b", "budget": {"epsilon": 1, "delta": "1e-6"}}
        account = olga.post("/datasets/clinic/accounts", json=new)
    assert [person.status_code, account.status_code] == [422, 422]
