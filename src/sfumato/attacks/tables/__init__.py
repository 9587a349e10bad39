"""Attacks on tables that are given out with coarser values, or without names: what k and ℓ do not promise."""

from sfumato.attacks.tables.diversity import similarity, skewness
from sfumato.attacks.tables.downcoding import downcoding
from sfumato.attacks.tables.misspelt import edits, misspelt, misspelt_linkage
from sfumato.attacks.tables.singling_out import Predicate, predicates, singling_out

__all__ = [
    "Predicate",
    "downcoding",
    "edits",
    "misspelt",
    "misspelt_linkage",
    "predicates",
    "similarity",
    "singling_out",
    "skewness",
]
