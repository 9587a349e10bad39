"""Synthetic data: made-up rows that look like a table, from noisy counts of it.

What is not listed here is imported from its module.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.synth.baskets.frequent import FrequentItemsets, frequent_itemsets
    from sfumato.synth.baskets.release import SyntheticBaskets, synthetic_baskets
    from sfumato.synth.baskets.taxonomy import ItemTree
    from sfumato.synth.flows.priors import flow_epsilon, flow_prior
    from sfumato.synth.flows.release import synthetic_flows
    from sfumato.synth.flows.result import Flows, flow_errors
    from sfumato.synth.generalization.release import generalized_table
    from sfumato.synth.generalization.table import GeneralizedTable
    from sfumato.synth.models.fitting import fit_model
    from sfumato.synth.models.measured import NoisyMarginal
    from sfumato.synth.models.mixture import MixtureModel
    from sfumato.synth.models.model import FitReport, GraphicalModel
    from sfumato.synth.models.shape import TableShape
    from sfumato.synth.published import PublishedSynthetic, read_synthetic
    from sfumato.synth.relational.release import synthesize_tables
    from sfumato.synth.relational.tables import SyntheticTables
    from sfumato.synth.reports.exact.owner import OwnerReport, report
    from sfumato.synth.reports.exact.prediction import Prediction
    from sfumato.synth.reports.private import NoisyDistance, PrivateReport, private_report
    from sfumato.synth.synthesis import synthesize
    from sfumato.synth.synthetic import Synthetic

_HOMES = {
    "FitReport": "synth.models.model",
    "Flows": "synth.flows.result",
    "FrequentItemsets": "synth.baskets.frequent",
    "GeneralizedTable": "synth.generalization.table",
    "GraphicalModel": "synth.models.model",
    "ItemTree": "synth.baskets.taxonomy",
    "MixtureModel": "synth.models.mixture",
    "NoisyDistance": "synth.reports.private",
    "NoisyMarginal": "synth.models.measured",
    "OwnerReport": "synth.reports.exact.owner",
    "Prediction": "synth.reports.exact.prediction",
    "PrivateReport": "synth.reports.private",
    "PublishedSynthetic": "synth.published",
    "Synthetic": "synth.synthetic",
    "SyntheticBaskets": "synth.baskets.release",
    "SyntheticTables": "synth.relational.tables",
    "TableShape": "synth.models.shape",
    "fit_model": "synth.models.fitting",
    "flow_epsilon": "synth.flows.priors",
    "flow_errors": "synth.flows.result",
    "flow_prior": "synth.flows.priors",
    "frequent_itemsets": "synth.baskets.frequent",
    "generalized_table": "synth.generalization.release",
    "private_report": "synth.reports.private",
    "read_synthetic": "synth.published",
    "report": "synth.reports.exact.owner",
    "synthesize": "synth.synthesis",
    "synthesize_tables": "synth.relational.release",
    "synthetic_baskets": "synth.baskets.release",
    "synthetic_flows": "synth.flows.release",
}

__all__ = [
    "FitReport",
    "Flows",
    "FrequentItemsets",
    "GeneralizedTable",
    "GraphicalModel",
    "ItemTree",
    "MixtureModel",
    "NoisyDistance",
    "NoisyMarginal",
    "OwnerReport",
    "Prediction",
    "PrivateReport",
    "PublishedSynthetic",
    "Synthetic",
    "SyntheticBaskets",
    "SyntheticTables",
    "TableShape",
    "fit_model",
    "flow_epsilon",
    "flow_errors",
    "flow_prior",
    "frequent_itemsets",
    "generalized_table",
    "private_report",
    "read_synthetic",
    "report",
    "synthesize",
    "synthesize_tables",
    "synthetic_baskets",
    "synthetic_flows",
]


def __getattr__(name: str) -> Any:
    """Load a name at its first use (PEP 562): most programs need few of them."""
    if name in _HOMES:
        value = getattr(import_module(f"sfumato.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
