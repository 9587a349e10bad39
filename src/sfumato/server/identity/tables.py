"""The tables of a server's own database: people, grants, API keys, sessions, acts, approvals, releases and counts.

They are declared once for SQLite and PostgreSQL. Nothing here was computed from rows of people but the documents of
releases, which are public to whoever may read them.
"""

from datetime import UTC, datetime
from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeDecorator

_LENGTH: Final = 27  # characters of 2026-11-27T07:17:16.123456Z
_NUMBER: Final = BigInteger().with_variant(Integer(), "sqlite")  # where only INTEGER counts up by itself


class Moment(TypeDecorator[datetime]):
    """A moment in UTC as text of one length, so that texts sort as moments do.

    Example:
        >>> Moment.written(datetime(2026, 11, 27, 7, 17, 16, tzinfo=UTC))
        '2026-11-27T07:17:16.000000Z'
    """

    impl = String(_LENGTH)
    cache_ok = True

    @staticmethod
    def written(moment: datetime) -> str:
        """The text of a moment of any time zone."""
        return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """As it is stored."""
        del dialect
        return None if value is None else self.written(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:
        """As it was before."""
        del dialect
        return None if value is None else datetime.fromisoformat(value)


METADATA: Final = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

PEOPLE: Final = Table(
    "person",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("display_name", Text, nullable=False),
    Column("is_platform_admin", Boolean, nullable=False),
    Column("is_active", Boolean, nullable=False),
)
"""People are never deleted, because acts and releases name them; they become inactive."""

GRANTS: Final = Table(
    "dataset_grant",
    METADATA,
    Column("person", Text, ForeignKey("person.name"), primary_key=True),
    Column("dataset", Text, primary_key=True),
    Column("role", Text, primary_key=True),
    Column("account", Text, nullable=False),
    Column("provider", Text, nullable=False, server_default=""),
    CheckConstraint("role IN ('owner', 'analyst', 'auditor')", name="role"),
    CheckConstraint("(role = 'analyst') = (account <> '')", name="account"),
)
"""Who has which role on a dataset; an analyst is charged on the account.

Where a provider is named, groups gave the role, and the next sign-in there may take it.
"""

API_KEYS: Final = Table(
    "api_key",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("person", Text, ForeignKey("person.name"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("previous_hash", Text),
    Column("previous_until", Moment),
    Column("scopes", Text, nullable=False),
    Column("created", Moment, nullable=False),
    Column("expires", Moment),
    Column("last_used", Moment),
    Column("revoked", Moment),
)
"""Keyed hashes of secrets, never secrets; the previous one is that of a rotated key."""

ACTS: Final = Table(
    "act",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("at", Moment, nullable=False),
    Column("person", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("query_hash", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    CheckConstraint("outcome IN ('done', 'refused', 'failed')", name="outcome"),
    Index(None, "dataset", "number"),
)
"""The log of acts; triggers refuse to change it, and each row has the hash of the one before."""

APPROVALS: Final = Table(
    "approval",
    METADATA,
    Column("number", _NUMBER, primary_key=True),
    Column("id", Text, nullable=False),
    Column("dataset", Text, nullable=False, index=True),
    Column("action", Text, nullable=False),
    Column("change", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("asked_by", Text, ForeignKey("person.name"), nullable=False),
    Column("asked_at", Moment, nullable=False),
    Column("decided_by", Text, ForeignKey("person.name")),
    Column("decided_at", Moment),
    UniqueConstraint("id"),
    CheckConstraint("state IN ('pending', 'granted', 'refused')", name="state"),
    CheckConstraint("(state = 'pending') = (decided_by IS NULL)", name="decided"),
    CheckConstraint("decided_by IS NULL OR decided_by <> asked_by", name="another"),
)
"""Changes that need a second person."""

RELEASES: Final = Table(
    "kept_release",
    METADATA,
    Column("number", _NUMBER, primary_key=True),
    Column("id", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("account", Text, nullable=False),
    Column("principal", Text, nullable=False),
    Column("question_hash", Text, nullable=False),
    Column("shown_key", Text, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Column("at", Moment, nullable=False),
    UniqueConstraint("id"),
    UniqueConstraint("account", "shown_key"),
)
"""Documents of releases as they were first shown."""

QUESTIONS: Final = Table(
    "question",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("api_key", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("account", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("ask", Text, nullable=False),
    Column("at", Moment, nullable=False),
)
"""Queries that take long: how far one is, the ledger knows."""

SESSIONS: Final = Table(
    "session",
    METADATA,
    Column("hash", Text, primary_key=True),
    Column("person", Text, ForeignKey("person.name"), nullable=False, index=True),
    Column("api_key", Text, ForeignKey("api_key.id")),
    Column("began", Moment, nullable=False),
    Column("provider", Text, nullable=False),
    Column("last_used", Moment, nullable=False),
    Column("ended", Moment),
)
"""Whoever has signed in with a browser: keyed hashes of what cookies hold, and by which API key or provider."""

ATTEMPTS: Final = Table(
    "sign_in_attempt",
    METADATA,
    Column("hash", Text, primary_key=True),
    Column("browser", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("began", Moment, nullable=False),
)
"""Browsers that were sent to a provider and are not back, as keyed hashes of what they hold."""

IDENTITIES: Final = Table(
    "identity",
    METADATA,
    Column("issuer", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("person", Text, ForeignKey("person.name"), nullable=False),
    Column("last_sign_in", Moment, nullable=False),
    UniqueConstraint("person"),
)
"""Which person a provider means: by issuer and subject alone, as names and addresses change hands."""

COLLECTIONS: Final = Table(
    "collection",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("protocol", Text, nullable=False),
    Column("snapshot", LargeBinary, nullable=False),
)
"""What was counted of reports, and by which protocol, which stays the same: counts, and never a report."""

BATCHES: Final = Table(
    "collection_batch",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("day", Text, nullable=False, index=True),
    Column("digest", Text, nullable=False),
    Column("accepted", _NUMBER, nullable=False),
    Column("refused", _NUMBER, nullable=False),
)
"""Batches of reports that were counted, so that none is twice: hashes, and the day in the id; no sender, no address."""

HORIZON: Final = Table("collection_horizon", METADATA, Column("first_day", Text, primary_key=True))
"""One row: batches of earlier days are forgotten, and so refused whatever the clock says."""

FEDERATIONS: Final = Table(
    "federation",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("terms", Text, nullable=False),
    Column("round", _NUMBER, nullable=False),
    Column("attempt", _NUMBER, nullable=False),
    Column("phase", _NUMBER, nullable=False),
    Column("since", Moment),
)
"""Federations whose messages are passed on: what everybody agreed on, and how far they are."""

FEDERATION_MESSAGES: Final = Table(
    "federation_message",
    METADATA,
    Column("federation", Text, ForeignKey("federation.name"), primary_key=True),
    Column("phase", _NUMBER, primary_key=True, autoincrement=False),
    Column("party", _NUMBER, primary_key=True, autoincrement=False),
    Column("message", Text, nullable=False),
)
"""Messages of the attempt at a round that is under way, and of none before: keys, and numbers under masks."""

FEDERATION_RESULTS: Final = Table(
    "federation_result",
    METADATA,
    Column("federation", Text, ForeignKey("federation.name"), primary_key=True),
    Column("round", _NUMBER, primary_key=True, autoincrement=False),
    Column("result", Text, nullable=False),
)
"""Noisy sums of rounds that are over, for whoever comes later; empty for a round without one."""

FLEETING: Final = (SESSIONS, ATTEMPTS)
"""What no backup has: whoever has signed in signs in again at the server that was restored."""
