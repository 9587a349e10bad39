"""`sfumato synth`: a file of made-up rows that look like a table."""
