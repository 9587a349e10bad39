"""A plan as people read it: its rows, noise and cost, line by line."""

from fractions import Fraction

import pytest
from tests.query.planned import PEOPLE, TOWNS, VISITS, N, planned, ref, relation_of
from tests.session.desk import desk, rows

from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, UnitColumn
from sfumato.query.model.expressions import Compare, Comparison, Literal
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Fold,
    Folded,
    Grouped,
    Intersect,
    Join,
    JoinKind,
    PeoplePart,
    RowFunction,
    RowWindow,
    Select,
    SemiJoin,
    UnionAll,
)
from sfumato.query.model.schema import Limits, Table, integer, text
from sfumato.query.model.statement import AUTO
from sfumato.query.statistics.counts import CountDistinct, CountUnits, CountValues
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.variances import Covariance, Variance
from sfumato.session.asking.explain import explain

ADULTS = Filter(relation_of(PEOPLE), Compare(Comparison.GREATER, ref("age"), Literal(Fraction(17))))


def lines(child, *statistics, relation=ADD_OR_REMOVE_ONE, table=PEOPLE, **options):
    """The lines of an explanation, as pairs of what they are about and the text."""
    policy = desk((table, rows(table)), relation=relation).policy
    text_of = explain(planned(child, *statistics, relation=relation, **options), policy, Fraction(95, 100))
    return [tuple(line.split(maxsplit=1)) for line in text_of.splitlines()]


def about(topic, *arguments, **options):
    return [text_of for name, text_of in lines(*arguments, **options) if name == topic]


def test_a_plan_is_explained_from_the_price_to_the_error():
    found = lines(ADULTS, N, ("m", Mean(ref("age"))), keys=("sex",), epsilon=2)
    assert [topic for topic, _ in found] == [
        "cost", "protected", "rows", "rows", "groups", "noise", "noise", "error", "error",
    ]  # fmt: skip
    assert [text_of for _, text_of in found[:6]] == [
        "ε 2, charged before data is read", "one person (add or remove one)", "people, each row is a unit",
        "where age >= 18", "sex (2 public keys)",
        "count of rows: sensitivity 1 per person; discrete Laplace, scale ≈0.79369",
    ]  # fmt: skip
    assert found[6][1].startswith(
        "sum of age (clamped to 18…100, minus 59; resolution 1): sensitivity 41 per person; discrete Laplace, scale "
    )
    assert found[7][1] == "n ± 2, 95% interval"


def test_limits_of_a_person_are_said():
    limits = Limits(max_rows_per_unit=10, max_groups_per_unit=2, max_rows_per_group_per_unit=6)
    table = Table(name="t", columns={"u": text(), "k": text(values=["x"])}, unit=UnitColumn("u"), limits=limits)
    assert about("contribution", table, keys=("k",)) == ["at most 2 groups, 6 rows in one group and 10 rows per person"]
    assert about("rows", table) == ["t, unit u"]


def test_private_keys_are_said_with_their_price():
    (keys,) = about("keys", PEOPLE, keys=("town", "sex"), epsilon=2, delta="1e-6")
    assert keys == (
        "shown by truncated geometric selection, ε 1, δ 1e-06; a group of 16 units is shown with probability ≥ 95%"
    )
    assert about("groups", PEOPLE, keys=("town", "sex"), delta="1e-6") == ["town (private keys) × sex (2 public keys)"]
    assert about("keys", TOWNS, keys=("code",)) == ["all are shown, as the rows are public"]


def test_choices_are_said_with_what_a_row_costs():
    quantile, top = about(
        "noise", VISITS, ("q", Percentile(ref("hours"), Fraction(1, 2))), ("t", TopValues(ref("ward"))), epsilon=8
    )
    per_row = "ε 1 per row; sensitivity 4 rows per person"
    assert quantile == f"quantile 0.5: exponential mechanism over 2,401 lattice points, {per_row}"
    assert top == f"top 1: report noisy max, discrete Laplace of scale 1, {per_row}"
    assert about("noise", TOWNS, TopValues(ref("size")))[0].endswith(", no cost, as the rows are public")


def test_quantiles_that_are_chosen_at_once_are_said_together():
    quantiles = [(f"q{k}", Percentile(ref("age"), Fraction(k, 4))) for k in (3, 1)]
    (noise,) = about("noise", PEOPLE, *quantiles, epsilon=1)
    assert noise.startswith("quantiles 0.25, 0.75: exponential mechanism for all at once over 101 lattice points, ε 1 ")


@pytest.mark.parametrize(("quantile", "end"), [(0, "smallest"), (1, "largest")])
def test_extremes_are_said_with_their_rank(quantile, end):
    (noise,) = about("noise", PEOPLE, ("q", Percentile(ref("age"), Fraction(quantile))), epsilon=1)
    assert noise.startswith(f"value of rank 16 (1 is the {end}): permute-and-flip over 101 lattice points")


