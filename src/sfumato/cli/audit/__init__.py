"""`sfumato audit`: trying to refute what a mechanism, a query, a function or a program promises."""
