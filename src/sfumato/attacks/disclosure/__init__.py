"""What a table without names reveals about people in it."""
