"""`sfumato serve --demo`: a curator on this machine alone, with the Adult census or made-up people, and keys to try it.

What loads the census, and what makes people and keys, are programs of their own: the process that keeps the others
alive stays small.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

from sfumato.errors import LedgerMissingError, UnavailableError
from sfumato.server.config import load_curator
from sfumato.server.serve import Supervisor, serve

DATASET: Final = "adult"
_SECONDS: Final = 60.0
_PAUSE: Final = 0.05

_CURATOR: Final = """\
address = "127.0.0.1:{port}"

[datasets.adult]
policy = "adult.toml"
budget = {{ epsilon = 10, delta = "1e-5" }}
declared_rows = 33_000
"""

_POLICY: Final = """\
dataset = "adult"
version = "demo"

[unit]
name = "person"
neighboring_relation = "add_or_remove_one"

[tables.adult]
source = "adult.parquet"
unit = "row"

[tables.adult.columns.age]
type = "integer"
bounds = [17, 90]

[tables.adult.columns.hours_per_week]
type = "integer"
bounds = [1, 99]

[tables.adult.columns.education_num]
type = "integer"
bounds = [1, 16]

[tables.adult.columns.sex]
values = ["Female", "Male"]

[tables.adult.columns.income]
values = ["<=50K", ">50K"]

[tables.adult.columns.marital_status]
values = [
  "Married-civ-spouse", "Never-married", "Divorced", "Separated", "Widowed", "Married-spouse-absent",
  "Married-AF-spouse",
]

[tables.adult.columns.education]
values = [
  "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college", "Assoc-voc",
  "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
]
"""


def write_files(folder: Path, port: int) -> str:
    """Write the people, their policy and the curator's file; gives where the people come from."""
    import pyarrow.parquet as pq

    from sfumato.datasets import adult_or_people

    table, origin = adult_or_people()
    pq.write_table(table, folder / "adult.parquet")
    (folder / "adult.toml").write_text(_POLICY, "utf-8")
    (folder / "curator.toml").write_text(_CURATOR.format(port=port), "utf-8")
    return origin


def make_people(config: Path) -> dict[str, str]:
    """An admin, an owner and two analysts, each with a budget; gives their keys, which are shown this once."""
    from sfumato.ledger.core.entry import Opened
    from sfumato.ledger.locations import open_ledger
    from sfumato.privacy.guarantees import ApproxDP
    from sfumato.server.identity.database import Database
    from sfumato.server.identity.keys import ApiKeys
    from sfumato.server.identity.people import Directory, Grant, Role

    curator = load_curator(config)
    with open_ledger(curator.ledger, must_exist=True) as ledger:
        above = ledger.opened(DATASET)
        for name in ("ann", "bob"):
            ledger.open_account(
                Opened(
                    account=f"{DATASET}/{name}", budget=ApproxDP(5, "1e-6"), parents=(DATASET,),
                    neighboring_relation=above.neighboring_relation, privacy_unit=above.privacy_unit,
                )
            )  # fmt: skip
    database = Database(curator.database)
    people, keys = Directory(database), ApiKeys(database, secret=curator.secret)
    roles = {
        "admin": (), "olga": (Grant(DATASET, Role.OWNER),),
        "ann": (Grant(DATASET, Role.ANALYST, f"{DATASET}/ann"),),
        "bob": (Grant(DATASET, Role.ANALYST, f"{DATASET}/bob"),),
    }  # fmt: skip
    made = {}
    for name, grants in roles.items():
        people.add(name, is_platform_admin=name == "admin")
        for grant in grants:
            people.grant(name, grant)
        made[name] = keys.make(name, name="demo").token
    database.close()
    return made


def serve_demo(port: int, told: Callable[[str], None]) -> None:
    """Serve a curator for trying things out, until this process is told to end; then all of it is forgotten.

    Args:
        port: Where it listens, on this machine alone; 0 takes any that is free.
        told: Hears lines for people to read.
    """
    with tempfile.TemporaryDirectory(prefix="sfumato-demo-") as folder:
        config = Path(folder) / "curator.toml"
        told("Getting the Adult census, or making people up …")
        origin = _program("files", folder, str(port))
        is_over = Event()

        def welcome(supervisor: Supervisor) -> None:
            def wait() -> None:
                declared, end = supervisor.curator.declarations(DATASET), time.monotonic() + _SECONDS
                while not declared.exists() and not is_over.wait(_PAUSE) and time.monotonic() < end:
                    pass
                if declared.exists():
                    for line in _lines(supervisor.url, str(origin), _program("people", str(config))):
                        told(line)

            Thread(target=wait, daemon=True).start()

        try:
            serve(config, started=welcome)
        finally:
            is_over.set()


def _lines(url: str, origin: str, keys: dict[str, str]) -> list[str]:
    question = "SELECT sex, COUNT(*) AS n FROM adult GROUP BY sex"
    body = json.dumps({"sql": question, "epsilon": "0.1"})
    ann = keys["ann"]
    headers = f"-H 'Authorization: Bearer {ann}' -H 'Content-Type: application/json'"
    python = f'import sfumato as sf; print(sf.connect("{url}", token="{ann}").sql("{question}", epsilon="0.1"))'
    return [
        f"A curator of {origin} is at {url}. It ends with Ctrl-C, and forgets everything.",
        "",
        *(f"  {name:6} {_WHO[name]:38} {key}" for name, key in keys.items()),
        "",
        "Three things to try:",
        f"  curl -s {url}/v1/datasets/adult/ask {headers} -d '{body}'",
        f"  python -c '{python}'",
        f"  SFUMATO_TOKEN={ann} sfumato query --url {url} 'SELECT AVG(age) AS mean FROM adult' --epsilon 0.1",
    ]


_WHO: Final = {
    "admin": "keeps the people, and may not ask",
    "olga": "owns the data, and sets budgets",
    "ann": "an analyst, ε 5 of the budget of ε 10",
    "bob": "an analyst, ε 5 of the same budget",
}


def _program(*words: str) -> Any:
    """What this file says when it is run as a program."""
    done = subprocess.run([sys.executable, "-m", "sfumato.server.demo", *words], stdout=subprocess.PIPE, check=True)  # noqa: S603 # this package
    return json.loads(done.stdout)


def _main(words: list[str]) -> Any:
    match words:
        case ["files", folder, port]:
            return write_files(Path(folder), int(port))
        case ["people", config]:
            end = time.monotonic() + _SECONDS
            while True:
                try:
                    return make_people(Path(config))
                except LedgerMissingError:
                    if time.monotonic() > end:
                        raise UnavailableError from None
                    time.sleep(_PAUSE)
        case _:
            raise SystemExit(2)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_main(sys.argv[1:])))
