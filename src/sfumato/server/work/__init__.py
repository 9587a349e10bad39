"""The side that holds the data: it runs what was charged, one ticket at a time, and gives nothing back but that."""
