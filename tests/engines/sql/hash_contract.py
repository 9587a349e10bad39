"""What the own hash of every engine gives: it reads all of a value, tells NULL, and orders groups as chance would.

A dialect opts in by a fixture `values_of`, which computes some terms over the rows of an Arrow table.
"""

from datetime import date, datetime, timedelta
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2
from tests.engines.in_sql import ARROW

from sfumato.engines.sql.expressions.terms import column
from sfumato.engines.sql.hashes import hashed, native_hash, place_hashed
from sfumato.query.model.kinds import Kind


class HashContract:
    @pytest.mark.parametrize("step", [1, 2**32, 2**32 + 1, -(2**32)])
    def test_its_own_hash_ties_no_whole_numbers(self, values_of, step):
        numbers = [place * step for place in range(-500, 500)]
        data = pa.table({"u": numbers, "k": [7] * len(numbers)})
        pieces = [hashed(column(name), Kind.INTEGER, nullable=False) for name in ("u", "k")]
        one, other = values_of([native_hash("salt", pieces[::turn]) for turn in (1, -1)], data)
        assert len(set(one)) == len(set(other)) == len(numbers)

    def test_its_own_hash_ties_no_times(self, values_of):
        times = [datetime.fromisoformat("2026-01-01") + timedelta(microseconds=place * 2**32) for place in range(500)]
        data = pa.table({"t": pa.array(times, pa.timestamp("us"))})
        (found,) = values_of([native_hash("salt", [hashed(column("t"), Kind.TIMESTAMP, nullable=False)])], data)
        assert len(set(found)) == len(times)

    def test_its_own_hash_tells_null_from_what_stands_for_it_and_which_value_it_is(self, values_of):
        cells = {
            Kind.INTEGER: [None, 0], Kind.FLOAT: [None, 0.0], Kind.TEXT: [None, ""], Kind.BOOLEAN: [None, False],
            Kind.DATE: [None, date(1970, 1, 1)], Kind.TIMESTAMP: [None, datetime.fromisoformat("1970-01-01")],
        }  # fmt: skip
        pairs = list(product(range(2), repeat=2))
        data = {
            f"{kind}{side}": pa.array([two[pair[side]] for pair in pairs], ARROW[kind])
            for kind, two in cells.items() for side in range(2)
        }  # fmt: skip
        terms = [native_hash("salt", [hashed(column(f"{kind}{side}"), kind) for side in range(2)]) for kind in cells]
        for found in values_of(terms, pa.table(data)):
            assert None not in found
            assert len(set(found)) == len(pairs)

    @pytest.mark.parametrize("kind", ["place", Kind.INTEGER, Kind.TEXT])
    def test_its_own_hash_prefers_no_group_of_any_unit_under_any_salt(self, values_of, kind):
        """Salts are fixed, so this gives the same on each run; a random function fails it with 1e-6 at most."""
        units, keys, salts = range(100), range(4), [f"{salt:032x}" for salt in range(100)]
        stored = [f"group {k}" if kind is Kind.TEXT else k if kind == "place" else k << 32 for _ in units for k in keys]
        data = pa.table({"u": [u for u in units for _ in keys], "k": stored})
        group = place_hashed(column("k")) if kind == "place" else hashed(column("k"), kind, nullable=False)
        unit = hashed(column("u"), Kind.INTEGER, nullable=False)
        found = values_of([native_hash(salt, [unit, group]) for salt in salts], data)
        first = np.array(found, dtype=np.object_).reshape(len(salts), len(units), len(keys)).argmin(axis=2)
        for axis in (0, 1):
            counts = np.array([(first == k).sum(axis=axis) for k in keys])
            distances = ((counts - 25) ** 2 / 25).sum(axis=0)
            assert distances.max() < chi2.isf(1e-6 / 600, len(keys) - 1)
