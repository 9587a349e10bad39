"""Collections of randomized reports: what was counted of them, and which batches were.

There is one row of counts for each protocol that a collection had. A batch is known by hashes, so that one that is sent
again counts once. Nothing says when a batch came, or who sent it: what was counted cannot be told apart again, neither
by moments nor by addresses.

Both tables start empty. A server that was of the second revision goes on with its people and keys as they were; its
keys may send no reports, as they lack the scope for it.

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

_NUMBER: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables of counts and of batches, without any."""
    op.create_table(
        "collection",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("snapshot", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", "protocol", name="pk_collection"),
    )
    op.create_table(
        "collection_batch",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("accepted", _NUMBER, nullable=False),
        sa.Column("refused", _NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_collection_batch"),
    )
