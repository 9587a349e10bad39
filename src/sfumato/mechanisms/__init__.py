"""Mechanisms: a function that adds noise, plus the event that says what was released.

They never count budget: what an event costs is for `sfumato.accounting`, who may spend it for the ledger.
"""

from sfumato.mechanisms.base import AdditiveMechanism, Mechanism
from sfumato.mechanisms.exponential import Exponential
from sfumato.mechanisms.gaussian import Gaussian
from sfumato.mechanisms.laplace import Laplace
from sfumato.mechanisms.noisy_max import NoisyMax
from sfumato.mechanisms.randomized_response import RandomizedResponse, SurveyEstimate

__all__ = [
    "AdditiveMechanism",
    "Exponential",
    "Gaussian",
    "Laplace",
    "Mechanism",
    "NoisyMax",
    "RandomizedResponse",
    "SurveyEstimate",
]
