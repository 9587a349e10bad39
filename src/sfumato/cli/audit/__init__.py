"""`sfumato audit`: trying to refute what a mechanism, a question, a function or a program promises."""
