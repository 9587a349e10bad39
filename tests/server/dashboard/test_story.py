"""The whole way in a browser: an owner registers a file and gives shares, analysts ask and pay, one is refused.

The dataset that the owner registers is served by a curator of its own, whose operator copied what the page shows.
"""

import json
import re
import subprocess
from threading import Event, Thread

import pytest
from playwright.sync_api import expect
from tests.server.dashboard.chromium import Screen, opened
from tests.server.running import SECONDS, wait_until_ready

from sfumato.ledger.locations import open_ledger
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.server.config import load_curator
from sfumato.server.identity.database import Database
from sfumato.server.identity.keys import ApiKeys
from sfumato.server.identity.people import Directory, Grant, Role
from sfumato.server.serve import Supervisor

ROWS = [("A", 34), ("B", 51), ("A", 70), ("C", 18)] * 50
SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
FIELDS = {
    "dataset": "hospital", "table": "visits", "source": "visits.csv", "unit_name": "patient", "declared_rows": "200",
    "name0": "age", "low0": "0", "high0": "120", "name1": "ward", "values1": "A, B, C",
}  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    with opened() as found:
        yield found


@pytest.fixture
def screen(browser):
    made = []

    def opened_for(url, key):
        made.append(Screen(browser, url))
        return made[-1].sign_in(key)

    yield opened_for
    for one in made:
        one.close()


def register(olga, folder):
    """Fill in the form; gives what an operator adds to the curator's file, with the policy beside it."""
    page = olga.page
    page.click("nav >> text=New dataset")
    for field, value in FIELDS.items():
        page.fill(f"[name={field}]", value)
    page.check("[name=unit][value=row]")
    page.select_option("[name=type0]", "integer")
    page.select_option("[name=origin]", "documents")
    page.click("button[value=preview]")
    expect(page.locator("#outcome")).to_contain_text("±")
    olga.looked_at("story_register")
    with page.expect_download() as loading:
        page.click("button[value=download]")
    loading.value.save_as(folder / "hospital.toml")
    return page.locator("#outcome pre").last.inner_text()


class Served:
    """A curator of one dataset, and the keys of its people."""

    def __init__(self, folder, dataset):
        (folder / "visits.csv").write_text("ward,age\n" + "".join(f"{ward},{age}\n" for ward, age in ROWS))
        config = folder / "curator.toml"
        config.write_text(f'address = "127.0.0.1:0"\n\n[work]\nquantum = 0\n\n{dataset}')
        self._ended, self.curator = Event(), load_curator(config)
        supervisor = Supervisor(config)
        self.url = supervisor.url
        self._thread = Thread(target=supervisor.run, kwargs={"ended": self._ended}, daemon=True)
        self._thread.start()

    def keys(self):
        """People, as an admin adds them by a command; the owner is one by then."""
        database = Database(self.curator.database)
        people, keys = Directory(database), ApiKeys(database, secret=self.curator.secret)
        for name in ("olga", "ann", "bob", "cem"):
            people.add(name)
        people.grant("olga", Grant("hospital", Role.OWNER))
        made = {name: keys.make(name).token for name in ("olga", "ann", "bob", "cem")}
        database.close()
        return made

    def suspend(self):
        """A query fails on rows, as far as the ledger hears."""
        with open_ledger(self.curator.ledger, must_exist=True) as ledger:
            event, charge = PureEvent("0.001"), PureDP("0.001")
            ledger.suspend_account(ledger.reserve("hospital/ann", event=event, charge=charge, question="q"))

    def stop(self):
        self._ended.set()
        self._thread.join()


def give_share(olga, name, epsilon):
    page = olga.page
    olga.go("/datasets/hospital/budgets")
    page.fill("#name", name)
    page.fill("#epsilon", epsilon)
    page.click("button:has-text('Open an account')")
    page.wait_for_selector(f"text=What remained of hospital/{name}")
    page.click("text=Who has a role")
    page.fill("#person", name)
    page.select_option("#charged", f"hospital/{name}")
    page.click("button:has-text('Give the role')")
    page.wait_for_selector(f"td >> text={name}")


