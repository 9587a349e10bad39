"""Collections of randomized reports: what was counted of them, and which batches were.

There is one row of counts for each collection, with the protocol that it counts. A batch is known by hashes, so that
one that is sent again counts once. Of moments there is the day that its sender wrote into its id, by which it is
forgotten; of senders and addresses there is nothing. The horizon is the day before which batches are forgotten.

All tables start empty, and the horizon before any day. A server that was of the second revision goes on with its people
and keys as they were; its keys may send no reports, as they lack the scope for it.

Integers have a wide type in PostgreSQL: a batch cannot have that many reports, but sums over all batches can. In SQLite
every integer is as wide as it has to be. The snapshot has a checksum of its own, which is compared whenever it is read.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0003"
down_revision: Final = "0002"
branch_labels: Final = None
depends_on: Final = None

_BEFORE_ANY: Final = "0001-01-01"
_NUMBER: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables of counts, of batches and of the horizon."""
    op.create_table(
        "collection",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("snapshot", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_collection"),
    )
    op.create_table(
        "collection_batch",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("accepted", _NUMBER, nullable=False),
        sa.Column("refused", _NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_collection_batch"),
    )
    op.create_index("ix_collection_batch_day", "collection_batch", ["day"])
    horizon = op.create_table(
        "collection_horizon",
        sa.Column("first_day", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("first_day", name="pk_collection_horizon"),
    )
    op.bulk_insert(horizon, [{"first_day": _BEFORE_ANY}])
