"""Where a ledger lives: in memory, in an SQLite file, in a PostgreSQL database."""
