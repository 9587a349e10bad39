"""PipelineDP on trial, on its local backend, with total_epsilon = 1.

Of a person one group is kept and two rows in it; values lie in [0, 10].
"""

from docket import Events, Sensitivity, case, pair

from sfumato.audit import Neighbors, Verdict, small_pairs
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

ROWS = tuple({"id": person, "group": "a", "value": value} for person, value in (("ann", 0), ("bob", 5), ("cleo", 10)))
EVERYBODY = tuple(Neighbors(database=ROWS, unit="id", newcomer=ROWS[2], heavy_rows=20))
"""Each person removed; one added with every odd value, with groups of nobody else, and with many rows."""

NO_NUMBERS = {"a unit is added, with NaN in value", "a unit is added, with None in value"}
IN_RANGE = tuple(
    neighbors
    for neighbors in EVERYBODY
    if neighbors.description not in NO_NUMBERS and "values of value" not in neighbors.description
    and "a new key in value" not in neighbors.description
)  # fmt: skip


def added(value):
    return [*ROWS, {"id": "dan", "group": "a", "value": value}]


@case("pipelinedp", "count")
def count():
    """COUNT, with all neighbors of three rows.

    Docs of Metrics.COUNT and NaiveBudgetAccountant.
    """
    return Events(pairs=IN_RANGE, epsilon=1, samples=2_000)


@case("pipelinedp", "people")
def people():
    """PRIVACY_ID_COUNT.

    Docs of Metrics.PRIVACY_ID_COUNT.
    """
    return Events(pairs=pair(ROWS, added(5), "a person is added"), epsilon=1, samples=15_000)


@case("pipelinedp", "sum")
def total():
    """SUM, with all neighbors of three rows.

    Docs of Metrics.SUM: min_value and max_value bound each value. Every number is tried, infinite ones among them.
    """
    return Events(pairs=IN_RANGE, epsilon=1, samples=2_000)


@case("pipelinedp", "mean")
def mean():
    """MEAN.

    Docs of Metrics.MEAN; a heavy user.
    """
    heavy = [*ROWS, *({"id": "dan", "group": "a", "value": 10},) * 20]
    return Events(pairs=pair(ROWS, heavy, "a person with 20 rows is added"), epsilon=1, samples=15_000)


@case("pipelinedp", "groups")
def groups():
    """Private selection of groups.

    Docs of DPEngine.aggregate without public partitions; total_delta = 0.01.
    """
    other = [{"id": "eve", "group": "b", "value": 1}]
    alone = [*other, {"id": "dan", "group": "a", "value": 1}]
    return Events(pairs=pair(other, alone, "the only person of a group"), epsilon=1, delta="0.01", samples=15_000)


@case("pipelinedp", "sum", expects=Verdict.PRIVACY_VIOLATION)
def nan():
    """SUM where a person's value is NaN.

    Docs as for SUM; a comparison does not clip NaN, and the sum is NaN.
    """
    return Events(pairs=pair(ROWS, added(float("nan")), "a person with NaN is added"), epsilon=1, samples=2_000)


@case("pipelinedp", "sum_or_error", expects=Verdict.PRIVACY_VIOLATION)
def none():
    """SUM where a person's value is None.

    Docs as for SUM; the error is what an analyst sees, and its type tells that the person is there.
    """
    return Events(pairs=pair(ROWS, added(None), "a person with None is added"), epsilon=1, samples=2_000)


@case("pipelinedp", "exact_sum", expects=Verdict.SENSITIVITY_BUG)
def float_sum():
    """SUM of floats, without noise.

    Docs of SumCombiner: noise is made for max_value a person, here 2^53. Adding floats one after another rounds, so
    that one person moves the sum farther; by little on few rows.
    """
    pairs = small_pairs((2.0**53, 1.0, 3.0), largest=2, relation=ADD_OR_REMOVE_ONE)
    return Sensitivity(pairs=tuple(pairs), claimed=2**53)
