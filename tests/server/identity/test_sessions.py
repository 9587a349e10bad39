"""Sessions of browsers: random, kept as hashes, and over as soon as anything that they rest on is."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from sfumato.errors import NotAuthenticatedError
from sfumato.server.identity.keys import ApiKeys
from sfumato.server.identity.people import Directory, Grant, KeyScope, Role
from sfumato.server.identity.sessions import IDLE, KEYS, LIFE, Sessions


@pytest.fixture(autouse=True)
def people(database):
    directory = Directory(database)
    directory.add("root", is_platform_admin=True)
    directory.add("ann", display_name="Ann <b>")
    directory.grant("ann", Grant("adult", Role.ANALYST, "adult/ann"))
    directory.grant("ann", Grant("visits", Role.AUDITOR))
    return directory


@pytest.fixture
def keys(database, tmp_path):
    return ApiKeys(database, secret=tmp_path / "keys.secret")


@pytest.fixture
def sessions(database, tmp_path):
    return Sessions(database, secret=tmp_path / "keys.secret")


def is_over(sessions, token):
    try:
        sessions.find(token)
    except NotAuthenticatedError:
        return True
    return False


def test_a_session_has_the_roles_of_its_person(sessions):
    found = sessions.find(sessions.begin("ann"))
    assert (found.principal.name, found.display_name) == ("ann", "Ann <b>")
    assert found.principal.account("adult") == "adult/ann"
    assert found.principal.roles("visits") == {Role.AUDITOR}
    assert found.principal.scopes == frozenset(KeyScope)


def test_a_session_may_do_no_more_than_the_key_with_which_it_began(sessions, keys):
    key = keys.make("ann", scopes=[KeyScope.READ])
    principal = sessions.find(sessions.begin("ann", api_key=key.id)).principal
    assert (principal.scopes, principal.key) == ({KeyScope.READ}, key.id)


def test_keys_that_a_session_makes_end_even_where_it_has_no_key(sessions, keys, clock):
    limited = keys.make("ann", expires=clock() + timedelta(days=2))
    ends = [sessions.find(sessions.begin("ann", api_key=key)).principal.keys_end
            for key in (None, limited.id, keys.make("ann").id)]  # fmt: skip
    assert ends == [clock() + KEYS, clock() + timedelta(days=2), None]


def test_a_session_knows_where_it_began(sessions):
    found = [sessions.find(sessions.begin("ann", provider=name)) for name in ("company", "")]
    assert [one.provider for one in found] == ["company", ""]


def test_texts_are_new_each_time_and_the_database_has_none_of_them(sessions, database):
    made = {sessions.begin("ann") for _ in range(3)}
    assert {len(token) for token in made} == {64}
    with database.reading() as connection:
        stored = repr(connection.execute(text("SELECT * FROM session")).all())
    assert len(made) == 3
    assert not any(token in stored for token in made)


@pytest.mark.parametrize("token", ["", "0" * 64, "é" * 64, "x" * 10_000])
def test_nobody_has_a_session_that_was_never_begun(sessions, token):
    sessions.begin("ann")
    assert is_over(sessions, token)


def test_a_session_that_is_used_lasts_until_it_is_too_old(sessions, clock):
    token, used = sessions.begin("ann"), timedelta()
    while used + IDLE / 2 < LIFE:
        clock.wait((IDLE / 2).total_seconds())
        used += IDLE / 2
        sessions.find(token)
    clock.wait((IDLE / 2).total_seconds())
    assert is_over(sessions, token)


def test_nothing_is_left_of_sessions_that_are_too_old(sessions, database, clock):
    sessions.begin("ann")
    clock.wait(LIFE.total_seconds())
    sessions.begin("ann")
    with database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM session")).scalar_one() == 1


def test_a_session_that_is_not_used_ends(sessions, clock):
    token = sessions.begin("ann")
    clock.wait(IDLE.total_seconds())
    assert is_over(sessions, token)


def test_signing_out_ends_one_session_and_everywhere_all_of_a_person(sessions, people):
    people.add("bob")
    first, second, third = sessions.begin("ann"), sessions.begin("ann"), sessions.begin("ann")
    of_bob = sessions.begin("bob")
    sessions.end(first)
    assert [is_over(sessions, token) for token in (first, second, third)] == [True, False, False]
    sessions.end_all("ann")
    assert [is_over(sessions, token) for token in (second, third, of_bob)] == [True, True, False]


def test_a_session_ends_with_its_person_and_with_its_key(sessions, people, keys):
    key, other = keys.make("ann"), keys.make("ann")
    of_key, of_other = sessions.begin("ann", api_key=key.id), sessions.begin("ann", api_key=other.id)
    keys.revoke(key.id)
    assert [is_over(sessions, of_key), is_over(sessions, of_other)] == [True, False]
    people.change("ann", is_active=False)
    assert is_over(sessions, of_other)


def test_a_session_ends_when_its_key_expires(sessions, keys, clock):
    key = keys.make("ann", expires=clock() + timedelta(minutes=1))
    token = sessions.begin("ann", api_key=key.id)
    clock.wait(60)
    assert is_over(sessions, token)


def test_the_proof_of_a_form_is_that_of_its_session_alone(sessions):
    token, other = sessions.begin("ann"), sessions.begin("ann")
    proof = sessions.proof(token)
    assert sessions.is_proved(token, proof)
    wrong = [(other, proof), (token, ""), (token, token), ("", sessions.proof("")), (token, "é")]
    assert not any(sessions.is_proved(*each) for each in wrong)
