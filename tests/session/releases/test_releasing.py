"""From exact results to released numbers: which groups are shown, in which order, and with what in them."""

import datetime as dt
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import ALPHA
from tests.query.planned import PEOPLE, TOWNS, N, planned, ref
from tests.session.desk import SURE, desk, rows
from tests.sizes import FULL_SIZE

from sfumato.audit import NeighborPair, Neighbors, audit
from sfumato.engines.base import ExactGroups
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, UnitColumn
from sfumato.privacy.secret import Secret
from sfumato.query.model.schema import Limits, Table, boolean, date, integer, text, timestamp
from sfumato.query.statistics.counts import CountDistinct, CountUnits, CountValues
from sfumato.query.statistics.means import Sum
from sfumato.query.statistics.measurements import KeyChoice
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.session.releases.releasing import Released, release

SALT = "00112233445566778899aabbccddeeff"


def released(plan, table, *records, salt=SALT):
    """What the first section of a plan releases of some rows."""
    engine = desk((table, rows(table, *records))).engine
    return release(plan.sections[0], partial(engine.run, salt=salt))


def sure(table, *statistics, **options):
    return planned(table, *statistics, **({"epsilon": SURE, "delta": "1e-6"} | options))


def test_every_public_group_is_there_in_order_and_empty_ones_have_zeros():
    plan = sure(PEOPLE, ("s", Sum(ref("age"))), ("n", CountValues(ref("pay"))), keys=("sex", "smokes"))
    found = released(plan, PEOPLE, {"sex": "m", "smokes": True, "age": 30, "pay": 2}, {"sex": "x", "smokes": True})
    assert found.groups == (("f", False), ("f", True), ("m", False), ("m", True))
    assert found.measured == (((0,), (0,), (0,), (30,)), ((0,), (0,), (0,), (1,)))


def test_a_question_without_keys_has_one_group():
    assert released(sure(PEOPLE, N), PEOPLE) == Released(groups=((),), measured=(((0,),),))


def many(**keys):
    """Enough rows of a group for it to be shown."""
    return [keys] * 200


def test_private_groups_are_shown_sorted_and_those_of_few_units_are_not():
    plan = sure(PEOPLE, keys=("town",), epsilon=10)
    found = released(plan, PEOPLE, *many(town="b"), *many(town="a"), {"town": "rare"}, {"town": None})
    assert found.groups == (("a",), ("b",))


def test_neither_the_order_of_rows_nor_that_of_the_engine_shows():
    plan = sure(PEOPLE, keys=("town",))
    records = [*many(town="b"), *many(town="ä"), *many(town="a"), *many(town="B")]
    assert released(plan, PEOPLE, *records) == released(plan, PEOPLE, *reversed(records))
    backwards = ExactGroups(keys=(["b", "a"],), cells=None, amounts=(np.array([300, 200]), np.array([300, 200])))
    assert release(plan.sections[0], lambda _: Secret(backwards)).groups == (("a",), ("b",))


