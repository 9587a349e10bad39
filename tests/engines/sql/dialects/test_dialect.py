"""A dialect writes idioms by its table, and all else as it is called."""

import pytest
from sqlglot.generators.duckdb import DuckDBGenerator

from sfumato.engines.sql.dialects.dialect import UNIVERSAL, Dialect, native, writing
from sfumato.engines.sql.dialects.duckdb import DUCKDB, IDIOMS
from sfumato.engines.sql.terms import column, figure, function

TABLE = {
    "twice": lambda x: function("PAIR", x, x),
    "four_times": lambda x: function("twice", function("twice", x)),
    "FLOOR": lambda x: native("FLOOR", figure(0), x),
}


class Writer(DuckDBGenerator):
    TRANSFORMS = {**DuckDBGenerator.TRANSFORMS, **writing(TABLE)}  # noqa: RUF012 # as the library declares it


SOME = Dialect(writer=Writer, base="duckdb")


@pytest.mark.parametrize(
    ("term", "written"),
    [
        (function("ABS", column("x")), 'ABS("x")'),
        (function("twice", column("x")), 'PAIR("x", "x")'),
        (function("four_times", figure(1)), "PAIR(PAIR(1, 1), PAIR(1, 1))"),
        (function("FLOOR", figure(1)), "FLOOR(0, 1)"),
        (native("twice", figure(1)), "twice(1)"),
    ],
)
@pytest.mark.parametrize("pretty", [False, True])
def test_idioms_are_written_by_the_table_and_functions_by_their_names(term, written, pretty):
    assert SOME.sql(term, pretty=pretty).upper() == written.upper()


def test_idioms_are_in_lower_case_and_what_all_engines_have_in_upper_case():
    assert all(name == name.lower() for name in IDIOMS)
    assert all(name == name.upper() for name in UNIVERSAL)


def test_a_call_takes_few_steps_of_the_stack():
    term = figure(1)
    for _ in range(200):
        term = function("ABS", term)
    assert DUCKDB.sql(term).count("ABS") == 200
