import math

import pytest
from tests.session.opening import COUNT, opened

import sfumato as sf
from sfumato.session.forecast import Forecast


def errors(sql, **price):
    return opened(budget=sf.PureDP(10)).query(sql).error(**price)


def test_a_count_errs_by_the_quantile_of_its_noise():
    assert errors(COUNT, epsilon="0.1") == (Forecast(column="n", half_width=30.0),)


def test_half_the_price_is_twice_the_error():
    [cheap], [dear] = errors(COUNT, epsilon="0.01"), errors(COUNT, epsilon="0.02")
    assert cheap.half_width == pytest.approx(2 * dear.half_width, rel=0.01)


def test_a_mean_says_what_it_presumes():
    [presumed] = errors("SELECT AVG(age) AS m FROM people", epsilon=1)
    assert "1,000 values" in str(presumed)
    [larger] = errors("SELECT AVG(age) AS m FROM people", epsilon=1, size=100_000)
    assert larger.half_width < presumed.half_width / 50


def test_a_mean_never_errs_by_more_than_its_bounds():
    assert errors("SELECT AVG(age) AS m FROM people", epsilon="0.0001")[0].half_width == 100


def test_the_error_of_a_mean_is_seen_in_releases_of_that_size():
    import pyarrow as pa

    session = opened(pa.table({"age": [50] * 1_000}), columns={"age": sf.integer(0, 100)}, budget=sf.PureDP(1_000))
    question = session.query("SELECT AVG(age) AS m FROM people")
    predicted = question.error(epsilon=1, size=1_000)[0].half_width
    assert question.release(epsilon=1)["m"][0].half_width == pytest.approx(predicted, rel=0.5)


def test_with_epsilon_zero_the_error_is_infinite():
    assert [f.half_width for f in errors("SELECT COUNT(*), AVG(age) FROM people", epsilon=0)] == [math.inf] * 2
