"""What asking over HTTP costs, next to asking in the same process, and what a server takes while nobody asks.

All in one run, unpadded: a fresh query of 1,000 rows over HTTP and in process, by turns; stored answers a second, by
16 clients of another process, and how many a second of the gateway's processor; the same from a bare FastAPI route that
shows as many bytes; and the memory of all processes, before anybody has asked and afterwards.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import psutil
from clients import Load, Times, measure

import sfumato as sf
from sfumato.query.policy.file import load_policy
from sfumato.session.session import Session

sys.path.append(str(Path(__file__).parents[2]))
from tests.attacks_on_servers.curators import Curator, write_curator

ROUNDS, FRESH, STORED, CLIENTS = 5, 40, 4_000, 16
SQL = "SELECT ward, COUNT(*) AS n FROM people GROUP BY ward"
IDLE_SECONDS = 5.0


def in_process(session: Session, number: int) -> list[float]:
    """Milliseconds of queries that nobody has asked before."""
    times = []
    for place in range(FRESH):
        start = time.perf_counter()
        session.sql(SQL, epsilon=f"0.2{number}{place:03d}")
        times.append((time.perf_counter() - start) * 1e3)
    return times


def memory(server: psutil.Process) -> dict[str, float]:
    """Megabytes of each process, each shared page divided by those who share it."""
    found: dict[str, float] = {}
    for process in [server, *server.children(recursive=True)]:
        words = " ".join(process.cmdline())
        kinds = ("gateway", "worker", "resource_tracker", "forkserver", "serving")
        kind = next((one for one in kinds if one in words), words)
        parents = [one for one in process.parents() if "forkserver" in " ".join(one.cmdline())]
        kind = {"serving": "supervisor", "forkserver": "child" if parents else "server of forks"}.get(kind, kind)
        found[kind] = found.get(kind, 0.0) + process.memory_full_info().pss / 2**20
    return found


def cpu(process: psutil.Process) -> float:
    return float(sum(process.cpu_times()[:2]))


def loaded(process: psutil.Process, load: Load) -> tuple[Times, float]:
    """Times, and how many requests a second of one process's processor were answered."""
    before = cpu(process)
    times = measure(load)
    return times, load.requests / (cpu(process) - before)


def show_loaded(name: str, measured: tuple[Times, float], target: str = "") -> None:
    times, a_core = measured
    print(
        f"  {name:<34}{times.rate:7.0f} /s{a_core:8.0f} /s of a core   p50 {times.quantile(0.5):6.1f} ms   "
        f"p99 {times.quantile(0.99):6.1f} ms{target}"
    )


def bare(size: int, token: str) -> tuple[Times, float]:
    """A route of FastAPI that does nothing but show as many bytes."""
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("bare.py")), str(size)], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        load = Load(f"{url}/ask", token, [{"sql": SQL}], STORED, CLIENTS)
        measure(Load(load.url, token, load.bodies, 100, CLIENTS))
        return loaded(psutil.Process(server.pid), load)
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Curator(write_curator(folder)) as curator:
            server = psutil.Process(curator.process.pid)
            time.sleep(IDLE_SECONDS)
            idle = memory(server)
            curator.account("ann", 900)
            ann = curator.analyst("people/ann", "ann")
            url = f"{curator.url}/v1/datasets/people/ask"
            policy = load_policy(folder / "people.toml")
            ours: list[float] = []
            theirs: list[float] = []
            with Session(policy, budget=sf.PureDP(1_000), ledger=folder / "own.db") as session:
                in_process(session, 9)
                measure(Load(url, ann.token, [{"sql": SQL, "epsilon": f"0.3{n:03d}"} for n in range(20)], 20, 1))
                for number in range(ROUNDS):
                    bodies = [{"sql": SQL, "epsilon": f"0.1{number}{place:03d}"} for place in range(FRESH)]
                    ours += in_process(session, number)
                    theirs += measure(Load(url, ann.token, bodies, FRESH, 1)).each
            (gateway,) = (one for one in server.children() if "gateway" in " ".join(one.cmdline()))
            stored: dict[str, object] = {"sql": SQL, "epsilon": "0.3000"}
            with ann.client(curator.url) as client:
                size = len(client.post("/datasets/people/ask", json=stored).content)
            many = loaded(gateway, Load(url, ann.token, [stored], STORED, CLIENTS))
            one = loaded(gateway, Load(url, ann.token, [stored], STORED // 8, 1))
            nothing = bare(size, ann.token)
            asked = memory(server)
    more = median(theirs) - median(ours)
    print(f"a fresh query of 1,000 rows, unpadded, median of {len(ours)} by turns")
    print(f"  in process                        {median(ours):7.1f} ms   (least {min(ours):.1f})")
    print(f"  over HTTP                         {median(theirs):7.1f} ms   (least {min(theirs):.1f})")
    print(
        f"  more over HTTP                    {more:7.1f} ms   (target 10)   ratio {median(theirs) / median(ours):.1f}"
    )
    print(f"stored answers of {size:,} bytes over HTTP, one gateway")
    show_loaded(f"{CLIENTS} clients", many, "   (target 500 /s of a core)")
    show_loaded("1 client", one)
    show_loaded(f"a bare FastAPI route, {CLIENTS} clients", nothing, f"   ratio {nothing[1] / many[1]:.1f}")
    print("memory, PSS in MB: before anybody asked, and after all of this")
    for kind in asked:
        print(f"  {kind:<34}{idle.get(kind, 0.0):7.0f}{asked[kind]:7.0f}")
    print(f"  {'all':<34}{sum(idle.values()):7.0f}{sum(asked.values()):7.0f}   (target 450; the gateway 200)")


if __name__ == "__main__":
    main()
