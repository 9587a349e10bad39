"""Sessions of people who sign in with a browser.

A session ends in three ways: somebody signs out, it is not used for a while, or it is too old. The last two are read
from its moments, so that no program has to clean up before they hold.
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
    """Make the table of sessions, without any."""
    op.create_table(
        "session",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("api_key", sa.Text()),
        sa.Column("began", _MOMENT, nullable=False),
        sa.Column("last_used", _MOMENT, nullable=False),
        sa.Column("ended", _MOMENT),
        sa.PrimaryKeyConstraint("hash", name="pk_session"),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name="fk_session_person"),
        sa.ForeignKeyConstraint(["api_key"], ["api_key.id"], name="fk_session_api_key"),
    )
    op.create_index("ix_session_person", "session", ["person"])
