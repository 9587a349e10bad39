"""What all tests share: random examples without a deadline, because a loaded machine is no failure.

What decides whether a change may land tries the same examples each time, whatever is collected beside them; `make soak`
looks for new ones.
"""

import atexit
import gc
import importlib.util
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from tests.ending import AT_END
from tests.examples_drawn import draw_the_same_whatever_is_imported
from tests.sizes import FULL_SIZE
from tests.timing import SLOW, Stopwatch, function_of, part_of_slow, slow_functions

settings.register_profile("same", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("whole", settings.get_profile("same"), max_examples=200)
settings.register_profile("new", deadline=None, max_examples=200)
settings.register_profile("mutants", settings.get_profile("whole"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("whole" if FULL_SIZE else "same")

collect_ignore = [] if importlib.util.find_spec("torch") else ["learn/torch"]
"""Tests of networks are there for `make deep`, with which `make test` ends, and wherever else torch is installed."""

_OF_SERVERS = ("tests/attacks_on_servers/", "tests/client/", "tests/server/")


@pytest.fixture
def unheard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is at work on an answer is soon taken for gone, as if it had been stopped."""
    from sfumato.ledger.ledger import Ledger
    from sfumato.session.asking import planning

    monkeypatch.setattr(planning, "LEASE", 0.05)
    monkeypatch.setattr(Ledger, "renew", lambda *_: None)


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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", metavar="FILE", help="measure what tests cost, and write the list")
    help_of_part = (
        f"run of slow tests a part that takes about so many seconds, {SLOW} if none are given, and no long tests"
    )
    parser.addoption("--part", nargs="?", type=float, const=SLOW, metavar="SECONDS", help=help_of_part)
    help_of_cases = "with --part, run each test function with at most so many of its parameters"
    parser.addoption("--cases", type=int, metavar="NUMBER", help=help_of_cases)


def pytest_configure(config: pytest.Config) -> None:
    """Some tests work in folders of their own, from where a relative path leads elsewhere."""
    if folder := os.environ.get("SFUMATO_DATA"):
        os.environ["SFUMATO_DATA"] = str(Path(folder).resolve())
    if path := config.getoption("--times"):
        config.pluginmanager.register(Stopwatch(Path(path)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests get their marks, and their order."""
    slow = slow_functions()
    for item in items:
        if function_of(item.nodeid) in slow:
            item.add_marker("slow")
        if isinstance(item, pytest.Function) and hasattr(item.module, "FULL_SIZE"):
            item.add_marker("sized")
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("random")
    if seconds := config.getoption("--part"):  # the seeded bugs that are tried are a part already
        essential = {function_of(item.nodeid) for item in items if item.get_closest_marker("essential")}
        part = part_of_slow(
            (item.nodeid for item in items), seconds, essential=frozenset(essential), cases=config.getoption("--cases")
        )
        left = {item for item in items if item.nodeid not in part and not item.get_closest_marker("mutation")}
        config.hook.pytest_deselected(items=list(left))
        items[:] = [item for item in items if item not in left]
    items[:] = _in_order(items)


def _in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """Where several processes share the tests, the first one begins with those of Spark, and the second one with those
    of servers: so one process has all of a kind, with one Spark or one server. Each process gets as many tests, one
    after the other in this order. (`make test` shares files instead, see tests/shares.py.)
    """
    spark = [item for item in items if "spark" in item.nodeid]
    servers = [item for item in items if item.nodeid.startswith(_OF_SERVERS) and "spark" not in item.nodeid]
    others = [item for item in items if not item.nodeid.startswith(_OF_SERVERS) and "spark" not in item.nodeid]
    before = max(0, len(items) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) - len(spark))
    return [*spark, *others[:before], *servers, *others[before:]]


def pytest_sessionfinish() -> None:
    """What the tests started ends with them, and last of all what was collected, as pytest looks for garbage before."""
    AT_END.close()
    atexit.register(gc.unfreeze)
