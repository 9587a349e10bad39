"""Adversaries that see only outputs: what leaks where a mechanism is not what its proof assumes."""

from sfumato.attacks.floating_point import (
    Distinction,
    precision_attack,
    support_attack,
    textbook_laplace_reaches,
)

__all__ = ["Distinction", "precision_attack", "support_attack", "textbook_laplace_reaches"]
