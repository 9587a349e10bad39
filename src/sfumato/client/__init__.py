"""The same face as a session, over HTTP: whoever asks has no data, no engine and no ledger."""
