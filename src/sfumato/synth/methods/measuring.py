"""What a method does with exact marginals: choose among them, and measure them with noise, until its ρ is spent.

Proof: proofs/synth/methods/measuring.md.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, prod, sqrt
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.accounting.gaussian.zcdp import exponential_to_zcdp
from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.selection.exponential import Exponential
from sfumato.numeric.rationals import sqrt_up
from sfumato.numeric.rounding import dyadic_up
from sfumato.privacy.codec import Json
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.query.analysis.stability import Sensitivity
from sfumato.session.training.marginals import Counts, MarginalQuery, Marginals
from sfumato.synth.methods.merging import Merging, MergingRule, merged
from sfumato.synth.models.factors import Floats
from sfumato.synth.models.measured import NoisyMarginal
from sfumato.synth.models.shape import Columns

Progress: TypeAlias = Callable[[str], None]
"""Hears what is done next, which follows from what was released."""

_LEAST: Final = Fraction(1, 16)
"""Less noise than that is none, and would not be drawn."""

_KEPT: Final = 1 << 25
"""So many exact counts are kept to be used again: 256 MiB."""

_DIGITS: Final = 40
"""In binary, of a standard deviation and of the ε of a choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuringStep:
    """One choice or measurement, as it was made; all of it is released.

    Attributes:
        columns: What was chosen, or measured.
        rho: What it cost.
        stddev: Of a measurement the noise, in rows; None of a choice.
        counts: Of a measurement the noisy counts, the last column fastest.
    """

    columns: Columns
    rho: Fraction
    stddev: Fraction | None = None
    counts: tuple[int, ...] = field(default=(), repr=False)

    def document(self) -> Json:
        """The step as JSON values."""
        stddev = None if self.stddev is None else str(self.stddev)
        return [list(self.columns), str(self.rho), stddev, list(self.counts)]


def unheard(stage: str, /) -> None:
    """Progress that nobody hears."""


def tell(progress: Progress, stage: str) -> None:
    """Say what is done next; what a display raises is ignored, because it is no failure on rows."""
    with suppress(Exception):
        progress(stage)


