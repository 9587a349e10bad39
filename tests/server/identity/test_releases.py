"""The first document that was kept is the one that is shown ever after, byte for byte."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.server.identity.databases import KINDS, location

from sfumato.errors import NotFoundError, ParameterError
from sfumato.server.identity.database import Database
from sfumato.server.identity.releases import ReleaseRegistry

OF_ANN = {"dataset": "adult", "account": "adult/ann", "principal": "ann", "question_hash": "ab" * 32}


@pytest.fixture
def releases(database):
    return ReleaseRegistry(database)


def test_a_document_is_kept_byte_for_byte(releases, clock):
    document = bytes(range(256)) * 1_000
    kept = releases.keep(document, **OF_ANN, shown_key="k")
    assert kept == releases.get(kept.id) == releases.find(account="adult/ann", shown_key="k")
    assert (kept.document, kept.at, kept.principal, kept.question_hash) == (document, clock(), "ann", "ab" * 32)


def test_the_first_document_under_a_key_stays(releases, clock):
    first = releases.keep(b"one", **OF_ANN, shown_key="k")
    clock.wait(60)
    again = releases.keep(b"two", **OF_ANN | {"principal": "bob", "question_hash": "cd" * 32}, shown_key="k")
    assert again == first
    assert again.document == b"one"


def test_another_account_or_key_has_a_document_of_its_own(releases):
    kept = [
        releases.keep(b"one", **OF_ANN, shown_key="k"),
        releases.keep(b"two", **OF_ANN, shown_key="l"),
        releases.keep(b"three", **OF_ANN | {"account": "adult/bob"}, shown_key="k"),
    ]
    assert [one.document for one in kept] == [b"one", b"two", b"three"]
    assert len({one.id for one in kept}) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_of_many_who_keep_at_once_one_is_first(kind, tmp_path):
    where = location(kind, tmp_path)
    opened = [Database(where) for _ in range(2)]
    registries = [ReleaseRegistry(database) for database in opened]

    def keep(n):
        return registries[n % 2].keep(b"%d" % n, **OF_ANN, shown_key=f"{n % 5}")

    with ThreadPoolExecutor(8) as threads:
        kept = list(threads.map(keep, range(40)))
    assert len({one.id for one in kept}) == 5
    for one in kept:
        assert registries[0].get(one.id) == registries[1].get(one.id) == one
    for database in opened:
        database.close()


def test_releases_of_an_account_come_in_pages_in_their_order(releases):
    kept = [releases.keep(b"%d" % n, **OF_ANN, shown_key=f"{n}") for n in range(5)]
    other = releases.keep(b"x", **OF_ANN | {"account": "adult/bob"}, shown_key="k")
    assert list(releases.list("adult/ann")) == kept
    assert list(releases.list("adult/ann", limit=2)) == kept[:2]
    assert list(releases.list("adult/ann", after=kept[1].id, limit=2)) == kept[2:4]
    assert releases.list("adult/ann", after=kept[4].id) == releases.list("adult/eve") == ()
    with pytest.raises(NotFoundError, match="release"):
        releases.list("adult/ann", after=other.id)


def test_what_was_not_kept_is_not_found(releases):
    assert releases.find(account="adult/ann", shown_key="k") is None
    with pytest.raises(NotFoundError, match="release 'none': not found"):
        releases.get("none")


@pytest.mark.parametrize("wrong", [{"dataset": ""}, {"account": "two words"}])
def test_names_are_names(releases, wrong):
    with pytest.raises(ParameterError):
        releases.keep(b"", **OF_ANN | wrong, shown_key="k")


def test_an_id_says_nothing_of_how_many_there_are(releases):
    ids = [releases.keep(b"", **OF_ANN, shown_key=f"{n}").id for n in range(3)]
    assert ids != sorted(ids) or len({len(one) for one in ids}) == 1
    assert all(len(one) == 16 for one in ids)


def test_the_latest_come_first(database):
    registry = ReleaseRegistry(database)
    kept = [
        registry.keep(b"{}", dataset="d", account=account, principal="ann", question_hash="0" * 64, shown_key=key).id
        for account, key in (("d/ann", "1"), ("d/bob", "1"), ("d/ann", "2"), ("d/ann", "3"))
    ]
    assert [one.id for one in registry.latest("d/ann", limit=2)] == [kept[3], kept[2]]
    assert [one.id for one in registry.latest("d/bob", limit=2)] == [kept[1]]


def test_the_latest_of_some_queries_alone(releases):
    hashes = ["ab" * 32, "cd" * 32, "ab" * 32, "ef" * 32]
    for place, one in enumerate(hashes):
        releases.keep(b"%d" % place, **OF_ANN | {"question_hash": one}, shown_key=f"{place}")
    releases.keep(b"bob", **OF_ANN | {"account": "adult/bob"}, shown_key="k")
    asked = {"limit": 2, "questions": ["ab" * 32, "ef" * 32]}
    assert [one.document for one in releases.latest("adult/ann", **asked)] == [b"3", b"2"]
    assert releases.latest("adult/ann", limit=9, questions=[]) == ()
    assert len(releases.latest("adult/ann", limit=9)) == 4
