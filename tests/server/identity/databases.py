"""Databases of servers that tests open: SQLite in a file, or a schema of its own in the PostgreSQL that tests start."""

from datetime import UTC, datetime, timedelta
from itertools import count

from tests.engines.postgres_server import OWNER, OWNER_PASSWORD, server

_NUMBERS = count()
KINDS = ("sqlite", "postgresql")


def location(kind, folder):
    """Where there is no database yet."""
    if kind == "sqlite":
        return f"sqlite:///{folder}/people{next(_NUMBERS)}.db"
    schema = f"people{next(_NUMBERS)}"
    server().execute(f"CREATE SCHEMA {schema}")
    return f"{server().url(user=OWNER, password=OWNER_PASSWORD)}?options=-csearch_path%3D{schema}"


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self):
        self.moment = datetime(2026, 11, 27, tzinfo=UTC)

    def __call__(self):
        return self.moment

    def wait(self, seconds):
        self.moment += timedelta(seconds=seconds)
