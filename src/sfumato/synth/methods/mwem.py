"""MWEM with a graphical model: rounds that cost the same, each of which measures where the model is worst.

Proof: proofs/synth/methods/measuring.md.
"""

from fractions import Fraction
from math import prod
from typing import Final

from sfumato.synth.methods.aim import LARGEST, LEAST, MEAN
from sfumato.synth.methods.measuring import Measuring
from sfumato.synth.methods.stated import Stated
from sfumato.synth.models.shape import Columns, TableShape

_WIDE: Final = 2
"""Columns of the groups that are measured, if no workload says otherwise."""

_ROUNDS: Final = 2
"""How many rounds there are for each column."""

_FOR_NOISE: Final = Fraction(9, 10)
"""The share of a round that its measurement costs, not its choice."""


def measure_in_rounds(measuring: Measuring, names: Columns, stated: Stated) -> None:
    """Measure each column, then in each of two rounds for each column the group of which the model is worst [MSM19].

    ρ is divided evenly over the columns and the rounds before the first is measured. Nine tenths of a round are for its
    noise, one for its choice, which is made by the same score as AIM's. Groups are those of the workload, and their
    parts of at least two columns. A group can be chosen as long as the model with it stays as large as the round
    allows, which follows from what is public and from earlier choices. All of two columns are taken without a workload.

    Args:
        measuring: What chooses and measures.
        names: The columns.
        stated: The workload, and what is impossible.
    """
    rounds = _ROUNDS * len(names)
    cost = measuring.left / (len(names) + rounds)
    measured = measuring.measure_and_merge(names, cost * len(names), stated.rule)
    shape = TableShape(dict(zip(names, measuring.lengths(names), strict=True)))
    model = stated.fit(shape, measured)
    weights = stated.weights(names, _WIDE)
    singles = [own for own in weights if len(own) == 1]
    wide = [own for own in weights if len(own) > 1]
    noise = MEAN * measuring.stddev(cost * _FOR_NOISE)  # on a count, without its sign
    allowed = {own: round(noise * prod(shape.lengths(own))) for own in weights}
    for number in range(rounds):
        room = LARGEST * (number + 1) // rounds + LEAST
        known = [one.columns for one in measured]
        chosen = measuring.choose(
            [own for own in wide if stated.fits(shape, [*known, own], room)] or singles,
            model.marginal,
            cost * (1 - _FOR_NOISE),
            weights=weights,
            allowed=allowed,
        )
        is_last = number == rounds - 1
        measured.append(measuring.measure(chosen, measuring.left if is_last else cost * _FOR_NOISE))
        if not is_last:
            model = stated.fit(shape, measured, start=model)
