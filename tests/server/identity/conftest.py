"""A server's database in SQLite and in PostgreSQL, with a clock that stands still."""

import pytest
from tests.server.identity.databases import KINDS, Clock, location

from sfumato.server.identity.database import Database


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=KINDS)
def database(request, tmp_path, clock):
    opened = Database(location(request.param, tmp_path), now=clock)
    yield opened
    opened.close()


@pytest.fixture
def in_a_file(tmp_path, clock):
    opened = Database(location("sqlite", tmp_path), now=clock)
    yield opened
    opened.close()
