"""How fast are RAPPOR and sketches on one core, and what does decoding find among a million reports?

Times are of the processor, the best of three. Decoding is tried on twenty collections whose counts are drawn by cohort
and bit, as those of a million devices are distributed: 100 texts of exponentially falling fractions (scale 20) and 100
that nobody holds, k = 128, h = 2, m = 16, f = 0.5, p = 0.5, q = 0.75.
"""

import sys
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np

from sfumato.local import (
    CountMeanSketch,
    Domain,
    FragmentPuzzle,
    HadamardSketch,
    PrefixSearch,
    Rappor,
    TreeSearch,
    detection_frequency,
)

HOMEPAGES = Rappor(bits=128, hashes=2, cohorts=16, f="0.5", p="0.5", q="0.75")
PEOPLE, TEXTS, SEEDS, REPEATS = 1_000_000, 100, 20, 3
USERS = 200_000
RNG = np.random.default_rng(24)


def seconds(action: Callable[[], Any]) -> float:
    """The best processor time of one call."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def speed(name: str, protocol: Any, held: Any, target: str = "") -> None:
    reports = protocol.client().report_many(held)
    encode = len(held) / seconds(lambda: protocol.client().report_many(held))
    aggregate = len(held) / seconds(lambda: protocol.aggregator().add(reports))
    print(f"{name:<44}{encode:>12,.0f} encoded/s{aggregate:>14,.0f} aggregated/s   {target}")


def counted(held: dict[str, int]) -> Any:
    """An aggregator of the reports of so many holders of each text."""
    high, low = map(float, HOMEPAGES.reported)
    by_cohort = {
        text: RNG.multinomial(count, [1 / HOMEPAGES.cohorts] * HOMEPAGES.cohorts) for text, count in held.items()
    }
    counts = np.zeros((HOMEPAGES.cohorts, 1 + HOMEPAGES.bits), dtype="<i8")
    for cohort in range(HOMEPAGES.cohorts):
        people = sum(int(of_text[cohort]) for of_text in by_cohort.values())
        sets = np.zeros(HOMEPAGES.bits, dtype=np.int64)
        for text, of_text in by_cohort.items():
            sets[list(set(HOMEPAGES.set_bits(text, cohort)))] += of_text[cohort]
        counts[cohort] = [people, *(RNG.binomial(sets, high) + RNG.binomial(people - sets, low))]
    aggregator = HOMEPAGES.aggregator()
    state = aggregator.header() + sum(held.values()).to_bytes(8) + counts.tobytes()
    return aggregator.restore(state + sha256(state).digest())


def decoding() -> bool:
    texts = [f"v{number}" for number in range(1, TEXTS + 1)]
    decoys = [f"decoy{number}" for number in range(1, TEXTS + 1)]
    weights = np.exp(-np.arange(TEXTS) / 20)
    held = dict(zip(texts, RNG.multinomial(PEOPLE, weights / weights.sum()).tolist(), strict=True))
    least = detection_frequency(HOMEPAGES, reports=PEOPLE, candidates=2 * TEXTS)
    must = {text for text, count in held.items() if count >= 1.5 * least * PEOPLE}
    complete, wrong, times, found = 0, 0, [], []
    for _ in range(SEEDS):
        aggregator = counted(held)
        start = time.process_time()
        detected = set(aggregator.estimate([*texts, *decoys]).detected)
        times.append(time.process_time() - start)
        complete += must <= detected
        wrong += bool(detected & set(decoys))
        found.append(len(detected & set(texts)))
    print(f"detection frequency {least:.2%}; {len(must)} texts at 1.5 times of it; {PEOPLE:,} reports, {SEEDS} seeds")
    print(f"seeds in which all of these are found: {complete} (at least {0.9 * SEEDS:.0f})")
    print(f"seeds in which one that nobody holds is found: {wrong} (at most 4)")
    print(
        f"texts found: {min(found)} to {max(found)} of {TEXTS}; a decode takes {max(times):.2f} s at most (at most 1)"
    )
    return complete >= 0.9 * SEEDS and wrong <= 4 and max(times) <= 1


def hitters() -> None:
    """F1 of the texts that two searches find, against the 16 most frequent of 2,000 by a Zipf law."""
    texts = list(dict.fromkeys("".join(RNG.choice(list("abcdefghijklmnop"), 4)) for _ in range(2100)))[:2000]
    ranks = RNG.choice(len(texts), PEOPLE, p=(weights := 1 / np.arange(1, 2001) ** 1.1) / weights.sum())
    held = [texts[rank] for rank in ranks.tolist()]
    for search in (PrefixSearch(4, epsilon=4, top=16), TreeSearch(4, epsilon=4)):
        collected = search.aggregator()
        collected.add(search.client().report_many(held))
        start = time.process_time()
        found = collected.estimate().values[:16]
        took = time.process_time() - start
        right = len(set(found) & set(texts[:16]))
        score = 2 * right / (len(found) + 16)
        print(f"{type(search).__name__}: {right} of 16 among {len(found)} found, F1 {score:.2f}, {took:.2f} s")


def main() -> int:
    few = [f"v{number % 200}" for number in range(USERS)]
    many = [f"v{number}" for number in range(USERS)]
    speed("RAPPOR, k = 128, 200 different texts", HOMEPAGES, few, "at least 200,000 encoded")
    speed("RAPPOR, k = 128, all texts different", HOMEPAGES, many, "at least 200,000 encoded")
    for bits in (32, 128):
        protocol = Rappor(bits=bits, hashes=2, cohorts=16, f="0.5", p="0.5", q="0.75")
        device = protocol.client()
        each = seconds(lambda device=device: [device.report("example.org") for _ in range(2000)]) / 2000
        print(f"{f'one report of one device, k = {bits}':<44}{1e6 * each:>12.1f} µs")
    speed("count-mean sketch, 128 rows of 1,024", CountMeanSketch(Domain.texts(), epsilon=1), few)
    speed("Hadamard sketch, 128 rows of 1,024", HadamardSketch(Domain.texts(), epsilon=1), few)
    words = [f"w{chr(97 + number % 26)}{chr(97 + number // 26 % 26)}" for number in range(USERS)]
    speed(
        "fragment puzzle, words of 8 letters", FragmentPuzzle("abcdefghijklmnopqrstuvwxyz", length=8, epsilon=8), words
    )
    hitters()
    return 0 if decoding() else 1


if __name__ == "__main__":
    sys.exit(main())
