"""Lomas 0.4.1 without Docker: a server with its admin database in YAML, steps to a first answer, and races to a cap.

Usage: python ask.py FOLDER, by a Python that has requirements.txt; prints JSON. The server trusts the header
`user-name`, and charges after a query has run.
"""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests
import yaml

PORT, ROWS, EPSILON, CAP, THREADS = 48_671, 1_000, 0.1, 20, 32
URL = f"http://127.0.0.1:{PORT}"
PATH = "PATH_DB"
METADATA = {
    "max_ids": 1, "rows": ROWS, "row_privacy": True,
    "columns": {"age": {"type": "int", "precision": 32, "lower": 0, "upper": 100}},
}  # fmt: skip


def write(folder: Path, users: int) -> dict[str, str]:
    """All files that a server needs; gives its environment."""
    (folder / "people.csv").write_text("age\n" + "\n".join(str(number * 37 % 101) for number in range(ROWS)) + "\n")
    (folder / "metadata.yaml").write_text(yaml.dump(METADATA))
    own = {
        "dataset_name": "PEOPLE", "initial_epsilon": CAP * EPSILON, "initial_delta": 0.5, "total_spent_epsilon": 0.0,
        "total_spent_delta": 0.0,
    }  # fmt: skip
    names = [f"ann{number}" for number in range(users)]
    database = {
        "users": [{"user_name": name, "may_query": True, "datasets_list": [dict(own)]} for name in names],
        "datasets": [
            {
                "dataset_name": "PEOPLE",
                "dataset_access": {"database_type": PATH, "path": str(folder / "people.csv")},
                "metadata_access": {"database_type": PATH, "path": str(folder / "metadata.yaml")},
            }
        ],
        "queries": [],
    }
    (folder / "admin.yaml").write_text(yaml.dump(database))
    settings = {
        "develop_mode": False, "submit_limit": 300, "private_db_credentials": [],
        "server": {
            "time_attack": {"method": "jitter", "magnitude": 0.0}, "host_ip": "127.0.0.1", "host_port": PORT,
            "log_level": "error", "reload": False, "workers": 1,
        },
        "admin_database": {"db_type": "yaml", "db_file": str(folder / "admin.yaml")},
        "dp_libraries": {"opendp": {"contrib": True, "floating_point": True, "honest_but_curious": True}},
    }  # fmt: skip
    (folder / "runtime.yaml").write_text(yaml.dump({"runtime_args": {"settings": settings}}))
    (folder / "secrets.yaml").write_text("{}\n")
    places = {"LOMAS_CONFIG_PATH": str(folder / "runtime.yaml"), "LOMAS_SECRETS_PATH": str(folder / "secrets.yaml")}
    return os.environ | places


def started(folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """A server that answers."""
    with (folder / "log").open("ab") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "lomas_server.uvicorn_serve"], env=environment, stdout=log, stderr=log
        )
    for _ in range(600):
        try:
            if requests.get(f"{URL}/state", headers={"user-name": "ann0"}, timeout=5).ok:
                return server
        except requests.ConnectionError:
            pass
        if server.poll() is not None:
            break
        time.sleep(0.1)
    raise SystemExit((folder / "log").read_text()[-3_000:])


def ask(name: str) -> requests.Response:
    body = {
        "query_str": "SELECT COUNT(*) AS n FROM df", "dataset_name": "PEOPLE", "epsilon": EPSILON, "delta": 1e-6,
        "mechanisms": {}, "postprocess": True,
    }  # fmt: skip
    return requests.post(f"{URL}/smartnoise_sql_query", json=body, headers={"user-name": name}, timeout=120)


def spent(name: str) -> dict[str, object]:
    found = requests.post(
        f"{URL}/get_total_spent_budget", json={"dataset_name": "PEOPLE"}, headers={"user-name": name}, timeout=30
    )
    return dict(found.json())


def until_refused(name: str) -> tuple[int, list[str]]:
    """How often one thread is answered until it is refused otherwise than for being too quick."""
    granted, why = 0, []
    while True:
        response = ask(name)
        if response.ok:
            granted += 1
        elif "before end of previous query" in response.text:
            time.sleep(0.01)
        else:
            why.append(f"{response.status_code} {response.text[:200]}")
            return granted, why


def raced(name: str) -> dict[str, object]:
    with ThreadPoolExecutor(THREADS) as threads:
        told = list(threads.map(lambda _: until_refused(name), range(THREADS)))
    reasons = sorted({reason for _, why in told for reason in why})
    return {"answered": sum(count for count, _ in told), "of": CAP, "spent": spent(name), "refusals": reasons[:4]}


def main(folder: Path) -> None:
    found: dict[str, object] = {}
    environment = write(folder, users=2)
    start = time.perf_counter()
    server = started(folder, environment)
    found["seconds to start"] = time.perf_counter() - start
    start = time.perf_counter()
    first = ask("ann0")
    found["first answer"] = [first.status_code, first.text[:300], time.perf_counter() - start]
    found["one user's answers cost"] = spent("ann0")
    times = []
    for _ in range(5):
        start = time.perf_counter()
        ask("ann0")
        times.append((time.perf_counter() - start) * 1e3)
    found["warm answer, ms"] = sorted(times)[2]
    found["another user after that"] = [ask("ann1").status_code, ask("ann1").text[:200]]
    found["race"] = raced("ann0")
    server.send_signal(signal.SIGKILL)
    server.wait()
    server = started(folder, environment)
    found["spent after kill -9 and a new start"] = spent("ann0")
    server.terminate()
    server.wait()
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
