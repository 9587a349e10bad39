"""Run a mechanism on two neighbors, so that the outputs can be searched and tested, and on one twice.

A mechanism that seeds its generator itself gives the same outputs when it is asked again. Whoever knows the seed can
subtract such noise, so no ε holds, although every event looks as private as it should.
"""

from collections import Counter
from collections.abc import Mapping, Sized
from collections.abc import Set as AbstractSet
from fractions import Fraction
from math import exp, lgamma
from typing import Any, Final

from sfumato.audit.core.findings import RepeatFinding
from sfumato.audit.core.outputs import WHOLE, Columns, columns, label, plain
from sfumato.audit.core.roles import AuditedMechanism, NeighborPair, Runs
from sfumato.errors import ParameterError
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.numeric.arguments import called, of_kind, share, whole

MOST_SAMPLES: Final = 10**9
"""Runs on each database; their outputs are held in memory all at once."""

_MOST_REPEATED: Final = 500


def run_on(pair: NeighborPair, mechanism: AuditedMechanism, *, samples: int) -> Runs:
    """Outputs on both databases of a pair.

    The half that is searched has samples/2 runs on each side; in the half that is tested a fair coin decides for each
    of as many runs which database is asked, as the exact test of `bounds` wants.

    Args:
        pair: The databases.
        mechanism: Called four times.
        samples: Runs for each database on average, from 2 to `MOST_SAMPLES`.

    Raises:
        ParameterError: The mechanism did not give as many outputs as it was asked for, or changed its database.

    Example:
        >>> counted = lambda database, runs: [len(database)] * runs
        >>> run_on(NeighborPair((1, 2), (1,), "one less"), counted, samples=10).samples
        20
    """
    of_kind(pair, "pair", NeighborPair, "a NeighborPair")
    samples = whole(samples, "samples", least=2, most=MOST_SAMPLES)
    half = samples // 2
    tested = 2 * (samples - half)
    heads = int(bernoulli(Fraction(1, 2), tested).sum())
    return Runs(
        search=(outputs_of(mechanism, pair.database, half), outputs_of(mechanism, pair.neighbor, half)),
        test=(outputs_of(mechanism, pair.database, heads), outputs_of(mechanism, pair.neighbor, tested - heads)),
        description=pair.description,
        distance=pair.distance,
    )


def outputs_of(mechanism: AuditedMechanism, database: Any, count: int) -> Columns:
    """What `count` runs show.

    Raises:
        ParameterError: As `run_on`.
    """
    wanted = "a function of a database and a count, such as one_by_one makes"
    called(mechanism, "mechanism", wanted, may_be_class=False)
    before = label(plain(database))
    outputs: Any = mechanism(database, count)
    if label(plain(database)) != before:  # then it is no neighbor of the other one any more
        raise ParameterError("mechanism", mechanism, "must not change its database; give it a copy")
    is_unordered = isinstance(outputs, str | bytes | Mapping | AbstractSet) or getattr(outputs, "ndim", 1) == 0
    is_list = isinstance(outputs, Sized) and not is_unordered
    if is_list:
        read = columns(outputs)
        if len(read) == count:
            return read
    raise ParameterError(
        "mechanism",
        mechanism,
        "must return a list, tuple or array with exactly as many outputs as requested; "
        "one_by_one makes such a mechanism from a function of one database",
    )


def check_repeats(
    pair: NeighborPair, mechanism: AuditedMechanism, *, samples: int, significance: float
) -> RepeatFinding:
    """Ask twice for the same runs on the same database, and compare the two sequences.

    **Guarantee**: if runs are independent, the noise is called reproducible with probability at most `significance`.
    Proof: proofs/audit/core/runs.md.

    Args:
        pair: The neighbors; the first database is used.
        mechanism: The mechanism, called twice.
        samples: Half as many runs are made each time, and at most 500.
        significance: The probability that fresh noise is called reproducible.

    Raises:
        ParameterError: The mechanism did not give as many outputs as it was asked for, or a parameter is out of range.

    Example:
        >>> counted = lambda database, runs: [len(database)] * runs
        >>> str(check_repeats(NeighborPair((1, 2), (1,), "one less"), counted, samples=10, significance=1e-6).verdict)
        'nothing found'
    """
    of_kind(pair, "pair", NeighborPair, "a NeighborPair")
    samples = whole(samples, "samples", least=2, most=MOST_SAMPLES)
    significance = share(significance, "significance")
    count = min(samples // 2, _MOST_REPEATED)
    once, again = (outputs_of(mechanism, pair.database, count) for _ in range(2))
    return RepeatFinding(
        pair=pair.description, p_value=repeat_p_value(once, again), samples=2 * count, significance=significance
    )


def repeat_p_value(once: Columns, again: Columns) -> float:
    """1 if the sequences differ; else the probability that a random order of the second is this order.

    Raises:
        ParameterError: One of them was not made by `columns`.

    Example:
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
