"""Fits of orders: the same `PrivateFit` as in a session, planned by what is declared alone; and how much work it is.

**Guarantee**: what `planned_fit` gives depends on the order and on the declared rows alone, so that any process plans
the same. It reads no rows. `steps_a_row` and `steps` are public numbers, from which time classes follow.
"""

from dataclasses import dataclass
from typing import Any, Final

from sfumato.errors import ParameterError, SfumatoError
from sfumato.learn.bayes.draws import PosteriorDraws
from sfumato.learn.bayes.tallies import ClassTallies
from sfumato.learn.boosting.curves import NoisyCurves
from sfumato.learn.boosting.noisy_trees import NoisyTrees
from sfumato.learn.choosing.choice import ChoiceFit
from sfumato.learn.clusters.lloyd import NoisyLloyd
from sfumato.learn.conformal.split import SplitFit
from sfumato.learn.linear.certified import LARGEST_HESSIAN
from sfumato.learn.linear.descent import NoisyDescent
from sfumato.learn.linear.least_squares import NoisySums
from sfumato.learn.linear.objective import PerturbedObjective
from sfumato.learn.linear.theil_sen import MatchedLines
from sfumato.learn.moments.products import NoisyProducts
from sfumato.learn.ordering.orders import estimator_of
from sfumato.learn.trees.leaves import ForestCounts
from sfumato.session.training.ordered import DeclaredRows, FitOrder, OrderedFit

MOST_NUMBERS: Final = 5_000_000
"""How many numbers a model may have: whoever holds them beside the data needs memory for them."""

MISTAKES: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What arguments may raise that an estimator does not expect, as nobody hands such over in Python."""

_START: Final = 10_000
"""What any fit takes, however few rows there are; and of each row it takes what an engine found."""

_SEARCH: Final = 40
"""How often a search for a minimum looks at all rows, about."""

_LONG_SEARCH: Final = 2_000
"""How often one does where it goes down the slope alone."""


@dataclass(frozen=True, slots=True)
class Work:
    """How much work a fit is, in steps; a million of them or more take a second.

    Attributes:
        row: For each row.
        rest: Beside.
        numbers: How many numbers the model has, about.
    """

    row: float
    rest: float
    numbers: float

    def __add__(self, other: "Work") -> "Work":
        """Both, one after the other."""
        return Work(self.row + other.row, self.rest + other.rest, self.numbers + other.numbers)


def planned_fit(order: FitOrder, rows: DeclaredRows) -> OrderedFit:
    """The fit of an order, on rows that are declared so.

    Raises:
        ParameterError: The order names no estimator, has arguments that cannot be used, or makes a model that is too
            large.

    Example:
        >>> from fractions import Fraction
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> from sfumato.session.training.columns import TrainingColumn
        >>> age = TrainingColumn(name="age", lower=Fraction(0), upper=Fraction(100))
        >>> rows = DeclaredRows(
        ...     columns=(age,), target=None, rows_per_unit=1, neighboring_relation=ADD_OR_REMOVE_ONE
        ... )
        >>> fit = planned_fit(FitOrder(estimator="StandardScaler", arguments='{"epsilon": 1}'), rows)
        >>> fit.name, str(fit.charge)
        ('noisy moments of columns', 'ε 1')
    """
    estimator = estimator_of(order)
    try:
        fit = estimator.plan(estimator.read(rows))
        work = Work(1 + 0.5 * len(rows.columns), _START, 0) + work_of(fit)
    except SfumatoError:
        raise
    except MISTAKES:
        raise ParameterError("arguments", order.estimator, "must be values that the estimator takes") from None
    if work.numbers > MOST_NUMBERS:
        requirement = f"must have at most {MOST_NUMBERS:,}; ask for fewer columns, trees or rounds"
        raise ParameterError("model", f"{work.numbers:,.0f} numbers", requirement)
    return OrderedFit.of(order, fit, steps_a_row=int(work.row) + 1, steps=int(work.rest) + 1)


def work_of(fit: Any) -> Work:
    """How much work a fit is.

    Raises:
        TypeError: It is of a kind that is not listed here.
    """
    match fit:
        case ClassTallies(columns=columns, classes=classes):
            numbers = classes * sum(one.steps + 1 if fit.kind == "values" else 2 for one in columns)
            return Work(0.2 * len(columns), numbers, numbers)
        case PosteriorDraws(columns=columns, classes=classes, coin=coin):
            numbers = classes * sum(one.steps + 1 for one in columns) + len(coin.grid)
            return Work(0.2 * len(columns), 0.5 * numbers * len(coin.grid), numbers)
        case NoisyDescent(design=design, steps=steps):
            size = design.width * fit.outputs
            return Work(0.05 * design.width + steps * (0.005 * size + 0.05 * fit.outputs), steps * (size + 100), size)
        case PerturbedObjective(design=design):
            size = design.width * fit.outputs
            if size > LARGEST_HESSIAN:
                return Work(_LONG_SEARCH * 0.01 * size, _LONG_SEARCH * size, size)
            return Work(_SEARCH * (0.002 * size**2 + 0.03 * size + 1), _SEARCH * (0.001 * size**3 + 100), size**2)
        case NoisySums(design=design) | NoisyProducts(design=design):
            width = design.width
            return Work(0.002 * width**2 + 0.1 * width, 0.01 * width**3 + width**2, width**2)
        case MatchedLines(matchings=matchings):
            return Work(2.0 * matchings, 50_000, 2)
        case NoisyLloyd(design=design, start=start, iterations=iterations):
            size = design.width * len(start)
            return Work(0.05 * design.width + iterations * (0.005 * size + 0.05), iterations * (size + 100), size)
        case NoisyTrees(rounds=rounds, depth=depth, loss=loss):
            leaves = rounds * loss.outputs << depth
            return Work(rounds * (0.02 * depth + 0.08 * loss.outputs), leaves + 500 * rounds, leaves)
        case NoisyCurves(rounds=rounds, bins=bins, loss=loss):
            steps = rounds * len(bins.columns)
            numbers = sum(bins.sizes) * loss.outputs
            return Work(steps * (0.02 + 0.08 * loss.outputs), steps * (500 + fit.leaves * loss.outputs), numbers)
        case ForestCounts(trees=trees, depth=depth, classes=classes):
            leaves = trees * classes << depth
            return Work(trees * (0.05 * depth + 0.05), leaves, leaves)
        case SplitFit(inner=inner, columns=columns):
            return work_of(inner) + Work(0.5 * len(columns) + 2, 0, 0)
        case ChoiceFit(fits=fits, columns=columns):
            return sum(map(work_of, fits), start=Work((0.5 * len(columns) + 2) * len(fits), 0, 0))
        case _:
            raise TypeError(f"how much work is a {type(fit).__name__}")
