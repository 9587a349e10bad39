"""Every release that a backup knows was charged in its ledger, whenever it is made; and it holds no key."""

import json
import sqlite3
import stat
from contextlib import closing
from threading import Event, Thread

import pytest
from tests.cli.commands import run
from tests.ledger.stories import release
from tests.server.operations.small import small
from tests.server.work.curators import curator_file

from sfumato.errors import DatabaseError, LedgerError, NotAuthenticatedError, ParameterError
from sfumato.ledger.core.entry import Reserved
from sfumato.ledger.keeping.given_keys import IN_ENVIRONMENT
from sfumato.ledger.keeping.key import key_in
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import FOLDER, open_ledger, place_of
from sfumato.ledger.stores.sqlite import SQLiteStore
from sfumato.local import DirectEncoding, save_protocol
from sfumato.privacy.guarantees import PureDP
from sfumato.server.config import load_curator
from sfumato.server.identity.attempts import Attempts
from sfumato.server.identity.collections import Collections, Received
from sfumato.server.identity.database import Database, utc_now
from sfumato.server.identity.sessions import Sessions
from sfumato.server.operations import backup
from sfumato.server.operations.backup import back_up
from sfumato.server.operations.manifest import FILE, verified_manifest
from sfumato.server.operations.restore import restore, unknown_releases


@pytest.fixture
def server(tmp_path):
    (tmp_path / "here").mkdir()
    with small(tmp_path / "here") as made:
        made.ask(10)
        yield made


def test_protocols_and_counts_of_collections_are_in_it_and_restored(server, tmp_path):
    oracle = DirectEncoding(["tea", "coffee"], epsilon=1)
    save_protocol(oracle, server.folder / "drinks.json")
    entry = '\n[collections.{}]\nprotocol = "drinks.json"\n'
    server.config.write_text(server.config.read_text() + entry.format("drinks") + entry.format("others"), "utf-8")
    drinks = load_curator(server.config).collections["drinks"]
    batch, reports = f"{utc_now():%Y-%m-%d}.sixteen-at-least", [bytes(oracle.client().report("tea"))]
    Collections(server.database).receive(drinks, reports, batch=batch, body=b"")
    made = back_up(server.config, tmp_path / "backup")
    assert [file.place for file in made.of_role("protocol")] == ["drinks.json"]
    restore(tmp_path / "backup", tmp_path / "there")
    curator = load_curator(tmp_path / "there" / "curator.toml")
    with closing(Database(curator.database)) as database:
        kept = Collections(database)
        assert len(kept.counted(curator.collections["drinks"])) == 1
        assert kept.receive(drinks, reports, batch=batch, body=b"") == Received(1, 0, is_repeated=True)


def copy_of_ledger(folder, server):
    """The ledger in a backup, under the key of the original."""
    return Ledger(SQLiteStore(folder / "ledger.db", must_exist=True), key=server.session.desk.ledger.key)


def unknown(folder, server):
    """What the database of a backup shows that its ledger did not charge."""
    with copy_of_ledger(folder, server) as ledger:
        ledger.verify()
        return unknown_releases(f"sqlite:///{folder}/state/server.db", ledger)


def test_a_backup_of_a_server_that_runs_verifies_and_lists_all_of_it(server, tmp_path):
    made = back_up(server.config, tmp_path / "backup")
    assert verified_manifest(tmp_path / "backup") == made
    assert {file.place: file.role for file in made.files} == {
        "state/server.db": "database", "ledger.db": "ledger", "curator.toml": "config", "people.toml": "policy"
    }  # fmt: skip
    with open_ledger(server.curator.ledger) as ledger:
        assert (made.ledger_length, made.ledger_head) == (len(ledger), ledger.checkpoint().head)
    assert made.acts_length == 1
    assert unknown(tmp_path / "backup", server) == ()


def test_no_session_is_in_a_backup_as_it_may_end_later(server, tmp_path):
    secret = server.curator.secret
    cookie = Sessions(server.database, secret=secret).begin("alice")
    attempt = Attempts(server.database, secret=secret).begin("company", browser=cookie, target="/")
    back_up(server.config, tmp_path / "backup")
    with closing(Database(f"sqlite:///{tmp_path}/backup/state/server.db")) as database:
        with pytest.raises(NotAuthenticatedError):
            Sessions(database, secret=secret).find(cookie)
        with pytest.raises(NotAuthenticatedError):
            Attempts(database, secret=secret).take(attempt.state, "company", browser=cookie)
    assert Sessions(server.database, secret=secret).find(cookie).principal.name == "alice"


