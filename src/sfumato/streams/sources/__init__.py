"""Sources of events: a public clock, feeds that count each event once, tables, and batches of Spark."""
