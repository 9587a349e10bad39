"""What every dialect gives: of each expression and each stored value what Python gives, to the bit, and never an error.

A dialect opts in by a fixture `values_of`, which computes some terms over the rows of an Arrow table.
"""

import math
from decimal import Decimal
from hashlib import md5

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.engines.function_edges import EDGES
from tests.engines.in_sql import ARROW
from tests.engines.sql.doubles_contract import DoublesContract
from tests.engines.sql.expressions.test_scalars import FACTS, INEXACT, NAMES, TERMS, _literal, same
from tests.engines.stored_values import BOOLEANS_AS_READ, NUMBERS_AS_READ, TIMES_AS_READ
from tests.expressions_of import COLUMNS, DAYS, TIMESTAMPS, WORDS, expressions, rows
from tests.query.values.test_numbers import SPECIAL
from tests.strategies import POISON

from sfumato.engines.sql.expressions.casts import lower_typed
from sfumato.engines.sql.expressions.scalars import lower_expression
from sfumato.engines.sql.expressions.terms import cast, column, figure, function, text, window
from sfumato.errors import ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.expressions import Call
from sfumato.query.model.functions import MAX_TEXT
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.schema import Column
from sfumato.query.values.cells import typed
from sfumato.query.values.evaluation import evaluate
from sfumato.query.values.numbers import LARGEST, LIMIT

TEXTS = (*POISON, *WORDS, *(row[0] for row in (*NUMBERS_AS_READ, *BOOLEANS_AS_READ, *TIMES_AS_READ)))
WHOLE = (0, 1, -1, 2**63 - 1, -(2**63), 2**53 + 1)
DOUBLES = (
    *SPECIAL,
    0.5,
    -2.5,
    1e19,
    2.0**63,
    -(2.0**63),
    0.49999999999999994,
    LIMIT,
    1e300,
    math.inf,
    -math.inf,
    math.nan,
)
WRITTEN = (
    0.1, -0.001, 1e-4, 1.25e-5, 1.5e-7, 1e16, 1.5e16, 9007199254740992.0, 9.1e15, 1.5e150, 1e-100, 123456789.125, 1e22,
    1e15 + 0.5, 1000000000000000.1, -4503599627370497.5, LARGEST, 2.2250738585072014e-308,
)  # fmt: skip
STORED = {
    "VARCHAR": pa.array([*dict.fromkeys(cell for cell in TEXTS if isinstance(cell, str) and "\0" not in cell), None]),
    "BIGINT": pa.array([*WHOLE, None]),
    "DOUBLE": pa.array([*DOUBLES, None]),
    "FLOAT": pa.array([0.5, math.nan, math.inf, 0.1, None], pa.float32()),
    "DECIMAL": pa.array(
        [Decimal("0.05"), Decimal("-2.50"), Decimal("99999999999999999999.99"), Decimal("0.00"), None],
        pa.decimal128(38, 2),
    ),
    "BOOLEAN": pa.array([True, False, None]),
    "DATE": pa.array([*DAYS, None]),
    "TIMESTAMP": pa.array([*TIMESTAMPS, None], pa.timestamp("us")),
}


def accepted(expression):
    try:
        facts_of(expression, FACTS)
    except ParameterError:
        return False
    return True


def lists_of(*, inexact):
    one = st.sampled_from(Kind).flatmap(lambda kind: expressions(kind, depth=3, inexact=inexact)).filter(accepted)
    return st.lists(one, min_size=25, max_size=25)


def call(function_, arguments):
    kinds = [facts_of(_literal(value, None), FACTS).kind for value in arguments if value is not None]
    return Call(function_, tuple(_literal(value, kinds[0] if kinds else Kind.TEXT) for value in arguments))


