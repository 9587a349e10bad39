"""G10. Auditing a learner in one run: a thousand made-up records, each included by a coin flip.

A learner adds up the records it is given and adds Gaussian noise, once. The auditor scores each record by how much of
it the sum contains, and guesses which records were included. The right noise passes. A quarter of it is refuted without
any assumption about the learner. Half of it is refuted only under the assumption that the noise is Gaussian.
"""

from collections.abc import Sequence

import numpy as np

import sfumato as sf
from sfumato.accounting.gaussian.gaussian import analytic_stddev
from sfumato.audit.canaries import CanaryReport, audit_in_one_run

CANARIES = 1_000
CLAIM = sf.ApproxDP(1, "1e-5")


def learner(stddev: float) -> np.ndarray:
    """The noise of the sum, in a simulation outside any session: floats that are never released."""
    return np.random.default_rng().normal(scale=stddev, size=CANARIES)


def audited(fraction: float) -> CanaryReport:
    """One run of a learner that claims ε = 1 and adds a fraction of the noise for it."""
    stddev = float(analytic_stddev(l2_sensitivity=1, epsilon=CLAIM.epsilon, delta=CLAIM.delta)) * fraction

    def train(included: Sequence[int]) -> np.ndarray:
        total = learner(stddev)
        total[list(included)] += 1  # each canary has its own direction, so none hides another
        return total

    return audit_in_one_run(train, range(CANARIES), epsilon=CLAIM.epsilon, delta=CLAIM.delta, significance=0.01)


def main() -> None:
    """Audit three learners, each in one run."""
    print(__doc__)
    print(f"the claim of each learner: {CLAIM}, spent once; who was included is known to nobody but the referee")
    for fraction, words in ((1.0, "all"), (0.5, "half"), (0.25, "a quarter")):
        print(f"\n{words} of the noise\n{audited(fraction)}")


if __name__ == "__main__":
    main()
