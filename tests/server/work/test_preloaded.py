"""The server of forks has loaded and computed what its forks need, has one thread, and has drawn no noise for them."""

import subprocess
import sys

from tests.meta.repository import ROOT

from sfumato.server.work.worker import _ENVIRONMENT

SCRIPT = """
import os, sys, time
import sfumato.server.work.child, sfumato.engines.duckdb.engine, sfumato.server.work.preloaded
from sfumato.noise.entropy import random_bytes

end = time.monotonic() + 10
while len(os.listdir("/proc/self/task")) > 1 and time.monotonic() < end:  # one that was joined is gone a little later
    time.sleep(0.001)
print(len(os.listdir("/proc/self/task")))
print(sorted({"duckdb", "pyarrow", "sfumato.noise.entropy", "sfumato.session.session"} - set(sys.modules)))
print(sorted({"scipy.stats", "scipy.optimize"} & set(sys.modules)))  # which take 45 MB in every process
print([name for name in map(os.path.realpath, os.scandir("/proc/self/fd")) if "parquet" in name or ".db" in name])
drawn = []
for _ in range(3):
    read, write = os.pipe()
    if not os.fork():
        os.write(write, random_bytes(16))
        os._exit(0)
    drawn.append(os.read(read, 16))
print(len({*drawn, random_bytes(16)}))
"""


def test_it_has_one_thread_and_no_file_and_its_forks_draw_noise_of_their_own():
    environment = _ENVIRONMENT | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["1", "[]", "[]", "[]", "4", ""]
