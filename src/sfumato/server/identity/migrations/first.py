"""The first tables: people, grants, API keys, acts, approvals, releases and queries that take long.

A revision is never edited once a server has used it; a later one changes what it made.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0001"
down_revision: Final = None
branch_labels: Final = None
depends_on: Final = None

_NUMBER: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_MOMENT: Final = sa.String(27)

# BEFORE INSERT also stops INSERT OR REPLACE, which deletes without asking the triggers on DELETE.
_IN_SQLITE: Final = (
    """CREATE TRIGGER act_is_next BEFORE INSERT ON act
WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM act)
BEGIN SELECT RAISE(ABORT, 'act is append-only'); END""",
    """CREATE TRIGGER kept_release_stays BEFORE INSERT ON kept_release
WHEN EXISTS (
  SELECT 1 FROM kept_release
  WHERE number = NEW.number OR id = NEW.id OR (account = NEW.account AND shown_key = NEW.shown_key)
)
BEGIN SELECT RAISE(IGNORE); END""",
    *(
        f"""CREATE TRIGGER {table}_has_no_{word} BEFORE {word} ON {table}
BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"""
        for table in ("act", "kept_release")
        for word in ("update", "delete")
    ),
)

_IN_POSTGRESQL: Final = (
    """CREATE FUNCTION is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$""",
    """CREATE FUNCTION act_is_next() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.number IS DISTINCT FROM (SELECT coalesce(max(number), 0) + 1 FROM act)
  THEN RAISE EXCEPTION 'act is append-only'; END IF;
  RETURN NEW;
END $$""",
    "CREATE TRIGGER act_is_next BEFORE INSERT ON act FOR EACH ROW EXECUTE FUNCTION act_is_next()",
    *(
        f"""CREATE TRIGGER {table}_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION is_append_only()"""
        for table in ("act", "kept_release")
    ),
)


def upgrade() -> None:
    """Make the tables, and the triggers that keep acts and releases as they are."""
    _make_people()
    _make_writings()
    for statement in _IN_SQLITE if op.get_bind().dialect.name == "sqlite" else _IN_POSTGRESQL:
        op.execute(statement)


def _make_people() -> None:
    op.create_table(
        "person",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("display_name", sa.Text(), nullable=False),
        sa.Column("is_platform_admin", sa.Boolean(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_person"),
    )
    op.create_table(
        "dataset_grant",
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("person", "dataset", "role", name="pk_dataset_grant"),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name="fk_dataset_grant_person"),
        sa.CheckConstraint("role IN ('owner', 'analyst', 'auditor')", name="ck_dataset_grant_role"),
        sa.CheckConstraint("(role = 'analyst') = (account <> '')", name="ck_dataset_grant_account"),
    )
    op.create_table(
        "api_key",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("previous_hash", sa.Text()),
        sa.Column("previous_until", _MOMENT),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        *(sa.Column(name, _MOMENT) for name in ("expires", "last_used", "revoked")),
        sa.PrimaryKeyConstraint("id", name="pk_api_key"),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name="fk_api_key_person"),
    )
    op.create_index("ix_api_key_person", "api_key", ["person"])


def _make_writings() -> None:
    of_acts = ("person", "action", "dataset", "target", "outcome", "query_hash", "previous", "hash")
    op.create_table(
        "act",
        sa.Column("number", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("at", _MOMENT, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in of_acts),
        sa.PrimaryKeyConstraint("number", name="pk_act"),
        sa.CheckConstraint("outcome IN ('done', 'refused', 'failed')", name="ck_act_outcome"),
    )
    op.create_index("ix_act_dataset", "act", ["dataset", "number"])
    op.create_table(
        "approval",
        sa.Column("number", _NUMBER, nullable=False),
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("id", "dataset", "action", "change", "reason", "state", "asked_by")
        ),
        sa.Column("asked_at", _MOMENT, nullable=False),
        sa.Column("decided_by", sa.Text()),
        sa.Column("decided_at", _MOMENT),
        sa.PrimaryKeyConstraint("number", name="pk_approval"),
        sa.UniqueConstraint("id", name="uq_approval_id"),
        sa.ForeignKeyConstraint(["asked_by"], ["person.name"], name="fk_approval_asked_by"),
        sa.ForeignKeyConstraint(["decided_by"], ["person.name"], name="fk_approval_decided_by"),
        sa.CheckConstraint("state IN ('pending', 'granted', 'refused')", name="ck_approval_state"),
        sa.CheckConstraint("(state = 'pending') = (decided_by IS NULL)", name="ck_approval_decided"),
        sa.CheckConstraint("decided_by IS NULL OR decided_by <> asked_by", name="ck_approval_another"),
    )
    op.create_index("ix_approval_dataset", "approval", ["dataset"])
    op.create_table(
        "kept_release",
        sa.Column("number", _NUMBER, nullable=False),
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("id", "dataset", "account", "principal", "question_hash", "shown_key")
        ),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_kept_release"),
        sa.UniqueConstraint("id", name="uq_kept_release_id"),
        sa.UniqueConstraint("account", "shown_key", name="uq_kept_release_account"),
    )
    of_questions = ("id", "person", "api_key", "dataset", "account", "key", "ask")
    op.create_table(
        "question",
        *(sa.Column(name, sa.Text(), nullable=False) for name in of_questions),
        sa.Column("at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_question"),
    )
