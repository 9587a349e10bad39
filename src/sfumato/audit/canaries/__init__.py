"""Auditing in one run: canaries included by fair coins, and what guesses about them say of ε.

Findings that need no assumption stand apart from those that need independent canaries or Gaussian noise.
"""

from sfumato.audit.canaries.auditor import audit_in_one_run, audit_scores, epsilon_of_mu
from sfumato.audit.canaries.error_rates import ErrorRates, independent_canaries, mu_of_error_rates
from sfumato.audit.canaries.gaussian import gaussian_p_value, mu_of_separation, refuted_mu
from sfumato.audit.canaries.guesses import Guesses, Scored, exact_p_value, refuted_epsilon, steinke_p_value
from sfumato.audit.canaries.report import CanaryFinding, CanaryReport

__all__ = [
    "CanaryFinding",
    "CanaryReport",
    "ErrorRates",
    "Guesses",
    "Scored",
    "audit_in_one_run",
    "audit_scores",
    "epsilon_of_mu",
    "exact_p_value",
    "gaussian_p_value",
    "independent_canaries",
    "mu_of_error_rates",
    "mu_of_separation",
    "refuted_epsilon",
    "refuted_mu",
    "steinke_p_value",
]
