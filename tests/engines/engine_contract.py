"""What every engine computes: the seven steps of `Statement`; an engine opts in by a fixture `engine`, its name."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.engines.images_contract import ImagesContract
from tests.engines.reading_contract import EXPECTED, PEOPLE, QUESTION, RECORDS, typed_table, values
from tests.engines.running import SALT, ask, by_place, count_where, found, started, statement

from sfumato.engines.sampling import rank_hash
from sfumato.privacy.neighbors import UnitColumn
from sfumato.privacy.secret import Secret
from sfumato.query.model.expressions import Call, ColumnRef, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Join, PeoplePart, SemiJoin, Source
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, boolean, integer, real, text
from sfumato.query.model.statement import (
    Bins,
    CellCount,
    KeyColumn,
    LatticeValue,
    RowCount,
    Statement,
    StepSum,
    UnitCount,
    ValueCount,
    Values,
)
from sfumato.session.training.marginals import marginal_query

CONDITIONS_ON_NULL = [
    # condition on a row of which v is NULL and w is 1, and whether the row is kept
    ("v = 1", False), ("NOT v = 1", False), ("v <> 1", False), ("v = v", False), ("NOT v = v", False),
    ("v IN (1, 2)", False), ("v NOT IN (1, 2)", False), ("v BETWEEN 0 AND 2", False), ("NOT v BETWEEN 0 AND 2", False),
    ("v IS NULL", True), ("v IS NOT NULL", False), ("v = 1 OR w = 1", True), ("v = 1 AND w = 2", False),
    ("NOT (v = 1 AND w = 2)", True), ("NOT (v = 1 AND w = 1)", False), ("NOT (v = 1 OR w = 2)", False), ("b", False),
    ("NOT b", False), ("b IS NULL", True), ("b = TRUE OR NOT b", False), ("v < w", False), ("w = 1", True),
    ("w <> 2", True), ("w > 0.5", True), ("w >= 1 AND w <= 1", True), ("1 < w", False), ("TRUE", True),
    ("FALSE OR NOT TRUE", False), ("w < 1e150", True), ("w > -1e150", True), ("w IN (0.5, 1)", True),
    ("CASE WHEN v = 1 THEN FALSE ELSE TRUE END", True), ("COALESCE(v, 1) = w", True), ("v + w > 0", False),
]  # fmt: skip
ALL = "SELECT COUNT(*), COUNT(v), SUM(v) FROM visits"
BY_KEY = f"{ALL} GROUP BY k"


def _of(name):
    return LatticeValue(value=ColumnRef(name), resolution=Fraction(1), lower=0, upper=9, offset=0, nullable=True)


V = _of("v")


def visits(**limits):
    columns = {"u": text(), "k": text(values=["x", "y", "z"]), "v": integer(0, 9), "rank": integer(0, 9)}
    return Table(name="visits", columns=columns, unit=UnitColumn("u"), limits=Limits(**limits))


def visited(*rows):
    names = ("u", "k", "v")
    columns = {name: [row[index] for row in rows] for index, name in enumerate(names)}
    return pa.table(columns | {"rank": [0] * len(rows)})


def hashed(*places, salt=SALT):
    """Places of a unit in the order in which limits are used up."""
    return sorted(places, key=lambda place: (rank_hash(salt, place), place))


BUSY = visited(*(("a", key, 9) for key in "xyz" for _ in range(40)), ("b", "x", 1), (None, "x", 5), ("", "y", 2))
HEAVY = visited(*(("a", key, 1) for key in "xyz" for _ in range(40)))
UNBOUND = visits(max_rows_per_unit=99)
"""A table whose own limits do not matter, because a test states those of its statement."""


def _counted(relation, *keys):
    return Statement(
        rows=relation, keys=tuple(KeyColumn(name=key, values=None) for key in keys), measures=(RowCount(),)
    )  # fmt: skip


def celled(cell, *measures, **limits):
    return Statement(
        rows=Source(UNBOUND), keys=(KeyColumn(name="k", values=("x", "y", "z")),), measures=measures, cell=cell,
        limits=Limits(**limits),
    )  # fmt: skip


class EngineContract(ImagesContract):
    def test_groups_come_in_the_order_of_the_public_keys_whatever_the_order_of_rows(self, engine):
        for records in (RECORDS, RECORDS[::-1]):
            assert ask(engine, QUESTION, PEOPLE, pa.Table.from_pylist(records)) == EXPECTED

    def test_several_keys_give_every_combination_the_last_one_fastest(self, engine):
        table = Table(name="t", columns={"k": text(values=["y", "x"]), "b": boolean()})
        data = pa.table({"k": ["x", "y", "x", None], "b": [True, False, True, True]})
        counts = ask(engine, "SELECT COUNT(*) FROM t GROUP BY k, b", table, data)
        assert counts == [[1], [0], [0], [2]]  # (y, false), (y, true), (x, false), (x, true)

    def test_an_empty_table_has_no_group_with_rows(self, engine):
        empty = pa.Table.from_pylist([], schema=pa.Table.from_pylist(RECORDS).schema)
        for sql in (QUESTION, "SELECT COUNT(*), SUM(age), AVG(pay) FROM people"):
            answer = found(engine, statement(sql, PEOPLE), empty)
            assert {len(column) for column in (*answer.keys, *answer.amounts)} == {0}
        assert ask(engine, QUESTION, PEOPLE, empty) == [[0] * 6] * 3

    def test_keys_are_compared_exactly(self, engine):
        data = pa.table({"k": ["a", "A", "a ", "é", "e\u0301", "a\x00"]})
        table = Table(name="t", columns={"k": text(values=["a", "é", "a\x00"])})
        assert ask(engine, "SELECT COUNT(*) FROM t GROUP BY k", table, data) == [[1], [1], [1]]

    def test_private_keys_are_those_that_occur_and_null_is_none(self, engine):
        asked = statement("SELECT COUNT(*) FROM t GROUP BY v", typed_table(text()))
        assert by_place(found(engine, asked, values("b", "a", None, "b", ""))) == {
            ("a",): [1, 1], ("b",): [2, 2], ("",): [1, 1],
        }  # fmt: skip

    def test_whole_numbers_between_bounds_are_public_keys_and_others_are_in_no_group(self, engine):
        data = pa.table({"v": [3, 5, 5, 6, -1, None]})
        assert ask(engine, "SELECT COUNT(*) FROM t GROUP BY v", typed_table(integer(3, 5)), data) == [[1], [0], [2]]

    def test_marginals_count_all_rows_whether_their_values_are_listed_or_not(self, engine):
        columns = {"k": text(values=["x", "y"]), "v": integer(3, 7), "w": real(0, 9)}
        table = Table(name="t", columns=columns | {"many": integer(0, 99_999), "more": integer(0, 99_999)})
        rows = pa.table(
            {
                "k": ["x", "x", "X", None, "y", "z", "x"], "v": [5, 5, 2, None, 9, 2, 6],
                "w": [0.5, 0.5, 8.0, None, 99.0, 8.0, 0.5], "many": [1, 2, 50_000, None, -5, 99_999, 3],
                "more": [99_999, 100_000, 0, 7, None, 8, 50_000],
            }
        )  # fmt: skip
        query = marginal_query(Source(table), bins={"v": [3, 5, 7], "w": 3, "many": 2, "more": 2})
        assert by_place(found(engine, query.marginal(["k", "v", "w"]), rows)) == {
            ("x", 1, 0): [3], ("missing", 0, 2): [2], ("missing", 2, 3): [1], ("y", 1, 2): [1],
        }  # fmt: skip
        assert by_place(found(engine, query.marginal(["many", "k", "more"]), rows)) == {
            (0, "x", 1): [3], (1, "missing", 0): [2], (2, "missing", 0): [1], (0, "y", 2): [1],
        }  # fmt: skip

    @pytest.mark.parametrize(("condition", "kept"), CONDITIONS_ON_NULL)
    def test_conditions_have_the_three_values_of_sql(self, engine, condition, kept):
        table = Table(name="t", columns={"v": integer(), "w": integer(), "b": boolean()})
        data = pa.table({"v": pa.array([None], pa.int64()), "w": [1], "b": pa.array([None], pa.bool_())})
        assert count_where(engine, condition, table, data) == int(kept)

    def test_whole_numbers_and_floats_are_compared_as_doubles(self, engine):
        table = Table(name="t", columns={"i": integer(), "f": real()})
        data = pa.table({"i": [2**53 + 1], "f": [float(2**53)]})
        held = ("i = f", "f = 9007199254740993", "i = 9007199254740993", "i IN (0.5, 9007199254740993)")
        assert [count_where(engine, condition, table, data) for condition in held] == [1, 1, 1, 1]
        assert count_where(engine, "i IN (0.5, 9007199254740992)", table, data) == 0

    def test_a_hostile_literal_is_only_text(self, engine):
        table, data = typed_table(text()), values("a", "'; DROP TABLE t; --")
        assert count_where(engine, "v = '''; DROP TABLE t; --'", table, data) == 1

    def test_a_number_is_summed_as_it_is_computed_row_by_row(self, engine):
        table = Table(name="t", columns={"v": real(0, 10), "b": boolean()})
        data = pa.table({"v": [1.0, 2.5, None, 99.0], "b": [True, False, True, None]})
        sql = "SELECT SUM(CASE WHEN b THEN v * 2 ELSE 1 END), SUM(b::INTEGER) FROM t"
        assert ask(engine, sql, table, data) == [[200 + 100 + 100, 2]]

    def test_whole_numbers_among_floats_are_floats_in_measures_and_cells(self, engine):
        mixed = Call(Function.COALESCE, (ColumnRef("v"), Literal(Fraction(1))))
        half = Call(Function.DIVIDE, (mixed, Literal(Fraction(2))))
        steps = replace(V, value=half, resolution=Fraction(1, 10), upper=100)
        asked = Statement(
            rows=Source(typed_table(real())), keys=(), measures=(StepSum(steps),), cell=Bins(steps=steps, width=1)
        )  # fmt: skip
        data = pa.table({"v": pa.array([None], pa.float64())})
        assert by_place(found(engine, asked, data)) == {(5,): [5]}

    def test_amounts_are_machine_integers_where_they_fit_and_never_wrap(self, engine):
        most = 2**53 - 1
        asked = statement("SELECT COUNT(*), SUM(v) FROM t", typed_table(integer(0, most)))
        counts, sums = found(engine, asked, pa.table({"v": pa.array([2**62] * 2_000)})).amounts
        assert (counts.dtype, counts[0]) == (np.int64, 2_000)
        assert (sums.dtype, sums[0]) == (np.object_, 2_000 * most)

    def test_rows_without_a_unit_are_left_out(self, engine):
        table = visits(max_rows_per_unit=1)
        assert ask(engine, BY_KEY, table, visited((None, "x", 5))) == [[0, 0, 0]] * 3
        assert ask(engine, BY_KEY, table, visited(("", "x", 5))) == [[1, 1, 5], [0, 0, 0], [0, 0, 0]]

    def test_a_heavy_unit_has_its_limit_of_rows_and_what_so_many_rows_add_on_average(self, engine):
        assert ask(engine, ALL, visits(max_rows_per_unit=7), BUSY) == [[7 + 1 + 1, 7 + 1 + 1, 7 * 9 + 1 + 2]]

    def test_scaled_sums_are_cut_off_toward_zero(self, engine):
        table, data = visits(max_rows_per_unit=2), visited(("a", "x", 1), ("a", "x", 2), ("a", "x", 4))
        assert ask(engine, ALL, table, data) == [[2, 2, 4]]  # 7 · 2/3
        assert ask(engine, "SELECT SUM(-v) FROM visits", table, data) == [[-4]]

    def test_sums_beyond_any_machine_integer_are_scaled_exactly(self, engine):
        table = Table(
            name="t", columns={"u": text(), "v": integer(0, 2**53 - 1)}, unit=UnitColumn("u"),
            limits=Limits(max_rows_per_unit=999),
        )  # fmt: skip
        data = pa.table({"u": ["a"] * 2_000, "v": pa.array([2**62] * 1_999 + [0])})
        total = 1_999 * (2**53 - 1)
        assert ask(engine, "SELECT SUM(v), SUM(-v) FROM t", table, data) == [
            [total * 999 // 2_000, -(total * 999 // 2_000)]
        ]  # fmt: skip

    def test_rows_with_null_do_not_count_among_those_that_a_sum_is_scaled_from(self, engine):
        data = visited(*(("a", "x", None),) * 8, ("a", "x", 3), ("a", "x", 4))
        assert ask(engine, ALL, visits(max_rows_per_unit=2), data) == [[2, 2, 7]]
        assert ask(engine, ALL, visits(max_rows_per_unit=1), data) == [[1, 1, 3]]  # 7 · 1/2

    def test_a_heavy_unit_has_its_limit_of_groups_and_rows_in_them(self, engine):
        table = visits(max_groups_per_unit=2, max_rows_per_group_per_unit=3)
        kept = {key for _, key in hashed(*(("a", key) for key in "xyz"))[:2]}
        assert ask(engine, BY_KEY, table, HEAVY) == [[3, 3, 3] if key in kept else [0, 0, 0] for key in "xyz"]

    def test_the_limit_of_rows_goes_to_groups_in_the_order_of_their_hashes(self, engine):
        table = visits(max_rows_per_unit=5, max_rows_per_group_per_unit=3)
        first, second, _ = (key for _, key in hashed(*(("a", key) for key in "xyz")))
        rows = {first: 3, second: 2}
        assert ask(engine, BY_KEY, table, HEAVY) == [[rows.get(key, 0)] * 3 for key in "xyz"]

    def test_without_groups_the_limit_of_rows_in_a_group_is_on_all_rows(self, engine):
        table = visits(max_groups_per_unit=2, max_rows_per_group_per_unit=3)
        assert ask(engine, "SELECT COUNT(*) FROM visits", table, BUSY) == [[3 + 1 + 1]]

    def test_only_listed_groups_use_up_the_limit_of_groups(self, engine):
        data = visited(*(("a", f"unlisted {n}", 1) for n in range(50)), ("a", "x", 1), ("a", None, 1))
        assert ask(engine, BY_KEY, visits(max_rows_per_unit=1), data) == [[1, 1, 1], [0, 0, 0], [0, 0, 0]]

    def test_limits_are_enforced_after_filters(self, engine):
        data = visited(*(("a", "x", 0) for _ in range(50)), ("a", "x", 9))
        assert ask(engine, "SELECT SUM(v) FROM visits WHERE v > 5", visits(max_rows_per_unit=1), data) == [[9]]

    def test_the_salt_chooses_which_groups_stay_and_nothing_else_does(self, engine):
        table = visits(max_rows_per_unit=9, max_groups_per_unit=1)
        data = visited(*(("a", key, 1) for key in "xyz"))
        shown = [ask(engine, BY_KEY, table, data, salt=f"{salt:032x}") for salt in range(12)]
        assert len({str(groups) for groups in shown}) == 3
        assert shown[0] == ask(engine, BY_KEY, table, data.take([2, 0, 1]), salt=f"{0:032x}")

    def test_what_is_kept_of_a_unit_does_not_depend_on_the_others(self, engine):
        own = [("a", key, value) for key in "xyz" for value in range(5)]
        table = visits(max_rows_per_unit=4, max_groups_per_unit=2)
        alone, others = ask(engine, BY_KEY, table, visited(*own)), [("b", "x", 3), ("", "z", 7)]
        together = ask(engine, BY_KEY, table, visited(*others, *own[::-1]))
        rest = ask(engine, BY_KEY, table, visited(*others))
        assert together == [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(alone, rest, strict=True)]

    def test_units_are_counted_once_a_group_however_many_rows_they_have(self, engine):
        asked = Statement(rows=Source(UNBOUND), keys=(), measures=(UnitCount(), RowCount()))
        assert by_place(found(engine, asked, BUSY)) == {(): [3, 122]}

    def test_each_row_counts_alone_where_it_is_a_unit_whatever_limits_a_statement_has(self, engine):
        asked = Statement(
            rows=Source(PEOPLE), keys=(), measures=(RowCount(), UnitCount()), limits=Limits(max_rows_per_unit=1)
        )  # fmt: skip
        assert by_place(found(engine, asked, pa.Table.from_pylist(RECORDS))) == {(): [5, 5]}

    def test_public_tables_are_answered_as_tables_of_rows_are(self, engine):
        public, data = replace(PEOPLE, unit=PUBLIC), pa.Table.from_pylist(RECORDS)
        assert ask(engine, QUESTION, public, data) == EXPECTED

    def test_bins_are_cells_beside_the_keys_and_null_is_in_none(self, engine):
        data = visited(("a", "x", 0), ("a", "x", 3), ("b", "x", 99), ("b", "y", None), ("c", "y", -1))
        asked = celled(Bins(steps=V, width=4), RowCount(), UnitCount())
        assert by_place(found(engine, asked, data)) == {("x", 0): [2, 1], ("x", 2): [1, 1], ("y", 0): [1, 1]}

    def test_different_values_are_counted_and_not_shown(self, engine):
        data = visited(("a", "x", 0), ("b", "x", 0), ("b", "x", 3), ("b", "y", None), ("c", "y", 7))
        answer = found(engine, celled(Values(value=ColumnRef("v"), values=None), CellCount()), data)
        assert answer.cells is None
        assert by_place(answer) == {("x",): [2], ("y",): [1]}

    def test_cells_use_up_the_rows_of_a_group_in_the_order_of_their_hashes(self, engine):
        data = visited(*(("a", "x", value) for value in (1, 2, 3) for _ in range(2)))
        cell = Values(value=ColumnRef("v"), values=(1, 2, 3))
        asked = celled(cell, RowCount(), StepSum(V), max_rows_per_group_per_unit=3)
        first, second = (value for *_, value in hashed(*(("a", "x", value) for value in (1, 2, 3)))[:2])
        assert by_place(found(engine, asked, data)) == {("x", first): [2, 2 * first], ("x", second): [1, second]}

    @pytest.mark.parametrize("most", [1, 2, 3])
    def test_a_unit_lies_in_at_most_so_many_parts_also_if_a_column_is_called_rank(self, engine, most):
        counts = [self._part_count(engine, visits(max_rows_per_unit=1), value, most) for value in "xyz"]
        kept = {key for _, key in hashed(*(("a", key) for key in "xyz"))[:most]}
        assert counts == [int(value in kept) for value in "xyz"]

    def _part_count(self, engine, table, value, most):
        part = PeoplePart(
            child=Source(table), by="k", values=("x", "y", "z"), value=value, max_parts_per_unit=most, salt=SALT
        )  # fmt: skip
        data = visited(*(("a", key, 1) for key in "xxyzz"), ("a", "unlisted", 1), (None, "x", 1))
        return ask(engine, "SELECT COUNT(*) FROM visits", part, data)[0][0]

    def test_a_row_belongs_to_every_unit_that_owns_the_key_it_leads_to(self, engine):
        notes = Table(
            name="notes", columns={"of": integer(), "w": integer(0, 9)}, unit=UnitPath("of", UNBOUND, "v"),
            limits=Limits(max_rows_per_unit=9),
        )  # fmt: skip
        data = {
            "visits": visited(("a", "x", 1), ("a", "y", 1), ("b", "x", 1), ("b", "x", 2), (None, "x", 3)),
            "notes": pa.table({"of": [1, 1, 2, 3, 4, None], "w": [1, 2, 4, 9, 9, 9]}),
        }
        asked = Statement(rows=Source(notes), keys=(), measures=(RowCount(), UnitCount(), StepSum(_of("w"))))
        assert by_place(found(engine, asked, data)) == {(): [5, 2, 3 + 3 + 4]}

    def test_private_tables_meet_within_units_and_public_ones_by_values(self, engine):
        codes = Table(name="codes", columns={"code": text(), "label": text()}, unit=PUBLIC, matches={("code",): 1})
        others = Table(
            name="others", columns={"who": text(), "key": text()}, unit=UnitColumn("who"),
            limits=Limits(max_rows_per_unit=3),
        )  # fmt: skip
        data = {
            "visits": visited(("a", "x", 1), ("a", "y", 2), ("b", "x", 3)),
            "others": pa.table({"who": ["a", "a", "b", "c"], "key": ["x", "x", "y", "x"]}),
            "codes": pa.table({"code": ["x", "x", "y"], "label": ["ex", "ex", "why"]}),
        }
        visited_by = Source(UNBOUND)
        within = Join(left=visited_by, right=Source(others), on=(("k", "key"),))
        assert by_place(found(engine, _counted(within), data)) == {(): [2]}
        semi = SemiJoin(child=visited_by, other=Source(others), on=(("k", "key"),))
        assert by_place(found(engine, _counted(semi), data)) == {(): [1]}
        assert by_place(found(engine, _counted(replace(semi, negated=True)), data)) == {(): [2]}
        labels = Join(left=visited_by, right=Source(codes), on=(("k", "code"),))
        assert by_place(found(engine, _counted(labels, "label"), data)) == {("ex",): [2], ("why",): [1]}

    def test_exact_answers_are_secret_and_what_was_found_does_not_print(self, engine):
        asked = statement(QUESTION, PEOPLE)
        running = started(engine, asked, pa.Table.from_pylist(RECORDS))
        answer = running.run(asked, salt=SALT)
        running.close()
        assert isinstance(answer, Secret)
        assert repr(answer.open_for_noise()) == "ExactGroups()"

    @pytest.mark.parametrize("size", [1, 2, 100])
    def test_groups_come_in_batches_all_of_them_once(self, engine, size):
        asked = statement("SELECT COUNT(*), SUM(v) FROM visits GROUP BY k, v", UNBOUND)
        running = started(engine, asked, BUSY)
        batches = [one.open_for_noise() for one in running.batches(asked, salt=SALT, size=size)]
        running.close()
        places = [(place, tuple(amounts)) for one in batches for place, amounts in by_place(one).items()]
        assert dict(places) == {place: tuple(row) for place, row in by_place(found(engine, asked, BUSY)).items()}
        assert len(places) == len(dict(places))
        assert all(len(one.amounts[0]) <= size for one in batches)

    def test_a_count_of_present_values_needs_all_of_them(self, engine):
        table = Table(name="t", columns={"v": integer(0, 9), "f": real(0, 9)})
        data = pa.table({"v": [1, None, 3], "f": [0.5, 1.0, None]})
        asked = Statement(rows=Source(table), keys=(), measures=(ValueCount((ColumnRef("v"), ColumnRef("f"))),))
        assert by_place(found(engine, asked, data)) == {(): [1]}
