"""What a ledger holds: entries, accounts, reservations, and the state they lead to."""
