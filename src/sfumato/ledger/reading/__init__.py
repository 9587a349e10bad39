"""What is read of a ledger: answers, history, spending, whether it is whole."""
