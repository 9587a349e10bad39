"""Reconstruction of a database from sums over subsets of its people [DN03], or from tables of a census [GAM19].

Too many answers that are too accurate give everybody away, whatever each of them hides.
"""

from sfumato.attacks.reconstruction.attack import Reconstruction, accuracy_over, reconstruct, together
from sfumato.attacks.reconstruction.blocks import (
    Published,
    ReconstructedBlock,
    block_outcome,
    count_of,
    mean_of,
    median_of,
    reconstruct_block,
)
from sfumato.attacks.reconstruction.problem import (
    Problem,
    each_alone,
    every_mask,
    exact_sums,
    noisy_sums,
    random_bits,
    random_masks,
    rounded_sums,
)
from sfumato.attacks.reconstruction.solvers import exhaustively, least_squares, linear_program

__all__ = [
    "Problem",
    "Published",
    "ReconstructedBlock",
    "Reconstruction",
    "accuracy_over",
    "block_outcome",
    "count_of",
    "each_alone",
    "every_mask",
    "exact_sums",
    "exhaustively",
    "least_squares",
    "linear_program",
    "mean_of",
    "median_of",
    "noisy_sums",
    "random_bits",
    "random_masks",
    "reconstruct",
    "reconstruct_block",
    "rounded_sums",
    "together",
]
