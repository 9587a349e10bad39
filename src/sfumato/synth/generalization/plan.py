"""A generalized table as a plan: which groups are specialized, and noisy counts of classes in all cells.

Proof: proofs/synth/generalization/plan.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.selection.exponential import Exponential
from sfumato.noise.uniform.integers import LARGEST_SCALE, SMALLEST_SCALE
from sfumato.numeric.rationals import set_fields
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent, SelfComposedEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.session.training.marginals import MarginalQuery, Marginals
from sfumato.synth.generalization.grid import CellGrid
from sfumato.synth.generalization.hierarchies import Node
from sfumato.synth.generalization.scores import ClassRows, right_rows

FOR_CHOICES: Final = Fraction(1, 2)
"""The share of ε that all choices have together; the counts have the rest [MCFY11]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralizationPlan:
    """Specializations by the exponential mechanism, then discrete Laplace noise on all counts; the `PrivateFit` of it.

    **Guarantee**: what `release` returns is ε-differentially private for the relation and the units of the query: ε/2
    for all choices, ε/2 for the counts. Proof: proofs/synth/generalization/plan.md.

    Attributes:
        query: What is read.
        relation: What may change between neighboring databases.
        charge: The cost.
        columns: The attributes, without the class.
        target: The class.
        hierarchies: For each attribute the group of all of its values.
        steps: How many groups are specialized, at most.
        most_cells: How many cells there are, at most.
        choice: How each is chosen.
        noise: The noise on each count.
    """

    query: MarginalQuery = field(repr=False)
    relation: NeighboringRelation
    charge: PureDP
    columns: tuple[str, ...]
    target: str
    hierarchies: tuple[Node, ...] = field(repr=False)
    steps: int
    most_cells: int
    choice: Exponential = field(init=False, repr=False)
    noise: Laplace = field(init=False, repr=False)

    def __post_init__(self) -> None:
        moved = max(1, self.query.sensitivity((*self.columns, self.target), self.relation).l1)
        rows, for_counts = self.query.rows_per_unit, self.charge.epsilon * (1 - FOR_CHOICES)
        if moved > LARGEST_SCALE * for_counts:
            raise ParameterError("epsilon", str(self.charge.epsilon), "must be larger: no such noise is drawn")
        choice = Exponential(
            utility_sensitivity=rows, epsilon=self.charge.epsilon * FOR_CHOICES / self.steps,
            monotonic=self.relation is ADD_OR_REMOVE_ONE and rows == 1,
        )  # fmt: skip
        noise = Laplace(l1_sensitivity=moved, epsilon=min(for_counts, moved / Fraction(SMALLEST_SCALE)))
        set_fields(self, choice=choice, noise=noise)

    @property
    def name(self) -> str:
        """What ledgers and receipts call it."""
        return "generalized table"

    @property
    def event(self) -> ComposedEvent:
        """All choices, and the counts."""
        return ComposedEvent((SelfComposedEvent(self.choice.event, self.steps), self.noise.event))

    @property
    def start(self) -> CellGrid:
        """One cell that has all rows."""
        return CellGrid(tuple((group,) for group in self.hierarchies))

    def document(self) -> dict[str, Json]:
        """All parameters on which the table depends, beside the query."""
        return {
            "target": self.target, "hierarchies": [one.document() for one in self.hierarchies], "steps": self.steps,
            "most_cells": self.most_cells,
        }  # fmt: skip

    def release(self, marginals: Marginals, /) -> dict[str, Json]:
        """Each choice, as the place of a candidate, and the noisy counts: of each cell those of all classes."""
        rows = self._rows(marginals)
        grid, choices = self.start, list[int]()
        for _ in range(self.steps):
            candidates = grid.candidates(most_cells=self.most_cells)
            if not candidates:
                break
            chosen = self.choice.release(Secret(right_rows(rows, grid, candidates)))
            grid = grid.specialized(candidates[chosen])
            choices.append(chosen)
        exact = rows.counted(grid.cells_of(rows.codes), size=grid.cells)
        noisy = self.noise.release(Secret(exact.reshape(-1)))
        return {"choices": list(choices), "counts": [int(one) for one in np.asarray(noisy)]}

    def _rows(self, marginals: Marginals) -> ClassRows:
        """The rows that have a class."""
        (target,) = (one for one in self.query.attributes if one.name == self.target)
        classes = target.size - (target.missing is not None)
        codes, amounts = marginals.different_rows((*self.columns, self.target)).open_for_noise()
        has_class = codes[:, -1] < classes
        return ClassRows(
            codes=codes[has_class, :-1], labels=codes[has_class, -1], amounts=amounts[has_class], classes=classes
        )
