"""The revisions of the server's database, which Alembic applies in order."""
