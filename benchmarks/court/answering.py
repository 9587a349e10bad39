"""How a peer answers the court: a line of JSON for each request, with the standard library alone.

Each peer runs in an environment of its own, without Sfumato. A request is `{"database": …, "runs": n}`, its answer a
list of n outputs or `{"error": "text"}`. Which of its cases a script answers for is its first argument.
"""

import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib.metadata import version
from typing import Any

Case = Callable[[Any, int], list[Any]]
"""Outputs of as many independent runs on a database."""


def answer(cases: dict[str, Case], *, packages: tuple[str, ...]) -> None:
    """Answer requests for one case until the input ends; the case `versions` tells which packages these are.

    Args:
        cases: By name.
        packages: What is on trial, as the package index calls it.
    """
    named = " ".join(f"{package} {version(package)}" for package in packages)
    case = {**cases, "versions": lambda _, runs: [named] * runs}[sys.argv[1]]
    for line in sys.stdin:
        with redirect_stdout(sys.stderr):  # what a library prints is no answer
            reply = _reply(case, json.loads(line))
        print(json.dumps(reply), flush=True)


def one_by_one(release: Callable[[Any], Any]) -> Case:
    """A case from a function that releases once."""
    return lambda database, runs: [release(database) for _ in range(runs)]


def errors_shown(release: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same, where an analyst would see an error: its type is an output. Elsewhere an error ends the trial."""

    def shown(database: Any) -> Any:
        try:
            return release(database)
        except Exception as error:  # noqa: BLE001 # whatever the library raises
            return type(error).__name__

    return shown


def _reply(case: Case, request: dict[str, Any]) -> Any:
    try:
        return case(request["database"], request["runs"])
    except Exception as error:  # noqa: BLE001 # the court must hear of it, whatever it is
        return {"error": f"{type(error).__name__}: {error}"}
