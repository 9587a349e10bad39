import math

import pyarrow as pa
import pytest
from tests.engines.in_postgres import values_of

from sfumato.engines.sql.dialects.postgres import sql
from sfumato.engines.sql.terms import clamped, column, double, function

X, Y = column("x"), column("y")
CLAMPED = clamped(X, double(0.0), double(100.0))


@pytest.mark.parametrize(
    "term",
    [function("double_quotient", CLAMPED, double(0.01)), function("double_sum", X, double(0.5)),
     function("double_difference", double(0.0), X), function("double_product", CLAMPED, double(1.0)),
     function("double_sum", function("double_sum", X, double(1e280)), CLAMPED)],
    ids=str,
)  # fmt: skip
def test_what_cannot_leave_the_doubles_is_not_guarded(term):
    assert "CASE" not in sql(term)


def test_constants_are_not_computed_before_it_is_known_that_they_can_be():
    least, most = double(5e-324), double(1.7976931348623157e308)
    terms = [function("double_product", least, least), function("double_product", most, most),
             function("double_quotient", most, least), function("double_quotient", least, most),
             function("double_quotient", most, double(0.0)), function("double_sum", most, most),
             function("double_difference", double(-1.7976931348623157e308), most), function("double_power", most, most),
             function("double_power", least, most), function("double_power", double(0.0), double(-1.0)),
             function("double_power", double(-2.0), double(0.5)), function("exponential", most),
             function("double_sum", least, X)]  # fmt: skip
    found = [value for (value,) in values_of(terms, pa.table({"x": [1.0]}))]
    assert found == [0, math.inf, math.inf, 0, None, math.inf, -math.inf, math.inf, 0, None, None, math.inf, 1]


@pytest.mark.parametrize(
    ("base", "exponent"),
    [(10.0, 308.25), (-10.0, 307.0), (2.0, 1023.0), (-2.0, 1023.0), (2.0, -1074.0), (-2.0, -1073.0), (0.1, 323.0),
     (1.0000000000000002, 3.1e18), (-1.0000000000000002, 3.1e18), (1.7976931348623157e308, 1.0)],
)  # fmt: skip
def test_a_power_near_the_ends_of_the_doubles_is_one(base, exponent):
    ((found,),) = values_of([function("double_power", X, Y)], pa.table({"x": [base], "y": [exponent]}))
    assert found == pytest.approx(math.pow(base, exponent), rel=1e-12, abs=5e-324)
