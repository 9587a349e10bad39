"""PipelineDP answers the court, on its local backend with public partitions and a total ε of 1."""

import pipeline_dp
from answering import answer, errors_shown, one_by_one

METRICS = pipeline_dp.Metrics
EXTRACTORS = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row["id"],
    partition_extractor=lambda row: row["group"],
    value_extractor=lambda row: row["value"],
)


def asked(rows, metric, *, epsilon=1.0, delta=0.0, highest=10.0, most=2, public=("a",)):
    """Of each person at most so many rows in one group, with values in [0, highest]."""
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
    parameters = pipeline_dp.AggregateParams(
        metrics=[metric],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=most,
        min_value=0.0,
        max_value=highest,
    )
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    answers = engine.aggregate(rows, parameters, EXTRACTORS, public_partitions=list(public) if public else None)
    budget.compute_budgets()
    return {group: list(metrics) for group, metrics in answers}


def first(rows, metric, **options):
    return asked(rows, metric, **options)["a"][0]


def exact_sum(values):
    """The sum of a value in [0, 2^53] of each person, with noise that an ε of 10^50 keeps below every digit."""
    rows = [{"id": i, "group": "a", "value": value} for i, value in enumerate(values)]
    return first(rows, METRICS.SUM, epsilon=1e50, highest=2.0**53, most=1) if rows else 0.0


def groups(rows):
    """Private partition selection: which groups are there, and what is counted in them."""
    return asked(rows, METRICS.COUNT, delta=0.01, public=None)


CASES = {
    "count": one_by_one(lambda rows: first(rows, METRICS.COUNT)),
    "people": one_by_one(lambda rows: first(rows, METRICS.PRIVACY_ID_COUNT)),
    "sum": one_by_one(lambda rows: first(rows, METRICS.SUM)),
    "mean": one_by_one(lambda rows: first(rows, METRICS.MEAN)),
    "sum_or_error": one_by_one(errors_shown(lambda rows: first(rows, METRICS.SUM))),
    "groups": one_by_one(groups),
    "exact_sum": one_by_one(exact_sum),
}

if __name__ == "__main__":
    answer(CASES, packages=("pipeline-dp", "python-dp"))
