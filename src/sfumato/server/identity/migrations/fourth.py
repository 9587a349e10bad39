"""Federations: owners of samples whose messages a server passes on.

A federation has one row with its terms and how far it is, a row for each message of the attempt that is under way, and
a row for the noisy sum of each round that is over. Messages are deleted with their attempt, so that what owners sent
under masks stays no longer than it is needed.

All tables start empty. A server that was of the third revision goes on with its people, keys and counts as they were;
its keys may take part in a federation if they may send reports, which is the scope for both. Names of people are not
references to their table: people are never deleted, and who is not there any more can send nothing.

The numbers of rounds, phases and parties are as wide as all others here, though they are small.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0004"
down_revision: Final = "0003"
branch_labels: Final = None
depends_on: Final = None

_MOMENT: Final = sa.String(27)
_NUMBER: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables of federations, of their messages and of their noisy sums, without any."""
    _make_federations()
    _make_what_is_sent()


def _make_federations() -> None:
    op.create_table(
        "federation",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.Column("round", _NUMBER, nullable=False),
        sa.Column("attempt", _NUMBER, nullable=False),
        sa.Column("phase", _NUMBER, nullable=False),
        sa.Column("since", _MOMENT),
        sa.PrimaryKeyConstraint("name", name="pk_federation"),
    )


def _make_what_is_sent() -> None:
    op.create_table(
        "federation_message",
        sa.Column("federation", sa.Text(), nullable=False),
        sa.Column("phase", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("party", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("federation", "phase", "party", name="pk_federation_message"),
        sa.ForeignKeyConstraint(["federation"], ["federation.name"], name="fk_federation_message_federation"),
    )
    op.create_table(
        "federation_result",
        sa.Column("federation", sa.Text(), nullable=False),
        sa.Column("round", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("federation", "round", name="pk_federation_result"),
        sa.ForeignKeyConstraint(["federation"], ["federation.name"], name="fk_federation_result_federation"),
    )
