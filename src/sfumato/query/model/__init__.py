"""What a query is made of: kinds, columns, tables, expressions, relations, measures."""
