"""What all tests share: random examples without a deadline, because a loaded machine is no failure.

What decides whether a change may land tries the same examples each time; `make soak` looks for new ones.
"""

from hypothesis import Phase, settings

settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("new", deadline=None)
settings.register_profile("mutants", settings.get_profile("same"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("same")
