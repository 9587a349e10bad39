"""A key is shown once, works while it is valid, and is refused everywhere in the same words otherwise."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from sqlalchemy import event, select
from tests.server.identity.databases import Clock, location

from sfumato.errors import DatabaseError, ForbiddenError, NotAuthenticatedError, NotFoundError, ParameterError
from sfumato.server.identity.database import Database
from sfumato.server.identity.keys import ApiKeys, NewKey, make_secret
from sfumato.server.identity.people import Directory, Grant, KeyScope, Role
from sfumato.server.identity.tables import API_KEYS


def opened(database, folder):
    directory = Directory(database)
    directory.add("root", is_platform_admin=True)
    directory.add("ann")
    directory.grant("ann", Grant("adult", Role.ANALYST, "adult/ann"))
    return ApiKeys(database, secret=folder / "secret")


@pytest.fixture
def keys(database, tmp_path):
    return opened(database, tmp_path)


@pytest.fixture
def kept(in_a_file, tmp_path):
    return opened(in_a_file, tmp_path)


def is_refused(keys, token):
    try:
        keys.authenticate(token)
    except NotAuthenticatedError:
        return True
    return False


def test_a_key_says_who_sent_it(keys):
    made = keys.make("ann", name="laptop", scopes=[KeyScope.ASK, KeyScope.READ])
    ann = keys.authenticate(made.token)
    assert (ann.name, ann.is_platform_admin, ann.key) == ("ann", False, made.id)
    assert ann.grants == (Grant("adult", Role.ANALYST, "adult/ann"),)
    assert ann.scopes == {KeyScope.ASK, KeyScope.READ}
    root = keys.authenticate(keys.make("root").token)
    assert (root.is_platform_admin, root.grants, root.scopes) == (True, (), frozenset(KeyScope))


def test_a_key_has_256_bits_of_its_own_and_is_shown_by_nothing(kept):
    made = [kept.make("ann") for _ in range(3)]
    secrets = {one.token.rpartition("_")[2] for one in made}
    assert all(re.fullmatch(r"sfk_[0-9a-f]{16}_[0-9a-f]{64}", one.token) for one in made)
    assert len(secrets) == len({one.id for one in made}) == 3
    assert not any(secret in f"{made} {kept.list()} {kept.key(made[0].id)}" for secret in secrets)


def test_only_a_keyed_hash_is_kept(kept, in_a_file, tmp_path):
    made = kept.make("ann")
    secret = made.token.rpartition("_")[2]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert secret.encode() not in stored
    with in_a_file.reading() as connection:
        hashes = connection.execute(select(API_KEYS.c.hash)).scalars().all()
    assert [len(one) for one in hashes] == [64]
    assert is_refused(ApiKeys(in_a_file, secret=tmp_path / "another"), made.token)


def wrong(token):
    """Texts that are no key, but for one that is nearly one."""
    last = "0" if token[-1] != "0" else "1"
    return ["", "sfk_", "ann", token[:-1], token[:-1] + last, f"{token}0", f"{token}\n", token.upper(), f" {token}",
            token.replace("sfk", "skf"), f"sfk_{'0' * 16}_{token[-64:]}", "\udcff", "x" * 100_000]  # fmt: skip


def test_what_is_no_key_is_refused(kept):
    made = kept.make("ann")
    assert [text for text in wrong(made.token) if not is_refused(kept, text)] == []
    assert not is_refused(kept, made.token)


def test_an_unknown_id_takes_as_much_hashing_as_a_wrong_secret(kept, monkeypatch):
    token = kept.make("ann").token
    hashed = []
    whole = ApiKeys._hash
    monkeypatch.setattr(ApiKeys, "_hash", lambda keys, text: hashed.append(text) or whole(keys, text))
    for text in wrong(token):
        assert is_refused(kept, text)
    assert hashed == wrong(token)


def test_a_key_expires(keys, clock):
    made = keys.make("ann", expires=clock() + timedelta(hours=1))
    clock.wait(3599)
    assert not is_refused(keys, made.token)
    clock.wait(1)
    assert is_refused(keys, made.token)
    with pytest.raises(NotFoundError, match="valid key"):
        keys.rotate(made.id)


def test_a_key_is_revoked_at_once_in_every_process(tmp_path, clock):
    where = location("sqlite", tmp_path)
    here, there = Database(where, now=clock), Database(where, now=clock)
    keys, gateway = opened(here, tmp_path), ApiKeys(there, secret=tmp_path / "secret")
    made, other = keys.make("ann"), keys.make("ann")
    assert not is_refused(gateway, made.token)
    keys.revoke(made.id)
    keys.revoke(made.id)
    assert is_refused(gateway, made.token)
    assert not is_refused(gateway, other.token)
    assert keys.key(made.id).revoked == clock()
    with pytest.raises(NotFoundError, match="valid key"):
        gateway.rotate(made.id)
    here.close()
    there.close()


def test_a_grant_that_is_revoked_is_gone_with_the_next_request(kept, in_a_file):
    made = kept.make("ann")
    Directory(in_a_file).revoke("ann", "adult")
    assert kept.authenticate(made.token).grants == ()


def test_no_key_of_an_inactive_person_works(keys, database):
    made = keys.make("ann")
    Directory(database).change("ann", is_active=False)
    assert is_refused(keys, made.token)
    Directory(database).change("ann", is_active=True)
    assert not is_refused(keys, made.token)


def test_a_rotated_key_has_another_secret_and_the_same_rights(keys):
    made = keys.make("ann", scopes=[KeyScope.READ])
    rotated = keys.rotate(made.id)
    assert rotated.id == made.id
    assert is_refused(keys, made.token)
    assert keys.authenticate(rotated.token).scopes == {KeyScope.READ}


def test_the_old_secret_works_until_the_stated_time(keys, clock):
    made = keys.make("ann")
    rotated = keys.rotate(made.id, old_until=clock() + timedelta(minutes=5))
    assert not is_refused(keys, made.token)
    assert not is_refused(keys, rotated.token)
    clock.wait(300)
    assert is_refused(keys, made.token)
    assert not is_refused(keys, rotated.token)


def test_a_second_rotation_ends_the_first_secret(kept, clock):
    made = kept.make("ann")
    until = clock() + timedelta(minutes=5)
    second = kept.rotate(made.id, old_until=until)
    third = kept.rotate(made.id, old_until=until)
    assert [is_refused(kept, one.token) for one in (made, second, third)] == [True, False, False]
    kept.revoke(made.id)
    assert [is_refused(kept, one.token) for one in (made, second, third)] == [True, True, True]


def test_use_is_written_at_most_once_a_minute(kept, in_a_file, clock):
    made = kept.make("ann")
    written = []
    event.listen(in_a_file._writer, "before_cursor_execute", lambda *parts: written.append(parts[2]))
    uses = []
    for _ in range(4):
        kept.authenticate(made.token)
        uses.append(kept.key(made.id).last_used)
        clock.wait(30)
    begun = clock() - timedelta(seconds=120)
    assert uses == [begun, begun, begun + timedelta(minutes=1), begun + timedelta(minutes=1)]
    assert sum(statement.startswith("UPDATE") for statement in written) == 2


def test_keys_are_listed_from_the_oldest_on(kept, clock):
    made = []
    for person in ("ann", "root", "ann"):
        made.append(kept.make(person, name=f"of {person}").id)
        clock.wait(1)
    assert [key.id for key in kept.list()] == made
    assert [(key.id, key.person, key.name) for key in kept.list("ann")] == [
        (made[0], "ann", "of ann"), (made[2], "ann", "of ann")
    ]  # fmt: skip
    with pytest.raises(NotFoundError, match="key 'none': not found"):
        kept.key("none")
    with pytest.raises(NotFoundError, match="key 'none': not found"):
        kept.revoke("none")


def test_no_key_makes_one_that_may_do_more(kept):
    within = frozenset({KeyScope.ASK, KeyScope.READ})
    kept.make("ann", scopes=[KeyScope.ASK], within=within)
    with pytest.raises(ForbiddenError, match="scopes manage itself"):
        kept.make("ann", scopes=[KeyScope.ASK, KeyScope.MANAGE], within=within)


def test_a_key_that_means_nothing_is_not_made(kept, clock):
    for options, said in [
        ({"scopes": []}, "scopes is missing"),
        ({"name": "a\nb"}, "printable"),
        ({"name": "a" * 101}, "printable"),
        ({"expires": clock()}, "later than now"),
        ({"expires": datetime(2999, 1, 1)}, "time zone"),  # noqa: DTZ001 # which is the point
    ]:
        with pytest.raises(ParameterError, match=said):
            kept.make("ann", **options)
    with pytest.raises(NotFoundError, match="person 'bob'"):
        kept.make("bob")
    assert kept.list() == ()


def test_the_secret_is_made_once_by_whoever_is_first(tmp_path):
    path = tmp_path / "secret"
    with ThreadPoolExecutor(8) as threads:
        secrets = set(threads.map(lambda _: make_secret(path), range(8)))
    assert len(secrets) == 1
    assert {len(secret) for secret in secrets} == {32}
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["secret"]


def test_a_secret_that_others_may_read_or_that_is_damaged_is_refused(tmp_path):
    path = tmp_path / "secret"
    secret = make_secret(path).hex()
    path.chmod(0o640)
    with pytest.raises(DatabaseError, match="chmod 600") as refused:
        make_secret(path)
    path.chmod(0o600)
    for content in ("", secret[:-1], f"{secret}0", f"{secret}\n{secret}", "g" * 64):
        path.write_text(content)
        with pytest.raises(DatabaseError, match="holds no secret") as damaged:
            make_secret(path)
        assert secret[:32] not in f"{damaged.value} {refused.value}"
    with pytest.raises(DatabaseError, match="cannot be made or read"):
        make_secret(tmp_path / "none" / "secret")


def test_a_new_key_shows_its_name_alone():
    assert repr(NewKey("a1", "sfk_a1_secret")) == str(NewKey("a1", "sfk_a1_secret")) == "<NewKey a1>"


def test_a_database_that_cannot_be_written_is_no_reason_to_refuse(kept, in_a_file, monkeypatch):
    made = kept.make("ann")

    def refuse():
        raise DatabaseError("people.db", "is full")

    monkeypatch.setattr(in_a_file, "writing", refuse)
    assert kept.authenticate(made.token).name == "ann"


def test_the_clock_of_tests_stands_still():
    clock = Clock()
    assert clock() == clock()
