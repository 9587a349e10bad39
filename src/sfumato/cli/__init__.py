"""The command `sfumato`: it parses and prints, and decides nothing."""
