"""Events in, guarantees out: what a sequence of releases costs, and how much noise a guarantee needs.

Accountants read the events of `sfumato.privacy.events`; calibrations find the noise for a wanted guarantee. Everything
is deterministic, and every rounding goes to the safe side.
"""

from sfumato.accounting.accountant import Accountant
from sfumato.accounting.advanced import advanced_composition
from sfumato.accounting.basic import BasicAccountant
from sfumato.accounting.conversions import group, parallel, repeated, sequential, stable, to_approx, to_pure
from sfumato.accounting.filters import fits, remaining
from sfumato.accounting.finite import privacy_losses, smallest_delta, smallest_epsilon
from sfumato.accounting.gaussian import (
    analytic_stddev,
    classic_stddev,
    discrete_gaussian_delta_up,
    discrete_gaussian_epsilon_up,
    discrete_stddev,
    gaussian_delta_up,
    gaussian_epsilon_up,
)
from sfumato.accounting.skellam import skellam_delta_up, skellam_epsilon_up, skellam_mean
from sfumato.accounting.zcdp import zcdp_delta_up, zcdp_epsilon_up

__all__ = [
    "Accountant",
    "BasicAccountant",
    "advanced_composition",
    "analytic_stddev",
    "classic_stddev",
    "discrete_gaussian_delta_up",
    "discrete_gaussian_epsilon_up",
    "discrete_stddev",
    "fits",
    "gaussian_delta_up",
    "gaussian_epsilon_up",
    "group",
    "parallel",
    "privacy_losses",
    "remaining",
    "repeated",
    "sequential",
    "skellam_delta_up",
    "skellam_epsilon_up",
    "skellam_mean",
    "smallest_delta",
    "smallest_epsilon",
    "stable",
    "to_approx",
    "to_pure",
    "zcdp_delta_up",
    "zcdp_epsilon_up",
]
