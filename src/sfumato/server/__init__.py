"""The curator as a server: people ask over HTTP, and every answer is charged before the data is read."""
