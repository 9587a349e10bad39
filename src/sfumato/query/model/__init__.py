"""What a question is made of: kinds, columns, tables, expressions, relations, measures."""
