"""Mechanisms: a function that adds noise, plus the event that says what was released.

They never count budget: what an event costs is for `sfumato.accounting`, who may spend it for the ledger.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.mechanisms.base import AdditiveMechanism, Mechanism
    from sfumato.mechanisms.distributed_laplace import DistributedLaplace
    from sfumato.mechanisms.distributed_skellam import DistributedSkellam
    from sfumato.mechanisms.exponential import Exponential
    from sfumato.mechanisms.extreme import Extreme
    from sfumato.mechanisms.gaussian import Gaussian
    from sfumato.mechanisms.gaussian_noise import GaussianNoise
    from sfumato.mechanisms.geometric import Geometric
    from sfumato.mechanisms.kary_randomized_response import KaryRandomizedResponse
    from sfumato.mechanisms.keys import canonical_key
    from sfumato.mechanisms.laplace import Laplace
    from sfumato.mechanisms.matrix import MatrixMechanism
    from sfumato.mechanisms.noisy_max import NoisyMax
    from sfumato.mechanisms.noisy_top_k import NoisyTopK, TopK
    from sfumato.mechanisms.permute_and_flip import PermuteAndFlip
    from sfumato.mechanisms.posterior_models import BetaBernoulli, GammaPoisson, LaplaceLocation, PosteriorModel
    from sfumato.mechanisms.posterior_sampling import PosteriorSampling
    from sfumato.mechanisms.propose_test_release import ProposeTestRelease, StableValue
    from sfumato.mechanisms.quantile import Quantile, QuantileEnd
    from sfumato.mechanisms.quantiles import Quantiles
    from sfumato.mechanisms.randomized_response import RandomizedResponse
    from sfumato.mechanisms.smooth_median import SmoothMedian
    from sfumato.mechanisms.smooth_sensitivity import SmoothedValue, SmoothSensitivity
    from sfumato.mechanisms.sparse_vector import SparseVector
    from sfumato.mechanisms.sparse_vector_session import SparseVectorSession
    from sfumato.mechanisms.stable_histogram import StableHistogram
    from sfumato.mechanisms.stable_median import StableMedian
    from sfumato.mechanisms.staircase import Staircase
    from sfumato.mechanisms.survey import SurveyEstimate
    from sfumato.mechanisms.thresholds import GaussianThreshold, LaplaceThreshold
    from sfumato.mechanisms.truncated_geometric import TruncatedGeometricSelection
    from sfumato.mechanisms.truncated_laplace import TruncatedLaplace

_HOMES = {
    "AdditiveMechanism": "base",
    "BetaBernoulli": "posterior_models",
    "DistributedLaplace": "distributed_laplace",
    "DistributedSkellam": "distributed_skellam",
    "Exponential": "exponential",
    "GammaPoisson": "posterior_models",
    "Extreme": "extreme",
    "Gaussian": "gaussian",
    "GaussianNoise": "gaussian_noise",
    "GaussianThreshold": "thresholds",
    "Geometric": "geometric",
    "KaryRandomizedResponse": "kary_randomized_response",
    "Laplace": "laplace",
    "LaplaceLocation": "posterior_models",
    "LaplaceThreshold": "thresholds",
    "MatrixMechanism": "matrix",
    "Mechanism": "base",
    "NoisyMax": "noisy_max",
    "NoisyTopK": "noisy_top_k",
    "PermuteAndFlip": "permute_and_flip",
    "PosteriorModel": "posterior_models",
    "PosteriorSampling": "posterior_sampling",
    "ProposeTestRelease": "propose_test_release",
    "Quantile": "quantile",
    "QuantileEnd": "quantile",
    "Quantiles": "quantiles",
    "RandomizedResponse": "randomized_response",
    "SmoothMedian": "smooth_median",
    "SmoothSensitivity": "smooth_sensitivity",
    "SmoothedValue": "smooth_sensitivity",
    "SparseVector": "sparse_vector",
    "SparseVectorSession": "sparse_vector_session",
    "StableHistogram": "stable_histogram",
    "StableMedian": "stable_median",
    "StableValue": "propose_test_release",
    "Staircase": "staircase",
    "SurveyEstimate": "survey",
    "TopK": "noisy_top_k",
    "TruncatedGeometricSelection": "truncated_geometric",
    "TruncatedLaplace": "truncated_laplace",
    "canonical_key": "keys",
}

__all__ = [
    "AdditiveMechanism",
    "BetaBernoulli",
    "DistributedLaplace",
    "DistributedSkellam",
    "Exponential",
    "Extreme",
    "GammaPoisson",
    "Gaussian",
    "GaussianNoise",
    "GaussianThreshold",
    "Geometric",
    "KaryRandomizedResponse",
    "Laplace",
    "LaplaceLocation",
    "LaplaceThreshold",
    "MatrixMechanism",
    "Mechanism",
    "NoisyMax",
    "NoisyTopK",
    "PermuteAndFlip",
    "PosteriorModel",
    "PosteriorSampling",
    "ProposeTestRelease",
    "Quantile",
    "QuantileEnd",
    "Quantiles",
    "RandomizedResponse",
    "SmoothMedian",
    "SmoothSensitivity",
    "SmoothedValue",
    "SparseVector",
    "SparseVectorSession",
    "StableHistogram",
    "StableMedian",
    "StableValue",
    "Staircase",
    "SurveyEstimate",
    "TopK",
    "TruncatedGeometricSelection",
    "TruncatedLaplace",
    "canonical_key",
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
