"""One audit: every tester on every pair, and every declared distribution, under one probability of a false alarm."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from sfumato.audit.core.adapters import as_mechanism
from sfumato.audit.core.findings import AuditReport, EventFinding
from sfumato.audit.core.roles import AuditedMechanism, NeighborPair, Releasing, Tester, as_pair
from sfumato.audit.core.runs import MOST_SAMPLES, check_repeats, run_on
from sfumato.audit.distributions import ALPHA, DeclaredLaw, check_law
from sfumato.audit.search.testers import BITS, HOCKEY_STICK, SPLIT_SEARCH
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, listed, of_kind, real, share, whole
from sfumato.numeric.rationals import Number
from sfumato.privacy.guarantees import ApproxDP

TESTERS: Final[tuple[Tester, ...]] = (SPLIT_SEARCH, BITS, HOCKEY_STICK)
_FEWEST_SAMPLES: Final = 100
_GIVES: Final = "testers, each of which returns an EventFinding"


def audit(
    mechanism: AuditedMechanism | Callable[[Any], Any] | Releasing,
    pairs: Iterable[NeighborPair | tuple[Any, ...]],
    *,
    epsilon: Number,
    delta: Number = 0,
    samples: int = 10_000,
    significance: float = ALPHA,
    testers: tuple[Tester, ...] = TESTERS,
    laws: tuple[DeclaredLaw, ...] = (),
) -> AuditReport:
    """Try to refute that a mechanism has (ε, δ)-differential privacy, and that its noise has its declared distribution.

    Each pair also has one test that noise is drawn afresh: see `check_repeats`.

    **Guarantee**: if every claim is true and runs are independent, the report holds any violation or reproducible noise
    with probability at most `significance`, shared evenly by all tests (union bound). For distributions that holds as
    far as the approximation of `check_law` does. A report without findings guarantees nothing. Proof:
    proofs/audit/auditor.md.

    Args:
        mechanism: A function of a database and a count, which returns the outputs of `count` independent runs; or of a
            database alone, which returns one output; or an object with `release`, such as `sf.mechanisms.Laplace(…)`.
        pairs: Neighboring databases, from `Neighbors` or made by hand; two databases are a pair too.
        epsilon: The claimed ε.
        delta: The claimed δ.
        samples: Runs on each database of a pair, on average; 10,000 for a quick look, 300,000 for a thorough one.
        significance: The probability that true claims are called false.
        testers: The tests of outputs.
        laws: Noise and its declared distributions.

    Raises:
        ParameterError: samples is below 100 or above `MOST_SAMPLES`, significance not between 0 and 1, there is nothing
            to test, or the mechanism returned another number of outputs than requested, or changed a database.

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
    real(epsilon, "epsilon", is_finite=True)
    claim = ApproxDP(epsilon, delta)
    runs_of, neighbors = as_mechanism(mechanism), tuple(map(as_pair, listed(pairs, "pairs", of="neighbors")))
    samples = whole(samples, "samples", least=_FEWEST_SAMPLES, most=MOST_SAMPLES)
    tried, declared = listed(testers, "testers", of="testers"), listed(laws, "laws", of="laws")
    for tester in tried:
        called(tester, "testers", "testers such as SPLIT_SEARCH", may_be_class=False)
    for law in declared:
        of_kind(law, "laws", DeclaredLaw, "instances of DeclaredLaw")
    overall, tests = share(significance, "significance"), len(neighbors) * (len(tried) + 1) + len(declared)
    if tests == 0:
        raise ParameterError("pairs", (), "must contain a pair of neighbors, unless laws are tested")
    level = overall / tests
    repeats = tuple(check_repeats(pair, runs_of, samples=samples, significance=level) for pair in neighbors)
    outputs = (run_on(pair, runs_of, samples=samples) for pair in neighbors)
    events = tuple(
        of_kind(tester(runs, claim=claim, significance=level), "testers", EventFinding, _GIVES)
        for runs in outputs
        for tester in tried
    )
    laws_tested = tuple(check_law(law, samples=samples, significance=level) for law in declared)
    return AuditReport(events, laws_tested, repeats)
