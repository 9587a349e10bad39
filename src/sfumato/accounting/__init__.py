"""Events in, guarantees out: what a sequence of releases costs, and how much noise a guarantee needs.

Accountants read the events of `sfumato.privacy.events`; calibrations find the noise for a wanted guarantee; filters and
odometers keep a budget when each query depends on the answers before it. Everything is deterministic, and every
rounding goes to the safe side.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.accounting.adaptive.amounts import Amounts
    from sfumato.accounting.adaptive.divergence_filters import GDPFilter, RDPFilter, ZCDPFilter
    from sfumato.accounting.adaptive.filters import (
        AdvancedFilter,
        ApproxFilter,
        PrivacyFilter,
        PureFilter,
        fits,
        remaining,
    )
    from sfumato.accounting.adaptive.odometers import (
        BasicOdometer,
        Odometer,
        OdometerFilter,
        PureOdometer,
        RDPOdometer,
        ZCDPOdometer,
    )
    from sfumato.accounting.calibration import (
        Calibration,
        Parameter,
        calibrate,
        largest_count,
        largest_sampling_probability,
        smallest_noise,
    )
    from sfumato.accounting.comparison import Best, BestAccountant, best
    from sfumato.accounting.composition.advanced import AdvancedAccountant, advanced_composition
    from sfumato.accounting.composition.basic import BasicAccountant
    from sfumato.accounting.composition.joint_gaussian import joint_stddevs
    from sfumato.accounting.composition.optimal import OptimalAccountant
    from sfumato.accounting.core.accountant import Accountant, EpsilonInterval
    from sfumato.accounting.core.amplification import (
        amplified_by_poisson_sampling,
        amplified_by_sampling_without_replacement,
        amplified_by_shuffling,
    )
    from sfumato.accounting.core.conversions import (
        group,
        group_gdp,
        group_zcdp,
        parallel,
        repeated,
        sequential,
        stable,
        to_approx,
        to_pure,
    )
    from sfumato.accounting.core.finite import privacy_losses, smallest_delta, smallest_epsilon
    from sfumato.accounting.core.matrix_events import matrix_event, tree_aggregation_event
    from sfumato.accounting.core.trade_off import (
        approx_trade_off,
        finite_trade_off,
        gaussian_trade_off,
        profile_trade_off,
        trade_off_corners,
    )
    from sfumato.accounting.explained import RiskTable, risk_table
    from sfumato.accounting.gaussian.discrete_gaussian import (
        discrete_gaussian_delta_up,
        discrete_gaussian_epsilon_up,
        discrete_stddev,
    )
    from sfumato.accounting.gaussian.gaussian import (
        analytic_stddev,
        classic_stddev,
        gaussian_delta_up,
        gaussian_epsilon_up,
    )
    from sfumato.accounting.gaussian.gdp import (
        Estimate,
        GDPAccountant,
        clt_estimate,
        gdp_delta_up,
        gdp_epsilon_up,
        gdp_mu_down,
        pure_to_gdp,
    )
    from sfumato.accounting.gaussian.skellam import skellam_delta_up, skellam_epsilon_up, skellam_mean
    from sfumato.accounting.gaussian.zcdp import (
        ZCDPAccountant,
        bun_steinke_epsilon_up,
        discrete_laplace_to_zcdp,
        exponential_to_zcdp,
        laplace_to_zcdp,
        pure_to_zcdp,
        zcdp_delta_up,
        zcdp_epsilon_up,
    )
    from sfumato.accounting.goals import AttackLimit, GaussianDP
    from sfumato.accounting.pld.accountant import PLDAccountant, PrivacyLoss
    from sfumato.accounting.profile_points import ProfilePoints
    from sfumato.accounting.renyi.accountant import RDPAccountant
    from sfumato.accounting.renyi.conversion import rdp_delta_up, rdp_epsilon_up

_HOMES = {
    "Accountant": "core.accountant",
    "AdvancedAccountant": "composition.advanced",
    "AdvancedFilter": "adaptive.filters",
    "Amounts": "adaptive.amounts",
    "ApproxFilter": "adaptive.filters",
    "AttackLimit": "goals",
    "BasicAccountant": "composition.basic",
    "BasicOdometer": "adaptive.odometers",
    "Best": "comparison",
    "BestAccountant": "comparison",
    "Calibration": "calibration",
    "EpsilonInterval": "core.accountant",
    "Estimate": "gaussian.gdp",
    "GDPAccountant": "gaussian.gdp",
    "GDPFilter": "adaptive.divergence_filters",
    "GaussianDP": "goals",
    "Odometer": "adaptive.odometers",
    "OdometerFilter": "adaptive.odometers",
    "OptimalAccountant": "composition.optimal",
    "PLDAccountant": "pld.accountant",
    "Parameter": "calibration",
    "PrivacyFilter": "adaptive.filters",
    "PrivacyLoss": "pld.accountant",
    "ProfilePoints": "profile_points",
    "PureFilter": "adaptive.filters",
    "PureOdometer": "adaptive.odometers",
    "RDPAccountant": "renyi.accountant",
    "RDPFilter": "adaptive.divergence_filters",
    "RDPOdometer": "adaptive.odometers",
    "RiskTable": "explained",
    "ZCDPAccountant": "gaussian.zcdp",
    "ZCDPFilter": "adaptive.divergence_filters",
    "ZCDPOdometer": "adaptive.odometers",
    "advanced_composition": "composition.advanced",
    "amplified_by_poisson_sampling": "core.amplification",
    "amplified_by_sampling_without_replacement": "core.amplification",
    "amplified_by_shuffling": "core.amplification",
    "analytic_stddev": "gaussian.gaussian",
    "approx_trade_off": "core.trade_off",
    "best": "comparison",
    "bun_steinke_epsilon_up": "gaussian.zcdp",
    "calibrate": "calibration",
    "classic_stddev": "gaussian.gaussian",
    "clt_estimate": "gaussian.gdp",
    "discrete_gaussian_delta_up": "gaussian.discrete_gaussian",
    "discrete_gaussian_epsilon_up": "gaussian.discrete_gaussian",
    "discrete_laplace_to_zcdp": "gaussian.zcdp",
    "discrete_stddev": "gaussian.discrete_gaussian",
    "exponential_to_zcdp": "gaussian.zcdp",
    "finite_trade_off": "core.trade_off",
    "fits": "adaptive.filters",
    "gaussian_delta_up": "gaussian.gaussian",
    "gaussian_epsilon_up": "gaussian.gaussian",
    "gaussian_trade_off": "core.trade_off",
    "gdp_delta_up": "gaussian.gdp",
    "gdp_epsilon_up": "gaussian.gdp",
    "gdp_mu_down": "gaussian.gdp",
    "joint_stddevs": "composition.joint_gaussian",
    "group": "core.conversions",
    "group_gdp": "core.conversions",
    "group_zcdp": "core.conversions",
    "laplace_to_zcdp": "gaussian.zcdp",
    "largest_count": "calibration",
    "largest_sampling_probability": "calibration",
    "matrix_event": "core.matrix_events",
    "parallel": "core.conversions",
    "privacy_losses": "core.finite",
    "profile_trade_off": "core.trade_off",
    "pure_to_gdp": "gaussian.gdp",
    "pure_to_zcdp": "gaussian.zcdp",
    "rdp_delta_up": "renyi.conversion",
    "rdp_epsilon_up": "renyi.conversion",
    "remaining": "adaptive.filters",
    "repeated": "core.conversions",
    "risk_table": "explained",
    "sequential": "core.conversions",
    "skellam_delta_up": "gaussian.skellam",
    "skellam_epsilon_up": "gaussian.skellam",
    "skellam_mean": "gaussian.skellam",
    "smallest_delta": "core.finite",
    "smallest_epsilon": "core.finite",
    "smallest_noise": "calibration",
    "stable": "core.conversions",
    "to_approx": "core.conversions",
    "to_pure": "core.conversions",
    "trade_off_corners": "core.trade_off",
    "tree_aggregation_event": "core.matrix_events",
    "zcdp_delta_up": "gaussian.zcdp",
    "zcdp_epsilon_up": "gaussian.zcdp",
}

__all__ = [
    "Accountant",
    "AdvancedAccountant",
    "AdvancedFilter",
    "Amounts",
    "ApproxFilter",
    "AttackLimit",
    "BasicAccountant",
    "BasicOdometer",
    "Best",
    "BestAccountant",
    "Calibration",
    "EpsilonInterval",
    "Estimate",
    "GDPAccountant",
    "GDPFilter",
    "GaussianDP",
    "Odometer",
    "OdometerFilter",
    "OptimalAccountant",
    "PLDAccountant",
    "Parameter",
    "PrivacyFilter",
    "PrivacyLoss",
    "ProfilePoints",
    "PureFilter",
    "PureOdometer",
    "RDPAccountant",
    "RDPFilter",
    "RDPOdometer",
    "RiskTable",
    "ZCDPAccountant",
    "ZCDPFilter",
    "ZCDPOdometer",
    "advanced_composition",
    "amplified_by_poisson_sampling",
    "amplified_by_sampling_without_replacement",
    "amplified_by_shuffling",
    "analytic_stddev",
    "approx_trade_off",
    "best",
    "bun_steinke_epsilon_up",
    "calibrate",
    "classic_stddev",
    "clt_estimate",
    "discrete_gaussian_delta_up",
    "discrete_gaussian_epsilon_up",
    "discrete_laplace_to_zcdp",
    "discrete_stddev",
    "exponential_to_zcdp",
    "finite_trade_off",
    "fits",
    "gaussian_delta_up",
    "gaussian_epsilon_up",
    "gaussian_trade_off",
    "gdp_delta_up",
    "gdp_epsilon_up",
    "gdp_mu_down",
    "group",
    "group_gdp",
    "group_zcdp",
    "joint_stddevs",
    "laplace_to_zcdp",
    "largest_count",
    "largest_sampling_probability",
    "matrix_event",
    "parallel",
    "privacy_losses",
    "profile_trade_off",
    "pure_to_gdp",
    "pure_to_zcdp",
    "rdp_delta_up",
    "rdp_epsilon_up",
    "remaining",
    "repeated",
    "risk_table",
    "sequential",
    "skellam_delta_up",
    "skellam_epsilon_up",
    "skellam_mean",
    "smallest_delta",
    "smallest_epsilon",
    "smallest_noise",
    "stable",
    "to_approx",
    "to_pure",
    "trade_off_corners",
    "tree_aggregation_event",
    "zcdp_delta_up",
    "zcdp_epsilon_up",
]


def __getattr__(name: str) -> Any:
    """Load a name at its first use (PEP 562): a ledger needs filters, but no loss distributions."""
    if name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
