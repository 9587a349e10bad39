"""A curator that runs for all tests of a process, and a gateway of its own for each file of them."""

import itertools

import pytest
from tests.server.running import Beside, running

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def curator():
    """The curator whose processes run."""
    return running()


@pytest.fixture(scope="module")
def beside(curator):
    """Another gateway of it, in this process."""
    opened = Beside(curator)
    yield opened
    opened.stop()


@pytest.fixture
def strict(curator):
    """Opens gateways with limits of their own."""
    opened = []

    def made(**limits):
        opened.append(Beside(curator, **limits))
        return opened[-1]

    yield made
    for one in opened:
        one.stop()


@pytest.fixture
def fresh():
    """A query that nobody has asked before; each time another one."""
    return lambda: f"SELECT COUNT(*) AS n FROM clinic WHERE age <> {10_000 + next(_NUMBERS)}"