def test_every_measure_has_a_name():
    statistics = (
        ("c", CountValues(ref("pay"))), ("v", Variance(ref("pay"))), ("x", Covariance(ref("kids"), ref("age"))),
        ("d", CountDistinct(ref("town"))),
    )  # fmt: skip
    text_of = "\n".join(about("noise", PEOPLE, *statistics))
    for name in ("count of pay", "sum of pay (clamped", "resolution 0.01)", "sum of squares of pay", "sum of products"):
        assert name in text_of
    assert "count of distinct values" in text_of
    assert "count of units" in about("noise", VISITS, ("u", CountUnits()))[0]


def test_the_other_laws_are_named():
    assert "nothing released, as ε is 0" in about("noise", PEOPLE, N, epsilon=0)[0]
    assert "discrete Gaussian, standard deviation" in about("noise", PEOPLE, N, delta="1e-6", law="gaussian")[0]
    keeping = Table(name="t", columns={"v": integer()}, keeps_rows=True)
    assert about("noise", keeping, N, relation=REPLACE_ONE)[0].endswith("no noise needed")
    assert about("protected", PEOPLE, N, relation=REPLACE_ONE) == ["one person (replace one)"]


def test_each_grouping_set_is_explained():
    assert about("groups", PEOPLE, keys=("sex", "smokes"), sets=(("sex", "smokes"), ("sex",), ())) == [
        "sex (2 public keys) × smokes (2 public keys)", "sex (2 public keys)", "one, of all rows",
    ]  # fmt: skip


def test_bounds_that_are_chosen_first_are_explained():
    first, rest = about("bounds", PEOPLE, ("m", Mean(ref("age"), AUTO)), N, epsilon=1)
    assert first == (
        "of m, chosen first from a histogram of magnitudes: sensitivity 1 per person; discrete Laplace, scale 8"
    )
    assert rest.startswith("then ε 0.875 is spent with them; ")
    assert "with the widest bounds" in about("error", PEOPLE, ("m", Mean(ref("age"), AUTO)), N)[0]


OTHER = Table(
    name="other", columns={"person": text(), "ward2": text(values=["A"])}, unit=UnitColumn("person"),
    limits=Limits(max_rows_per_unit=2), matches={("ward2",): 1},
)  # fmt: skip
JOIN = Join(left=relation_of(VISITS), right=relation_of(OTHER), on=(("ward", "ward2"),))
STAYS = {
    "distinct": (Distinct(relation_of(VISITS)), "distinct rows"),
    "bound": (
        BoundRows(relation_of(VISITS), 2),
        "at most 2 rows per unit, chosen by a salted hash of the unit's rows",
    ),
    "numbered": (
        RowWindow(child=relation_of(VISITS), name="k", function=RowFunction.RANK, order=(("ward", True),)),
        "k: rank of each unit's rows in the order of ward",
    ),
    "grouped": (Grouped(relation_of(VISITS), ("ward",), (Folded("n", Fold.COUNT_ROWS),)), "grouped by ward"),
    "union": (UnionAll(relation_of(VISITS), relation_of(VISITS)), "all rows of two relations"),
    "both": (Intersect(relation_of(VISITS), relation_of(VISITS)), "rows that are in both of two relations"),
    "rest": (
        Except(relation_of(VISITS), relation_of(VISITS)),
        "rows of the first of two relations that are not in the second",
    ),
    "join": (JOIN, "inner join on ward = ward2, within each unit"),
    "public": (
        Join(left=relation_of(PEOPLE), right=relation_of(TOWNS), on=(("town", "code"),), kind=JoinKind.LEFT),
        "left join on town = code",
    ),
    "with": (
        SemiJoin(child=relation_of(VISITS), other=relation_of(OTHER), on=()), "where a row matches, within each unit",
    ),
    "without": (
        SemiJoin(child=relation_of(VISITS), other=relation_of(TOWNS), on=(("ill", "code"),), negated=True),
        "where no row matches on ill = code",
    ),
    "part": (
        PeoplePart(child=relation_of(VISITS), by="ward", values=("A", "B"), value="A", max_parts_per_unit=1, salt="00"),
        "part ward = 'A', at most 1 part per unit",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STAYS)
def test_every_step_from_the_table_to_the_rows_is_said(name):
    relation, said = STAYS[name]
    assert said in about("rows", relation)


def test_a_choice_of_columns_is_not_worth_a_line():
    assert about("rows", Select(relation_of(PEOPLE), (("a", ref("age")),)), ("s", Sum(ref("a")))) == [
        "people, each row is a unit"
    ]
