"""Every statistic of the query language, in SQL and in Python, asked of real sessions about all worlds at once."""

from fractions import Fraction

from tests.audits_of_everything.curators import Opening, frame, sql, visit
from tests.audits_of_everything.judging import Case

import sfumato as sf

OTHERS = (visit("b", x=-9), visit("c"), visit("c", kind="b"), visit("d", kind="b"))
"""Whoever is in both databases."""

QUARTER = Fraction(1, 4)
MILD = "on so few grid points or categories no neighbours are worst"
HIDDEN = "the answer is one number of two that were paid for"


ONE_BY_ONE, AGAIN = 2, 10
"""Choices among grid points are drawn one by one; what Python says in other words is planned as in SQL."""


def heavy(*rows, others=OTHERS):
    """The others; and with a person of these rows, of which two count."""
    return others, (*others, *rows)


LOW = heavy(*(visit(x=-100, y=4) for _ in range(3)))
"""A person far below the bounds."""

HALVED = heavy(*(visit(x=1),) * 3, others=tuple(visit(f"b{i}", x=x) for i, x in enumerate((-9, 0, 0, 1))))
"""A person moves the median from the middle to the upper end."""

MANY, FEW = 10, 2
HIGHEST = heavy(*(visit(x=1),) * 3, others=tuple(visit(f"b{i}", x=1 if i < MANY else -9) for i in range(MANY + FEW)))
LOWEST = heavy(*(visit(x=-9),) * 3, others=tuple(visit(f"b{i}", x=-9 if i < MANY else 1) for i in range(MANY + FEW)))
"""A person more at the end, where there were one too few."""

TIED = heavy(*(visit(kind="c"),) * 3, others=tuple(visit(f"b{i}", kind="ab"[i % 2]) for i in range(2)))
IN_ONE = heavy(*(visit(x=-9),) * 3)
ILL = heavy(*(visit(ill=f"ill {i}") for i in range(3)))


def of_world(statistic):
    """A question about each world in SQL."""
    return sql(f"SELECT world, {statistic} AS n FROM visits GROUP BY world")


def of_frame(statistic):
    """The same in Python."""
    return frame(lambda session: session.table("visits").group_by("world").agg(n=statistic))


def hidden(mechanism, pair=LOW, *, share=None, fewer=20):
    """A case of which these outputs do not show all that was paid for."""
    return Case(mechanism=mechanism, pair=pair, share=share, fewer=fewer, why=HIDDEN)


IN_SQL = {
    "COUNT(*)": Case(mechanism=of_world("COUNT(*)"), pair=LOW),
    "COUNT(x)": Case(mechanism=of_world("COUNT(x)"), pair=LOW),
    "COUNT(DISTINCT person)": Case(mechanism=of_world("COUNT(DISTINCT person)"), pair=LOW),
    "COUNT(DISTINCT ill)": Case(mechanism=of_world("COUNT(DISTINCT ill)"), pair=ILL),
    "SUM(x)": Case(mechanism=of_world("SUM(x)"), pair=LOW),
    "AVG(x)": hidden(of_world("AVG(x)"), share=QUARTER, fewer=1),
    "MEAN(x)": hidden(of_world("MEAN(x)"), share=QUARTER, fewer=1),
    "COUNT_IF(x < -9)": Case(mechanism=of_world("COUNT_IF(x < -9)"), pair=LOW),
    "COUNTIF(x < -9)": Case(mechanism=of_world("COUNTIF(x < -9)"), pair=LOW),
    "AVG_ABS_DEV(x, 0)": hidden(of_world("AVG_ABS_DEV(x, 0)")),
    "VARIANCE(x)": hidden(of_world("VARIANCE(x)")),
    "VAR_SAMP(x)": hidden(of_world("VAR_SAMP(x)")),
    "VAR_POP(x)": hidden(of_world("VAR_POP(x)")),
    "STDDEV(x)": hidden(of_world("STDDEV(x)")),
    "STDDEV_SAMP(x)": hidden(of_world("STDDEV_SAMP(x)")),
    "STDDEV_POP(x)": hidden(of_world("STDDEV_POP(x)")),
    "COVAR_SAMP(x, y)": hidden(of_world("COVAR_SAMP(x, y)")),
    "COVAR_POP(x, y)": hidden(of_world("COVAR_POP(x, y)")),
    "CORR(x, y)": hidden(of_world("CORR(x, y)")),
    "MEDIAN(x)": Case(mechanism=of_world("MEDIAN(x)"), pair=HALVED, fewer=ONE_BY_ONE),
    "APPROX_QUANTILES(x, 2)[OFFSET(1)]": Case(
        mechanism=of_world("APPROX_QUANTILES(x, 2)[OFFSET(1)]"), pair=HALVED, fewer=ONE_BY_ONE
    ),
    "MIN(x)": Case(mechanism=of_world("MIN(x)"), pair=LOWEST, fewer=ONE_BY_ONE, share=QUARTER, why=MILD),
    "MAX(x)": Case(mechanism=of_world("MAX(x)"), pair=HIGHEST, fewer=ONE_BY_ONE, share=QUARTER, why=MILD),
    "QUANTILE(x, 0.25)": Case(
        mechanism=of_world("QUANTILE(x, 0.25)"), pair=HALVED, fewer=ONE_BY_ONE, share=None, why=MILD
    ),
    "PERCENTILE_CONT": Case(
        mechanism=of_world("PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY x)"),
        pair=HALVED,
        fewer=ONE_BY_ONE,
        share=None,
        why=MILD,
    ),
    "PERCENTILE_DISC": Case(
        mechanism=of_world("PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY x)"), pair=HALVED, fewer=ONE_BY_ONE
    ),
    "MODE": Case(mechanism=of_world("MODE() WITHIN GROUP (ORDER BY kind)"), pair=TIED),
}
"""By what is written in SQL."""

