"""`sfumato ledger`: reading a ledger, and what its owner does with it."""
