"""Counts as those of a million devices, drawn by cohort and bit: of the distribution that single reports add up to."""

from hashlib import sha256

import numpy as np


def counted(protocol, held, rng):
    """An aggregator of the reports of so many holders of each text.

    Given what each person holds, all bits of all reports are independent. So the ones at a bit are two binomials: of
    those whose text sets it, and of all others.
    """
    high, low = map(float, protocol.reported)
    by_cohort = {
        text: rng.multinomial(count, [1 / protocol.cohorts] * protocol.cohorts) for text, count in held.items()
    }
    counts = np.zeros((protocol.cohorts, 1 + protocol.bits), dtype=np.int64)
    for cohort in range(protocol.cohorts):
        people = sum(int(of_text[cohort]) for of_text in by_cohort.values())
        sets = np.zeros(protocol.bits, dtype=np.int64)
        for text, of_text in by_cohort.items():
            sets[list(set(protocol.set_bits(text, cohort)))] += of_text[cohort]
        counts[cohort] = [people, *(rng.binomial(sets, high) + rng.binomial(people - sets, low))]
    aggregator = protocol.aggregator()
    state = aggregator.header() + sum(held.values()).to_bytes(8) + counts.astype("<i8").tobytes()
    return aggregator.restore(state + sha256(state).digest())


def exponential(people, texts, *, scale):
    """So many people, who hold the texts with exponentially falling fractions."""
    fractions = np.exp(-np.arange(len(texts)) / scale)
    return dict(
        zip(texts, np.random.default_rng(0).multinomial(people, fractions / fractions.sum()).tolist(), strict=True)
    )