IN_PYTHON = {
    "count": Case(mechanism=of_frame(sf.count()), pair=LOW, fewer=AGAIN),
    "count_units": Case(mechanism=of_frame(sf.count_units()), pair=LOW, fewer=AGAIN),
    "count_distinct": Case(mechanism=of_frame(sf.count_distinct("ill", max_values_per_unit=1)), pair=ILL),
    "sum": Case(mechanism=of_frame(sf.sum("x", bounds=(-5, 1))), pair=LOW),
    "mean": hidden(of_frame(sf.mean("x"))),
    "avg_abs_dev": hidden(of_frame(sf.avg_abs_dev("x", around=0))),
    "variance": hidden(of_frame(sf.variance("x"))),
    "stddev": hidden(of_frame(sf.stddev("x"))),
    "quantile": Case(mechanism=of_frame(sf.quantile("x", "0.5")), pair=HALVED, fewer=AGAIN),
    "median": Case(mechanism=of_frame(sf.median("x")), pair=HALVED, fewer=AGAIN),
    "min": Case(mechanism=of_frame(sf.min("x")), pair=LOWEST, share=QUARTER, why=MILD, fewer=AGAIN),
    "max": Case(mechanism=of_frame(sf.max("x")), pair=HIGHEST, share=QUARTER, why=MILD, fewer=AGAIN),
    "histogram": Case(mechanism=of_frame(sf.histogram("x", edges=[-9, -4, 1])), pair=IN_ONE),
    "mode": Case(mechanism=of_frame(sf.mode("kind")), pair=TIED, fewer=AGAIN),
    "top_k": Case(mechanism=of_frame(sf.top_k("kind", 2)), pair=TIED, share=None, why=MILD),
    "covariance": hidden(of_frame(sf.covariance("x", "y"))),
    "correlation": hidden(of_frame(sf.correlation("x", "y"))),
    "vector_sum": Case(mechanism=of_frame(sf.vector_sum("x", "y")), pair=LOW),
}
"""By the name of the function."""

ALONE = {
    f"{name} alone": Case(
        mechanism=sql(f"SELECT {name} AS n FROM visits", opening=Opening(engine="reference"), at_once=0),
        pair=case.pair, share=None, fewer=150, why="sessions of one database are slow: 2,000 runs",
    )
    for name, case in IN_SQL.items() if name in {"COUNT(*)", "SUM(x)", "MEDIAN(x)", "MAX(x)", "COUNT(DISTINCT ill)"}
}  # fmt: skip
"""Questions without groups: each run is a session of its own."""

TOGETHER = {
    "several quantiles": Case(
        mechanism=sql("SELECT world, QUANTILE(x, 0.4) AS l, MEDIAN(x) AS m FROM visits GROUP BY world"),
        pair=HALVED, fewer=ONE_BY_ONE,
    ),
}  # fmt: skip
"""Statistics that are chosen at once."""

CASES = {**IN_SQL, **IN_PYTHON, **ALONE, **TOGETHER}
IN_TEST = (
    "COUNT(*)", "COUNT(x)", "COUNT(DISTINCT person)", "COUNT(DISTINCT ill)", "SUM(x)", "AVG(x)", "MEDIAN(x)",
    "MIN(x)", "MODE", "vector_sum",
)  # fmt: skip
"""What `make test` audits, with 10,000 runs each."""
