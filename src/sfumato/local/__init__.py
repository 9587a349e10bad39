"""Privacy without a curator: each person's device adds the noise, and a collector sees randomized reports alone.

A protocol is one frozen value, such as `OptimizedUnaryEncoding(domain, epsilon=1)`. Its `client()` makes reports, its
`aggregator()` counts them, and `estimate()` says how many people hold each value.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.local.core.aggregator import Aggregator
    from sfumato.local.core.domain import Domain
    from sfumato.local.core.protocol import LocalClient, LocalProtocol
    from sfumato.local.core.reports import Intake, Report, Reports
    from sfumato.local.devices.budget import DeviceBudget, DeviceLedger
    from sfumato.local.devices.deployments import DEPLOYMENTS, MEASURED, Deployment, spent_by
    from sfumato.local.files import load_protocol, protocol_from_json, save_protocol
    from sfumato.local.frequency.choice import OracleChoice, best
    from sfumato.local.frequency.direct import DirectEncoding
    from sfumato.local.frequency.estimates import FrequencyEstimates, ProjectedFrequencies
    from sfumato.local.frequency.hadamard import HadamardResponse
    from sfumato.local.frequency.hashing import LocalHashing, PooledHashing
    from sfumato.local.frequency.oracle import FrequencyAggregator, FrequencyOracle
    from sfumato.local.frequency.poisoning import PoisoningGain, fake_share_for, poisoning_gain
    from sfumato.local.frequency.subset import SubsetSelection
    from sfumato.local.frequency.thresholded import ThresholdedHistogram
    from sfumato.local.frequency.unary import OptimizedUnaryEncoding, SymmetricUnaryEncoding
    from sfumato.local.hitters.prefixes import HitterAggregator, PrefixSearch
    from sfumato.local.hitters.tree import TreeAggregator, TreeSearch
    from sfumato.local.longitudinal.buckets import BucketBits
    from sfumato.local.longitudinal.direct import LongitudinalDirect, LongitudinalHashing
    from sfumato.local.longitudinal.mean import LongitudinalMean
    from sfumato.local.longitudinal.memory import LongitudinalOracle, MemoryClient
    from sfumato.local.longitudinal.unary import LongitudinalSymmetricUnary, LongitudinalUnary
    from sfumato.local.means.attributes import SampledEstimates, SampledMeans
    from sfumato.local.means.mean import DuchiMean, HybridMean, PiecewiseMean
    from sfumato.local.means.numbers import MeanEstimate
    from sfumato.local.means.square_wave import DistributionEstimate, SquareWave
    from sfumato.local.parties.keys import PublicKeys
    from sfumato.local.parties.messages import SumMessages
    from sfumato.local.parties.party import Party, Revealed
    from sfumato.local.parties.party_sum import PartyEstimate, PartySum
    from sfumato.local.parties.secure_sum import SecureSum
    from sfumato.local.parties.trusted_sum import TrustedSum
    from sfumato.local.rappor.association import Association, associate
    from sfumato.local.rappor.basic import BasicRappor
    from sfumato.local.rappor.device import RapporClient
    from sfumato.local.rappor.estimates import RapporAggregator, RapporEstimates, detection_frequency
    from sfumato.local.rappor.protocol import Rappor
    from sfumato.local.shuffle.clones import shuffled_epsilon, shuffled_epsilon_closed
    from sfumato.local.shuffle.shuffler import ShuffledReports, Shuffler
    from sfumato.local.sketches.count_mean import CountMeanSketch
    from sfumato.local.sketches.fragments import FragmentPuzzle, PuzzleAggregator
    from sfumato.local.sketches.hadamard_sketch import HadamardSketch
    from sfumato.local.survey import Survey

_HOMES = {
    "Aggregator": "core.aggregator",
    "Association": "rappor.association",
    "BasicRappor": "rappor.basic",
    "BucketBits": "longitudinal.buckets",
    "CountMeanSketch": "sketches.count_mean",
    "DEPLOYMENTS": "devices.deployments",
    "Deployment": "devices.deployments",
    "DeviceBudget": "devices.budget",
    "DeviceLedger": "devices.budget",
    "DirectEncoding": "frequency.direct",
    "DistributionEstimate": "means.square_wave",
    "Domain": "core.domain",
    "DuchiMean": "means.mean",
    "FragmentPuzzle": "sketches.fragments",
    "FrequencyAggregator": "frequency.oracle",
    "FrequencyEstimates": "frequency.estimates",
    "FrequencyOracle": "frequency.oracle",
    "HadamardResponse": "frequency.hadamard",
    "HadamardSketch": "sketches.hadamard_sketch",
    "HitterAggregator": "hitters.prefixes",
    "HybridMean": "means.mean",
    "Intake": "core.reports",
    "LocalClient": "core.protocol",
    "LocalHashing": "frequency.hashing",
    "LocalProtocol": "core.protocol",
    "LongitudinalDirect": "longitudinal.direct",
    "LongitudinalHashing": "longitudinal.direct",
    "LongitudinalMean": "longitudinal.mean",
    "LongitudinalOracle": "longitudinal.memory",
    "LongitudinalSymmetricUnary": "longitudinal.unary",
    "LongitudinalUnary": "longitudinal.unary",
    "MEASURED": "devices.deployments",
    "MeanEstimate": "means.numbers",
    "MemoryClient": "longitudinal.memory",
    "OptimizedUnaryEncoding": "frequency.unary",
    "OracleChoice": "frequency.choice",
    "Party": "parties.party",
    "PartyEstimate": "parties.party_sum",
    "PartySum": "parties.party_sum",
    "PiecewiseMean": "means.mean",
    "PoisoningGain": "frequency.poisoning",
    "PooledHashing": "frequency.hashing",
    "PrefixSearch": "hitters.prefixes",
    "ProjectedFrequencies": "frequency.estimates",
    "PublicKeys": "parties.keys",
    "PuzzleAggregator": "sketches.fragments",
    "Rappor": "rappor.protocol",
    "RapporAggregator": "rappor.estimates",
    "RapporClient": "rappor.device",
    "RapporEstimates": "rappor.estimates",
    "Report": "core.reports",
    "Reports": "core.reports",
    "Revealed": "parties.party",
    "SampledEstimates": "means.attributes",
    "SampledMeans": "means.attributes",
    "SecureSum": "parties.secure_sum",
    "ShuffledReports": "shuffle.shuffler",
    "Shuffler": "shuffle.shuffler",
    "SquareWave": "means.square_wave",
    "SubsetSelection": "frequency.subset",
    "SumMessages": "parties.messages",
    "Survey": "survey",
    "SymmetricUnaryEncoding": "frequency.unary",
    "ThresholdedHistogram": "frequency.thresholded",
    "TreeAggregator": "hitters.tree",
    "TreeSearch": "hitters.tree",
    "TrustedSum": "parties.trusted_sum",
    "associate": "rappor.association",
    "best": "frequency.choice",
    "detection_frequency": "rappor.estimates",
    "fake_share_for": "frequency.poisoning",
    "load_protocol": "files",
    "poisoning_gain": "frequency.poisoning",
    "protocol_from_json": "files",
    "save_protocol": "files",
    "shuffled_epsilon": "shuffle.clones",
    "shuffled_epsilon_closed": "shuffle.clones",
    "spent_by": "devices.deployments",
}

__all__ = [
    "DEPLOYMENTS",
    "MEASURED",
    "Aggregator",
    "Association",
    "BasicRappor",
    "BucketBits",
    "CountMeanSketch",
    "Deployment",
    "DeviceBudget",
    "DeviceLedger",
    "DirectEncoding",
    "DistributionEstimate",
    "Domain",
    "DuchiMean",
    "FragmentPuzzle",
    "FrequencyAggregator",
    "FrequencyEstimates",
    "FrequencyOracle",
    "HadamardResponse",
    "HadamardSketch",
    "HitterAggregator",
    "HybridMean",
    "Intake",
    "LocalClient",
    "LocalHashing",
    "LocalProtocol",
    "LongitudinalDirect",
    "LongitudinalHashing",
    "LongitudinalMean",
    "LongitudinalOracle",
    "LongitudinalSymmetricUnary",
    "LongitudinalUnary",
    "MeanEstimate",
    "MemoryClient",
    "OptimizedUnaryEncoding",
    "OracleChoice",
    "Party",
    "PartyEstimate",
    "PartySum",
    "PiecewiseMean",
    "PoisoningGain",
    "PooledHashing",
    "PrefixSearch",
    "ProjectedFrequencies",
    "PublicKeys",
    "PuzzleAggregator",
    "Rappor",
    "RapporAggregator",
    "RapporClient",
    "RapporEstimates",
    "Report",
    "Reports",
    "Revealed",
    "SampledEstimates",
    "SampledMeans",
    "SecureSum",
    "ShuffledReports",
    "Shuffler",
    "SquareWave",
    "SubsetSelection",
    "SumMessages",
    "Survey",
    "SymmetricUnaryEncoding",
    "ThresholdedHistogram",
    "TreeAggregator",
    "TreeSearch",
    "TrustedSum",
    "associate",
    "best",
    "detection_frequency",
    "fake_share_for",
    "load_protocol",
    "poisoning_gain",
    "protocol_from_json",
    "save_protocol",
    "shuffled_epsilon",
    "shuffled_epsilon_closed",
    "spent_by",
]


def __getattr__(name: str) -> Any:
    """Load a public name at its first use (PEP 562)."""
    if name in _HOMES:
        value = getattr(import_module(f"sfumato.local.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sfumato.local' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_HOMES)
