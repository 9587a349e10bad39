"""OpenDP: the same count by public group on the same table, from context to frame. Prints milliseconds."""

import json
import statistics
import sys
import time
import warnings

import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore", FutureWarning)
dp.enable_features("contrib")

rows, repeats = int(sys.argv[1]), int(sys.argv[2])
frame = pl.LazyFrame(
    {"age": [20 + i % 60 for i in range(rows)], "sex": ["Male" if i % 3 else "Female" for i in range(rows)]}
)
times = []
for _ in range(repeats):
    start = time.perf_counter()
    context = dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["sex"], invariant="keys", max_length=rows, max_groups=2)],
    )
    context.query().group_by("sex").agg(dp.len()).release().collect()
    times.append((time.perf_counter() - start) * 1e3)
print(json.dumps({"cold_ms": times[0], "warm_ms": statistics.median(times[1:])}))