def ask_and_pay(ann, folder):
    """See the cost of a target error, pay it, and fetch the answer; gives its numbers."""
    page = ann.page
    page.click("text=Ask a query >> nth=0")
    page.fill("#sql", SQL)
    page.fill("#target", "8")
    expect(page.locator("#estimate")).to_contain_text("± 8")
    cost = page.inner_text("#estimate .big")
    assert re.fullmatch(r"ε 0\.\d+", cost)
    ann.looked_at("story_cost")
    page.click("button[value=run]")
    if page.locator("h1").inner_text() == "Spend this much?":
        page.click("button:has-text('Yes, run it')")
    page.wait_for_selector("text=Receipt")
    assert cost in page.inner_text("main")
    ann.looked_at("story_answer")
    with page.expect_download() as loading:
        page.click("main >> text=CSV")
    loading.value.save_as(folder / "answer.csv")
    return [line.split(",")[1] for line in (folder / "answer.csv").read_text("utf-8").splitlines()[1:]]


def asked_by_curl(served, key):
    """What the interface answers to the same question, and whether it cost anything."""
    body = json.dumps({"sql": SQL, "error": {"n": "8"}})
    command = [
        "curl", "--silent", "--include", "--header", f"Authorization: Bearer {key}", "--header",
        "Content-Type: application/json", "--data", body, f"{served.url}/v1/datasets/hospital/ask",
    ]  # fmt: skip
    with open_ledger(served.curator.ledger, must_exist=True) as ledger:
        before = ledger.spent("hospital/ann")
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS).stdout
        return answer, ledger.spent("hospital/ann") == before


def is_refused(bob, cem):
    """One is beyond their share, another has none."""
    bob.go("/datasets/hospital/query")
    bob.page.fill("#sql", "SELECT AVG(age) AS mean FROM visits")
    bob.page.fill("#epsilon", "0.5")
    bob.page.click("button[value=run]")
    expect(bob.page.locator("[role=alert]").first).to_contain_text("budget exceeded")
    assert "hospital" not in cem.page.inner_text("main")
    cem.go("/datasets/hospital/query")
    expect(cem.page.locator("[role=alert]")).to_contain_text("not found")


def resume(olga, ann):
    """An analyst hears of an outage until the owner acknowledges the failure."""
    page = ann.page
    ann.go("/datasets/hospital/query")
    page.fill("#sql", "SELECT COUNT(*) AS n FROM visits")
    page.click("button[value=run]")
    expect(page.locator("[role=alert]").first).to_contain_text("the data is unavailable")
    olga.go("/")
    olga.page.click("text=Look at it >> nth=0")
    olga.looked_at("story_suspended")
    olga.page.fill("#reason", "the cell that broke it is gone")
    olga.page.click("button:has-text('Acknowledge and resume')")
    expect(olga.page.locator("aside")).to_contain_text("1 acknowledged failures")
    page.click("button[value=run]")
    page.wait_for_selector("text=Receipt")


def test_from_a_file_to_answers_and_their_limits(screen, beside, tmp_path):
    host, port = beside.address
    served = Served(tmp_path, register(screen(f"http://{host}:{port}", beside.keys["olga"]), tmp_path))
    try:
        wait_until_ready(served.url)
        keys = served.keys()
        olga, ann = screen(served.url, keys["olga"]), screen(served.url, keys["ann"])
        give_share(olga, "ann", "1")
        give_share(olga, "bob", "0.125")
        olga.looked_at("story_roles")
        ann.go("/")
        numbers = ask_and_pay(ann, tmp_path)
        answer, is_free = asked_by_curl(served, keys["ann"])
        assert is_free
        assert "sfumato-reused: true" in answer.lower()
        assert numbers
        assert all(number in answer for number in numbers)
        is_refused(screen(served.url, keys["bob"]), screen(served.url, keys["cem"]))
        served.suspend()
        resume(olga, ann)
    finally:
        served.stop()
