"""Sessions of people who sign in with a browser, by an API key or at a provider.

A session ends in three ways: somebody signs out, it is not used for a while, or it is too old. The last two are read
from its moments, so that no program has to clean up before they hold. Roles that groups gave are told from those that
owners gave: all that a database had before are of the latter kind.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0002"
down_revision: Final = "0001"
branch_labels: Final = None
depends_on: Final = None

_MOMENT: Final = sa.String(27)


def upgrade() -> None:
    """Make the tables of sessions and of people whom providers know, without any."""
    op.create_table(
        "session",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("api_key", sa.Text()),
        sa.Column("began", _MOMENT, nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("last_used", _MOMENT, nullable=False),
        sa.Column("ended", _MOMENT),
        sa.PrimaryKeyConstraint("hash", name="pk_session"),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name="fk_session_person"),
        sa.ForeignKeyConstraint(["api_key"], ["api_key.id"], name="fk_session_api_key"),
    )
    op.create_index("ix_session_person", "session", ["person"])
    op.create_table(
        "sign_in_attempt",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("browser", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("began", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_sign_in_attempt"),
    )
    op.create_table(
        "identity",
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("last_sign_in", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("issuer", "subject", name="pk_identity"),
        sa.UniqueConstraint("person", name="uq_identity_person"),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name="fk_identity_person"),
    )
    op.add_column("dataset_grant", sa.Column("provider", sa.Text(), nullable=False, server_default=""))
