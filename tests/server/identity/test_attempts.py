"""Whoever comes back from a provider is who was sent there, once, and soon."""

import pytest
from sqlalchemy import text

from sfumato.errors import NotAuthenticatedError
from sfumato.server.identity.attempts import PATIENCE, Attempts

BROWSER, OTHER = "b" * 64, "c" * 64


@pytest.fixture
def attempts(database, tmp_path):
    return Attempts(database, secret=tmp_path / "keys.secret")


def is_refused(attempts, state, provider="company", browser=BROWSER):
    try:
        attempts.take(state, provider, browser=browser)
    except NotAuthenticatedError:
        return True
    return False


def test_the_same_attempt_comes_back(attempts):
    sent = attempts.begin("company", browser=BROWSER, target="/log")
    assert attempts.take(sent.state, "company", browser=BROWSER) == sent
    assert sent.target == "/log"


def test_all_that_proves_an_attempt_is_new_each_time_and_the_database_has_none_of_it(attempts, database):
    sent = [attempts.begin("company", browser=BROWSER, target="/") for _ in range(3)]
    secret = [part for one in sent for part in (one.state, one.nonce, one.verifier)]
    assert len(set(secret)) == 9
    assert all(len(part) == 64 for part in secret)
    with database.reading() as connection:
        stored = repr(connection.execute(text("SELECT * FROM sign_in_attempt")).all())
    assert not any(part in stored for part in [*secret, BROWSER])
    assert not any(part in repr(sent) for part in secret)


def test_nobody_comes_back_twice(attempts):
    state = attempts.begin("company", browser=BROWSER, target="/").state
    assert not is_refused(attempts, state)
    assert is_refused(attempts, state)


@pytest.mark.parametrize("state", ["", "0" * 64, "é", "x" * 10_000])
def test_nobody_comes_back_who_was_not_sent(attempts, state):
    attempts.begin("company", browser=BROWSER, target="/")
    assert is_refused(attempts, state)


def test_another_browser_or_from_another_provider_is_refused_and_spoils_the_attempt(attempts):
    for wrong in ({"browser": OTHER}, {"provider": "other"}, {"browser": ""}):
        state = attempts.begin("company", browser=BROWSER, target="/").state
        assert is_refused(attempts, state, **wrong)
        assert is_refused(attempts, state)


def test_whoever_takes_too_long_is_refused_and_forgotten(attempts, clock, database):
    state = attempts.begin("company", browser=BROWSER, target="/").state
    clock.wait(PATIENCE.total_seconds())
    assert is_refused(attempts, state)
    attempts.begin("company", browser=BROWSER, target="/")
    clock.wait(PATIENCE.total_seconds())
    attempts.begin("company", browser=BROWSER, target="/")
    with database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM sign_in_attempt")).scalar_one() == 1
