"""A curator of its own for a test: supervisor, worker and gateways are processes, and everything goes through HTTP."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
from tests.ledger.processes import Home

from sfumato.ledger.locations import FOLDER
from sfumato.privacy.guarantees import PureDP

PATIENCE = 60.0  # seconds, after which what should have happened will not
DATASET = "people"
ROWS = 1_000
FULL_SPEED = {"quantum": 0.0, "queue": 256}
WIDE = {"requests_per_minute": 10**6, "concurrent_per_person": 64, "concurrent": 128}

_POLICY = """\
dataset = "people"
version = "1"

[unit]
name = "person"
neighboring_relation = "add_or_remove_one"

[tables.people]
source = "people.parquet"
unit = "row"

[tables.people.columns.age]
type = "integer"
bounds = [0, 100]

[tables.people.columns.ward]
values = ["north", "south"]
"""


def write_curator(
    folder: Path, *, epsilon="1000", gateways=1, ledger="ledger.db", database=None, limits=None, work=None,
    policy=_POLICY, data=None, declared_rows=ROWS,
) -> Path:  # fmt: skip
    """The files of a curator of made-up people; gives the curator's."""
    data = data or pa.table(
        {"age": [number * 37 % 101 for number in range(ROWS)], "ward": ["north", "south"] * (ROWS // 2)}
    )
    pq.write_table(data, folder / "people.parquet")
    (folder / "people.toml").write_text(policy, "utf-8")
    sections = {"limits": limits or WIDE, "work": work or FULL_SPEED}
    lines = [
        'address = "127.0.0.1:0"', 'log_level = "warning"', f"gateways = {gateways}", f"ledger = {json.dumps(ledger)}",
        *([] if database is None else [f"database = {json.dumps(database)}"]),
        "[datasets.people]", 'policy = "people.toml"', f'budget = {{ epsilon = "{epsilon}" }}',
        f"declared_rows = {declared_rows}",
    ]  # fmt: skip
    for name, values in sections.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    config = folder / "curator.toml"
    config.write_text("\n".join(lines) + "\n", "utf-8")
    return config


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a key."""

    name: str
    token: str

    def client(self, url: str, **options) -> httpx.Client:
        """A client that says who they are."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=f"{url}/v1", headers=headers, timeout=PATIENCE, **options)


class Curator:
    """A curator that runs, from the start of a block to its end.

    Args:
        config: Its file.
        program: The module that serves it, with an argument for its file.
    """

    def __init__(self, config: Path, *, program: str = "tests.attacks_on_servers.serving") -> None:
        self.config, self._program = config, program
        self.folder = config.parent

    def __enter__(self):
        command = [sys.executable, "-m", self._program, str(self.config)]
        self._log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self._log, start_new_session=True, env=self._environment()
        )
        self.url = self.process.stdout.readline().decode().strip()
        try:
            assert self.url, self.log
            self.wait_until_ready()
            self.admin, self.owner = self._first_people()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE)
        with suppress(ProcessLookupError):  # whatever it left, in its session and nowhere else
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self._log.close()

    @property
    def log(self) -> str:
        """What its processes wrote to their error streams."""
        return (self.folder / "log").read_text("utf-8")

    def wait_until_ready(self) -> None:
        """Wait until the dataset can be asked."""
        end = time.monotonic() + PATIENCE
        while True:
            with suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/v1/ready", timeout=PATIENCE).status_code == 200:
                    return
            assert time.monotonic() < end, self.log
            time.sleep(0.05)

    def analyst(self, account: str, name: str) -> Person:
        """A new analyst, whose queries are charged to an account below the dataset."""
        with self.admin.client(self.url) as admin, self.owner.client(self.url) as owner:
            _done(admin.post("/people", json={"name": name}))
            grant = {"dataset": DATASET, "role": "analyst", "account": account}
            _done(owner.post(f"/people/{name}/grants", json=grant))
            return Person(name, _done(admin.post("/keys", json={"person": name}))["token"])

    def account(self, path: str, budget) -> None:
        """A new account below the dataset."""
        with self.owner.client(self.url) as owner:
            _done(owner.post(f"/datasets/{DATASET}/accounts", json={"name": path, "budget": {"epsilon": str(budget)}}))

    def accounts(self) -> dict:
        """All accounts, by name."""
        with self.owner.client(self.url) as owner:
            return {one["name"]: one for one in _done(owner.get(f"/datasets/{DATASET}/accounts"))}

    def spent(self) -> Fraction:
        """What the dataset has spent of its ε."""
        return Fraction(self.accounts()[DATASET]["spent"]["epsilon"])

    def grow(self, epsilon) -> None:
        """Change the budget of the dataset, which its owner declares where the ledger is and not over HTTP."""
        with self.ledger() as ledger:
            ledger.change_budget(DATASET, PureDP(epsilon), reason="a round of a race")

    def acknowledge(self) -> None:
        """Let a suspended dataset be asked again."""
        with self.owner.client(self.url) as owner:
            _done(owner.post(f"/datasets/{DATASET}/acknowledgments", json={"reason": "a test of kills"}))

    def ledger(self):
        """Its ledger, to be read beside it."""
        from sfumato.server.config import load_curator

        return Home(load_curator(self.config).ledger, self.folder).opened(must_exist=True)

    def _environment(self):
        """One thread of linear algebra, and the folder of what lies beside a ledger on a server."""
        return os.environ | {"OPENBLAS_NUM_THREADS": "1", FOLDER: str(self.folder)}

    def _first_people(self):
        from sfumato.server.config import load_curator
        from sfumato.server.identity.database import Database
        from sfumato.server.identity.keys import ApiKeys
        from sfumato.server.identity.people import Directory, Grant, Role

        curator = load_curator(self.config)
        with closing(Database(curator.database)) as database:
            people, keys = Directory(database), ApiKeys(database, secret=curator.secret)
            people.add("admin", is_platform_admin=True)
            people.add("olga")
            people.grant("olga", Grant(DATASET, Role.OWNER))
            return tuple(Person(name, keys.make(name).token) for name in ("admin", "olga"))


def database() -> str:
    """The address of a database without tables, on the PostgreSQL of the tests, which its owner uses."""
    from tests.engines.postgres_server import OWNER, OWNER_PASSWORD, server

    name = f"people{next(_NUMBERS)}"
    server().execute(f"CREATE DATABASE {name}")
    return server().url(user=OWNER, password=OWNER_PASSWORD).rpartition("/")[0] + f"/{name}"


_NUMBERS = count()


def _done(response):
    assert response.is_success, response.text
    return response.json()
