"""What all tests share: no deadline for random examples, because a loaded machine is no failure."""

from hypothesis import settings

settings.register_profile("sfumato", deadline=None)
settings.load_profile("sfumato")
