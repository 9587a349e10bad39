"""A ledger in a PostgreSQL database."""
