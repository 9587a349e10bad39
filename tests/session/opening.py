"""Sessions that the tests open, on data with a canary in every cell, and an engine that records what it is asked."""

from dataclasses import replace

import pyarrow as pa

import sfumato as sf
from sfumato.engines.base import groups
from sfumato.errors import EngineError

CANARY = "canary-3141592653"
COLUMNS = {
    "name": sf.text(),
    "sex": sf.text(values=["f", "m"]),
    "age": sf.integer(0, 100),
    "pay": sf.real(0, 10),
    "free": sf.integer(),
}
DATA = pa.table(
    {
        "name": [CANARY, CANARY, None, "x"],
        "sex": ["f", "m", "m", CANARY],
        "age": [30, 50, 40, 31415926],
        "pay": [1.5, 2.5, None, 3.1415926],
        "free": [31415926] * 4,
    }
)
COUNT = "SELECT COUNT(*) AS n FROM people"


def opened(data=DATA, **changes):
    """A session on the table `people`, with a budget of 1 unless told otherwise."""
    return sf.open(data, **({"name": "people", "columns": COLUMNS, "budget": sf.PureDP(1)} | changes))


class RecordingEngine:
    """Keeps what it is asked, then answers as the engine behind it, or fails."""

    name = "recording"

    def __init__(self, engine, *, fails=False):
        self._engine, self._fails = engine, fails
        self.statements, self.salts = [], []

    def run(self, statement, *, salt):
        self.statements.append(groups(statement))
        self.salts.append(salt)
        if self._fails:
            raise EngineError(self.name, "was told to fail")
        return self._engine.run(statement, salt=salt)

    def close(self):
        self._engine.close()


def recorded(session, *, fails=False):
    """The session with a recording engine, and that engine."""
    engine = RecordingEngine(session._desk.engine, fails=fails)
    session._desk = replace(session._desk, engine=engine)
    return session, engine
