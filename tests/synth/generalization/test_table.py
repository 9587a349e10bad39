"""A generalized table is made of released counts: cells, made-up rows, and rows of others in its groups."""

from datetime import UTC, date, datetime
from fractions import Fraction
from functools import partial
from math import exp

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.synth.generalization.small import AGE, PET
from tests.synth.generalization.test_grid import START

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import PureDP
from sfumato.query.model.kinds import Kind
from sfumato.query.sql.questions import parse_view
from sfumato.session.training.attributes import Attribute
from sfumato.session.training.marginals import Marginals, marginal_query
from sfumato.synth.generalization.table import GeneralizedTable, _values, codes_of

GRID = START.replayed([0, 2], most_cells=100)
GROUPS = {"pet": ("mammal", "other"), "age": ("0 to 9", "10 to 29")}
NOISY = [[30, -2], [0, 7], [-5, -1], [4, 59]]


def table_of(noisy=NOISY, groups=GROUPS, target="ill", classes=(False, True)):
    return GeneralizedTable(
        target=target, classes=classes, groups=groups, noisy=np.array(noisy), scale=2.0, charge=PureDP(1), receipt=None,
        reused=False, attributes=(PET, AGE), grid=GRID,
    )  # fmt: skip


def test_cells_have_their_groups_and_counts_that_are_not_negative():
    found = table_of()
    assert found.to_arrow().to_pylist()[:3] == [
        {"pet": "mammal", "age": "0 to 9", "ill": False, "count": 30},
        {"pet": "mammal", "age": "0 to 9", "ill": True, "count": 0},
        {"pet": "mammal", "age": "10 to 29", "ill": False, "count": 0},
    ]
    frame = found.to_pandas()
    assert frame["count"].tolist() == [30, 0, 0, 7, 0, 0, 4, 59]
    assert frame["pet"].tolist() == ["mammal"] * 4 + ["other"] * 4
    assert (found.counts >= 0).all()
    assert found.noisy.min() == -5


def test_the_total_is_that_of_unbiased_counts():
    assert table_of().total == 92
    assert table_of([[-1, 0], [0, 0], [0, 0], [0, 0]]).total == 0


def test_the_bias_of_clamping_is_the_mean_of_positive_noise():
    ks = np.arange(1, 400)
    share = exp(-1 / 2)
    assert table_of().clamping_bias == pytest.approx((1 - share) / (1 + share) * (ks * share**ks).sum())


def test_rows_come_as_often_as_counts_say():
    found = table_of()
    rows = found.rows(1_000, seed=4).to_pandas()
    cells = found.to_pandas().merge(rows.value_counts().reset_index(name="rows"), how="left").fillna({"rows": 0})
    assert (np.abs(cells["rows"] - 10 * cells["count"]) <= 1).all()
    assert found.rows(1_000, seed=4).to_pandas().equals(rows)
    assert not found.rows(1_000, seed=5).to_pandas().equals(rows)
    assert rows["ill"][:100].nunique() == 2  # in a random order
    assert found.rows().num_rows == 92
    assert found.rows(0).num_rows == 0


def test_without_counts_rows_are_uniform():
    assert table_of(np.full((4, 2), -3)).rows(8, seed=1).to_pandas().value_counts().tolist() == [1] * 8


@pytest.mark.parametrize("wrong", [{"n": -1}, {"n": 1.5}, {"n": 3, "seed": -1}])
def test_a_wrong_number_of_rows_is_refused(wrong):
    with pytest.raises(ParameterError):
        table_of().rows(**wrong)


def test_rows_of_others_are_put_into_groups():
    given = {"pet": ["dog", "fox", None, "owl"], "age": [-5, 10, 300, 9], "more": [1, 2, 3, 4]}
    for rows in (given, pd.DataFrame(given), pa.table(given)):
        assert table_of().generalize(rows).to_pylist() == [
            {"pet": "mammal", "age": "0 to 9"}, {"pet": "other", "age": "10 to 29"},
            {"pet": "other", "age": "10 to 29"}, {"pet": "other", "age": "0 to 9"},
        ]  # fmt: skip


@pytest.mark.parametrize(
    "rows",
    [
        {"pet": ["dog"]},
        {"pet": [["dog"]], "age": [1]},
        5,
        None,
        {"pet": ["dog"], "age": 7},
        {"pet": ["dog"], "age": [7, 8]},
    ],
)
def test_rows_without_an_attribute_are_refused(rows):
    with pytest.raises(ParameterError):
        table_of().generalize(rows)


