"""`Sensitivity`: how far apart exact answers can be on neighbouring databases."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """How far apart a vector of group measures can be on neighbouring databases: in L1, in L2, in coordinates."""

    l1: int
    l2: Fraction
    l0: int
