"""What leaves: values, error bars and a footer, in every form, and the law of the noise end to end."""

import math
import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom
from tests.laws import ALPHA, assert_law, assert_not_law
from tests.session.opening import COUNT, DATA, opened

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.session.answer import NOTHING, Estimate
from sfumato.session.release import shown_estimate

GROUPED = "SELECT sex, COUNT(*) AS n, SUM(pay) AS s, AVG(age) AS m FROM people GROUP BY sex"


@pytest.fixture(scope="module")
def release():
    return opened().sql(GROUPED, epsilon="0.5")


def test_a_release_has_a_row_for_every_public_key_in_order(release):
    assert (len(release), release.groups) == (2, (("f",), ("m",)))
    assert [record["sex"] for record in release.records()] == ["f", "m"]


def test_an_estimate_lies_in_its_interval(release):
    for statistic in release.statistics:
        assert all(estimate.low <= estimate.value <= estimate.high for estimate in release[statistic])


def test_a_column_that_is_not_there_is_refused_with_those_that_are(release):
    with pytest.raises(ParameterError, match="n, s, m"):
        release["nosuch"]


def test_frames_have_one_schema_whatever_was_released(release):
    names = ["sex", *(f"{name}{end}" for name in ("n", "s", "m") for end in ("", "_low", "_high"))]
    assert release.to_arrow().column_names == names
    assert list(release.to_pandas().columns) == names
    assert release.to_polars().columns == names
    assert release.to_pandas()["n"].tolist() == release.to_polars()["n"].to_list() == [e.value for e in release["n"]]


def test_sums_leave_on_the_lattice_of_their_resolution(release):
    for estimate in release["s"]:
        steps = Fraction(repr(estimate.value)) / Fraction("0.01")
        assert steps.denominator == 1


def test_means_stay_in_the_public_bounds():
    for _ in range(20):
        (estimate,) = opened(budget=sf.PureDP(10)).sql("SELECT AVG(age) AS m FROM people", epsilon="0.01")["m"]
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 100


def test_a_release_is_shown_with_its_price_and_what_is_left(release):
    assert re.search(r"sex\s+n\s+s\s+m", repr(release))
    assert repr(release).endswith("95% intervals; spent ε 0.5, left ε 0.5")
    assert re.fullmatch(r"n = -?\d+ ± 3\n95% intervals; spent ε 1, left ε 0", repr(opened().sql(COUNT, epsilon=1)))


def test_html_escapes_names_and_keys():
    evil = "<script>alert(1)</script>"
    data = pa.table({"k": [evil]})
    session = opened(data, columns={"k": sf.text(values=[evil])})
    page = session.sql(f'SELECT k, COUNT(*) AS "{evil}" FROM people GROUP BY k', epsilon=1)._repr_html_()
    assert "<script>" not in page
    assert page.count("&lt;script&gt;") == 2


def test_with_epsilon_zero_nothing_is_released_nothing_spent():
    session = opened()
    release = session.sql("SELECT COUNT(*) AS n, SUM(pay) AS s, AVG(age) AS m FROM people", epsilon=0)
    assert [release[name][0] for name in release.statistics] == [NOTHING] * 3
    assert session.spent == sf.PureDP(0)
    assert "nothing released" in repr(release)
    assert release.to_arrow().num_rows == 1


def test_a_plot_can_be_saved(release, tmp_path):
    release.plot("n", tmp_path / "n.png")
    assert (tmp_path / "n.png").stat().st_size > 1_000


def test_a_plot_of_nothing_is_refused():
    with pytest.raises(ParameterError, match="ε above 0"):
        opened().sql(COUNT, epsilon=0).plot()


@pytest.mark.parametrize(
    ("estimate", "shown"),
    [
        (Estimate(value=12345, low=12315, high=12375), "12,345 ± 30"),
        (Estimate(value=1234.5678, low=1224.5678, high=1244.5678), "1,235 ± 10"),
        (Estimate(value=3.25, low=1.0, high=5.5), "3.2 ± 2.2"),
        (Estimate(value=0.5, low=0.25, high=0.75), "0.500 ± 0.250"),
        (NOTHING, "nothing released (ε 0)"),
    ],
)
def test_estimates_are_shown_to_the_digits_that_the_error_leaves(estimate, shown):
    assert shown_estimate(estimate) == shown


RUNS = 400
PEOPLE = pa.table({"v": [1, 2, 3, 4] * 250})
EXACT = {"n": 1_000, "s": 2_500, "m": 2.5}


def coverage_is_enough(hits, runs):
    """Whether so many hits are believable, at ALPHA, of intervals that hold with a chance of 0.95 or more."""
    return binom.cdf(hits, runs, 0.95) >= ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize(("statistic", "name"), [("COUNT(*)", "n"), ("SUM(v)", "s"), ("AVG(v)", "m")])
def test_intervals_hold_the_exact_value_as_often_as_they_say(statistic, name):
    hits = 0
    session = opened(PEOPLE, columns={"v": sf.integer(0, 10)}, budget=sf.PureDP(10**6))
    for run in range(RUNS):
        sql = f"SELECT {statistic} AS {name} FROM people WHERE v > {-1 - run}"
        (estimate,) = session.sql(sql, epsilon="0.3")[name]
        hits += estimate.low <= EXACT[name] <= estimate.high
    assert coverage_is_enough(hits, RUNS)


def test_coverage_that_is_too_small_would_be_seen():
    assert not coverage_is_enough(int(0.85 * RUNS), RUNS)
    assert coverage_is_enough(int(0.93 * RUNS), RUNS)


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) AS x FROM people", "SELECT SUM(pay) AS x FROM people"])
def test_the_predicted_error_of_counts_and_sums_is_the_half_width_of_their_intervals(sql):
    question = opened().query(sql)
    (predicted,) = question.error(epsilon="0.3", confidence=0.9)
    assert question.release(epsilon="0.3", confidence=0.9)["x"][0].half_width == pytest.approx(predicted.half_width)


KEYS = 150


def noise_of_counts(epsilon):
    """Released minus exact counts of KEYS² groups, in one release that goes the whole way of a question."""
    columns = {"j": sf.integer(values=range(KEYS)), "k": sf.integer(values=range(KEYS))}
    session = opened(pa.table({"j": [0] * 50, "k": [7] * 50}), columns=columns, budget=sf.PureDP(1))
    values = session.sql("SELECT j, k, COUNT(*) AS n FROM people GROUP BY j, k", epsilon=epsilon)["n"]
    exact = np.zeros(KEYS**2, dtype=np.int64)
    exact[7] = 50
    return np.array([estimate.value for estimate in values]) - exact


def discrete_laplace_cdf(scale):
    """P(X ≤ k) for P(X = k) ∝ exp(−|k|/scale)."""
    q = math.exp(-1 / scale)
    return lambda k: 1 - q ** (k + 1) / (1 + q) if k >= 0 else q**-k / (1 + q)


@pytest.mark.statistical
def test_end_to_end_the_noise_of_a_count_is_the_discrete_laplace_of_the_claimed_scale():
    noise = np.concatenate([noise_of_counts("0.25") for _ in range(5)])
    assert_law(noise, discrete_laplace_cdf(4))
    assert_not_law(noise, discrete_laplace_cdf(4 * 1.1))
    assert_not_law(noise, discrete_laplace_cdf(4 / 1.1))


def test_a_release_keeps_no_row_of_the_table(release):
    assert DATA["name"][0].as_py() not in repr(release.records())
