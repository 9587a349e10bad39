"""A curator that runs while tests do: a worker and a gateway in processes of their own, one of each for all tests.

Its people are made up. Tests that need other limits or another clock open a gateway of their own beside it, in their
own process, on the same ledger, the same database and the same worker.
"""

import json
import socket
import tempfile
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event, Thread

import httpx
import pyarrow as pa
import pyarrow.csv as pc
from tests.ending import AT_END

from sfumato.ledger.locations import open_ledger
from sfumato.local import DirectEncoding, Rappor, save_protocol
from sfumato.mechanisms import BinaryTree
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.server.config import load_curator
from sfumato.server.gateway.access import Gateway
from sfumato.server.gateway.app import server_of
from sfumato.server.identity.acts import Act
from sfumato.server.identity.database import Database
from sfumato.server.identity.keys import ApiKeys
from sfumato.server.identity.people import Action, Directory, Grant, Role
from sfumato.server.serve import Supervisor
from sfumato.streams import Counter, StreamSession

SECONDS = 60
"""Within which everything has started, or something is wrong."""

CANARY = "canary4711"
"""Stands in rows, where only the process with the data sees it."""

CURATOR = """\
address = "127.0.0.1:0"

[limits]
requests_per_minute = 1_000_000
seconds_to_answer = 20
concurrent_per_person = 16
{limits}
[work]
quantum = {quantum}

[datasets.clinic]
policy = "clinic.toml"
budget = {{ epsilon = 100_000, delta = "1e-3" }}
declared_rows = 300

[datasets.visits]
policy = "visits.toml"
budget = {{ epsilon = 1_000, delta = "1e-3" }}
declared_rows = 600
second_person = true

[collections.drinks]
protocol = "drinks.json"
readers = [{readers}]

[collections.votes]
protocol = "votes.json"
public = true
readers = ["ann"]
origins = ["https://shop.example"]

[counters.entries]
releases = "entries.jsonl"
readers = [{readers}]

[counters.exits]
releases = "exits.jsonl"
readers = ["ann"]

[maps.town]
releases = "town.geojson"
readers = [{readers}]

[maps.lost]
releases = "lost.geojson"
readers = ["ann"]

[synthetic.twins]
releases = "twins.json"
readers = [{readers}]
dataset = "clinic"

[synthetic.lost]
releases = "lost.json"
readers = ["ann"]
"""

CLINIC = """\
dataset = "clinic"
version = "1"

[unit]
name = "patient"
neighboring_relation = "add_or_remove_one"

[tables.clinic]
source = "clinic.csv"
unit = "row"

[tables.clinic.columns.age]
type = "integer"
bounds = [0, 100]

[tables.clinic.columns.sex]
values = ["f", "m"]

[tables.clinic.columns.town]
values = ["Basel", "Delft", "Porto", "=SUM(A1)"]
"""

VISITS = """\
dataset = "visits"
version = "1"

[unit]
name = "patient"
neighboring_relation = "add_or_remove_one"

[tables.visits]
source = "visits.csv"
unit = "patient"
max_rows_per_unit = 3

[tables.visits.columns.minutes]
type = "integer"
bounds = [0, 60]

[tables.visits.columns.ward]
values = ["north", "south"]
"""

GRANTS = {
    "admin": (),
    "olga": (Grant("clinic", Role.OWNER), Grant("visits", Role.OWNER)),
    "omar": (Grant("clinic", Role.OWNER), Grant("visits", Role.OWNER)),
    "ann": (Grant("clinic", Role.ANALYST, "clinic/ann"), Grant("visits", Role.ANALYST, "visits/ann")),
    "bob": (Grant("clinic", Role.ANALYST, "clinic/bob"),),
    "both": (Grant("clinic", Role.OWNER), Grant("clinic", Role.ANALYST, "clinic/both")),
    "aude": (Grant("clinic", Role.AUDITOR), Grant("visits", Role.AUDITOR)),
    "cem": (),
}
PROTOCOLS = {
    "drinks": DirectEncoding(["tea", "coffee", "water"], epsilon=1),
    "votes": Rappor(bits=16, hashes=2, cohorts=4, f="1/2", p="1/2", q="3/4"),
}
"""What is collected of devices: to `drinks` people with keys send, to `votes` anybody."""

TOWN = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {
                "cell": f"row 0, column {place}",
                "n": 40 * place,
                "n_low": 40 * place - 9,
                "n_high": 40 * place + 9,
            },
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[place, 50], [place + 1, 50], [place + 1, 51], [place, 51], [place, 50]]],
            },
        }
        for place in range(4)
    ],
    "sfumato": {"guarantee": "ε 1 for one person", "query": "SELECT <b>", "statistics": ["n"], "confidence": 0.95},
}
"""A map as an owner saves it."""

TWINS = (Path(__file__).parent / "twins.json").read_text("utf-8")
"""Synthetic rows of the clinic, as an owner once published them: by age in bins, sex, town, and two pairs of these."""

ACCOUNTS = sorted({grant.account for grants in GRANTS.values() for grant in grants if grant.account})
COUNT = "SELECT sex, COUNT(*) AS n FROM clinic GROUP BY sex"


