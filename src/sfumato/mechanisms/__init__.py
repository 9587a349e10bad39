"""Mechanisms: a function that adds noise, plus the event that says what was released.

They never count budget: what an event costs is for `sfumato.accounting`, who may spend it for the ledger.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.mechanisms.additive.gaussian import Gaussian, GaussianNoise
    from sfumato.mechanisms.additive.geometric import Geometric
    from sfumato.mechanisms.additive.laplace import Laplace
    from sfumato.mechanisms.additive.staircase import Staircase
    from sfumato.mechanisms.additive.truncated_laplace import TruncatedLaplace
    from sfumato.mechanisms.base import AdditiveMechanism, Mechanism
    from sfumato.mechanisms.continual.banded import BandedToeplitz
    from sfumato.mechanisms.continual.base import RunningCounter
    from sfumato.mechanisms.continual.binary_tree import BinaryTree
    from sfumato.mechanisms.continual.buffered import BufferedToeplitz
    from sfumato.mechanisms.continual.choice import best_counter, nondecreasing
    from sfumato.mechanisms.continual.contribution import Contribution
    from sfumato.mechanisms.continual.hybrid_tree import HybridTree
    from sfumato.mechanisms.continual.participation import Participation
    from sfumato.mechanisms.continual.square_root import SquareRoot
    from sfumato.mechanisms.continual.sums import DecayingSum, RunningTotal, SlidingWindow
    from sfumato.mechanisms.distributed.gaussian import DistributedGaussian
    from sfumato.mechanisms.distributed.laplace import DistributedLaplace
    from sfumato.mechanisms.distributed.skellam import DistributedSkellam
    from sfumato.mechanisms.matrix.matrix import MatrixMechanism
    from sfumato.mechanisms.monitors.statistics import Change, CumulativeSum
    from sfumato.mechanisms.monitors.threshold_alarm import Alarm, AlarmState, ThresholdAlarm
    from sfumato.mechanisms.pan_private.counter import PanPrivateCounter, PanPrivateCounterState
    from sfumato.mechanisms.pan_private.density import PanPrivateDensity, PanPrivateDensityState
    from sfumato.mechanisms.partitions.keys import canonical_key
    from sfumato.mechanisms.partitions.thresholds import GaussianThreshold, LaplaceThreshold, StableHistogram
    from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
    from sfumato.mechanisms.posterior.models import BetaBernoulli, GammaPoisson, LaplaceLocation, PosteriorModel
    from sfumato.mechanisms.posterior.sampling import PosteriorSampling
    from sfumato.mechanisms.quantiles.extreme import Extreme
    from sfumato.mechanisms.quantiles.joint import JointQuantiles
    from sfumato.mechanisms.quantiles.quantile import Quantile, QuantileEnd
    from sfumato.mechanisms.quantiles.quantiles import Quantiles
    from sfumato.mechanisms.response.kary_randomized_response import KaryRandomizedResponse
    from sfumato.mechanisms.response.randomized_response import RandomizedResponse
    from sfumato.mechanisms.response.survey import SurveyEstimate
    from sfumato.mechanisms.selection.exponential import Exponential
    from sfumato.mechanisms.selection.noisy_max import NoisyMax
    from sfumato.mechanisms.selection.noisy_top_k import NoisyTopK, TopK
    from sfumato.mechanisms.selection.permute_and_flip import PermuteAndFlip
    from sfumato.mechanisms.selection.sparse_vector import SparseVector
    from sfumato.mechanisms.selection.sparse_vector_session import SparseVectorSession
    from sfumato.mechanisms.stable.propose_test_release import ProposeTestRelease, StableValue
    from sfumato.mechanisms.stable.sampled_sensitivity import SampledSensitivity
    from sfumato.mechanisms.stable.smooth_median import SmoothMedian
    from sfumato.mechanisms.stable.smooth_sensitivity import SmoothedValue, SmoothSensitivity
    from sfumato.mechanisms.stable.stable_median import StableMedian
    from sfumato.mechanisms.workloads.planning import WorkloadPlan, plan_workload
    from sfumato.mechanisms.workloads.queries import LinearQueries, Subsets, marginals
    from sfumato.mechanisms.workloads.sensitivity import CellSensitivity
    from sfumato.mechanisms.workloads.workload_mechanism import WorkloadAnswers, WorkloadMechanism

_HOMES = {
    "AdditiveMechanism": "base",
    "Alarm": "monitors.threshold_alarm",
    "AlarmState": "monitors.threshold_alarm",
    "BandedToeplitz": "continual.banded",
    "BetaBernoulli": "posterior.models",
    "BinaryTree": "continual.binary_tree",
    "BufferedToeplitz": "continual.buffered",
    "CellSensitivity": "workloads.sensitivity",
    "Change": "monitors.statistics",
    "Contribution": "continual.contribution",
    "CumulativeSum": "monitors.statistics",
    "DecayingSum": "continual.sums",
    "DistributedGaussian": "distributed.gaussian",
    "DistributedLaplace": "distributed.laplace",
    "DistributedSkellam": "distributed.skellam",
    "Exponential": "selection.exponential",
    "Extreme": "quantiles.extreme",
    "GammaPoisson": "posterior.models",
    "Gaussian": "additive.gaussian",
    "GaussianNoise": "additive.gaussian",
    "GaussianThreshold": "partitions.thresholds",
    "Geometric": "additive.geometric",
    "HybridTree": "continual.hybrid_tree",
    "JointQuantiles": "quantiles.joint",
    "KaryRandomizedResponse": "response.kary_randomized_response",
    "Laplace": "additive.laplace",
    "LaplaceLocation": "posterior.models",
    "LaplaceThreshold": "partitions.thresholds",
    "LinearQueries": "workloads.queries",
    "MatrixMechanism": "matrix.matrix",
    "Mechanism": "base",
    "NoisyMax": "selection.noisy_max",
    "NoisyTopK": "selection.noisy_top_k",
    "PanPrivateCounter": "pan_private.counter",
    "PanPrivateCounterState": "pan_private.counter",
    "PanPrivateDensity": "pan_private.density",
    "PanPrivateDensityState": "pan_private.density",
    "Participation": "continual.participation",
    "PermuteAndFlip": "selection.permute_and_flip",
    "PosteriorModel": "posterior.models",
    "PosteriorSampling": "posterior.sampling",
    "ProposeTestRelease": "stable.propose_test_release",
    "Quantile": "quantiles.quantile",
    "QuantileEnd": "quantiles.quantile",
    "Quantiles": "quantiles.quantiles",
    "RandomizedResponse": "response.randomized_response",
    "RunningCounter": "continual.base",
    "RunningTotal": "continual.sums",
    "SampledSensitivity": "stable.sampled_sensitivity",
    "SlidingWindow": "continual.sums",
    "SmoothMedian": "stable.smooth_median",
    "SmoothSensitivity": "stable.smooth_sensitivity",
    "SmoothedValue": "stable.smooth_sensitivity",
    "SparseVector": "selection.sparse_vector",
    "SparseVectorSession": "selection.sparse_vector_session",
    "SquareRoot": "continual.square_root",
    "StableHistogram": "partitions.thresholds",
    "StableMedian": "stable.stable_median",
    "StableValue": "stable.propose_test_release",
    "Staircase": "additive.staircase",
    "Subsets": "workloads.queries",
    "SurveyEstimate": "response.survey",
    "ThresholdAlarm": "monitors.threshold_alarm",
    "TopK": "selection.noisy_top_k",
    "TruncatedGeometricSelection": "partitions.truncated_geometric",
    "TruncatedLaplace": "additive.truncated_laplace",
    "WorkloadAnswers": "workloads.workload_mechanism",
    "WorkloadMechanism": "workloads.workload_mechanism",
    "WorkloadPlan": "workloads.planning",
    "best_counter": "continual.choice",
    "canonical_key": "partitions.keys",
    "marginals": "workloads.queries",
    "nondecreasing": "continual.choice",
    "plan_workload": "workloads.planning",
}

__all__ = [
    "AdditiveMechanism",
    "Alarm",
    "AlarmState",
    "BandedToeplitz",
    "BetaBernoulli",
    "BinaryTree",
    "BufferedToeplitz",
    "CellSensitivity",
    "Change",
    "Contribution",
    "CumulativeSum",
    "DecayingSum",
    "DistributedGaussian",
    "DistributedLaplace",
    "DistributedSkellam",
    "Exponential",
    "Extreme",
    "GammaPoisson",
    "Gaussian",
    "GaussianNoise",
    "GaussianThreshold",
    "Geometric",
    "HybridTree",
    "JointQuantiles",
    "KaryRandomizedResponse",
    "Laplace",
    "LaplaceLocation",
    "LaplaceThreshold",
    "LinearQueries",
    "MatrixMechanism",
    "Mechanism",
    "NoisyMax",
    "NoisyTopK",
    "PanPrivateCounter",
    "PanPrivateCounterState",
    "PanPrivateDensity",
    "PanPrivateDensityState",
    "Participation",
    "PermuteAndFlip",
    "PosteriorModel",
    "PosteriorSampling",
    "ProposeTestRelease",
    "Quantile",
    "QuantileEnd",
    "Quantiles",
    "RandomizedResponse",
    "RunningCounter",
    "RunningTotal",
    "SampledSensitivity",
    "SlidingWindow",
    "SmoothMedian",
    "SmoothSensitivity",
    "SmoothedValue",
    "SparseVector",
    "SparseVectorSession",
    "SquareRoot",
    "StableHistogram",
    "StableMedian",
    "StableValue",
    "Staircase",
    "Subsets",
    "SurveyEstimate",
    "ThresholdAlarm",
    "TopK",
    "TruncatedGeometricSelection",
    "TruncatedLaplace",
    "WorkloadAnswers",
    "WorkloadMechanism",
    "WorkloadPlan",
    "best_counter",
    "canonical_key",
    "marginals",
    "nondecreasing",
    "plan_workload",
]


def __getattr__(name: str) -> Any:
    """Load a mechanism at its first use (PEP 562): most programs need few of them."""
    if name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
