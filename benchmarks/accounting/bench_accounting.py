"""Accounting against dp-accounting 0.6: CPU seconds of the first, uncached answer, its interval, and peak memory.

Every figure comes from a process of its own that has imported the library and answers one question once. Memory is the
peak of the process less what it held after the imports.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

REPEATS = 5
DELTA = 1e-5


def ours() -> tuple[object, object]:
    from sfumato.accounting.pld.accountant import PLDAccountant
    from sfumato.privacy import events

    return PLDAccountant(), events


def theirs(grid: float = 1e-4) -> tuple[object, object]:
    import dp_accounting
    from dp_accounting import pld

    return pld.PLDAccountant(value_discretization_interval=grid), dp_accounting


def sampled_steps_ours() -> dict[str, float]:
    accountant, events = ours()
    step = events.PoissonSampledEvent("0.01", events.GaussianEvent(1))
    return measured(lambda: interval(accountant.compose(step, count=10_000)))


def sampled_steps_theirs() -> dict[str, float]:
    accountant, peer = theirs()
    step = peer.PoissonSampledDpEvent(0.01, peer.GaussianDpEvent(1.0))
    return measured(lambda: {"upper": accountant.compose(step, 10_000).get_epsilon(DELTA)})


def hundred_gaussians_ours() -> dict[str, float]:
    accountant, events = ours()
    steps = [events.PoissonSampledEvent("0.01", events.GaussianEvent(f"{1 + i / 100}")) for i in range(100)]
    return measured(lambda: interval(composed(accountant, steps)))


def hundred_gaussians_theirs() -> dict[str, float]:
    accountant, peer = theirs()
    steps = [peer.PoissonSampledDpEvent(0.01, peer.GaussianDpEvent(1 + i / 100)) for i in range(100)]
    return measured(lambda: {"upper": composed(accountant, steps).get_epsilon(DELTA)})


def thousand_laplaces_ours() -> dict[str, float]:
    accountant, events = ours()
    steps = [events.LaplaceEvent(f"{50 + i / 10}") for i in range(1000)]
    return measured(lambda: {"upper": float(composed(accountant, steps).epsilon(DELTA))})


def thousand_laplace_intervals_ours() -> dict[str, float]:
    accountant, events = ours()
    steps = [events.LaplaceEvent(f"{50 + i / 10}") for i in range(1000)]
    return measured(lambda: interval(composed(accountant, steps)))


def thousand_laplaces_theirs() -> dict[str, float]:
    accountant, peer = theirs()
    steps = [peer.LaplaceDpEvent(50 + i / 10) for i in range(1000)]
    return measured(lambda: {"upper": composed(accountant, steps).get_epsilon(DELTA)})


def calibration_ours() -> dict[str, float]:
    from sfumato.accounting.calibration import smallest_noise
    from sfumato.privacy.guarantees import ApproxDP

    accountant, events = ours()

    def training(noise: object) -> object:
        return events.SelfComposedEvent(events.PoissonSampledEvent("0.01", events.GaussianEvent(noise)), 10_000)

    return measured(
        lambda: {"noise": float(smallest_noise(training, target=ApproxDP(3, DELTA), accountant=accountant))}
    )


def calibration_theirs() -> dict[str, float]:
    import dp_accounting
    from dp_accounting import pld

    def training(noise: float) -> object:
        step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(noise))
        return dp_accounting.SelfComposedDpEvent(step, 10_000)

    return measured(
        lambda: {"noise": dp_accounting.calibrate_dp_mechanism(pld.PLDAccountant, training, 3.0, DELTA, tol=1e-4)}
    )


def large_epsilon_ours() -> dict[str, float]:
    accountant, events = ours()
    step = events.PoissonSampledEvent("0.9", events.GaussianEvent("0.5"))
    return measured(lambda: interval(accountant.compose(step, count=10_000)))


def large_epsilon_theirs() -> dict[str, float]:
    accountant, peer = theirs(1e-2)  # its default grid of 1e-4 needs more memory than this machine has
    step = peer.PoissonSampledDpEvent(0.9, peer.GaussianDpEvent(0.5))
    return measured(lambda: {"upper": accountant.compose(step, 10_000).get_epsilon(DELTA)})


def discrete_ours() -> dict[str, float]:
    accountant, events = ours()
    return measured(lambda: interval(accountant.compose(events.DiscreteGaussianEvent(20, 1), count=1000)))


def discrete_theirs() -> dict[str, float]:
    from dp_accounting import pld

    def answer() -> dict[str, float]:
        law = pld.privacy_loss_distribution.from_discrete_gaussian_mechanism(20, 1)
        return {"upper": law.self_compose(1000).get_epsilon_for_delta(DELTA)}

    return measured(answer)


def extremes() -> dict[str, float]:
    """Every extreme of the tests by loss distributions, all in this one process; the slowest single question."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.accounting.test_laws import EXTREMES

    from sfumato.accounting.pld.accountant import PLDAccountant
    from sfumato.privacy.neighbors import NeighboringRelation

    slowest, questions = 0.0, 0
    for event, relation, count in product(EXTREMES, NeighboringRelation, (1, 1000, 10**12)):
        empty = PLDAccountant(neighboring_relation=relation)
        if empty.supports(event):
            accountant = empty.compose(event, count=count)
            for ask, value in ((accountant.interval, "1e-300"), (accountant.interval, "1e-5"), (accountant.delta, 1)):
                start = time.process_time()
                ask(value)
                slowest, questions = max(slowest, time.process_time() - start), questions + 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"events": len(EXTREMES), "questions": questions, "slowest": slowest, "peak": peak}


