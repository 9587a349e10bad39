"""`sfumato demo`: the main things at work, one function a section, in the order of `run`."""
