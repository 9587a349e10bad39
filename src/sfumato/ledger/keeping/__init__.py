"""What keeps a ledger true: key, seals, checkpoints, snapshots."""
