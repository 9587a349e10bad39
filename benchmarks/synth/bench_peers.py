"""Synthetic Adult beside SmartNoise-synth's MST and AIM: the same rows, ε, δ, columns and values, one seed.

    python benchmarks/synth/bench_peers.py [--methods mst,aim] [--rounds 30]

SmartNoise runs in an environment of its own (make peers), where there is one. Its AIM has 16 rounds a column by default
and takes hours for them; `--rounds` states fewer. It reads off the data which values a column has, and how many rows
there are, and pays for neither. Seconds are of the processor, and megabytes the peak of the process.
"""

import argparse
import json
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from bench_tables import BINS, DELTA, MEASURED, adult, auc, codes, distances

import sfumato as sf

PEER = Path(__file__).parents[1] / "peers" / "smartnoise_synth"


def ours(method, rows, columns, attributes):
    """The numbers of the values of made-up rows, seconds and megabytes."""
    session = sf.open(rows, name="adult", columns=columns, budget=sf.ApproxDP(1, DELTA))
    start = time.process_time()
    made = sf.synth.synthesize(
        session, f"SELECT {', '.join(columns)} FROM adult", epsilon=1, delta=DELTA, method=method, bins=BINS
    )  # fmt: skip
    drawn = made.rows(MEASURED, seed=1)
    seconds = time.process_time() - start
    return codes(drawn, attributes), seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def peers(method, real, rounds):
    """The same of the peer."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/rows.npz", **real)
        command = [
            PEER / ".venv" / "bin" / "python",
            PEER / "ask.py",
            method,
            f"{folder}/rows.npz",
            f"{folder}/made.npz",
        ]
        command += ["--rounds", str(rounds)] if method == "aim" else []
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(answer.stdout.splitlines()[-1])
        return dict(np.load(f"{folder}/made.npz")), found["seconds"], found["megabytes"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--methods", default="mst,aim")
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    table, columns = adult()
    order = np.random.default_rng(0).permutation(len(table))
    rows, test = table.take(pa.array(order[:MEASURED])), table.take(pa.array(order[MEASURED:]))
    session = sf.open(rows, name="adult", columns=columns, budget=sf.ApproxDP(1, DELTA))
    attributes = session.marginals(f"SELECT {', '.join(columns)} FROM adult", bins=BINS).attributes
    real, held = codes(rows, attributes), codes(test, attributes)
    print(f"{'':28} {'CPU s':>7} {'MB':>6} {'TVD mean':>9} {'max':>7} {'AUC':>7}")
    for method in arguments.methods.split(","):
        runs = {f"{method}": lambda method=method: ours(method, rows, columns, attributes)}
        if (PEER / ".venv").exists():
            runs[f"SmartNoise-synth 1.0.8 {method}"] = lambda method=method: peers(method, real, arguments.rounds)
        for name, run in runs.items():
            made, seconds, megabytes = run()
            average, largest = distances(attributes, real, made)
            print(f"{name:28} {seconds:7.1f} {megabytes:6.0f} {average:9.4f} {largest:7.4f} {auc(made, held):7.4f}")


if __name__ == "__main__":
    main()
