"""Which groups may be shown."""
