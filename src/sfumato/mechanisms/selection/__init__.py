"""The best of several candidates."""