class DialectContract(DoublesContract):
    @pytest.mark.parametrize("exactly", [True, False])
    def test_it_gives_what_python_gives_of_random_expressions(self, values_of, exactly):
        @given(lists_of(inexact=not exactly), st.lists(rows(), min_size=8, max_size=8))
        @settings(max_examples=4, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
        def check(listed, table):
            clean = [{n: v.replace("\0", "") if isinstance(v, str) else v for n, v in row.items()} for row in table]
            cells = {NAMES[name]: pa.array([row[name] for row in clean], ARROW[kind]) for name, kind in COLUMNS.items()}
            terms = [lower_expression(one, TERMS).settled for one in listed]
            for expression, found in zip(listed, values_of(terms, pa.table(cells)), strict=True):
                own = unmixed(expression, FACTS)
                for value, row in zip(found, clean, strict=True):
                    assert same(value, evaluate(own, row), exactly=exactly), (expression, value, row)

        check()

    def test_functions_have_their_meaning_at_their_edges(self, values_of):
        cases = [(function_, case) for function_, listed in EDGES.items() for case in listed]
        calls = [call(function_, arguments) for function_, (*arguments, _) in cases]
        terms = [lower_expression(one, TERMS).settled for one in calls]
        found = values_of(terms, pa.table({"c2": [1.0]}))
        for (function_, (*arguments, expected)), (value,) in zip(cases, found, strict=True):
            assert same(value, expected, exactly=function_ not in INEXACT), (function_, arguments)

    @pytest.mark.parametrize("storage", STORED)
    def test_a_stored_value_is_read_as_python_reads_it(self, values_of, storage):
        cells, columns = STORED[storage], [Column(kind=kind) for kind in Kind]
        if storage in {"DATE", "TIMESTAMP"}:
            columns = [one for one in columns if one.kind in {Kind.TEXT, *TIMES}]
        found = values_of([lower_typed("v", declared, storage) for declared in columns], pa.table({"v": cells}))
        for declared, values in zip(columns, found, strict=True):
            for value, stored in zip(values, cells.to_pylist(), strict=True):
                if not (declared.kind is Kind.TEXT and storage in {"FLOAT", "DOUBLE"}):
                    assert same(value, typed(stored, declared)), (stored, declared.kind)

    def test_a_double_is_written_as_python_writes_it(self, values_of):
        (found,) = values_of([lower_typed("v", Column(kind=Kind.TEXT), "DOUBLE")], pa.table({"v": WRITTEN}))
        assert found == [typed(value, Column(kind=Kind.TEXT)) for value in WRITTEN]

    @pytest.mark.parametrize("total", [0, 1, -1, 2**62, -(2**62), 2**62 - 1, 2**100 + 7, -(2**100) - 7])
    def test_a_total_is_the_sum_of_its_parts(self, values_of, total):
        wide = function("wide_sum", cast(text(str(total)), "HUGEINT"))
        halves = [function(idiom, wide, figure(62)) for idiom in ("high_bits", "low_bits")]
        ((high,), (low,)) = values_of(halves, pa.table({"v": [1]}))
        assert high * 2**62 + low == total
        assert 0 <= low < 2**62

    @pytest.mark.parametrize("total", [2**53 + 1, 2**64 + 2**11 + 1, -(2**126 + 2**73 + 1), 10**30])
    def test_a_total_is_rounded_to_the_nearest_double_once(self, values_of, total):
        rounded = function("nearest_double", function("wide_sum", cast(text(str(total)), "HUGEINT")))
        assert values_of([rounded], pa.table({"v": [1]})) == [[float(total)]]

    def test_quotients_are_cut_off_toward_zero(self, values_of):
        pairs = [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-1, 2)]
        data = pa.table({"x": [x for x, _ in pairs], "y": [y for _, y in pairs]})
        wide = [cast(column(name), "HUGEINT") for name in "xy"]
        terms = [
            function("whole_quotient", column("x"), column("y")),
            cast(function("wide_quotient", *wide), "BIGINT"),
            cast(function("wide_rest", *wide), "BIGINT"),
        ]
        cut = [int(x / y) for x, y in pairs]
        assert values_of(terms, data) == [cut, cut, [x - y * q for (x, y), q in zip(pairs, cut, strict=True)]]

    def test_texts_are_joined_up_to_the_longest(self, values_of):
        data = pa.table({"x": ["a", "é" * MAX_TEXT, "é" * (MAX_TEXT - 1), None], "y": ["b", "", "xy", "z"]})
        found = values_of([function("joined_within", column("x"), column("y"))], data)
        assert found == [["ab", "é" * MAX_TEXT, None, None]]

    def test_hashes_are_in_the_order_of_their_text(self, values_of):
        words = [str(n) for n in range(50)]
        ranked = window(function("ROW_NUMBER"), [], [function("md5_text", column("v"))])
        found, shown = values_of([cast(ranked, "BIGINT"), column("v")], pa.table({"v": words}))
        by_hash = sorted(words, key=lambda word: md5(word.encode(), usedforsecurity=False).hexdigest())
        assert [word for _, word in sorted(zip(found, shown, strict=True))] == by_hash
