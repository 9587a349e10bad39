"""A small curator in a folder, whose queries are asked in this process: its files are those of a server."""

import json
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count

from tests.server.work.curators import curator_file

from sfumato.query.policy.file import load_policy
from sfumato.server.config import Curator, load_curator
from sfumato.server.identity.acts import Act, ActLog
from sfumato.server.identity.database import Database
from sfumato.server.identity.keys import ApiKeys
from sfumato.server.identity.people import Action, Directory
from sfumato.server.identity.releases import ReleaseRegistry
from sfumato.session.releases.documents import encode_release
from sfumato.session.session import Session

ACCOUNT = "people"
_NUMBERS = count()


@dataclass(frozen=True, slots=True)
class Small:
    """A curator whose ledger and database are open."""

    curator: Curator
    config: object
    session: Session
    database: Database

    @property
    def folder(self):
        return self.config.parent

    def ask(self, number, *, epsilon="0.1"):
        """Ask something new, and keep what is shown; the release."""
        release = self.session.query(f"SELECT COUNT(*) AS n FROM people WHERE age > {number}").release(epsilon=epsilon)
        self.keep(release)
        return release

    def keep(self, release):
        """Keep a release as a server shows it."""
        ReleaseRegistry(self.database).keep(
            json.dumps(encode_release(release)).encode(), dataset="people", account=ACCOUNT, principal="ann",
            question_hash=release.receipt.plan_hash, shown_key=str(next(_NUMBERS)),
        )  # fmt: skip

    def act(self, action=Action.ASK, **facts):
        """Write an act."""
        with closing(ActLog(self.database)) as acts:
            acts.record(Act(person="alice", action=action, **facts))


@contextmanager
def small(folder, **options):
    """A curator with an admin and an account; see `curator_file`."""
    config = curator_file(folder, **options)
    curator = load_curator(config)
    dataset = curator.datasets["people"]
    with (
        Session(
            load_policy(dataset.policy), budget=dataset.budget, ledger=curator.ledger, engine="reference"
        ) as session,
        closing(Database(curator.database)) as database,
    ):
        Directory(database).add("alice", is_platform_admin=True)
        ApiKeys(database, secret=curator.secret).make("alice", name="first")
        made = Small(curator, config, session, database)
        made.act(Action.MANAGE_PEOPLE, target="alice")
        yield made
