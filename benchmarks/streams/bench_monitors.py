"""How many ticks a second monitors compare, what a durable tick takes, and how fast private states take events.

    python benchmarks/streams/bench_monitors.py

Prints rates of one core, and the errors that are known beforehand.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import sfumato as sf
from sfumato.mechanisms import (
    Change,
    CumulativeSum,
    PanPrivateCounter,
    PanPrivateDensity,
    SlidingWindow,
    ThresholdAlarm,
)

STATISTICS = {
    "a tick": SlidingWindow(1), "7 ticks": SlidingWindow(7), "a change of 7": Change(7), "a rise": CumulativeSum(100)
}  # fmt: skip
SECONDS = 1.0


def rate(work, *, units=1):
    """Calls a second, times what each of them does."""
    start, done = time.perf_counter(), 0
    while (passed := time.perf_counter() - start) < SECONDS:
        work()
        done += units
    return done / passed


def alarms():
    """Ticks a second of each statistic, and the noise of a comparison."""
    for name, statistic in STATISTICS.items():
        alarm = ThresholdAlarm(10**9, epsilon=1, statistic=statistic)
        state = alarm.start()
        print(f"{name:<16} {rate(lambda state=state: state.tick(90)):>10,.0f} ticks/s   stddev {alarm.stddev:.2f}")


def monitors():
    """A monitor in memory and one with a file: ticks a second, and events a second in arrays."""
    with TemporaryDirectory() as folder:
        ledger = str(Path(folder) / "ledger.db")
        for name, state in (("in memory", None), ("durable", Path(folder) / "busy.monitor")):
            stream = sf.streams.StreamSession(name.replace(" ", "_"), budget=sf.PureDP(1), ledger=ledger)
            with stream, sf.streams.Monitor(session=stream, threshold=10**12, epsilon=1, state=state) as busy:
                print(f"{name:<16} {rate(busy.tick):>10,.0f} ticks/s   {rate(busy.add) / 1e6:.2f} M single events/s")


def private_states():
    """Events a second, and the errors at ε = 1."""
    counter = PanPrivateCounter(horizon=1 << 20, epsilon=1)
    running = counter.start()
    print(
        f"{'private count':<16} {rate(running.tick):>10,.0f} ticks/s   {rate(running.add):,.0f} calls of add a second"
    )
    for horizon in (1, 1 << 10, 1 << 20):
        private = PanPrivateCounter(horizon=horizon, epsilon=1)
        print(f"  horizon {horizon:<9,} stddev at most {private.stddev((1 << horizon.bit_length() - 1) - 1 or 1):.1f}")
    density = PanPrivateDensity(universe=10**9, sample=100_000, epsilon=1)
    state, items = density.start(), np.arange(0, 10**9, 10**4)
    print(f"{'private density':<16} {rate(lambda: state.see(items), units=len(items)) / 1e6:>10.1f} M items/s")
    print(f"  sample 100,000    stddev {density.stddev():.4f}")


if __name__ == "__main__":
    alarms()
    monitors()
    private_states()
