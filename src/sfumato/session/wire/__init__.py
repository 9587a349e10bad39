"""What crosses from the process that charges to the one that holds the data: tickets as text."""
