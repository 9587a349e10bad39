"""People whom a provider vouches for: which person of this server each of them is, and which roles their groups give.

A provider means somebody by issuer and subject, which never change hands; the name and the address of somebody may be
another's tomorrow, so nobody is found by them. Roles that groups gave are set anew at each sign-in. Roles that an owner
gave stay with the person.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from sqlalchemy import Connection, delete, insert, select, update

from sfumato.errors import ForbiddenError
from sfumato.server.identity.acts import Act, ActLog
from sfumato.server.identity.database import Database
from sfumato.server.identity.people import Action, Grant, Role
from sfumato.server.identity.tables import API_KEYS, GRANTS, IDENTITIES, PEOPLE, SESSIONS
from sfumato.server.providers import GroupEntry, Provider

_LONGEST: Final = 200
_SIGN_IN: Final = "sign in"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vouched:
    """Whom a provider vouches for.

    Attributes:
        issuer: The provider.
        subject: What it calls them, for ever.
        display_name: What it calls them now.
        groups: What it says they belong to.
    """

    issuer: str
    subject: str
    display_name: str
    groups: frozenset[str]

    @property
    def shown_name(self) -> str:
        """What can be shown of their name."""
        return "".join(letter for letter in self.display_name if letter.isprintable())[:_LONGEST].strip()


class Vouching:
    """Finds or makes the person whom a provider vouches for.

    Args:
        database: Where people are kept.
        acts: The log of what changed of them.
    """

    def __init__(self, database: Database, acts: ActLog) -> None:
        self._database, self._acts = database, acts

    def arrive(self, provider: Provider, vouched: Vouched) -> str:
        """The name of the person, with the roles of their groups from now on.

        Somebody without a mapped group loses their sessions and API keys, as well as what groups gave them.

        Args:
            provider: As which the curator's file declares it.
            vouched: Whom it vouches for.

        Raises:
            ForbiddenError: No group of theirs is mapped, or the person is not active.
        """
        given = provider.given(vouched.groups)
        with self._database.writing() as connection:
            self._database.lock(connection, IDENTITIES)
            person = self._person(connection, provider, vouched, is_new=bool(given))
            acts = [] if person is None else self._set(connection, provider, person, given)
            is_active = person is not None and connection.execute(
                select(PEOPLE.c.is_active).where(PEOPLE.c.name == person)
            ).scalar_one()  # fmt: skip
        for act in acts:
            self._acts.record(act)
        if person is None or not given:
            raise ForbiddenError(_SIGN_IN, f"no group of yours at {provider.title} has a role here; ask for one")
        if not is_active:
            raise ForbiddenError(_SIGN_IN, "you were switched off here; ask an administrator")
        return person

    def _person(self, connection: Connection, provider: Provider, vouched: Vouched, *, is_new: bool) -> str | None:
        """Who it is; somebody new is added if they may be."""
        now, key = self._database.now(), {"issuer": vouched.issuer, "subject": vouched.subject}
        matches = [IDENTITIES.columns[name] == value for name, value in key.items()]
        known = connection.execute(select(IDENTITIES.c.person).where(*matches)).scalar_one_or_none()
        if known is not None:
            name = vouched.shown_name or known
            connection.execute(update(PEOPLE).where(PEOPLE.c.name == known).values(display_name=name))
            connection.execute(update(IDENTITIES).where(*matches).values(last_sign_in=now))
            return str(known)
        if not is_new:
            return None
        name = f"{provider.name}-{sha256(f'{vouched.issuer} {vouched.subject}'.encode()).hexdigest()[:16]}"
        values = {"display_name": vouched.shown_name or name, "is_platform_admin": False, "is_active": True}
        if not self._database.insert_new(connection, PEOPLE, name=name, **values):
            raise ForbiddenError(_SIGN_IN, "somebody else has the name that you would get; ask an administrator")
        connection.execute(insert(IDENTITIES).values(**key, person=name, last_sign_in=now))
        return name

    def _set(
        self, connection: Connection, provider: Provider, person: str, given: Iterable[GroupEntry]
    ) -> list[Act]:  # fmt: skip
        """Give a person the roles of their groups and no others of groups; the acts that say so."""
        is_admin = any(entry.platform_admin for entry in given)
        wanted = {
            (entry.dataset, entry.role): Grant(entry.dataset, Role(entry.role), entry.account)
            for entry in reversed(list(given)) if entry.role is not None
        }  # fmt: skip
        before = {
            (row.dataset, row.role): row for row in connection.execute(select(GRANTS).where(GRANTS.c.person == person))
        }
        acts = []
        was_admin = connection.execute(select(PEOPLE.c.is_platform_admin).where(PEOPLE.c.name == person)).scalar_one()
        if was_admin != is_admin:
            connection.execute(update(PEOPLE).where(PEOPLE.c.name == person).values(is_platform_admin=is_admin))
            acts.append(Act(person=person, action=Action.MANAGE_PEOPLE, target=f"provider/{provider.name}"))
        for key in before.keys() | wanted.keys():
            old, new = before.get(key), wanted.get(key)
            if old is not None and (not old.provider or (new is not None and new.account == old.account)):
                continue  # an owner gave it, or it stays
            matches = (GRANTS.c.person == person, GRANTS.c.dataset == key[0], GRANTS.c.role == key[1])
            connection.execute(delete(GRANTS).where(*matches))
            if new is not None:
                connection.execute(
                    insert(GRANTS).values(
                        person=person, dataset=new.dataset, role=new.role.value, account=new.account,
                        provider=provider.name,
                    )
                )  # fmt: skip
            action = Action.GRANT_OWNER if key[1] == Role.OWNER else Action.GRANT_ROLES
            acts.append(Act(person=person, action=action, dataset=key[0], target=f"provider/{provider.name}"))
        if not given:
            now = self._database.now()
            for table, at in ((SESSIONS, SESSIONS.c.ended), (API_KEYS, API_KEYS.c.revoked)):
                ended = update(table).where(table.c.person == person, at.is_(None))
                connection.execute(ended.values({at.name: now}))
        return acts