class Measuring:
    """Exact marginals, behind the two mechanisms that may open them.

    **Guarantee**: all that `measure` and `choose` return together is ρ-zCDP, whatever arguments of later calls are made
    of earlier results. What would cost more than is left returns nothing. Proof: proofs/synth/methods/measuring.md.

    Args:
        marginals: What is counted.
        query: What is read.
        relation: What may change between neighboring databases.
        rho: What all together may cost.
        progress: Hears what is done next.

    Attributes:
        left: What may still be spent.
        steps: What was done.
    """

    def __init__(
        self,
        marginals: Marginals,
        query: MarginalQuery,
        *,
        relation: NeighboringRelation,
        rho: Fraction,
        progress: Progress = unheard,
    ) -> None:
        self._progress = progress
        self._marginals, self._query, self._relation = marginals, query, relation
        self._sizes = {one.name: one.size for one in query.attributes}
        self._merging: Merging = {}
        self._exact: dict[Columns, Secret[Counts]] = {}
        self._kept = 0
        self._moved: dict[Columns, Sensitivity] = {}
        self.left = rho
        self.steps: list[MeasuringStep] = []

    def merge(self, merging: Merging) -> None:
        """Have some values count as one from now on; which ones follows from what was released, so it is no step."""
        self._merging, self._exact, self._kept = dict(merging), {}, 0

    def measure_and_merge(self, names: Columns, rho: Fraction, rule: MergingRule) -> list[NoisyMarginal]:
        """Measure each column, and have values count as one from now on that do so by a rule.

        Args:
            names: The columns.
            rho: What all of it costs, to equal parts.
            rule: Which values may be merged.

        Returns:
            The noisy counts of each column, those of merged values added up.
        """
        singles = [self.measure((name,), rho / len(names)) for name in names]
        self.merge(rule.merging(dict(zip(names, singles, strict=True))))
        return [merged(one, self._merging) for one in singles]

    def stddev(self, rho: Fraction) -> float:
        """About the noise on a count of merged values that is measured for ρ."""
        return float(self._query.merged_l2(self._relation)) / sqrt(2 * rho)

    def lengths(self, columns: Columns) -> tuple[int, ...]:
        """How many values some columns have, merged ones being one."""
        own = self._merging
        return tuple(int(own[name].max()) + 1 if name in own else self._sizes[name] for name in columns)

    def measure(self, columns: Columns, rho: Fraction) -> NoisyMarginal:
        """A marginal with discrete Gaussian noise on each count.

        Args:
            columns: Of which columns.
            rho: What it may cost.
        """
        tell(self._progress, f"measure {', '.join(columns)}")
        moved, cells = self._sensitivity(columns), prod(self.lengths(columns))
        distance = self._query.merged_l2(self._relation) if self._merging else moved.l2
        stddev = max(dyadic_up(sqrt_up(distance**2 / (2 * rho)), bits=_DIGITS), _LEAST)
        noise = GaussianNoise(l2_sensitivity=distance, stddev=stddev, l0_sensitivity=min(moved.l0, cells))
        cost = self._taken(distance**2 / (2 * stddev**2))
        noisy = noise.release(Secret(self._counts(columns).open_for_noise().reshape(-1)))
        counts = tuple(map(int, noisy))
        self.steps.append(MeasuringStep(columns=columns, rho=cost, stddev=stddev, counts=counts))
        return NoisyMarginal(columns, np.reshape(counts, self.lengths(columns)), stddev=float(stddev))

    def choose(
        self,
        candidates: Sequence[Columns],
        expected: Callable[[Columns], Floats],
        rho: Fraction,
        *,
        weights: Mapping[Columns, int] | None = None,
        allowed: Mapping[Columns, int] | None = None,
    ) -> Columns:
        """A marginal of which the counts of a model are far from the exact ones, by the exponential mechanism.

        The score of a candidate is weight·(Σ |exact − expected| − allowed), where expected counts are rounded to whole
        numbers. One unit moves it by no more than weight times the marginal, in L1.

        Args:
            candidates: Groups of columns.
            expected: The counts of a model, with one axis for each column.
            rho: What the choice may cost.
            weights: Whole numbers of at least 1; None: all are 1.
            allowed: How far from the counts a model may be at no blame; None: all are 0.

        References:
            [MT07]; [MMS21] and [MMSM22] for such scores.
        """
        heavy = {columns: 1 if weights is None else weights[columns] for columns in candidates}
        reach = max(heavy[columns] * self._sensitivity(columns).l1 for columns in candidates)

        def score(columns: Columns, exact: Secret[Counts]) -> int:
            far = distance(exact, np.rint(expected(columns)).astype(np.int64))
            return heavy[columns] * (far - (0 if allowed is None else allowed[columns]))

        return self._picked(candidates, candidates, score, rho, reach=reach)

    def choose_child(
        self, families: Sequence[Columns], shares: Mapping[str, npt.NDArray[np.int64]], rho: Fraction
    ) -> Columns:
        """A column and others on which it depends, by the exponential mechanism.

        The score of a family is `dependence`: Σ |T·n(x, π) − s(x)·n(π)| over the values x of its first column and π of
        the others. A row that enters or leaves changes that by 2·(T − s(x)) at most.

        Args:
            families: Groups of columns, of which the first is the one that may depend on the others.
            shares: For each column whole numbers s(x), the sum of which is T: which share each value has by what was
                released.
            rho: What the choice may cost.

        References:
            [ZCPSX17] for the choice, with another score.
        """
        steps = {name: 2 * int((own.sum() - own).max()) for name, own in shares.items()}
        reach = max(Fraction(steps[family[0]] * self._sensitivity(family).l1) for family in families)
        places = {name: place for place, name in enumerate(self._sizes)}
        read = [tuple(sorted(family, key=lambda name: places[name])) for family in families]

        def score(family: Columns, exact: Secret[Counts]) -> int:
            axis = sorted(family, key=lambda name: places[name]).index(family[0])
            return dependence(exact, axis, shares[family[0]])

        return self._picked(families, read, score, rho, reach=max(reach, Fraction(1)))

    def _picked(
        self,
        candidates: Sequence[Columns],
        read: Sequence[Columns],
        score: Callable[[Columns, Secret[Counts]], int],
        rho: Fraction,
        *,
        reach: Fraction | int,
    ) -> Columns:
        """One of the candidates, by scores of the marginals that are read for them."""
        tell(self._progress, "choose")
        epsilon = Fraction(max(0, floor(sqrt_up(8 * rho) * 2**_DIGITS) - 1), 2**_DIGITS)
        cost = self._taken(exponential_to_zcdp(epsilon))
        scores = [0] * len(candidates)
        places: dict[Columns, list[int]] = {}
        for place, columns in enumerate(read):
            places.setdefault(columns, []).append(place)
        for columns, exact in self._each(list(places)):
            for place in places[columns]:
                scores[place] = score(candidates[place], exact)
        chosen = Exponential(utility_sensitivity=reach, epsilon=epsilon).release(Secret(scores))
        self.steps.append(MeasuringStep(columns=candidates[chosen], rho=cost))
        return candidates[chosen]

    def _sensitivity(self, columns: Columns) -> Sensitivity:
        if columns not in self._moved:
            self._moved[columns] = self._query.sensitivity(columns, self._relation)
        return self._moved[columns]

    def _taken(self, rho: Fraction) -> Fraction:
        if rho > self.left:
            raise ParameterError("rho", str(rho), f"must be at most what is left, {self.left}")
        self.left -= rho
        return rho

    def _counts(self, columns: Columns) -> Secret[Counts]:
        return next(exact for _, exact in self._each([columns]))

    def _each(self, groups: Sequence[Columns]) -> Iterator[tuple[Columns, Secret[Counts]]]:
        """The exact marginals, one axis for each column, in any order; as far as memory goes each is counted once."""
        known = [columns for columns in groups if columns in self._exact]
        yield from ((columns, self._exact[columns]) for columns in known)
        left = [columns for columns in groups if columns not in self._exact]
        for columns, exact in self._marginals.each(left, merging=self._merging):
            found = Secret(exact.open_for_noise().reshape(self.lengths(columns)))
            if self._kept + (cells := prod(self.lengths(columns))) <= _KEPT:
                self._exact[columns], self._kept = found, self._kept + cells
            yield columns, found


def distance(exact: Secret[Counts], expected: Counts) -> int:
    """How far expected counts are from exact ones, in rows: a score, for the exponential mechanism alone."""
    return int(np.abs(exact.open_for_noise() - expected).sum())


def dependence(exact: Secret[Counts], axis: int, shares: npt.NDArray[np.int64]) -> int:
    """How far counts are from those of a column that has these shares whatever the other columns are: a score.

    Args:
        exact: The counts.
        axis: Of the column.
        shares: One whole number for each of its values.
    """
    counts = np.moveaxis(exact.open_for_noise(), axis, 0).reshape(len(shares), -1)
    return int(np.abs(shares.sum() * counts - shares[:, np.newaxis] * counts.sum(axis=0)).sum())
