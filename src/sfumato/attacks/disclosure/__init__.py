"""What a table without names tells of people in it."""
