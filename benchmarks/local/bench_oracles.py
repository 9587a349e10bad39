"""How many people a second do local protocols serve, on one core, beside other libraries; and how far do they err?

1,024 values, ε = 1, held by a Zipf law. Times are of the processor, the best of three for ours, one run for the peers,
which run in environments of their own (make peers) right after. Errors are the mean squared error of all estimates over
the variance that theory states.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from sfumato.local import (
    DirectEncoding,
    HadamardResponse,
    HybridMean,
    LocalHashing,
    OptimizedUnaryEncoding,
    PiecewiseMean,
    PooledHashing,
    SquareWave,
    SubsetSelection,
    SymmetricUnaryEncoding,
    ThresholdedHistogram,
)

EPSILON, SIZE, REPEATS = 1, 1024, 3
PEERS = Path(__file__).parents[1] / "peers"
PEERS_USERS = 20_000
USERS = {
    DirectEncoding: 1_000_000,
    HadamardResponse: 1_000_000,
    LocalHashing: 1_000_000,
    PooledHashing: 1_000_000,
    OptimizedUnaryEncoding: 200_000,
    SymmetricUnaryEncoding: 200_000,
    ThresholdedHistogram: 200_000,
    SubsetSelection: 100_000,
}
NAMES = {
    DirectEncoding: "GRR",
    HadamardResponse: "HR",
    LocalHashing: "OLH",
    OptimizedUnaryEncoding: "OUE",
    SubsetSelection: "SS",
}
TARGETS = {
    (OptimizedUnaryEncoding, "encode"): 800_000,
    (LocalHashing, "aggregate"): 2_000_000,
    (HadamardResponse, "encode"): 20_000_000,
    (HadamardResponse, "aggregate"): 20_000_000,
}
MANY = 100_000_000
BATCH = 1_000_000


def best(action):
    """The best processor time of a few calls, and the last result."""
    times, found = [], None
    for _ in range(REPEATS):
        start = time.process_time()
        found = action()
        times.append(time.process_time() - start)
    return min(times), found


def collected(protocol, reports):
    aggregator = protocol.aggregator()
    aggregator.add(reports)
    return aggregator


def ours():
    rng, found = np.random.default_rng(1), {}
    for kind, users in USERS.items():
        protocol = kind(SIZE, epsilon=EPSILON)
        held = np.minimum(rng.zipf(1.1, users), SIZE) - 1
        client = protocol.client()
        encoding, reports = best(lambda client=client, held=held: client.report_many(held))
        counting, aggregator = best(lambda protocol=protocol, reports=reports: collected(protocol, reports))
        estimating, estimates = best(aggregator.estimate)
        truth = np.bincount(held, minlength=SIZE) / users
        ratio = float(((estimates.fractions - truth) ** 2).sum() / (estimates.standard_errors**2).sum())
        rates = {"encode": users / encoding, "aggregate": users / counting}
        found[kind] = rates | {"estimate": estimating, "ratio": ratio}
    return found


def peer(name):
    python = PEERS / name / ".venv" / "bin" / "python"
    if not python.exists():
        return {}
    command = [python, PEERS / name / "ask.py", str(PEERS_USERS)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def table():
    measured, peers = ours(), {name: peer(name) for name in ("pure_ldp", "multi_freq_ldpy")}
    print(f"{'users a second, one core':<26}{'encode':>14}{'aggregate':>14}{'decode, ms':>12}{'MSE/theory':>12}")
    for kind, row in measured.items():
        print(
            f"{kind.__name__:<26}{row['encode']:>14,.0f}{row['aggregate']:>14,.0f}{1e3 * row['estimate']:>12.1f}"
            f"{row['ratio']:>12.2f}"
        )
        for name, found in peers.items():
            if theirs := found.get(NAMES.get(kind, "")):
                print(
                    f"  {name:<24}{theirs['encode']:>14,.0f}{theirs['aggregate']:>14,.0f}"
                    f"{'':>12}{'':>12}  {row['encode'] / theirs['encode']:,.0f}x and "
                    f"{row['aggregate'] / theirs['aggregate']:,.0f}x"
                )
    for (kind, step), target in TARGETS.items():
        reached = measured[kind][step]
        said = "yes" if reached >= target else "NO"
        print(f"{kind.__name__}, {step}: {reached:,.0f} a second; at least {target:,}: {said}")


def numbers():
    held = np.random.default_rng(2).beta(2, 5, 1_000_000)
    for kind in (HybridMean, PiecewiseMean, SquareWave):
        protocol = kind(0, 1, epsilon=EPSILON)
        client = protocol.client()
        encoding, reports = best(lambda client=client: client.report_many(held))
        counting, aggregator = best(lambda protocol=protocol, reports=reports: collected(protocol, reports))
        estimating, _ = best(aggregator.estimate)
        print(
            f"{type(protocol).__name__:<26}{len(held) / encoding:>14,.0f}{len(held) / counting:>14,.0f}"
            f"{1e3 * estimating:>12.1f}"
        )


def memory():
    """10^8 reports of one bit, made and counted a million at a time: most of the memory is the interpreter's."""
    oracle = HadamardResponse(SIZE, epsilon=EPSILON)
    aggregator, client = oracle.aggregator(), oracle.client()
    held = np.minimum(np.random.default_rng(3).zipf(1.1, BATCH), SIZE) - 1
    start = time.process_time()
    for _ in range(MANY // BATCH):
        aggregator.add(client.report_many(held))
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(aggregator):,} reports made and counted in {seconds:.1f} s of processor; most memory {peak:,.0f} MB")


if __name__ == "__main__":
    if sys.argv[1:] == ["memory"]:
        memory()
    else:
        table()
        numbers()
        subprocess.run([sys.executable, __file__, "memory"], check=True)
