"""A server for the tests of clients, and no key or pause of whoever runs them."""

import pytest
from tests.client.curator import TOKEN, application, opened, serving

from sfumato.client import problems
from sfumato.client.session import connect


@pytest.fixture(autouse=True)
def of_nobody(monkeypatch, tmp_path):
    """No keys but those of the test, and short pauses."""
    monkeypatch.delenv("SFUMATO_TOKEN", raising=False)
    monkeypatch.delenv("SFUMATO_URL", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setattr(problems, "FIRST_PAUSE", 0.001)


@pytest.fixture
def served():
    """An application and the address at which it is served."""
    session, view = opened()
    with session:
        app = application(session, view)
        with serving(app) as url:
            yield app, url


@pytest.fixture
def remote(served):
    """A session on the server."""
    with connect(served[1], token=TOKEN) as session:
        yield session
