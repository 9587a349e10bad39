"""`sfumato demo`: the main things at work, one section a module, in the order of `run`."""
