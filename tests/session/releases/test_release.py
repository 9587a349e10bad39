"""What leaves: values, error bars and a footer, in every form, with types that do not depend on what was released."""

import datetime as dt
import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom
from tests.laws import ALPHA, assert_law, assert_not_law
from tests.query.planned import PEOPLE, N, ref
from tests.session.desk import SURE, asked, desk, rows
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.query.model.expressions import Call, Compare, Comparison, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.schema import Table, boolean, date, integer, text, timestamp
from sfumato.query.model.statement import AUTO
from sfumato.query.planning.windows import OrderKey
from sfumato.query.statistics.estimates import NOTHING, AnswerValue, Misrank
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.session.releases.release import affordable, shown_estimate

RANKS = Misrank(error=1234.5, unit="ranks", size=10_000)
ROWS = Misrank(error=72.0, unit="rows", size=5)
CANARY = "canary-3141592653"
DATA = rows(
    PEOPLE, *[{"sex": "f", "age": 30, "pay": 1.5, "town": CANARY}] * 3, *[{"sex": "m", "age": 50, "pay": 2.5}] * 2
)
STATISTICS = (N, ("s", Sum(ref("pay"))), ("m", Mean(ref("age"))))


def ask(*statistics, data=DATA, table=PEOPLE, budget=None, **clauses):
    return asked(desk((table, data), budget=budget or sf.PureDP(1)), table, statistics=statistics or (N,), **clauses)


@pytest.fixture(scope="module")
def release():
    return ask(*STATISTICS, keys=("sex",)).release(epsilon="0.5")


def test_a_release_has_a_row_for_every_public_key_in_order(release):
    assert (len(release), release.groups) == (2, (("f",), ("m",)))
    assert [record["sex"] for record in release.records()] == ["f", "m"]


def test_an_estimate_lies_in_its_interval(release):
    for statistic in release.statistics:
        assert all(estimate.low <= estimate.value <= estimate.high for estimate in release[statistic])


def test_a_column_that_is_not_there_is_refused_with_those_that_are(release):
    with pytest.raises(ParameterError, match="n, s, m"):
        release["nosuch"]


def test_sums_leave_on_the_lattice_of_their_resolution(release):
    for estimate in release["s"]:
        assert (Fraction(repr(estimate.value)) / Fraction("0.01")).denominator == 1


# Frames

KINDS = Table(
    name="t", columns={"i": integer(), "s": text(), "b": boolean(), "d": date(), "t": timestamp(), "v": integer(0, 9)}
)
ONE_OF_EACH = {
    "i": 7,
    "s": "x",
    "b": True,
    "d": dt.date(2026, 1, 31),
    "t": dt.datetime.fromisoformat("2026-01-31T12:00"),
    "v": 3,
}
CHOSEN = (("n", N[1]), ("m", Mean(ref("v"))), ("top", TopValues(ref("b"))), ("q", Percentile(ref("v"), Fraction(1, 2))))
TYPES = [
    pa.int64(), pa.string(), pa.bool_(), pa.date32(), pa.timestamp("us"), *[pa.int64()] * 3, *[pa.float64()] * 3,
    *[pa.bool_()] * 3, *[pa.int64()] * 3,
]  # fmt: skip


def of_kinds(data, *, epsilon=SURE, **clauses):
    keys = ("i", "s", "b", "d", "t")
    question = ask(*CHOSEN, table=KINDS, data=rows(KINDS, *data), keys=keys, budget=sf.NO_GUARANTEE, **clauses)
    return question.release(epsilon=epsilon, delta="1e-6")


@pytest.mark.parametrize(
    ("data", "options", "count"),
    [
        ([ONE_OF_EACH] * 200, {}, 1), ([], {}, 0), ([ONE_OF_EACH] * 200, {"limit": 0}, 0),
        ([ONE_OF_EACH] * 200, {"sets": (("i", "s", "b", "d", "t"), ("i",), ("s", "b", "d", "t"))}, 3),
    ],
)  # fmt: skip
def test_the_schema_follows_from_the_question_alone(data, options, count):
    found = of_kinds(data, **options)
    assert found.to_arrow().schema.types == TYPES
    assert found.to_arrow().num_rows == count
    assert found.to_polars().schema == of_kinds([]).to_polars().schema
    assert found.to_pandas().dtypes.tolist() == of_kinds([]).to_pandas().dtypes.tolist()


def test_with_epsilon_zero_the_schema_is_the_same():
    nothing, something = (ask(*STATISTICS, keys=("sex",)).release(epsilon=epsilon) for epsilon in (0, "0.5"))
    assert nothing.to_arrow().schema == something.to_arrow().schema
    assert nothing.to_arrow().column("n").null_count == 2


def test_every_frame_holds_the_records(release):
    names = ["sex", *(f"{name}{end}" for name in ("n", "s", "m") for end in ("", "_low", "_high"))]
    assert release.to_arrow().column_names == list(release.to_pandas().columns) == release.to_polars().columns == names
    assert release.to_arrow().to_pylist() == release.to_polars().to_dicts() == release.records()
    assert release.to_pandas()["n"].tolist() == [estimate.value for estimate in release["n"]]


