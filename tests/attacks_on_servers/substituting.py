"""Servers whose processes begin with a program of the tests, which prepares them and then becomes what they are."""

import runpy
import sys
from pathlib import Path

GATEWAY, WORKER = "sfumato.server.gateway.app", "sfumato.server.work.worker"


def be(program, words, prepared):
    """Be the supervisor of a curator's file; or, as one of its processes, be prepared and become it.

    Args:
        program: The module that is started for each process.
        words: Its arguments: the curator's file, or the module of a process and its arguments.
        prepared: What is done first in the process of a module.
    """
    module, *_ = words
    if module in {GATEWAY, WORKER}:
        prepared.get(module, lambda: None)()
        sys.argv = words
        runpy.run_module(module, run_name="__main__")
    else:
        supervise(Path(module), program)


def supervise(config, program):
    """A supervisor that starts the program for each process, and starts it again at once."""
    from tests.attacks_on_servers.serving import say

    from sfumato.server import serve

    class Substituted(serve.Kept):
        def __init__(self, name, command, *others):
            python, option, *rest = command
            super().__init__(name, (python, option, program, *rest), *others)

    serve.Kept, serve._STEADY = Substituted, 0.0
    serve.serve(config, started=say)


def preload(module):
    """Before a worker starts: have its server of forks load a module, whose changes all processes with data have."""
    from sfumato.server.work import queues

    queues._PRELOADED.append(module)
