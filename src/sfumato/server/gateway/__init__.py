"""The side that people talk to: it plans, charges and shows, and holds no data."""