def test_a_key_that_is_rolled_up_is_null_in_every_frame():
    found = ask(keys=("kids", "sex"), sets=(("kids",), ("sex",)), budget=sf.NO_GUARANTEE).release(epsilon=SURE)
    assert found.to_arrow().column("kids").to_pylist()[-2:] == [None, None]
    assert str(found.to_pandas()["kids"].dtype) == "Int64"
    assert found.to_polars()["sex"].null_count() == 10


def test_a_frame_package_that_is_missing_is_named(monkeypatch, release):
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ParameterError, match=r"run: pip install polars$"):
        release.to_polars()


# For people


def test_a_release_is_shown_with_its_price_and_how_many_more_the_rest_pays(release):
    assert re.search(r"sex\s+n\s+s\s+m", repr(release))
    assert repr(release).endswith("95% intervals; spent ε 0.5; remaining: ε 0.5 (about 1 such query)")
    shown = repr(ask().release(epsilon=1))
    assert re.fullmatch(
        r"n = -?\d+ ± 3( ≲ noise)?\n95% intervals; spent ε 1; remaining: ε 0 \(about 0 such queries\)", shown
    )
    assert repr(ask().release(epsilon="0.1")).endswith("remaining: ε 0.9 (about 9 such queries)")


def test_what_is_free_has_no_number_of_such_queries():
    question = ask()
    question.release(epsilon="0.25")
    assert repr(question.release(epsilon="0.25")).endswith("stored answer, nothing spent; remaining: ε 0.75")
    assert repr(ask().release(epsilon=0)).endswith("spent ε 0; remaining: ε 1")
    assert repr(ask(budget=sf.NO_GUARANTEE).release(epsilon=1)).endswith("remaining: no guarantee")


@pytest.mark.parametrize(
    ("price", "left", "count"),
    [
        (sf.PureDP("0.1"), sf.PureDP("0.9"), 9), (sf.PureDP("0.1"), sf.PureDP("0.09"), 0),
        (sf.ApproxDP("0.1", "1e-6"), sf.ApproxDP(1, "2.5e-6"), 2),
        (sf.ApproxDP("0.5", "1e-9"), sf.ApproxDP(1, "1e-6"), 2),
        (sf.ApproxDP("0.5", "1e-9"), sf.PureDP(1), 0), (sf.PureDP(0), sf.PureDP(1), None),
        (sf.PureDP(1), sf.NO_GUARANTEE, None), (sf.PureDP("0.1"), sf.PureDP("1234.5"), 12345),
    ],
)  # fmt: skip
def test_an_account_pays_as_often_as_its_rest_allows(release, price, left, count):
    assert affordable(replace(release.receipt, guarantee=price, remaining=left)) == count


def test_noise_that_may_be_as_large_as_the_value_is_marked():
    noisy = ask(data=rows(PEOPLE)).release(epsilon="0.01", confidence="0.999999999")  # nothing but noise lies within it
    (mark,) = [line for line in repr(noisy).splitlines() if "n =" in line]
    assert mark.endswith("≲ noise")
    sure = repr(ask(budget=sf.NO_GUARANTEE).release(epsilon=SURE))
    assert "noise" not in sure
    assert "n = 5 ± 0" in sure


@pytest.mark.parametrize(
    ("estimate", "shown"),
    [
        (AnswerValue(value=12345, low=12315, high=12375), "12,345 ± 30"),
        (AnswerValue(value=1234.5678, low=1224.5678, high=1244.5678), "1,235 ± 10"),
        (AnswerValue(value=3.25, low=1.0, high=5.5), "3.2 ± 2.2"),
        (AnswerValue(value=0.5, low=0.25, high=0.75), "0.500 ± 0.250"),
        (AnswerValue(value=3, low=-1, high=7), "3 ± 4 ≲ noise"),
        (AnswerValue(value=37, low=None, high=None), "37 ± ∞ ≲ noise"),
        (AnswerValue(value=0.5, low=None, high=0.75), "0.5 ± ∞, at most 0.75 ≲ noise"),
        (AnswerValue(value=2 / 3, low=-1.0, high=None), "0.666667 ± ∞, at least -1 ≲ noise"),
        (AnswerValue(value=37, low=None, high=None, misrank=RANKS), "37 (± 1,235 ranks)"),
        (AnswerValue(value=37, low=30, high=40, misrank=RANKS), "37 ± 7"),
        (AnswerValue(value="x", low=None, high=None, misrank=ROWS), "x (± 72 rows) ≲ noise"),
        (AnswerValue(value=37, low=None, high=None, misrank=Misrank(error=math.inf, unit="ranks")), "37 (± ∞ ranks)"),
        (AnswerValue(value="x", low=None, high=None), "x"),
        (AnswerValue(value=True, low=None, high=None), "True"),
        (NOTHING, "NULL"),
    ],
)
def test_estimates_are_shown_to_the_digits_that_the_error_leaves(estimate, shown):
    assert shown_estimate(estimate) == shown