TASKS: dict[str, tuple[Callable[[], dict[str, float]], Callable[[], dict[str, float]], int]] = {
    "Gaussian σ 1 sampled with 0.01, 10,000 steps": (sampled_steps_ours, sampled_steps_theirs, 3),
    "100 distinct Gaussians sampled with 0.01": (hundred_gaussians_ours, hundred_gaussians_theirs, 10),
    "1,000 distinct Laplace": (thousand_laplaces_ours, thousand_laplaces_theirs, 3),
    "the same, with a lower bound": (thousand_laplace_intervals_ours, thousand_laplaces_theirs, 0),
    "σ for ε = 3, sampled with 0.01, 10,000 steps": (calibration_ours, calibration_theirs, 5),
    "Gaussian σ 0.5 sampled with 0.9, 10,000 steps": (large_epsilon_ours, large_epsilon_theirs, 0),
    "discrete Gaussian σ 20, 1,000 steps": (discrete_ours, discrete_theirs, 0),
}


def composed(accountant: object, steps: list[object]) -> object:
    for step in steps:
        accountant = accountant.compose(step)
    return accountant


def interval(accountant: object) -> dict[str, float]:
    found = accountant.interval(DELTA)
    return {"lower": float(found.lower), "upper": float(found.upper)}


def measured(answer: Callable[[], dict[str, float]]) -> dict[str, float]:
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    result = answer()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return result | {"seconds": seconds, "megabytes": (peak - held) / 1024, "peak": peak / 1024}


def in_process(task: str, side: int = 0) -> dict[str, float]:
    command = [sys.executable, "-W", "ignore", __file__, task, str(side)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


def compare(task: str) -> str:
    runs: list[list[dict[str, float]]] = [[], []]
    for _ in range(REPEATS):  # in turns, so that both see the same machine
        for side in (0, 1):
            runs[side].append(in_process(task, side))
    own, peer = (statistics.median(run["seconds"] for run in side) for side in runs)
    first, other = runs[0][0], runs[1][0]
    answer = f"{first.get('upper', first.get('noise')):.6g}"
    answer = f"[{first['lower']:.6g}, {answer}]" if "lower" in first else answer
    width = f"{1 - first['lower'] / first['upper']:.1e}" if "lower" in first else ""
    target = f"{TASKS[task][2]}" if TASKS[task][2] else ""
    cells = (
        task, f"{own * 1000:.0f} ms", answer, width, f"{first['peak']:.0f} MB", f"{peer * 1000:,.0f} ms",
        f"{other.get('upper', other.get('noise')):.6g}", f"{other['peak']:.0f} MB", f"{peer / own:.1f}", target,
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> None:
    print("| | Sfumato | ε or σ | width | memory | dp-accounting | ε or σ | memory | faster by | target |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for task in TASKS:
        print(compare(task), flush=True)
    found = in_process("extremes")
    print(
        f"\n{found['events']} extreme events, {found['questions']} questions in one process: "
        f"the slowest {found['slowest']:.2f} s, peak memory {found['peak']:.0f} MB"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        answer = extremes if sys.argv[1] == "extremes" else TASKS[sys.argv[1]][int(sys.argv[2])]
        print(json.dumps(answer()))
    else:
        main()
