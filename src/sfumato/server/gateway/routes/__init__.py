"""The routes of the REST interface, one subject a module."""
