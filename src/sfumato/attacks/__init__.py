"""Adversaries that see only outputs: they win on exact answers, and lose where noise is what its proof assumes.

Each attack takes a callable that answers, whatever stands behind it, and gives an `Outcome`.
"""

from sfumato.attacks.floating_point import (
    Distinction,
    precision_attack,
    support_attack,
    textbook_laplace_reaches,
)
from sfumato.attacks.limits import largest_advantage, largest_success
from sfumato.attacks.outcome import Outcome, curve

__all__ = [
    "Distinction",
    "Outcome",
    "curve",
    "largest_advantage",
    "largest_success",
    "precision_attack",
    "support_attack",
    "textbook_laplace_reaches",
]
