"""Reconstruction of a database from sums over subsets of its people [DN03].

Too many answers that are too accurate give everybody away, whatever each of them hides.
"""

from sfumato.attacks.reconstruction.attack import Reconstruction, accuracy_over, reconstruct, together
from sfumato.attacks.reconstruction.exhaustive import exhaustively
from sfumato.attacks.reconstruction.linear import linear_program
from sfumato.attacks.reconstruction.problem import Problem, every_mask, random_bits, random_masks
from sfumato.attacks.reconstruction.squares import least_squares
from sfumato.attacks.reconstruction.sums import exact_sums, noisy_sums, rounded_sums

__all__ = [
    "Problem",
    "Reconstruction",
    "accuracy_over",
    "every_mask",
    "exact_sums",
    "exhaustively",
    "least_squares",
    "linear_program",
    "noisy_sums",
    "random_bits",
    "random_masks",
    "reconstruct",
    "rounded_sums",
    "together",
]
