"""Adversaries that see only outputs: they win on exact answers, and lose where noise is what its proof assumes.

Each attack takes a callable that answers, whatever stands behind it, and returns an `Outcome`. What is not listed here
is imported from its module, as in `from sfumato.attacks.linking.traces import Traces`.
"""

from sfumato.attacks.core.membership_game import Game, Rates, play
from sfumato.attacks.core.outcome import Outcome, curve, largest_advantage, largest_success
from sfumato.attacks.disclosure.anonymity import (
    distinct_diversity,
    entropy_diversity,
    k_anonymity,
    t_closeness,
    uniqueness,
)
from sfumato.attacks.disclosure.anonymity_attacks import downcoding, similarity, singling_out, skewness
from sfumato.attacks.disclosure.attribute import attribute_from_model, attribute_from_sums, largest_inference
from sfumato.attacks.disclosure.generalization import Disclosure, Generalized, generalize, homogeneity, intersection
from sfumato.attacks.implementation.floating_point import (
    Distinction,
    precision_attack,
    support_attack,
    textbook_laplace_reaches,
)
from sfumato.attacks.implementation.side_channels import Timing, error_oracle, timing
from sfumato.attacks.linking.finding_homes import (
    distances_of_means,
    finding_homes,
    homes_picture,
    textbook_planar_laplace,
)
from sfumato.attacks.linking.pseudonyms import Known, Scoreboard, sparse_linkage, vanity_search
from sfumato.attacks.linking.records import linkage, misspelt_linkage
from sfumato.attacks.linking.released_traces import found_by_points, linked_traces
from sfumato.attacks.linking.traces import unicity, unicity_by_points, unicity_picture
from sfumato.attacks.members.made_up import copied_records, marginal_ratios, membership_in_rows
from sfumato.attacks.members.means import Membership, Roc, homer, likelihood_ratio, membership, tracing
from sfumato.attacks.members.models import likelihood_ratio_attack, loss_threshold
from sfumato.attacks.questions.differences import (
    MeanOf,
    difference,
    difference_of_means,
    differencing,
    value_inference,
)
from sfumato.attacks.questions.repetition import averaging
from sfumato.attacks.questions.trackers import (
    find_tracker,
    general_tracker,
    individual_tracker,
    refuses_small_sets,
    tracking,
)
from sfumato.attacks.reconstruction import (
    Reconstruction,
    accuracy_over,
    each_alone,
    exhaustively,
    least_squares,
    linear_program,
    reconstruct,
    reconstruct_block,
)

__all__ = [
    "Disclosure",
    "Distinction",
    "Game",
    "Generalized",
    "Known",
    "MeanOf",
    "Membership",
    "Outcome",
    "Rates",
    "Reconstruction",
    "Roc",
    "Scoreboard",
    "Timing",
    "accuracy_over",
    "attribute_from_model",
    "attribute_from_sums",
    "averaging",
    "copied_records",
    "curve",
    "difference",
    "difference_of_means",
    "differencing",
    "distances_of_means",
    "distinct_diversity",
    "downcoding",
    "each_alone",
    "entropy_diversity",
    "error_oracle",
    "exhaustively",
    "find_tracker",
    "finding_homes",
    "found_by_points",
    "general_tracker",
    "generalize",
    "homer",
    "homes_picture",
    "homogeneity",
    "individual_tracker",
    "intersection",
    "k_anonymity",
    "largest_advantage",
    "largest_inference",
    "largest_success",
    "least_squares",
    "likelihood_ratio",
    "likelihood_ratio_attack",
    "linear_program",
    "linkage",
    "linked_traces",
    "loss_threshold",
    "marginal_ratios",
    "membership",
    "membership_in_rows",
    "misspelt_linkage",
    "play",
    "precision_attack",
    "reconstruct",
    "reconstruct_block",
    "refuses_small_sets",
    "similarity",
    "singling_out",
    "skewness",
    "sparse_linkage",
    "support_attack",
    "t_closeness",
    "textbook_laplace_reaches",
    "textbook_planar_laplace",
    "timing",
    "tracing",
    "tracking",
    "unicity",
    "unicity_by_points",
    "unicity_picture",
    "uniqueness",
    "value_inference",
    "vanity_search",
]
