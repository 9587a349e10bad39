"""A gateway of the curator that all tests share, and people who visit its pages."""

import itertools
from contextlib import ExitStack

import pytest
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from tests.server.dashboard.browsing import Visitor
from tests.server.running import Beside, running

from sfumato.server.dashboard.pages import signing_in

_NUMBERS = itertools.count(20_000)


class Closing(Beside):
    """A gateway whose clients are closed after each test."""

    def __init__(self, *args):
        super().__init__(*args)
        self.opened = ExitStack()

    def client(self, *args, **options):
        return self.opened.enter_context(super().client(*args, **options))


@pytest.fixture(scope="session")
def gateway_beside():
    opened = Closing(running())
    yield opened
    opened.stop()


@pytest.fixture
def beside(gateway_beside):
    """A gateway in this process."""
    with gateway_beside.opened:
        yield gateway_beside


@pytest.fixture(autouse=True)
def no_mistakes(monkeypatch):
    """Nobody has sent a wrong key of late."""
    monkeypatch.setattr(signing_in, "_mistaken", MovingWindowRateLimiter(MemoryStorage()))


@pytest.fixture
def visitor(beside):
    """Opens browsers, of somebody who has signed in or of nobody."""
    with ExitStack() as opened:

        def made(person=None, **headers):
            found = Visitor(beside, **headers)
            opened.enter_context(found.client)
            return found if person is None else found.sign_in(person)

        yield made


@pytest.fixture
def fresh():
    """A query that nobody has asked before; each time another one."""
    return lambda: f"SELECT COUNT(*) AS n FROM clinic WHERE age <> {next(_NUMBERS)}"