def test_counts_have_a_name_of_their_own():
    found = table_of(groups={"count": GROUPS["pet"], "age": GROUPS["age"]}, target="count_")
    assert found.to_arrow().column_names == ["count", "age", "count_", "count__"]


COLUMNS = {
    "pet": sf.text(values=["cat", "owl"]), "age": sf.integer(3, 30), "rate": sf.real(0, 1),
    "ill": sf.boolean(), "day": sf.date(date(2026, 1, 1), date(2026, 12, 31)),
    "born": sf.integer(-20, -5, nullable=False),
}  # fmt: skip
ROWS = [
    ("cat", 3, 0.0, True, date(2026, 1, 1), -20), ("owl", 30, 1.0, False, date(2026, 12, 31), -5),
    (None, None, None, None, None, None), ("fox", -5, 7.5, True, date(2030, 1, 1), 0),
    ("owl", 16, 0.25, False, date(1999, 7, 7), -100), ("cat", 17, 0.5, None, date(2026, 3, 31), -13),
]  # fmt: skip


def test_values_have_the_numbers_that_a_session_finds():
    for row in ROWS:
        table = pa.table({name: pa.array([value], type_of(name)) for name, value in zip(COLUMNS, row, strict=True)})
        session = sf.open(table, name="rows", columns=COLUMNS, budget=sf.PureDP(1), engine="reference")
        names = list(COLUMNS)
        query = marginal_query(
            parse_view(f"SELECT {', '.join(names)} FROM rows", session._tables), bins={"age": 2, "rate": 4, "born": 3}
        )
        found, _ = (
            Marginals(query, partial(session.desk.engine.run, salt="00" * 16)).different_rows(names).open_for_noise()
        )
        own = [codes_of(one, [value]).tolist() for one, value in zip(query.attributes, row, strict=True)]
        assert [[code] for code in found[0].tolist()] == own, row


def type_of(name):
    return {
        "pet": pa.string(), "age": pa.int64(), "rate": pa.float64(), "ill": pa.bool_(), "day": pa.date32(),
        "born": pa.int64(),
    }[name]  # fmt: skip


def test_times_are_in_their_periods():
    hours = tuple(datetime(2026, 1, 1, hour) for hour in (0, 1, 2))  # noqa: DTZ001 # as databases have them
    at = Attribute(name="at", kind=Kind.TIMESTAMP, values=hours, missing=datetime(2026, 1, 2))  # noqa: DTZ001
    given = [pd.Timestamp(2026, 1, 1, 1, 59), date(2026, 1, 1), datetime(2027, 1, 1), pd.NaT]  # noqa: DTZ001
    assert codes_of(at, given).tolist() == [1, 0, 2, 3]


def test_missing_values_are_what_libraries_take_for_missing():
    nullable = Attribute(name="age", kind=Kind.INTEGER, edges=AGE.edges, missing=3)
    assert codes_of(nullable, [None, np.nan, pd.NaT, Fraction(5), np.int64(29)]).tolist() == [3, 3, 3, 0, 2]
    assert codes_of(AGE, [None]).tolist() == [0]
    assert codes_of(PET, [None, np.nan, "fox", "dog"]).tolist() == [3, 3, 3, 2]


def test_columns_of_all_libraries_are_read():
    for column in ([1, 2], (1, 2), np.array([1, 2]), pd.Series([1, 2]), pa.array([1, 2]), pa.chunked_array([[1], [2]])):
        assert _values(column) == [1, 2]


@pytest.mark.parametrize(
    ("attribute", "values"),
    [(AGE, ["old"]), (AGE, [[1]]), (PET, [["cat"]]), (AGE, [pd.NA]), (AGE, [1j])],
    ids=["a word", "a list", "a list of words", "not known", "a complex number"],
)  # fmt: skip
def test_values_of_another_kind_are_refused(attribute, values):
    with pytest.raises(ParameterError, match="of the kind"):
        codes_of(attribute, values)


def test_a_time_with_a_zone_is_refused():
    at = Attribute(name="at", kind=Kind.TIMESTAMP, values=(datetime(2026, 1, 1),))  # noqa: DTZ001
    with pytest.raises(ParameterError, match="of the kind"):
        codes_of(at, [datetime(2026, 1, 1, tzinfo=UTC)])
