"""A curator as `sfumato audit command` asks it: over HTTP, about many copies of a database at once.

`python -m tests.attacks_on_servers.audited FOLDER` answers lines as `sfumato.audit.serve` does. The folder has the
curator's data and a file that says where it is and who asks. Each trial writes the rows anew, and the owner publishes
them as a new version of the data: else all answers but the first would be stored ones.
"""

import json
import sys
import time
from itertools import count
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.audit import serve

WORLDS = 1_000
"""How many copies are asked about at once: each is a group of its own, so that one charge pays for all."""

NAMES = [f"w{number}" for number in range(WORLDS)]
POLICY = f"""\
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

[tables.people.columns.world]
values = {json.dumps(NAMES)}
"""
SQL = "SELECT world, COUNT(*) AS n FROM people GROUP BY world ORDER BY world"


def rows_of(ages):
    """The copies, one below the other."""
    table = {"age": list(ages) * WORLDS, "world": [name for name in NAMES for _ in ages]}
    return pa.table(table, schema=pa.schema({"age": pa.int64(), "world": pa.string()}))


class Audited:
    """The curator, as a mechanism.

    Args:
        folder: Where its data is.
        raises: Whether each trial has a version of its own.
    """

    def __init__(self, folder, *, raises=True):
        told = json.loads((folder / "asked").read_text())
        self._path, self._raises, self._numbers = folder / "people.parquet", raises, count(time.time_ns())
        self._owner, self._analyst = (
            httpx.Client(base_url=f"{told['url']}/v1/datasets/people", headers={"Authorization": f"Bearer {told[who]}"})
            for who in ("owner", "analyst")
        )

    def close(self):
        """Let go of the connections."""
        self._owner.close()
        self._analyst.close()

    def __call__(self, database, runs):
        """One output for each run."""
        found = []
        while len(found) < runs:
            found += self._trial(database)
        return found[:runs]

    def _trial(self, database):
        if self._raises:
            pq.write_table(rows_of(database), self._path)
            version = {"data_version": f"trial {next(self._numbers)}"}
            self._owner.post("/versions", json=version).raise_for_status()
        response = self._analyst.post("/ask", json={"sql": SQL, "epsilon": "1"})
        response.raise_for_status()
        assert not self._raises or response.headers["Sfumato-Reused"] == "false"
        (release,) = response.json()["releases"]
        return [value for ((value, *_),) in release["estimates"]]


if __name__ == "__main__":
    serve(Audited(Path(sys.argv[1])))
