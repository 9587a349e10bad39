"""OpenDP on a Parquet file: count and clamped sum by 100 public groups. Prints seconds of CPU and peak memory.

Modes: `rows`, each row a unit; `users`, units with at most 10 groups and 1 row in each.
"""

import json
import resource
import sys
import time
import warnings

import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore", FutureWarning)
dp.enable_features("contrib")

path, rows, mode, repeats = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
keys = pl.LazyFrame({"g": list(range(100))}, schema={"g": pl.Int64})
frame = pl.scan_parquet(path)


def asked() -> object:
    unit = dp.unit_of(contributions=1)
    if mode == "users":
        bounds = [dp.polars.Bound(by=["g"], per_group=1), dp.polars.Bound(by=["g"], num_groups=10)]
        unit = dp.unit_of(contributions=bounds, identifier="u")
    context = dp.Context.compositor(
        data=frame,
        privacy_unit=unit,
        privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-7) if mode == "users" else dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[
            dp.polars.Margin(by=[], max_length=rows),
            dp.polars.Margin(by=["g"], invariant="keys", max_length=rows),
        ],
    )
    query = context.query()
    if mode == "users":
        query = query.truncate_per_group(1, by=["g"]).truncate_num_groups(10, by=["g"], keep="first")  # sampling raises
    total = pl.col("v").cast(pl.Int64).fill_null(0).dp.sum((0, 100))
    return query.group_by("g").agg(dp.len(), total).with_keys(keys).release().collect()


def cpu() -> float:
    return sum(resource.getrusage(resource.RUSAGE_SELF)[:2])


times = []
for _ in range(repeats):
    start, wall = cpu(), time.perf_counter()
    answer = asked()
    times.append((cpu() - start, time.perf_counter() - wall))
best = min(times[1:] or times)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"cpu_s": best[0], "wall_s": best[1], "peak_mb": peak, "groups": len(answer)}))
