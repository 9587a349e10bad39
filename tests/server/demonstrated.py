"""`sfumato serve --demo` runs while tests do: one for all tests of a process that try it as somebody new would."""

import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from threading import Timer

import httpx
from tests.ending import AT_END

SECONDS = 300
"""Within which it has started, or something is wrong."""


@dataclass(frozen=True, slots=True)
class Demo:
    """What it printed, and its process."""

    shown: str
    process: subprocess.Popen

    @property
    def url(self):
        return re.search(r"http://127\.0\.0\.1:\d+", self.shown)[0]

    @property
    def keys(self):
        """The key of each person."""
        return dict(re.findall(r"^  (\w+) .* (sfk_\w+)$", self.shown, re.MULTILINE))


@cache
def demo():
    """The one that all tests of this process share: none of them may count on what others have not spent."""
    command = [sys.executable, "-m", "sfumato", "serve", "--demo", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    AT_END.callback(_end, process)
    watch, lines = Timer(SECONDS, process.kill), []
    watch.start()
    for line in process.stdout:
        lines.append(line)
        if "sfumato query --url" in line:
            break
    watch.cancel()
    found = Demo("".join(lines), process)
    headers = {"Authorization": f"Bearer {found.keys['ann']}"}
    (account,) = httpx.get(f"{found.url}/v1/datasets/adult/accounts", headers=headers, timeout=SECONDS).json()
    assert account["spent"]["epsilon"] == "0"
    return found


def _end(process):
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=SECONDS)
