"""What all tests share: random examples without a deadline, because a loaded machine is no failure.

What decides whether a change may land tries the same examples each time, whatever is collected beside them; `make soak`
looks for new ones.
"""

import gc
from collections.abc import Generator

import pytest
from hypothesis import Phase, settings
from tests.ending import AT_END
from tests.examples_drawn import draw_the_same_whatever_is_imported

settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("new", deadline=None)
settings.register_profile("mutants", settings.get_profile("same"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("same")


def pytest_sessionstart() -> None:
    """The profile is chosen by now."""
    if settings().derandomize:
        draw_the_same_whatever_is_imported()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected, tens of thousands of tests, stays to the end: no search for garbage looks through it again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of Spark come first: whoever runs them in parallel has them all in one process, with one Spark."""
    items.sort(key=lambda item: "spark" not in item.path.name)


def pytest_sessionfinish() -> None:
    """What the tests started ends with them."""
    AT_END.close()
