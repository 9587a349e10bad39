"""The machine of a server, examined: room on disks, swap, core dumps, the user, and the versions that run."""

import json
import os
import re
import shutil
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from multiprocessing.connection import Client
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import HTTPSHandler, ProxyHandler, build_opener

from sfumato.ledger.keeping.files import holder_of
from sfumato.ledger.locations import place_of
from sfumato.server.config import Curator
from sfumato.server.operations.findings import Finding, advice, failure, fine, warning
from sfumato.server.work.channel import MAX_MESSAGE, read, written
from sfumato.version import __version__

_LEAST_FREE, _LITTLE_FREE = 0.02, 0.1
_LEAST_BYTES: Final = 2**30
_SECONDS: Final = 5.0
_IN_MEMORY: Final = ("tmpfs", "ramfs")


def examine_machine(curator: Curator) -> Iterator[Finding]:
    """Room on disks, who this user is, and where what is in memory may get to a disk."""
    folders = (place_of(curator.ledger).beside.parent, curator.state)
    disks = {folder.stat().st_dev: folder for folder in folders if folder.exists()}
    yield from map(_room, disks.values())
    if os.geteuid() == 0:
        fix = "run it as a user of its own, as deploy/systemd does"
        yield warning("user", "this is root: a fault in the server would be one in all of the machine", fix)
    swaps = _lines(Path("/proc/swaps"))[1:]
    if swaps:
        yield advice("swap", "rows in memory may be written to it", "encrypt it, or turn it off: swapoff -a")
    temporary = Path(tempfile.gettempdir())
    if _kind_of(temporary) not in _IN_MEMORY:
        yield advice(
            f"{temporary}", "is on a disk, and engines may write rows there", "mount a tmpfs, or PrivateTmp= on one"
        )


def _room(folder: Path) -> Finding:
    usage = shutil.disk_usage(folder)
    share, subject = usage.free / usage.total, f"room at {folder}"
    seen = f"{usage.free / 2**30:,.1f} GiB are free, {share:.0%}"
    fix = "free some: without room nothing is charged, and every query is refused"
    if share < _LEAST_FREE or usage.free < _LEAST_BYTES:
        return failure(subject, seen, fix)
    return warning(subject, seen, fix) if share < _LITTLE_FREE else fine(subject, seen)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except OSError:
        return []


def _kind_of(folder: Path) -> str:
    """The kind of the file system that a folder is on."""
    kind, longest = "", -1
    for line in _lines(Path("/proc/mounts")):
        _, mount, found, *_ = line.split(" ")
        if folder.is_relative_to(mount) and len(mount) > longest:
            kind, longest = found, len(mount)
    return kind


def examine_processes(curator: Curator) -> Iterator[Finding]:
    """The processes that run now: whether they are of this version, and leave no core dumps."""
    versions = {"worker": worker_version(curator), "gateway": gateway_version(curator)}
    for name, version in versions.items():
        if version is None:
            yield advice(name, "does not run, or cannot be reached from here", "sfumato serve --config curator.toml")
        elif version != __version__:
            seen = f"runs version {version}, and {__version__} is installed"
            yield warning(name, seen, "send SIGHUP to the server: docs/how-to/server/operate.md")
        else:
            yield fine(name, f"runs version {version}")
    process = re.match(r"(\d+) on ", holder_of(curator.state / "worker.lock") or "")
    limits = _lines(Path(f"/proc/{process[1]}/limits")) if process and versions["worker"] else []
    for line in limits:
        if line.startswith("Max core file size"):
            if line.split()[4] == "0":
                yield fine("core dumps", "are off in the worker and in what it starts")
            else:
                yield failure("core dumps", "a crash would write rows to the disk", "restart the server")


def worker_version(curator: Curator) -> str | None:
    """The version of the worker that runs; None if there is none."""
    with suppress(OSError, EOFError), closing(Client(str(curator.socket), family="AF_UNIX")) as connection:
        connection.send_bytes(written({"enter": None}))
        if connection.poll(_SECONDS):
            version = read(connection.recv_bytes(MAX_MESSAGE)).get("version")
            return version if isinstance(version, str) else "unknown"
    return None


def gateway_version(curator: Curator) -> str | None:
    """The version of the gateway that answers; None if none does."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE  # nothing is sent, and a version is read
    with suppress(URLError, OSError, ValueError):
        directly = build_opener(
            ProxyHandler({}), HTTPSHandler(context=trusting)
        )  # not by the proxy that a variable names
        with directly.open(f"{curator.url}/v1/health", timeout=_SECONDS) as response:
            document = json.load(response)
        return str(document.get("version", "unknown"))
    return None