DAYS = {"day": date(), "seen": timestamp(), "is": boolean(), "word": text(), "whole": integer()}
KEYS = {
    "day": [dt.date(2026, 1, 31), dt.date(1999, 12, 31)],
    "seen": [dt.datetime.fromisoformat("2026-01-31T00:00:01"), dt.datetime.fromisoformat("2026-01-31T00:00:00")],
    "is": [True, False],
    "word": ["é", "e"],
    "whole": [2**62, -5],
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_may_be_of_any_kind(name):
    table = Table(name="t", columns={**DAYS, "u": text()})
    records = [row for key in KEYS[name] for row in many(**{name: key})]
    plan = planned(table, N, ("t", TopValues(ref("is"))), keys=(name,), epsilon=SURE, delta="1e-6")
    found = released(plan, table, *[row | {"is": row.get("is", True)} for row in records])
    expected = sorted(KEYS[name], key=lambda key: (isinstance(key, bool), key))
    assert [group[0] for group in found.groups] == expected
    assert [type(group[0]) for group in found.groups] == [type(key) for key in expected]
    assert found.measured[0] == ((200,), (200,))


def test_public_and_private_keys_together_are_selected():
    plan = sure(PEOPLE, N, keys=("sex", "town"))
    found = released(plan, PEOPLE, *many(sex="m", town="a"), *many(sex="f", town="a"), *many(sex="x", town="a"))
    assert found == Released(groups=(("f", "a"), ("m", "a")), measured=(((200,), (200,)),))


def test_where_no_group_is_shown_nothing_is_released():
    plan = sure(
        PEOPLE,
        N,
        ("q", Percentile(ref("age"), Fraction(1, 2))),
        ("t", TopValues(ref("sex"))),
        keys=("town",),
        epsilon=1,
    )
    for records in ([], [{"town": "a"}]):
        assert released(plan, PEOPLE, *records) == Released(groups=(), measured=((), (), ()))


def test_groups_that_are_shown_but_hold_nothing_of_a_statement_have_zeros():
    statistics = (
        N,
        ("d", CountDistinct(ref("born"))),
        ("q", Percentile(ref("age"), Fraction(1, 2))),
        ("t", TopValues(ref("sex"))),
    )
    found = released(sure(PEOPLE, *statistics, keys=("town",)), PEOPLE, *many(town="a"))
    assert [len(rows_of) for rows_of in found.measured] == [1, 1, 1, 1]
    assert found.measured[:2] == (((200,),), ((0,),))
    assert found.measured[2][0][0] in range(101)
    assert found.measured[3][0][0] in {0, 1}


def test_all_keys_of_public_rows_are_shown():
    plan = planned(TOWNS, N, keys=("code",))
    found = released(plan, TOWNS, {"code": "b"}, {"code": "a"}, {"code": None})
    assert found == Released(groups=(("a",), ("b",)), measured=(((1,), (1,)),))


def test_cells_are_numbers_of_their_group():
    plan = sure(
        PEOPLE, ("t", TopValues(ref("smokes"), 2)), ("q", Percentile(ref("age"), Fraction(1, 2))), keys=("sex",)
    )
    men = [{"sex": "m", "smokes": i % 3 == 0, "age": 30 + i % 3} for i in range(90)]
    women = [{"sex": "f", "smokes": i % 3 > 0, "age": 70} for i in range(90)]
    top, median = released(plan, PEOPLE, *men, *women).measured
    assert top == ((1, 0), (0, 1))
    assert median == ((70,), (31,))


OWNED = Table(
    name="t", columns={"u": text(), "k": text(), "v": integer(0, 9)}, unit=UnitColumn("u"),
    limits=Limits(max_groups_per_unit=1, max_rows_per_group_per_unit=3),
)  # fmt: skip


def test_statements_of_a_section_keep_the_same_groups_of_a_unit():
    """Each of 400 people is in both groups, and is kept in one: counts of units and of values agree."""
    records = [{"u": str(u), "k": k, "v": u % 10} for u in range(400) for k in ("a", "b")]
    plan = planned(
        OWNED, ("u", CountUnits()), ("d", CountDistinct(ref("v"))), ("n", N[1]), keys=("k",), epsilon=SURE, delta="1e-6"
    )
    units, _, counted = released(plan, OWNED, *records).measured
    assert units == counted
    assert units[0][0] + units[1][0] == 400
    assert 100 < units[0][0] < 300


def test_units_are_counted_once_in_each_of_the_groups_that_they_are_kept_in():
    few = [{"u": "one", "k": k, "v": 1} for k in "abcdefgh" for _ in range(50)]
    plan = planned(OWNED, N, keys=("k",), epsilon=20, delta="1e-12")
    assert all(released(plan, OWNED, *few, salt=f"{salt:032x}").groups == () for salt in range(20))


@pytest.mark.statistical
@pytest.mark.parametrize(("relation", "units"), [(ADD_OR_REMOVE_ONE, 4), (REPLACE_ONE, 4)])
def test_a_key_is_shown_with_the_probability_of_its_units(relation, units):
    plan = planned(PEOPLE, N, keys=("town",), epsilon=2, delta="0.05", relation=relation)
    (section,) = plan.sections
    found = ExactGroups(keys=(["a"],), cells=None, amounts=(np.array([units]),) * 2)
    shown = sum(bool(release(section, lambda _: Secret(found)).groups) for _ in range(3_000))
    chance = float(section.selection.mechanism.keep_probability(units))
    assert min(binom.cdf(shown, 3_000, chance), binom.sf(shown - 1, 3_000, chance)) >= ALPHA / 2


TWO_ROWS = Table(
    name="t", columns={"u": text(), "k": text(values=["a", "b"]), "v": integer(values=[0, 1])}, unit=UnitColumn("u"),
    limits=Limits(max_rows_per_unit=2),
)  # fmt: skip


def modes_of_groups(counts, runs):
    """What a plan chooses of each of two groups, given how many rows have each value in each."""
    (section,) = planned(TWO_ROWS, TopValues(ref("v")), keys=("k",), epsilon=6).sections
    found = Secret(ExactGroups(keys=(["a", "a", "b", "b"],), cells=[0, 1, 0, 1], amounts=(np.array(counts),)))
    measured = (release(section, lambda _: found).measured for _ in range(runs))
    return [(first[0], second[0]) for ((first, second),) in measured]


UNIT_OF_TWO_ROWS = NeighborPair([2, 2, 2, 2], [1, 2, 1, 2], "a unit with a row in each group is removed")
"""The second value is chosen of both groups with a chance of 0.008 on the one and of 0.83 on the other."""


@pytest.mark.statistical
def test_no_audit_finds_that_a_unit_in_two_groups_learns_more_than_its_price():
    assert not audit(modes_of_groups, [UNIT_OF_TWO_ROWS], epsilon=6, samples=4_000).is_refuted


@pytest.mark.statistical
def test_an_audit_would_find_that_only_one_of_its_rows_was_paid_for():
    """By the law of the noise, such runs fail to refute half the price with a chance below 1e-14."""
    assert audit(modes_of_groups, [UNIT_OF_TWO_ROWS], epsilon=3, samples=6_000).is_refuted


STATISTICS = (N, ("q", Percentile(ref("v"), Fraction(1, 2))), ("s", Sum(ref("v"))))
RECORDS = ({"u": "a", "k": "x", "v": 1}, {"u": "a", "k": "y", "v": 9}, {"u": "b", "k": "x", "v": 9})


@pytest.mark.statistical
@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_no_audit_of_rows_refutes_a_question_with_private_keys(relation):
    plan = planned(OWNED, *STATISTICS, keys=("k",), epsilon=2, delta="0.1", relation=relation)

    def outputs(records, runs):
        found = []
        for run in range(runs):
            shown = released(plan, OWNED, *records, salt=f"{run:032x}")
            found.append((shown.groups, *(numbers[0][0] if numbers else None for numbers in shown.measured)))
        return found

    pairs = Neighbors(database=RECORDS, relation=relation, unit="u", heavy_rows=5)
    assert not audit(outputs, list(pairs)[:3], epsilon=2, delta="0.1", samples=300 if FULL_SIZE else 100).is_refuted


def test_a_selection_without_a_mechanism_keeps_what_is_found():
    plan = planned(PEOPLE, N, keys=("town",), delta="1e-6")
    section = replace(plan.sections[0], selection=KeyChoice(measure=1, mechanism=None))
    found = ExactGroups(keys=(["b", "a"],), cells=None, amounts=(np.array([1, 1]),) * 2)
    assert release(section, lambda _: Secret(found)).groups == (("a",), ("b",))
