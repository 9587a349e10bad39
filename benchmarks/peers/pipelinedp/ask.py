"""PipelineDP in one process: count and clamped sum by 100 public groups. Prints what it took as JSON.

Its local backend takes any iterable. The rows are tuples in memory before the clock of the warm runs starts, which
spares it reading; the cold run has that in it too.

Usage: python ask.py <CSV file> <warm runs>
"""

import csv
import sys
from pathlib import Path

import pipeline_dp
from timed_question import report

path, runs = sys.argv[1], int(sys.argv[2])
with Path(path).open(newline="") as file:
    rows = [(int(u), int(g), float(v)) for u, g, v in list(csv.reader(file))[1:]]
params = pipeline_dp.AggregateParams(
    metrics=[pipeline_dp.Metrics.COUNT, pipeline_dp.Metrics.SUM],
    noise_kind=pipeline_dp.NoiseKind.LAPLACE,
    max_partitions_contributed=10,
    max_contributions_per_partition=2,
    min_value=0,
    max_value=100,
)
extractors = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: row[2],
)


def asked():
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=0)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    answer = engine.aggregate(rows, params, extractors, public_partitions=list(range(100)))
    budget.compute_budgets()
    return [(group, metrics.count, metrics.sum) for group, metrics in answer]


report(asked, runs=runs, server=None)
