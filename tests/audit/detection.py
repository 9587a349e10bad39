"""Which testers find which specimen at which sample size: what the tests demand and the benchmark prints."""

from dataclasses import dataclass

from tests.audit.zoo import Specimen

from sfumato.audit.core.findings import Verdict
from sfumato.audit.core.runs import run_on
from sfumato.audit.distributions import ALPHA, check_law
from sfumato.audit.search.testers import BITS, HOCKEY_STICK, SPLIT_SEARCH


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """What was found; the law test counts apart, because its finding is another verdict."""

    name: str
    split_search: bool
    bits: bool
    hockey_stick: bool
    law: bool

    @property
    def by_events(self) -> bool:
        return self.split_search or self.bits or self.hockey_stick

    @property
    def found(self) -> bool:
        return self.by_events or self.law


def detect(specimen: Specimen, *, samples: int) -> Detection:
    """Each tester alone at type-I error ALPHA."""
    runs = run_on(specimen.neighbors, specimen.mechanism, samples=samples)
    violated = [
        tester(runs, claim=specimen.claim, significance=ALPHA).verdict is Verdict.PRIVACY_VIOLATION
        for tester in (SPLIT_SEARCH, BITS, HOCKEY_STICK)
    ]
    miscalibrated = (
        specimen.law is not None and check_law(specimen.law, samples=samples).verdict is Verdict.CALIBRATION_BUG
    )
    return Detection(
        name=specimen.name,
        split_search=violated[0],
        bits=violated[1],
        hockey_stick=violated[2],
        law=miscalibrated,
    )