def test_with_epsilon_zero_nothing_is_released_and_nothing_spent():
    question = ask(*STATISTICS)
    found = question.release(epsilon=0)
    assert [found[name][0] for name in found.statistics] == [NOTHING] * 3
    assert question.desk.ledger.spent("test") == sf.PureDP(0)
    assert "n = nothing released (ε 0)" in repr(found)


def test_null_is_called_so():
    share = (("x", Call(Function.DIVIDE, (ref("n"), Literal(Fraction(0))))),)
    assert "x = NULL" in repr(ask(columns=share).release(epsilon="0.5"))
    totals = ask(keys=("sex",), sets=(("sex",), ())).release(epsilon="0.5")
    assert "NULL" in repr(totals).splitlines()[-3]


@pytest.mark.parametrize(
    "clauses", [{"limit": 0}, {"having": Compare(Comparison.LESS, ref("n"), Literal(Fraction(-(10**6))))}]
)
def test_an_answer_without_rows_is_shown_too(clauses):
    found = ask(**clauses).release(epsilon="0.5")
    assert len(found) == 0
    assert "n" in repr(found)
    assert "<th>n</th>" in found._repr_html_()


def test_bounds_that_were_chosen_are_shown():
    question = ask(("m", Mean(ref("age"), AUTO)), N, budget=sf.NO_GUARANTEE)
    found = question.release(epsilon=SURE)
    assert found.notes == ("bounds of m: 16 to 64, chosen with a part of the budget",)
    assert repr(found).splitlines()[-2:] == [*found.notes, "95% intervals; spent ε 1e+06; remaining: no guarantee"]
    assert question.release(epsilon=SURE).notes == found.notes
    assert found["m"][0].value == 38


def test_html_escapes_names_and_keys():
    evil = "<script>alert(1)</script>"
    table = Table(name="t", columns={"k": text(values=[evil])})
    page = ask((evil, N[1]), table=table, data=rows(table), keys=("k",)).release(epsilon=1)._repr_html_()
    assert "<script>" not in page
    assert page.count("&lt;script&gt;") == 2


def test_a_plot_can_be_saved(release, tmp_path):
    release.plot("n", tmp_path / "n.png")
    assert (tmp_path / "n.png").stat().st_size > 1_000


def test_a_plot_of_nothing_is_refused():
    with pytest.raises(ParameterError, match="ε above 0"):
        ask().release(epsilon=0).plot()


def test_a_release_keeps_no_row_of_the_table(release):
    grouped = ask(keys=("town",), budget=sf.NO_GUARANTEE).release(epsilon=1, delta="1e-9")
    for found in (release, grouped):
        assert CANARY not in repr(found) + str(found.records()) + found.receipt.to_json()


# The law of the noise, end to end

LENGTH = 150


def noise_of_counts(epsilon):
    """Released minus exact counts of LENGTH² groups, in one release that goes the whole way of a question."""
    table = Table(name="t", columns={"j": integer(values=range(LENGTH)), "k": integer(values=range(LENGTH))})
    question = ask(
        table=table, data=rows(table, *[{"j": 0, "k": 7}] * 50), keys=("j", "k"), order=(OrderKey(ref("j")),)
    )
    exact = np.zeros(LENGTH**2, dtype=np.int64)
    exact[7] = 50
    return np.array([estimate.value for estimate in question.release(epsilon=epsilon)["n"]]) - exact


def discrete_laplace_cdf(scale):
    """P(X ≤ k) for P(X = k) ∝ exp(−|k|/scale)."""
    q = math.exp(-1 / scale)
    return lambda k: 1 - q ** (k + 1) / (1 + q) if k >= 0 else q**-k / (1 + q)


@pytest.mark.essential
@pytest.mark.statistical
def test_end_to_end_the_noise_of_a_count_is_the_discrete_laplace_of_the_claimed_scale():
    noise = np.concatenate([noise_of_counts("0.25") for _ in range(5 if FULL_SIZE else 1)])
    assert_law(noise, discrete_laplace_cdf(4))
    assert_not_law(noise, discrete_laplace_cdf(4 * 1.1))
    assert_not_law(noise, discrete_laplace_cdf(4 / 1.1))


RUNS = 300 if FULL_SIZE else 100
EVERY = Histogram(ref("v"), tuple(map(Fraction, range(5))))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("statistics", "name", "exact"),
    [
        ((N,), "n", 200),
        ((("s", Sum(ref("v"))),), "s", 500),
        ((("m", Mean(ref("v"))),), "m", 2.5),
        ((("h", EVERY),), "h_2", 50),
    ],
)
def test_end_to_end_intervals_hold_the_exact_value_as_often_as_they_say(statistics, name, exact):
    table = Table(name="t", columns={"v": integer(0, 10)})
    data = rows(table, *[{"v": v} for v in (1, 2, 3, 4)] * 50)
    hits = 0
    for _ in range(RUNS):
        (estimate,) = ask(*statistics, table=table, data=data).release(epsilon="0.3")[name]
        hits += estimate.low <= exact <= estimate.high
    assert binom.cdf(hits, RUNS, 0.95) >= ALPHA