def write_files(folder, *, quantum=0, limits=""):
    """The rows of made-up people, their policies, what a counter released, and the curator's file; gives that file."""
    towns = ["Basel", "Delft", "Porto", CANARY]
    clinic = {
        "age": [(37 * row) % 100 for row in range(300)],
        "sex": ["f" if row % 3 else "m" for row in range(300)],
        "town": [towns[row % 4] for row in range(300)],
    }
    visits = {
        "patient": [f"{CANARY}-{row // 2}" for row in range(600)],
        "minutes": [(11 * row) % 60 for row in range(600)],
        "ward": ["north" if row % 5 else "south" for row in range(600)],
    }
    for name, columns, policy in (("clinic", clinic, CLINIC), ("visits", visits, VISITS)):
        pc.write_csv(pa.table(columns), folder / f"{name}.csv")
        (folder / f"{name}.toml").write_text(policy, "utf-8")
    for name, protocol in PROTOCOLS.items():
        save_protocol(protocol, folder / f"{name}.json")
    readers = ", ".join(f'"{name}"' for name in GRANTS)
    (folder / "entries.jsonl").unlink(missing_ok=True)  # of a folder that is written anew
    with StreamSession("entries", budget=PureDP(1)) as account:
        entries = Counter(session=account, mechanism=BinaryTree, horizon=40, epsilon=1)
        entries.add_many(count=9_000)
        entries.tick(33)
        entries.publish(folder / "entries.jsonl")
    (folder / "town.geojson").write_text(json.dumps(TOWN), "utf-8")
    (folder / "twins.json").write_text(TWINS, "utf-8")
    config = folder / "curator.toml"
    config.write_text(CURATOR.format(quantum=quantum, limits=limits, readers=readers), "utf-8")
    return config


def wait_until_ready(url):
    """Wait until every dataset of a curator can be asked."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            if httpx.get(f"{url}/v1/ready", timeout=SECONDS).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.02)
    raise TimeoutError("the curator did not start")


class Running:
    """A curator whose processes run.

    Args:
        folder: Where its files are made.
        options: As of `write_files`.
    """

    def __init__(self, folder, **options):
        self.folder, self.config = folder, write_files(folder, **options)
        self.supervisor, self._ended = Supervisor(self.config), Event()
        self._thread = Thread(target=self.supervisor.run, kwargs={"ended": self._ended}, daemon=True)
        self._thread.start()
        try:
            self.curator = load_curator(self.config)
            wait_until_ready(self.url)
            self.keys = self._make_people()
        except BaseException:
            self.stop()
            raise

    @property
    def url(self):
        return self.supervisor.url

    def stop(self):
        self._ended.set()
        self._thread.join()

    def client(self, person=None, **options):
        """A client with somebody's key, over a real socket."""
        return httpx.Client(
            base_url=f"{self.url}/v1", headers=headers_of(self.keys.get(person)), timeout=SECONDS, **options
        )

    def _make_people(self):
        with open_ledger(self.curator.ledger, must_exist=True) as ledger:
            for account in ACCOUNTS:
                above = ledger.opened(account.partition("/")[0])
                ledger.open_account(
                    replace(above, account=account, budget=ApproxDP(900, "1e-4"), parents=(above.account,))
                )
        database = Database(self.curator.database)
        people, keys = Directory(database), ApiKeys(database, secret=self.curator.secret)
        made = {}
        for name, grants in GRANTS.items():
            people.add(name, is_platform_admin=name == "admin")
            for grant in grants:
                people.grant(name, grant)
            made[name] = keys.make(name, name="tests").token
        database.close()
        return made


def headers_of(token):
    return {} if token is None else {"Authorization": f"Bearer {token}"}


@cache
def running():
    """The one that all tests of this process share; what they ask costs it nothing that others would miss."""
    folder = Path(AT_END.enter_context(tempfile.TemporaryDirectory(prefix="sfumato-tests-")))
    found = Running(folder)
    AT_END.callback(found.stop)
    return found


class Beside:
    """A gateway in this process, which listens on a socket of its own.

    Args:
        running: Whose ledger, database and worker it has.
        origins: The sites whose pages may send reports here, to every collection.
        limits: What is allowed here otherwise.
    """

    def __init__(self, running, *, origins=(), **limits):
        curator = load_curator(running.config)
        if origins:
            curator.collections = {name: replace(found, origins=origins) for name, found in curator.collections.items()}
        curator.limits = curator.limits.model_copy(update=limits)
        self.keys = running.keys
        self.gateway = Gateway(curator, open_ledger(curator.ledger, must_exist=True), Database(curator.database))
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.address = self._listening.getsockname()
        self.server = server_of(self.gateway)
        self._thread = Thread(target=self.server.run, kwargs={"sockets": [self._listening]}, daemon=True)
        self._thread.start()

    def client(self, person=None, *, token=None, **options):
        """A client with somebody's key, or with a text as key."""
        headers = headers_of(token or self.keys.get(person))
        host, port = self.address
        return httpx.Client(base_url=f"http://{host}:{port}/v1", headers=headers, timeout=SECONDS, **options)

    def acts(self):
        """All acts that are written by now; those that nobody waited for are."""
        self.gateway.acts.record(Act(person="", action=Action.OVERRUN))
        return [one.act for one in self.gateway.acts.read(limit=1_000_000) if one.act.action is not Action.OVERRUN]

    def stop(self):
        self.server.should_exit = True
        self._thread.join()
        self._listening.close()
