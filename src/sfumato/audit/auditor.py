"""One audit: every tester on every pair, and every declared law, under one chance of a false alarm."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from sfumato.audit.core.findings import AuditReport, EventFinding
from sfumato.audit.core.repeats import check_repeats
from sfumato.audit.core.roles import Mechanism, NeighborPair, Releasing, Tester, as_pair
from sfumato.audit.core.runs import MOST_SAMPLES, as_mechanism, run_on
from sfumato.audit.laws import ALPHA, DeclaredLaw, check_law
from sfumato.audit.search.bits import BITS
from sfumato.audit.search.hockey_stick import HOCKEY_STICK
from sfumato.audit.search.split_search import SPLIT_SEARCH
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, finite, listed, of_kind, share, whole
from sfumato.numeric.rationals import Number
from sfumato.privacy.guarantees import ApproxDP

TESTERS: Final[tuple[Tester, ...]] = (SPLIT_SEARCH, BITS, HOCKEY_STICK)
_FEWEST_SAMPLES: Final = 100


def audit(
    mechanism: Mechanism | Callable[[Any], Any] | Releasing,
    pairs: Iterable[NeighborPair | tuple[Any, ...]],
    *,
    epsilon: Number,
    delta: Number = 0,
    samples: int = 10_000,
    significance: float = ALPHA,
    testers: tuple[Tester, ...] = TESTERS,
    laws: tuple[DeclaredLaw, ...] = (),
) -> AuditReport:
    """Try to refute that a mechanism has (ε, δ)-differential privacy, and that its noise has its declared law.

    Each pair also has one test that noise is drawn afresh: see `check_repeats`.

    **Guarantee**: if every claim is true and runs are independent, the report holds any violation or reproducible noise
    with a chance of at most `significance`, shared evenly by all tests (union bound). For laws that holds as far as the
    approximation of `check_law` does. A report without findings guarantees nothing. Proof: proofs/audit/auditor.md.

    Args:
        mechanism: Called as mechanism(database, count), it gives the outputs of `count` independent runs; called as
            mechanism(database), the output of one. Or what has `release`, such as `sf.mechanisms.Laplace(…)`.
        pairs: Neighbouring databases, from `neighbors` or made by hand; two databases are a pair too.
        epsilon: The claimed ε.
        delta: The claimed δ.
        samples: Runs on each database of a pair, on average; 10,000 for a quick look, 300,000 for a thorough one.
        significance: The chance that true claims are called false.
        testers: What looks at the outputs.
        laws: What noise is said to follow.

    Raises:
        ParameterError: samples is below 100 or above `MOST_SAMPLES`, significance not between 0 and 1, there is nothing
            to test, or the mechanism did not give as many outputs as it was asked for, or changed a database.

    Example:
        >>> from sfumato.mechanisms import Laplace
        >>> count = Laplace(l1_sensitivity=1, epsilon=1)
        >>> mechanism = lambda exact, runs: count.release([exact] * runs)
        >>> audit(mechanism, [(5, 6)], epsilon=1, samples=2000).is_refuted
        False
        >>> audit(count, [NeighborPair(5, 6, "one person more")], epsilon="0.1", samples=2000).is_refuted
        True

    References:
        [DWWZK18]; [KMRS24] for the three roles.
    """
    finite(epsilon, "epsilon")
    claim = ApproxDP(epsilon, delta)
    runs_of, tried = as_mechanism(mechanism), tuple(map(as_pair, listed(pairs, "pairs", of="neighbors")))
    samples = whole(samples, "samples", least=_FEWEST_SAMPLES, most=MOST_SAMPLES)
    looks, declared = listed(testers, "testers", of="testers"), listed(laws, "laws", of="laws")
    for tester in looks:
        called(tester, "testers", "testers such as SPLIT_SEARCH", may_be_class=False)
    for law in declared:
        of_kind(law, "laws", DeclaredLaw, "instances of DeclaredLaw")
    level, tests = share(significance, "significance"), len(tried) * (len(looks) + 1) + len(declared)
    if tests == 0:
        raise ParameterError("pairs", (), "must hold a pair of neighbors, unless a law is to be tested")
    chance = level / tests
    repeats = tuple(check_repeats(pair, runs_of, samples=samples, significance=chance) for pair in tried)
    outputs = (run_on(pair, runs_of, samples=samples) for pair in tried)
    events = tuple(_finding(tester(runs, claim=claim, significance=chance)) for runs in outputs for tester in looks)
    laws_tested = tuple(check_law(law, samples=samples, significance=chance) for law in declared)
    return AuditReport(events, laws_tested, repeats)


def _finding(given: Any) -> EventFinding:
    """What a tester gave back."""
    return of_kind(given, "testers", EventFinding, "testers, each of which gives an EventFinding")
