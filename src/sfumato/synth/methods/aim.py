"""AIM: one marginal after the other is chosen and measured, where the model is worst for its cost.

Proof: proofs/synth/methods/measuring.md.
"""

from fractions import Fraction
from math import pi, prod, sqrt
from typing import Final

import numpy as np

from sfumato.synth.methods.measuring import Measuring
from sfumato.synth.methods.stated import Stated
from sfumato.synth.models.shape import Columns, TableShape

_WIDE: Final = 3
"""Columns of the largest marginals that are measured, if no workload says otherwise."""

_ROUNDS: Final = 4
"""How many rounds there are for each column, if noise stays as it is at first."""

_MOST_ROUNDS: Final = 16
"""How many there are at most, whatever ρ is."""

_FOR_NOISE: Final = Fraction(9, 10)
"""The share of a round that its measurement costs, not its choice."""

LARGEST: Final = 4 << 20
"""Bytes of a model when all is spent; before it may have as much as the share of ρ that is spent."""

LEAST: Final = 1 << 18
"""Bytes that a model may have from the first."""

_NOTHING: Final = Fraction(1, 1 << 20)
"""The share of ρ that is too little for a round."""

MEAN: Final = sqrt(2 / pi)
"""The mean of |noise| of a standard deviation of 1."""


def measure_adaptively(measuring: Measuring, names: Columns, stated: Stated) -> None:
    """Measure each column, then one group of columns after the other, until all of ρ is spent [MMSM22].

    In each round that group is chosen privately of which the model is furthest from the exact counts, beyond what the
    noise would add, and the more so the more of the workload has columns in common with it. If a measurement has moved
    the model by no more than noise does, the next rounds have half of the noise, and fewer are left. A model may be as
    large as the share of ρ that is spent allows.

    Args:
        measuring: What chooses and measures.
        names: The columns.
        stated: The workload, of which parts are measured too, and what is impossible.
    """
    rho, round_cost = measuring.left, measuring.left / (_ROUNDS * len(names))
    measured = measuring.measure_and_merge(names, round_cost * _FOR_NOISE * len(names), stated.rule)
    shape = TableShape(dict(zip(names, measuring.lengths(names), strict=True)))
    model = stated.fit(shape, measured)
    weights = stated.weights(names, _WIDE)
    cells = {own: prod(shape.lengths(own)) for own in weights}
    for _ in range(_MOST_ROUNDS * len(names)):
        left = measuring.left
        if left < rho * _NOTHING:
            break
        if left < 2 * round_cost:
            round_cost = left  # the last round takes the rest
        noise = MEAN * measuring.stddev(round_cost * _FOR_NOISE)  # on a count, without its sign
        room = int(LARGEST * (1 - left / rho)) + LEAST
        known = [one.columns for one in measured]
        found = [
            own for own in weights
            if noise * cells[own] <= 2 * model.total and stated.fits(shape, [*known, own], room)
        ]  # fmt: skip
        chosen = measuring.choose(
            found or [own for own in weights if len(own) == 1], model.marginal, round_cost * (1 - _FOR_NOISE),
            weights=weights,
            allowed={own: round(noise * cells[own]) for own in weights},
        )  # fmt: skip
        before = model.marginal(chosen)
        measured.append(measuring.measure(chosen, min(round_cost * _FOR_NOISE, measuring.left)))
        model = stated.fit(shape, measured, start=model)
        if float(np.abs(model.marginal(chosen) - before).sum()) <= noise * cells[chosen]:
            round_cost *= 4  # half of the noise
