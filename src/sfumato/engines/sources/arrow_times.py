"""Arrow's days and times as all engines read them: days, or microseconds in UTC, of the years 1 to 9999.

Arrow stores counts of some unit in 64 bits, most of which are no day that Python or a database knows, and some of which
make them fail. They are counted here as plain integers, before anyone tries to read them.
"""

from datetime import date
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_EPOCH: Final = date(1970, 1, 1).toordinal()
_DAYS: Final = (date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH)
_MILLISECONDS_OF_DAY: Final = 86_400_000
_MICROSECONDS_OF_DAY: Final = 86_400_000_000
_MICROSECONDS: Final = (_DAYS[0] * _MICROSECONDS_OF_DAY, (_DAYS[1] + 1) * _MICROSECONDS_OF_DAY - 1)
_IN_MICROSECONDS: Final = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 1}
_NANOSECONDS: Final = 1_000


def is_time(kind: Any) -> bool:
    """Whether an Arrow type holds days or times."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def plain_times(column: Any) -> Any:
    """Days as `date32`, times as `timestamp[us]` in UTC without a zone; NULL outside of the years 1 to 9999.

    What is finer than a day or a microsecond is cut off toward the past.

    Args:
        column: A chunked array of one of the types of `is_time`.
    """
    counts, missing = _counts(column), np.asarray(pc.is_null(column))
    if pa.types.is_date(column.type):
        days = counts // _MILLISECONDS_OF_DAY if pa.types.is_date64(column.type) else counts
        known, outside = _known(days, *_DAYS)
        return pa.array(known.astype(np.int32), mask=missing | outside).cast(pa.date32())
    factor = _IN_MICROSECONDS[column.type.unit]
    whole = counts // _NANOSECONDS if column.type.unit == "ns" else counts
    known, outside = _known(whole, *(end // factor for end in _MICROSECONDS))
    return pa.array(known * factor, mask=missing | outside).cast(pa.timestamp("us"))


def _counts(column: Any) -> npt.NDArray[np.int64]:
    """The stored integers; 0 for NULL."""
    stored = column.cast(pa.int32() if pa.types.is_date32(column.type) else pa.int64())
    return np.asarray(stored.fill_null(0), dtype=np.int64)


def _known(counts: npt.NDArray[np.int64], first: int, last: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The counts, 0 for those outside of the ends; and which those are."""
    outside = (counts < first) | (counts > last)
    return np.where(outside, 0, counts), outside
