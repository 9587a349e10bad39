"""What has to be stopped when the tests end: servers, and the folders that they are in."""

import atexit
from contextlib import ExitStack

AT_END = ExitStack()
"""Closed by pytest when its session ends, which is also where a process ends without a word; else by Python."""

atexit.register(AT_END.close)
