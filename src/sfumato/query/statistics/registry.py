"""All statistics that there are. Whoever adds one writes its file and lists it here."""

from typing import Any, Final

from sfumato.privacy.stored_names import StoredNames
from sfumato.query.statistics.counts import CountDistinct, CountRows, CountUnits, CountValues
from sfumato.query.statistics.deviations import AbsoluteDeviation
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.measurements import CenteredOutput, FittedOutput, LinearOutput, Output
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.statistic import Spelling, Statistic
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.variances import Covariance, Variance
from sfumato.query.statistics.vectors import VectorSum

STATISTICS: Final[tuple[type[Statistic], ...]] = (
    CountRows, CountValues, CountUnits, CountDistinct, Sum, Mean, Variance, Covariance, Percentile, Histogram,
    TopValues, VectorSum, AbsoluteDeviation,
)  # fmt: skip
"""Every statistic."""

OUTPUTS: Final[tuple[type[Output], ...]] = (
    LinearOutput,
    CenteredOutput,
    FittedOutput,
    *dict.fromkeys(output for statistic in STATISTICS for output in statistic.outputs),
)
"""Every class of output."""

STORED: Final = StoredNames[Statistic]("statistic", {statistic: statistic.stored for statistic in STATISTICS})
"""How statistics are written; see `Statistic.stored`."""

SPELLINGS: Final[tuple[tuple[type[Any], Spelling], ...]] = tuple(
    (statistic, spelling) for statistic in STATISTICS for spelling in statistic.spellings
)
"""Every function of SQL that means a statistic, with the statistic."""
