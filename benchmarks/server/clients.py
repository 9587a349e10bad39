"""Clients that ask over HTTP as fast as they are answered, in a process of their own; none of them waits for another.

They speak HTTP/1.1 over plain sockets, so that next to nothing of what is measured is their own work.
`python clients.py` reads what to do from its input, as JSON, and says the seconds that each request took.
"""

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Load:
    """What some clients ask.

    Attributes:
        url: Where.
        token: The API key.
        bodies: What is sent, one after the other; without bodies, GET.
        requests: How many requests in all.
        clients: How many at once.
    """

    url: str
    token: str
    bodies: list[dict[str, object]]
    requests: int
    clients: int


@dataclass(frozen=True)
class Times:
    """How long requests took, in milliseconds.

    Attributes:
        each: Of each request.
        seconds: From the first to the last.
    """

    each: list[float]
    seconds: float

    def quantile(self, share: float) -> float:
        """The time that so large a share of requests took no longer than."""
        return sorted(self.each)[min(len(self.each) - 1, int(share * len(self.each)))]

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.each) / self.seconds


def measure(load: Load) -> Times:
    """Have another process ask."""
    program = [sys.executable, str(Path(__file__))]
    done = subprocess.run(program, input=json.dumps(vars(load)), stdout=subprocess.PIPE, text=True, check=True)
    return Times(**json.loads(done.stdout))


async def _ask(load: Load) -> Times:
    address, numbers, each = urlsplit(load.url), iter(range(load.requests)), []

    async def client() -> None:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        for number in numbers:
            start = time.perf_counter()
            writer.write(_request(load, address.path, number))
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            body = await reader.readexactly(length)
            if not head.startswith(b"http/1.1 200"):
                raise SystemExit(body.decode())
            each.append((time.perf_counter() - start) * 1e3)
        writer.close()

    start = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(load.clients)))
    return Times(each, time.perf_counter() - start)


def _request(load: Load, path: str, number: int) -> bytes:
    lines = ["Host: curator", f"Authorization: Bearer {load.token}"]
    if not load.bodies:
        return "\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""]).encode()
    body = json.dumps(load.bodies[number % len(load.bodies)])
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([f"POST {path} HTTP/1.1", *lines, "", body]).encode()


if __name__ == "__main__":
    json.dump(vars(asyncio.run(_ask(Load(**json.load(sys.stdin))))), sys.stdout)
