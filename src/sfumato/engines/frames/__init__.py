"""Statements as queries of Polars: what `sql` is to databases, in expressions over whole columns."""
