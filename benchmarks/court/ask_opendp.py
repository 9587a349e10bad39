"""OpenDP answers the court. What each measurement claims is what its own privacy map says, on `claims`."""

import warnings

import opendp.prelude as dp
import polars as pl
from answering import answer, one_by_one

warnings.simplefilter("ignore", FutureWarning)
dp.enable_features("contrib")

ROWS = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
NAMES = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
VISITS = {"id": pl.Int64, "g": pl.Int64}
MOST_GROUPS = 100
SALES = {"group": pl.String, "value": pl.Int32}
MOST_ROWS = 3


def on_number(make, kind, **parameters):
    """A measurement of one number whose neighbors are at most 1 apart."""
    domain = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=int)
    return make(domain, dp.absolute_distance(T=kind), **parameters)


def kept_groups(*, renamed, scale):
    """Rows of group 0, one a person in each group, at most 100 groups a person; or of all groups, `renamed` to 0."""
    kept = pl.LazyFrame(schema=VISITS).filter(
        pl.int_range(pl.len()).over("id", "g") < 1,
        pl.struct("g").rank("dense").over("id") < MOST_GROUPS + 1,
    )
    if renamed:
        kept = kept.with_columns(g=pl.lit(0, dtype=pl.Int64))
    counts = kept.group_by("g").agg(dp.len(scale=scale))
    return pl.LazyFrame({"g": [0]}).join(counts, on="g", how="left")


def visits(query, privacy):
    columns = [dp.series_domain(name, dp.atom_domain(T="i64")) for name in VISITS]
    people = dp.symmetric_id_distance(identifier=pl.col("id"))
    return dp.m.make_private_lazyframe(dp.lazyframe_domain(columns), people, privacy, query)


def sales():
    """A sum by public group, where a group is said to have at most three rows."""
    columns = [dp.series_domain("group", dp.atom_domain(T=str)), dp.series_domain("value", dp.atom_domain(T="i32"))]
    margin = dp.polars.Margin(by=["group"], max_length=MOST_ROWS, max_groups=1, invariant="keys")
    total = pl.col("value").dp.sum((-10, 10), scale=30.0)
    query = pl.LazyFrame(schema=SALES).group_by("group").agg(total)
    domain = dp.with_margin(dp.lazyframe_domain(columns), margin)
    return dp.m.make_private_lazyframe(domain, dp.symmetric_distance(), dp.max_divergence(), query)


def pure_visits(*, renamed):
    return visits(kept_groups(renamed=renamed, scale=1.0), dp.max_divergence())


def on_frame(measurement, schema, column):
    """The only number of a release, each time from a frame of the same rows."""

    def case(rows, runs):
        frame = pl.LazyFrame(rows, schema=schema, orient="row")
        return [measurement(frame).collect()[column].item() for _ in range(runs)]

    return case


INTEGER_LAPLACE = on_number(dp.m.make_laplace, int, scale=1.0)
FLOAT_LAPLACE = on_number(dp.m.make_laplace, float, scale=1.0)
FLOAT_GAUSSIAN = on_number(dp.m.make_gaussian, float, scale=4.0)
GEOMETRIC = on_number(dp.m.make_geometric, int, scale=1.0, bounds=(0, 20))
CLAMPED_SUM = ROWS >> dp.t.then_clamp((0, 10)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=10.0)
THRESHOLD = dp.t.make_count_by(*NAMES) >> dp.m.then_laplace_threshold(scale=1.0, threshold=5)
NOISY_MAX = dp.m.make_noisy_max(
    dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int), dp.max_divergence(), scale=2.0
)
RESPONSE = dp.m.make_randomized_response_bool(prob=0.75)
SALES_SUM = sales()
RENAMED, UNCHANGED = pure_visits(renamed=True), pure_visits(renamed=False)


def claims():
    """ε, or ε and δ, or ρ, by case: from each measurement's own map, for the neighbors that it is tried on."""
    gaussian = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(FLOAT_GAUSSIAN), delta=1e-3)
    concentrated = visits(kept_groups(renamed=True, scale=1.0), dp.zero_concentrated_divergence())
    return {
        "integer_laplace": INTEGER_LAPLACE.map(1),
        "float_laplace": FLOAT_LAPLACE.map(1.0),
        "float_gaussian": gaussian.map(1.0),
        "geometric": GEOMETRIC.map(1),
        "clamped_sum": CLAMPED_SUM.map(1),
        "threshold": THRESHOLD.map(1),
        "noisy_max": NOISY_MAX.map(1),
        "response": RESPONSE.map(1),
        "max_length": SALES_SUM.map(2 * MOST_ROWS),
        "unchanged_groups": UNCHANGED.map(1),
        "stale_groups": RENAMED.map(1),
        "stale_groups_exactly": concentrated.map(1),
    }


CASES = {
    "integer_laplace": one_by_one(INTEGER_LAPLACE),
    "float_laplace": one_by_one(FLOAT_LAPLACE),
    "float_gaussian": one_by_one(FLOAT_GAUSSIAN),
    "geometric": one_by_one(GEOMETRIC),
    "clamped_sum": one_by_one(CLAMPED_SUM),
    "threshold": one_by_one(THRESHOLD),
    "noisy_max": one_by_one(NOISY_MAX),
    "response": one_by_one(RESPONSE),
    "max_length": on_frame(SALES_SUM, SALES, "value"),
    "unchanged_groups": on_frame(UNCHANGED, VISITS, "len"),
    "stale_groups": on_frame(RENAMED, VISITS, "len"),
    "stale_groups_exactly": on_frame(
        visits(kept_groups(renamed=True, scale=0.0), dp.zero_concentrated_divergence()), VISITS, "len"
    ),
    "claims": lambda _, runs: [claims()] * runs,
}

if __name__ == "__main__":
    answer(CASES, packages=("opendp", "polars"))
