"""How the SQL of each engine is written."""
