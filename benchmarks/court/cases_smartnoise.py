"""SmartNoise SQL on trial: Privacy(epsilon=1), of which the documentation says that it is for each statistic.

Every ε and δ is what `get_privacy_cost` states for the query, whose documentation says that it is the total.
"""

from docket import Events, case, pair

ROWS = [[0, 0], [5, 5], [10, 10]]
ONE_MORE = pair(ROWS, [*ROWS, [10, 10]], "a person is added")


@case("smartnoise", "count")
def count():
    """COUNT.

    Docs of Privacy and get_privacy_cost; clamp_counts off, so that nothing is hidden at 0.
    """
    return Events(pairs=ONE_MORE, samples=10_000)


@case("smartnoise", "sum")
def total():
    """SUM of floats.

    As for COUNT; values in [0, 10].
    """
    return Events(pairs=ONE_MORE, samples=10_000)


@case("smartnoise", "integer_sum")
def integer_sum():
    """SUM of integers.

    As for COUNT; a value beyond the bounds is added.
    """
    return Events(pairs=pair(ROWS, [*ROWS, [1000, 1000]], "a person with 1000 is added"), samples=10_000)


@case("smartnoise", "both")
def both():
    """COUNT and SUM at once: ε = 2.

    A query of two statistics under Privacy(epsilon=1) costs 2, which get_privacy_cost states: the claim holds, and the
    lower bound shows that 1 would not.
    """
    return Events(pairs=ONE_MORE, samples=20_000)


@case("smartnoise", "sum_with_nan")
def sum_with_nan():
    """SUM where a person's value is NaN.

    As for SUM; NaN is NULL in SQLite.
    """
    return Events(pairs=pair(ROWS, [*ROWS, [-1, 5]], "a person with NaN is added"), samples=10_000)


@case("smartnoise", "groups")
def groups():
    """Censoring of rare groups.

    Docs of censor_dims: a group of one person appears with a chance of at most δ; Privacy(delta=0.01).
    """
    return Events(pairs=pair([], [[5, 5]], "the only person of a group"), samples=10_000)
