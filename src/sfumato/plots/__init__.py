"""Charts of releases, budgets and trade-offs: plain numbers in, a matplotlib figure out.

Figures are made without pyplot, so nothing global changes and no window opens: `save` one, or show it in a notebook by
its name, after `%matplotlib inline`. matplotlib is the extra `plots`.
"""

from sfumato.plots.attacks import distances_over_reports, roc_curves, success_curve, unicity_curves
from sfumato.plots.audits import lower_bounds, outputs_of_both, p_values, words_of_both
from sfumato.plots.budgets import burn_down, composition, group_privacy, survey_tradeoff
from sfumato.plots.effects import feature_effects
from sfumato.plots.flows import flows_on_map
from sfumato.plots.itemsets import itemset_counts
from sfumato.plots.learning import accuracy_over_epsilon
from sfumato.plots.local import detection_curve, device_costs, fractions_found, variances_over_epsilon
from sfumato.plots.losses import privacy_loss, privacy_profile, risk, trade_off
from sfumato.plots.maps import colored_cells
from sfumato.plots.measured import Measured, one_number, small_multiples
from sfumato.plots.panels import save
from sfumato.plots.releases import bars, histogram
from sfumato.plots.roads import speeds_on_roads
from sfumato.plots.synthetic import nearness_over_epsilon

__all__ = [
    "Measured",
    "accuracy_over_epsilon",
    "bars",
    "burn_down",
    "colored_cells",
    "composition",
    "detection_curve",
    "device_costs",
    "distances_over_reports",
    "feature_effects",
    "flows_on_map",
    "fractions_found",
    "group_privacy",
    "histogram",
    "itemset_counts",
    "lower_bounds",
    "nearness_over_epsilon",
    "one_number",
    "outputs_of_both",
    "p_values",
    "privacy_loss",
    "privacy_profile",
    "risk",
    "roc_curves",
    "save",
    "small_multiples",
    "speeds_on_roads",
    "success_curve",
    "survey_tradeoff",
    "trade_off",
    "unicity_curves",
    "variances_over_epsilon",
    "words_of_both",
]
