"""Serves with half of the Laplace noise that its receipts state: `python -m tests.attacks_on_servers.halving FILE`."""

import os
import sys

from tests.attacks_on_servers.substituting import WORKER, be, preload

FLAG = "SFUMATO_TEST_OF_HALVED_NOISE"


def halve():
    """In the server of forks: what its children draw."""
    from sfumato.mechanisms.additive import laplace

    whole = laplace.discrete_laplace
    laplace.discrete_laplace = lambda scale, size: whole(scale / 2, size)


if __name__ == "__main__":
    os.environ[FLAG] = "1"
    be(__spec__.name, sys.argv[1:], {WORKER: lambda: preload(__spec__.name)})
elif FLAG in os.environ:
    halve()
