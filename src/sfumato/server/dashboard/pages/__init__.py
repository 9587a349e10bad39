"""The pages of the dashboard, one subject a module."""
