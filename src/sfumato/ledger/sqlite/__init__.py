"""A ledger in one file."""
