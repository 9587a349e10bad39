"""People, their roles on datasets, and what each role may do.

`RIGHTS` is the only table of rights: what it does not allow is refused. A person acts through an API key, so an action
needs both a role of the person and a scope of the key.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from sqlalchemy import Connection, Row, delete, select, update

from sfumato.errors import ForbiddenError, NotFoundError, ParameterError
from sfumato.server.identity.database import Database
from sfumato.server.identity.tables import GRANTS, PEOPLE

_PERSON: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
_NAME: Final = re.compile(r"[\w.@:/+-]{1,200}")
_LONGEST: Final = 200
KEY_MARK: Final = "sfk_"
"""API keys begin with it, and no act holds one: so who had a name with it would leave no acts."""


class Role(StrEnum):
    """What a person is on one dataset; one person may have several roles on it."""

    OWNER = "owner"
    ANALYST = "analyst"
    AUDITOR = "auditor"


class KeyScope(StrEnum):
    """What an API key may be used for."""

    ASK = "ask"
    ESTIMATE = "estimate"
    READ = "read"
    MANAGE = "manage"
    REPORT = "report"


class Action(StrEnum):
    """Everything that people do with a server; the log of acts has no other words."""

    SIGN_IN = "sign_in"
    SIGN_OUT = "sign_out"
    READ_SELF = "read_self"
    MANAGE_OWN_KEYS = "manage_own_keys"
    READ_SCHEMA = "read_schema"
    READ_RELATIONS = "read_relations"
    ESTIMATE = "estimate"
    ASK = "ask"
    READ_OWN_RELEASES = "read_own_releases"
    READ_OWN_ACCOUNT = "read_own_account"
    READ_ACCOUNTS = "read_accounts"
    OPEN_ACCOUNT = "open_account"
    CHANGE_BUDGET = "change_budget"
    CLOSE_ACCOUNT = "close_account"
    PUBLISH_VERSION = "publish_version"
    ACKNOWLEDGE = "acknowledge"
    DECIDE = "decide"
    GRANT_ROLES = "grant_roles"
    GRANT_OWNER = "grant_owner"
    MANAGE_PEOPLE = "manage_people"
    MANAGE_KEYS = "manage_keys"
    READ_PEOPLE = "read_people"
    READ_EVERYBODY = "read_everybody"
    READ_ACTS = "read_acts"
    READ_METRICS = "read_metrics"
    READ_COLLECTIONS = "read_collections"
    SEND_REPORTS = "send_reports"
    READ_ESTIMATES = "read_estimates"
    READ_COUNTERS = "read_counters"
    READ_MAPS = "read_maps"
    READ_SYNTHETIC = "read_synthetic"
    MANAGE_FEDERATIONS = "manage_federations"
    READ_FEDERATIONS = "read_federations"
    TAKE_PART = "take_part"
    REMOVE_COLLECTION = "remove_collection"
    OVERRUN = "overrun"


@dataclass(frozen=True, slots=True)
class Right:
    """Who may do something.

    Attributes:
        scope: What the API key must have.
        roles: Any of these on the dataset is enough.
        is_for_admins: Whether a platform admin may, on any dataset or on none.
        is_for_all: Whether everybody with a key may.
    """

    scope: KeyScope
    roles: frozenset[Role] = frozenset()
    is_for_admins: bool = False
    is_for_all: bool = False


def _of(scope: KeyScope, *roles: Role) -> Right:
    return Right(scope, frozenset(roles))


RIGHTS: Final[Mapping[Action, Right]] = MappingProxyType(
    {
        Action.READ_SELF: Right(KeyScope.READ, is_for_all=True),
        Action.SIGN_OUT: Right(KeyScope.READ, is_for_all=True),
        Action.MANAGE_OWN_KEYS: Right(KeyScope.MANAGE, is_for_all=True),
        Action.READ_SCHEMA: _of(KeyScope.READ, *Role),
        Action.READ_RELATIONS: _of(KeyScope.READ, Role.ANALYST),
        Action.ESTIMATE: _of(KeyScope.ESTIMATE, Role.ANALYST),
        Action.ASK: _of(KeyScope.ASK, Role.ANALYST),
        Action.READ_OWN_RELEASES: _of(KeyScope.READ, Role.ANALYST),
        Action.READ_OWN_ACCOUNT: _of(KeyScope.READ, Role.ANALYST),
        Action.READ_ACCOUNTS: _of(KeyScope.READ, Role.OWNER, Role.AUDITOR),
        Action.OPEN_ACCOUNT: _of(KeyScope.MANAGE, Role.OWNER),
        Action.CHANGE_BUDGET: _of(KeyScope.MANAGE, Role.OWNER),
        Action.CLOSE_ACCOUNT: _of(KeyScope.MANAGE, Role.OWNER),
        Action.PUBLISH_VERSION: _of(KeyScope.MANAGE, Role.OWNER),
        Action.ACKNOWLEDGE: _of(KeyScope.MANAGE, Role.OWNER),
        Action.DECIDE: _of(KeyScope.MANAGE, Role.OWNER),
        Action.GRANT_ROLES: _of(KeyScope.MANAGE, Role.OWNER),
        Action.GRANT_OWNER: Right(KeyScope.MANAGE, is_for_admins=True),
        Action.MANAGE_PEOPLE: Right(KeyScope.MANAGE, is_for_admins=True),
        Action.MANAGE_KEYS: Right(KeyScope.MANAGE, is_for_admins=True),
        Action.READ_PEOPLE: _of(KeyScope.READ, Role.OWNER),
        Action.READ_EVERYBODY: Right(KeyScope.READ, is_for_admins=True),
        Action.READ_ACTS: Right(KeyScope.READ, frozenset({Role.AUDITOR, Role.OWNER}), is_for_admins=True),
        Action.READ_METRICS: Right(KeyScope.READ, is_for_admins=True),
        Action.READ_COLLECTIONS: Right(KeyScope.READ, is_for_all=True),
        Action.SEND_REPORTS: Right(KeyScope.REPORT, is_for_all=True),
        Action.READ_ESTIMATES: Right(KeyScope.READ, is_for_all=True),
        Action.READ_COUNTERS: Right(KeyScope.READ, is_for_all=True),
        Action.READ_MAPS: Right(KeyScope.READ, is_for_all=True),
        Action.READ_SYNTHETIC: Right(KeyScope.READ, is_for_all=True),
        Action.MANAGE_FEDERATIONS: Right(KeyScope.MANAGE, is_for_admins=True),
        Action.READ_FEDERATIONS: Right(KeyScope.READ, is_for_all=True),
        Action.TAKE_PART: Right(KeyScope.REPORT, is_for_all=True),
    }
)
"""Who may do what. Nobody may do what is not in it; what is published has readers, whom `curator.toml` names."""

_ANSWERS: Final = frozenset({Action.ASK, Action.READ_OWN_RELEASES})
"""What shows answers: owners, who can make themselves analysts on anybody's account, may not unless they may ask."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A role on a dataset; an analyst's queries are charged to the account."""

    dataset: str
    role: Role
    account: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Whoever may have grants and API keys; inactive people keep them, but no key of theirs works."""

    name: str
    display_name: str
    is_platform_admin: bool
    is_active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who makes a request, with all that decides whether they may.

    Attributes:
        name: Who.
        is_platform_admin: Whether they keep people and keys.
        grants: Their roles on datasets.
        scopes: What their API key or session may be used for.
        key: The id of the API key or the session.
        keys_end: When API keys end at the latest that they make for themselves; None for never.

    Example:
        >>> ann = Principal(name="ann", grants=(Grant("adult", Role.ANALYST, "adult/ann"),))
        >>> ann.may(Action.ASK, "adult"), ann.may(Action.ASK, "visits"), ann.may(Action.CHANGE_BUDGET, "adult")
        (True, False, False)
        >>> ann.account("adult")
        'adult/ann'
    """

    name: str
    is_platform_admin: bool = False
    grants: tuple[Grant, ...] = ()
    scopes: frozenset[KeyScope] = frozenset(KeyScope)
    key: str = ""
    keys_end: datetime | None = None

    def roles(self, dataset: str) -> frozenset[Role]:
        """The roles on a dataset; empty for one that they may not know of."""
        return frozenset(grant.role for grant in self.grants if grant.dataset == dataset)

    def account(self, dataset: str) -> str | None:
        """The account that their queries on a dataset are charged to, if they are an analyst there."""
        return next((each.account for each in self.grants if each.dataset == dataset and each.account), None)

    def may(self, action: Action, dataset: str | None = None, *, owners_ask: bool = False) -> bool:
        """Whether they may do this.

        Args:
            action: What they want to do.
            dataset: With which dataset; None for what concerns none.
            owners_ask: Whether the dataset lets an owner who is an analyst too see answers from their own data.
        """
        right = RIGHTS.get(action)
        if right is None or right.scope not in self.scopes:
            return False
        if right.is_for_all or (right.is_for_admins and self.is_platform_admin):
            return True
        roles = frozenset() if dataset is None else self.roles(dataset)
        if action in _ANSWERS and Role.OWNER in roles and not owners_ask:
            return False
        return bool(roles & right.roles)

    def require(self, action: Action, dataset: str | None = None, *, owners_ask: bool = False) -> None:
        """Refuse what they may not do; arguments as of `may`.

        Raises:
            NotFoundError: They have no role on the dataset, so they may not know of it.
            ForbiddenError: They have another role, or their key lacks the scope.
        """
        if self.may(action, dataset, owners_ask=owners_ask):
            return
        right = RIGHTS.get(action)
        is_admins = right is not None and right.is_for_admins and self.is_platform_admin
        if dataset is not None and not self.roles(dataset) and not is_admins:
            raise NotFoundError("dataset", dataset)
        if right is None:
            raise ForbiddenError(action, "nobody may do it")
        if right.scope not in self.scopes:
            raise ForbiddenError(action, f"use an API key with the scope {right.scope}")
        if action in _ANSWERS and Role.OWNER in self.roles(dataset or ""):
            raise ForbiddenError(action, "owners see no answers from their own data unless the dataset allows it")
        allowed = [*sorted(right.roles), *(["platform admin"] if right.is_for_admins else [])]
        raise ForbiddenError(action, f"it needs the role {' or '.join(allowed)}")


class Directory:
    """The people of a server and their grants.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, *, display_name: str = "", is_platform_admin: bool = False) -> Person:
        """Add an active person without grants.

        Raises:
            ParameterError: The name is taken, or is none.
        """
        if not _PERSON.fullmatch(name) or KEY_MARK in name:
            requirement = (
                "must be 1 to 100 letters, digits or ._@+-, begin with a letter or digit, and look like no key"
            )
            raise ParameterError("name", name, requirement)
        person = Person(
            name=name,
            display_name=_shown_name(display_name or name),
            is_platform_admin=is_platform_admin,
            is_active=True,
        )
        with self._database.writing() as connection:
            if not self._database.insert_new(connection, PEOPLE, **asdict(person)):
                raise ParameterError("name", name, "is taken; choose another name")
        return person

    def person(self, name: str) -> Person:
        """One person.

        Raises:
            NotFoundError: There is none of this name.
        """
        with self._database.reading() as connection:
            return _person(connection, name)

    def people(self) -> tuple[Person, ...]:
        """Everybody, by name."""
        with self._database.reading() as connection:
            rows = connection.execute(select(PEOPLE).order_by(PEOPLE.c.name)).mappings()
            return tuple(Person(**row) for row in rows)

    def change(
        self,
        name: str,
        *,
        display_name: str | None = None,
        is_platform_admin: bool | None = None,
        is_active: bool | None = None,
    ) -> Person:
        """Change what is given, and keep what is None; API keys of inactive people are refused at once.

        Raises:
            NotFoundError: There is no such person.
            ParameterError: They are the last active platform admin, and would be one no more.
        """
        changes = {
            "display_name": None if display_name is None else _shown_name(display_name),
            "is_platform_admin": is_platform_admin,
            "is_active": is_active,
        }
        values = {field: value for field, value in changes.items() if value is not None}
        with self._database.writing() as connection:
            self._database.lock(connection, PEOPLE)
            _person(connection, name)
            if values:
                connection.execute(update(PEOPLE).where(PEOPLE.c.name == name).values(**values))
            admins = select(PEOPLE.c.name).where(PEOPLE.c.is_platform_admin, PEOPLE.c.is_active)
            if False in (is_platform_admin, is_active) and connection.execute(admins).first() is None:
                raise ParameterError("name", name, "is the last active platform admin; make another one first")
            return _person(connection, name)

    def grant(self, name: str, grant: Grant) -> None:
        """Give a person a role on a dataset; an analyst who has it gets the account named now, whatever groups say.

        Raises:
            NotFoundError: There is no such person.
            ParameterError: The dataset or the account is no name, or the account is missing or superfluous.
        """
        require_name("dataset", grant.dataset)
        if (grant.role is Role.ANALYST) != bool(grant.account):
            requirement = "must be named for an analyst, and for nobody else"
            raise ParameterError("account", grant.account, requirement)
        if grant.account:
            require_name("account", grant.account)
        key = {"person": name, "dataset": grant.dataset, "role": grant.role.value}
        with self._database.writing() as connection:
            _person(connection, name)
            if not self._database.insert_new(connection, GRANTS, **key, account=grant.account):
                found = (GRANTS.columns[field] == value for field, value in key.items())
                connection.execute(update(GRANTS).where(*found).values(account=grant.account, provider=""))

    def revoke(self, name: str, dataset: str, role: Role | None = None) -> None:
        """Take a role on a dataset away, or all roles on it.

        Raises:
            NotFoundError: They do not have it.
        """
        matches = [GRANTS.c.person == name, GRANTS.c.dataset == dataset]
        if role is not None:
            matches.append(GRANTS.c.role == role.value)
        with self._database.writing() as connection:
            if connection.execute(delete(GRANTS).where(*matches)).rowcount == 0:
                raise NotFoundError("grant", f"{name} on {dataset}")

    def grants(self, name: str) -> tuple[Grant, ...]:
        """The grants of one person; none of somebody who does not exist."""
        return tuple(grant for _, grant in self._granted(name=name))

    def grants_on(self, dataset: str) -> tuple[tuple[str, Grant], ...]:
        """Who has which grants on a dataset."""
        return self._granted(dataset=dataset)

    def _granted(self, *, name: str | None = None, dataset: str | None = None) -> tuple[tuple[str, Grant], ...]:
        matches = [GRANTS.c.person == name] if dataset is None else [GRANTS.c.dataset == dataset]
        order = (GRANTS.c.person, GRANTS.c.dataset, GRANTS.c.role)
        with self._database.reading() as connection:
            rows = connection.execute(select(GRANTS).where(*matches).order_by(*order)).all()
        return tuple((row.person, grant) for row in rows for grant in grants_in([row]))


def grants_in(rows: Iterable[Row[tuple[str, ...]]]) -> tuple[Grant, ...]:
    """The grants in rows of the table, without those that an outer join left empty."""
    return tuple(Grant(row.dataset, Role(row.role), row.account) for row in rows if row.role is not None)


def require_name(what: str, name: str) -> None:
    """Refuse what is no name of a dataset or an account: the log of acts could not hold it.

    Raises:
        ParameterError: It is empty, too long, has spaces or quotes, or looks like a key.
    """
    if not _NAME.fullmatch(name) or KEY_MARK in name:
        requirement = f"must be 1 to {_LONGEST} letters, digits or _.@:/+-, without spaces, and look like no key"
        raise ParameterError(what, name, requirement)


def _person(connection: Connection, name: str) -> Person:
    row = connection.execute(select(PEOPLE).where(PEOPLE.c.name == name)).mappings().one_or_none()
    if row is None:
        raise NotFoundError("person", name)
    return Person(**row)


def _shown_name(name: str) -> str:
    if len(name) > _LONGEST or not name.isprintable():
        raise ParameterError("display_name", name, f"must be at most {_LONGEST} printable characters")
    return name
