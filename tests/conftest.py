"""What all tests share: no deadline for random examples, because a loaded machine is no failure."""

from hypothesis import Phase, settings

settings.register_profile("sfumato", deadline=None)
settings.register_profile("mutants", deadline=None, phases=(Phase.explicit, Phase.generate), database=None)
settings.load_profile("sfumato")
