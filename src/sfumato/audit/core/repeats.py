"""Does a mechanism draw fresh noise? One that seeds its generator itself gives the same answers when asked again.

Whoever knows the seed can subtract such noise, so no ε holds, although every event looks as private as it should.
"""

from collections import Counter
from math import exp, lgamma
from typing import Final

from sfumato.audit.core.columns import Columns
from sfumato.audit.core.findings import RepeatFinding
from sfumato.audit.core.reading import WHOLE
from sfumato.audit.core.roles import Mechanism, NeighborPair
from sfumato.audit.core.runs import MOST_SAMPLES, outputs_of
from sfumato.numeric.arguments import of_kind, share, whole

_MOST_RUNS: Final = 500


def check_repeats(pair: NeighborPair, mechanism: Mechanism, *, samples: int, significance: float) -> RepeatFinding:
    """Ask twice for the same runs on the same database, and compare the two sequences.

    **Guarantee**: if runs are independent, the noise is called reproducible with a chance of at most `significance`.
    Proof: proofs/audit/core/repeats.md.

    Args:
        pair: Its first database is asked.
        mechanism: Called twice.
        samples: Half as many runs are made each time, and at most 500.
        significance: The chance that fresh noise is called reproducible.

    Raises:
        ParameterError: The mechanism did not give as many outputs as it was asked for, or a parameter lies outside.

    Example:
        >>> counted = lambda database, runs: [len(database)] * runs
        >>> str(check_repeats(NeighborPair((1, 2), (1,), "one less"), counted, samples=10, significance=1e-6).verdict)
        'nothing found'
    """
    of_kind(pair, "pair", NeighborPair, "a NeighborPair")
    samples = whole(samples, "samples", least=2, most=MOST_SAMPLES)
    significance = share(significance, "significance")
    count = min(samples // 2, _MOST_RUNS)
    once, again = (outputs_of(mechanism, pair.database, count) for _ in range(2))
    return RepeatFinding(
        pair=pair.description, p_value=repeat_p_value(once, again), samples=2 * count, significance=significance
    )


def repeat_p_value(once: Columns, again: Columns) -> float:
    """1 if the sequences differ; else the chance that a random order of the second one is this very order.

    Raises:
        ParameterError: One is not what `columns` makes.

    Example:
        >>> from sfumato.audit.core.columns import columns
        >>> round(repeat_p_value(columns([1, 2, 3]), columns([1, 2, 3])), 4)  # one of six orders
        0.1667
        >>> repeat_p_value(columns([7, 7, 7]), columns([7, 7, 7]))
        1.0
    """
    for name, runs in (("once", once), ("again", again)):
        of_kind(runs, name, Columns, "outputs as columns(...) gives them")
    answers = again.text(WHOLE)
    if once.text(WHOLE) != answers:
        return 1.0
    same_order = sum(lgamma(times + 1) for times in Counter(answers).values())
    return exp(same_order - lgamma(len(answers) + 1))