def test_nobody_else_may_read_a_backup(server, tmp_path):
    back_up(server.config, tmp_path / "backup", with_keys=True)
    for path in [tmp_path / "backup", *(tmp_path / "backup").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_keys_are_in_it_only_if_that_is_asked_for_and_the_checkpoint_and_the_data_never(server, tmp_path):
    made = back_up(server.config, tmp_path / "without")
    assert not made.of_role("key") + made.of_role("secret")
    assert made.kept_apart == ("ledger.db.key", "state/keys.secret")
    back_up(server.config, tmp_path / "with", with_keys=True)
    names = {path.name for path in (tmp_path / "with").rglob("*")}
    assert {"ledger.db.key", "keys.secret"} <= names
    assert not any("checkpoint" in name or "parquet" in name for name in names)
    secret = place_of(server.curator.ledger).key.read_bytes().strip()
    for path in (tmp_path / "without").rglob("*"):
        assert path.is_dir() or secret not in path.read_bytes()


def test_what_is_asked_between_the_copies_is_charged_in_the_copy_of_the_ledger(server, tmp_path, monkeypatch):
    copied = backup._copied

    def then_asked(path, *others):
        copied(path, *others)
        server.ask(20)
        server.ask(30)

    monkeypatch.setattr(backup, "_copied", then_asked)
    back_up(server.config, tmp_path / "backup")
    assert unknown(tmp_path / "backup", server) == ()
    with copy_of_ledger(tmp_path / "backup", server) as ledger:
        assert sum(isinstance(entry, Reserved) for entry in ledger.entries()) == 3


def test_under_load_every_backup_is_one_state(server, tmp_path):
    is_over, asked = Event(), []

    def ask():
        while not is_over.is_set():
            asked.append(server.ask(1_000 + len(asked)))

    thread = Thread(target=ask)
    thread.start()
    try:
        for number in range(4):
            back_up(server.config, tmp_path / f"backup{number}")
    finally:
        is_over.set()
        thread.join()
    assert asked
    for number in range(4):
        assert unknown(tmp_path / f"backup{number}", server) == ()


def test_large_answers_go_with_the_ledger(server, tmp_path):
    ledger = server.session.desk.ledger
    attachments = ledger.attachments
    with attachments.writing() as path:
        path.write_bytes(b"an answer")
    found = attachments.attached(path)
    reservation = ledger.reserve("people", **release("0.1"), question="q")
    answer = {"attached": {"name": found.name, "sha256": found.sha256}}
    ledger.commit(reservation, key="large", answer=answer)
    made = back_up(server.config, tmp_path / "backup")
    (file,) = made.of_role("answer")
    assert (tmp_path / "backup" / file.place).read_bytes() == b"an answer"
    assert place_of(tmp_path / "backup" / "ledger.db").attachments.path(found)


def test_the_name_of_a_given_key_goes_with_every_backup(tmp_path, monkeypatch):
    monkeypatch.setenv(IN_ENVIRONMENT, "11" * 32)
    (tmp_path / "here").mkdir()
    with small(tmp_path / "here") as server:
        made = back_up(server.config, tmp_path / "backup")
    (key,) = made.of_role("key")
    assert (tmp_path / "backup" / key.place).read_text().startswith("given ")


@pytest.mark.parametrize("is_given", [False, True], ids=["beside", "given"])
def test_the_drill_replaces_the_key_of_a_server_step_by_step(tmp_path, monkeypatch, is_given):
    """As docs/how-to/server/operate.md says."""
    keys = ["11" * 32, "22" * 32, "33" * 32]

    def give(*given):
        monkeypatch.setenv(IN_ENVIRONMENT, " ".join(given) if is_given else "")

    give(keys[0])
    (tmp_path / "here").mkdir()
    with small(tmp_path / "here") as server:
        server.ask(10)
    config, ledger = server.config, tmp_path / "here" / "ledger.db"
    for number, given in enumerate((keys[:2], [keys[2], *keys[:2]])):  # twice, as the first key stays for ever
        back_up(config, tmp_path / f"before{number}")
        give(*given)
        old = key_in(place_of(ledger).key)
        assert run("ledger", "rotate-key", ledger).exit_code == 0
        shown = json.loads(run("curator", "check", "--config", config, "--deep", "--json").stdout)
        (found,) = [one for one in shown if one["subject"] == "ledger"]
        assert (found["level"], "each verified" in found["seen"]) == ("fine", True)
        back_up(config, tmp_path / f"after{number}")
        assert key_in(place_of(ledger).key) != old
    give(keys[2], keys[0])
    with Ledger(
        SQLiteStore(tmp_path / "after1" / "ledger.db", must_exist=True), key=key_in(place_of(ledger).key)
    ) as last:
        last.verify()
    with pytest.raises(LedgerError, match="sealed with the key"):
        Ledger(SQLiteStore(tmp_path / "before1" / "ledger.db", must_exist=True), key=key_in(place_of(ledger).key))


def test_published_versions_and_files_from_elsewhere_are_in_it(server, tmp_path):
    server.curator.version("people").write_text("2")
    (tmp_path / "policies").mkdir()
    policy = server.curator.datasets["people"].policy.rename(tmp_path / "policies" / "people.toml")
    content = server.config.read_text().replace('policy = "people.toml"', f'policy = "{policy}"')
    server.config.write_text(content)
    made = back_up(server.config, tmp_path / "backup")
    assert made.of_role("policy")[0].place == "elsewhere/people.toml"
    assert made.of_role("version")[0].place == "state/people.version"


def test_a_folder_that_holds_something_is_refused_and_stays(server, tmp_path):
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup" / "mine").touch()
    with pytest.raises(ParameterError, match="must be a new folder, or an empty one"):
        back_up(server.config, tmp_path / "backup")
    assert [path.name for path in (tmp_path / "backup").iterdir()] == ["mine"]
    with pytest.raises(ParameterError, match="that can be made"):
        back_up(server.config, tmp_path / "backup" / "mine" / "below")


def test_a_ledger_that_does_not_verify_makes_no_backup(tmp_path):
    (tmp_path / "here").mkdir()
    with small(tmp_path / "here") as server:
        server.ask(10)
    ledger = server.folder / "ledger.db"
    with closing(sqlite3.connect(ledger)) as connection:
        connection.executescript("PRAGMA writable_schema = 1; DELETE FROM sqlite_schema WHERE type = 'trigger'")
    with closing(sqlite3.connect(ledger)) as connection, connection:
        (name,) = connection.execute(
            "SELECT name FROM sqlite_schema WHERE sql LIKE '%hash%' AND type = 'table'"
        ).fetchone()
        connection.execute(f"UPDATE {name} SET hash = replace(hash, 'a', 'b')")
    with pytest.raises(LedgerError):
        back_up(server.config, tmp_path / "backup")
    assert not (tmp_path / "backup" / FILE).exists()


def test_a_log_of_acts_that_was_changed_makes_no_backup(server, tmp_path):
    with closing(sqlite3.connect(server.folder / "state" / "server.db")) as connection, connection:
        connection.execute("DROP TRIGGER act_has_no_update")
        connection.execute("UPDATE act SET person = 'mallory'")
    with pytest.raises(DatabaseError, match="act 1 is not as it was written"):
        back_up(server.config, tmp_path / "backup")
    assert not (tmp_path / "backup" / FILE).exists()


def test_what_is_on_servers_is_copied_by_commands_without_passwords(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    (tmp_path / "here").mkdir()
    with small(tmp_path / "here") as server:
        top = (
            'ledger = "postgresql://keeper:hidden@db/books?ledger=hospital&password=hidden"\n'
            'database = "postgresql://keeper:hidden@db/people?sslmode=require&sslpassword=hidden"\n'
        )
        server.config.write_text(top + server.config.read_text())
        made = back_up(server.config, tmp_path / "backup")
    answers = f"{tmp_path}/sfumato_hospital.answers"
    people, books = "'postgresql://keeper@db/people?sslmode=require'", "postgresql://keeper@db/books"
    assert made.by_hand == (
        (
            "pg_dump --format=custom --exclude-schema='sfumato_*' --exclude-table-data=session"
            f" --exclude-table-data=sign_in_attempt --file=server.dump {people}"
        ),
        f"pg_dump --format=custom --schema='\"sfumato_hospital\"' --file=ledger.dump {books}",
        f"test ! -d {answers} || cp -a {answers} .",
    )
    assert made.put_back == (
        f"pg_restore --exit-on-error --no-owner --dbname={people} server.dump",
        f"pg_restore --exit-on-error --no-owner --dbname={books} ledger.dump",
        'test ! -d sfumato_hospital.answers || cp -a sfumato_hospital.answers "$SFUMATO_LEDGER_FOLDER"',
    )
    assert (made.ledger_length, made.acts_length) == (None, None)
    assert "hidden" not in (tmp_path / "backup" / FILE).read_text()


def test_a_query_that_is_charged_and_has_no_answer_yet_is_charged_in_the_backup(server, tmp_path):
    ledger = server.session.desk.ledger
    ledger.reserve("people", **release("0.2"), question="q")
    back_up(server.config, tmp_path / "backup")
    with copy_of_ledger(tmp_path / "backup", server) as copied:
        copied.verify()
        assert copied.spent("people") == ledger.spent("people") == PureDP("0.3")


def test_a_folder_of_another_user_is_refused(server, tmp_path, monkeypatch):
    (tmp_path / "backup").mkdir()
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    with pytest.raises(ParameterError, match="belongs to another user"):
        back_up(server.config, tmp_path / "backup")


def test_a_file_that_cannot_be_copied_is_named(server, tmp_path):
    (server.folder / "people.toml").unlink()
    with pytest.raises(ParameterError, match=r"people\.toml.* cannot be copied \(No such file"):
        back_up(server.config, tmp_path / "backup")
    assert not (tmp_path / "backup" / FILE).exists()


def test_the_folder_of_a_server_may_be_a_link(server, tmp_path):
    (tmp_path / "link").symlink_to(server.folder)
    made = back_up(tmp_path / "link" / "curator.toml", tmp_path / "backup")
    assert {file.place for file in made.files} == {"state/server.db", "ledger.db", "curator.toml", "people.toml"}


def test_a_server_that_was_never_started_has_a_backup_of_its_settings(tmp_path):
    (tmp_path / "here").mkdir()
    made = back_up(curator_file(tmp_path / "here"), tmp_path / "backup")
    assert {file.role for file in made.files} == {"config", "policy"}
