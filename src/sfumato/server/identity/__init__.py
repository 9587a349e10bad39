"""People, their roles, grants and API keys, and what is written of them: acts, approvals and releases. No HTTP.

`tables` declares what is stored, `migrations` makes it, and `database` opens it, in SQLite or PostgreSQL. The other
modules each keep one of its subjects.
"""
