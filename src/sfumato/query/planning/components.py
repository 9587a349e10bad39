"""Components of statistics with their shares of the budget: what each needs, and the measurement that it becomes."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.mechanisms.quantiles.quantile import Quantile, QuantileEnd
from sfumato.mechanisms.selection.noisy_top_k import NoisyTopK
from sfumato.noise.uniform.integers import SMALLEST_SCALE
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.analysis.stability import Sensitivity, reach_of, sensitivity
from sfumato.query.model.statement import Bins, Statement
from sfumato.query.planning.allocation import Choice, Need, Noise, Share
from sfumato.query.statistics.measurements import Additive, Measurement, QuantileChoice, TopChoice
from sfumato.query.statistics.recipes import BinQuantile, Component, NoisyCells, NoisyMeasures, TopCells

_PUBLIC_EPSILON: Final = Fraction(1000)
"""Of a choice from public rows, which nobody moves and which therefore costs nothing."""


OF_INTERVALS: Final = Fraction(19, 20)
"""How often the interval of a quantile holds it, at least."""

OF_AN_END: Final = 1 - (1 - OF_INTERVALS) / 2
"""How often each of its ends lies on its side."""


def need_of(component: Component, main: Statement, neighboring_relation: NeighboringRelation) -> Need:
    """What a component needs of the budget."""
    match component:
        case NoisyMeasures() | NoisyCells():
            return Noise(_sensitivity(component, main, neighboring_relation))
        case BinQuantile(statement) | TopCells(statement):
            return Choice(is_free=moved(statement, neighboring_relation) == 0)


def measurement_of(
    component: Component, share: Share, statements: Sequence[Statement], neighboring_relation: NeighboringRelation
) -> Measurement:
    """The measurement of a component with its share; `statements` are those of the section, the main one first."""
    main = statements[0]
    match component:
        case NoisyMeasures(measures):
            places = tuple(main.measures.index(measure) for measure in measures)
            return _additive(share, 0, places, _sensitivity(component, main, neighboring_relation))
        case NoisyCells(statement):
            moved_by = _sensitivity(component, main, neighboring_relation)
            return _additive(share, statements.index(statement), (0,), moved_by)
        case BinQuantile(statement):
            rows = moved(statement, neighboring_relation)
            mechanism = _quantile(component, _bins(statement).count - 1, _per_row(share, rows))
            return QuantileChoice(statement=statements.index(statement), rows=rows, mechanism=mechanism)
        case TopCells(statement, k):
            rows = moved(statement, neighboring_relation)
            epsilon = min(_per_row(share, rows), k / SMALLEST_SCALE)  # of the narrowest noise that is drawn
            top = NoisyTopK(k=k, epsilon=epsilon, utility_sensitivity=1, monotonic=True)
            return TopChoice(statement=statements.index(statement), rows=rows, mechanism=top)


def _quantile(component: BinQuantile, last: int, epsilon: Fraction) -> Quantile | QuantileEnd | Extreme:
    """Of ranks 0 and 1 every point beyond all values is right for a quantile, so they are chosen as extremes."""
    quantile, side = component.quantile, component.side
    if side is not None:
        return QuantileEnd(
            quantile=quantile, is_upper=side == "upper", lower=0, upper=last, epsilon=epsilon, confidence=OF_AN_END
        )  # fmt: skip
    if quantile in {0, 1}:
        return Extreme(largest=quantile == 1, lower=0, upper=last, epsilon=epsilon)
    return Quantile(quantile=quantile, lower=0, upper=last, epsilon=epsilon)


def _additive(share: Share, statement: int, measures: tuple[int, ...], moved_by: Sensitivity) -> Additive:
    if share.mechanism is None:
        raise TypeError("a need of noise gets a mechanism")
    return Additive(statement=statement, measures=measures, sensitivity=moved_by, mechanism=share.mechanism)


def moved(statement: Statement, neighboring_relation: NeighboringRelation) -> int:
    """How many rows enter or leave the groups of a statement, at most; one that moves does both."""
    rows = reach_of(statement).rows
    return rows if neighboring_relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2 * rows


def _per_row(share: Share, rows: int) -> Fraction:
    """Rows lie in one group each, so that what they cost adds up whichever groups a unit is in."""
    return share.epsilon / rows if rows else _PUBLIC_EPSILON


def _sensitivity(
    component: NoisyMeasures | NoisyCells, main: Statement, neighboring_relation: NeighboringRelation
) -> Sensitivity:
    match component:
        case NoisyMeasures(measures):
            statement = main
        case NoisyCells(statement):
            measures = statement.measures
    parts = [sensitivity(statement, measure, neighboring_relation=neighboring_relation) for measure in measures]
    if len(parts) == 1:
        return parts[0]
    return Sensitivity(
        l1=sum(part.l1 for part in parts),
        l2=sqrt_up(sum((part.l2**2 for part in parts), start=Fraction(0))),
        l0=sum(part.l0 for part in parts),
    )


def _bins(statement: Statement) -> Bins:
    if not isinstance(statement.cell, Bins):
        raise TypeError("a quantile is chosen from bins")
    return statement.cell
