"""What a section or a workload says of one table, and that it is read as it was written."""

import json
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from tests.query.planned import PEOPLE, TOWNS, VISITS, N, planned, ref, relation_of
from tests.query.planning.batches import WIDE, ages, asked, between, running

from sfumato.errors import LedgerError
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.model.expressions import And, Call, ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Distinct, Filter, Join, PeoplePart, Select, Source
from sfumato.query.model.schema import Limits
from sfumato.query.planning.batch import compile_batch
from sfumato.query.planning.linear import ROWS, linear_section, linear_workload, read_linear, read_workload
from sfumato.query.statistics.counts import CountValues
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.measurements import noise_of
from sfumato.query.statistics.quantiles import median
from sfumato.query.statistics.variances import Variance

YOUNG = Compare(Comparison.LESS, ref("age"), Literal(Fraction(30)))
NEXT = Call(Function.ADD, (ref("age"), Literal(Fraction(1))))


def linear(child, *statistics, **clauses):
    (section,) = planned(child, *statistics, **clauses).sections
    return linear_section(section)


def test_rows_of_one_table_are_a_condition_and_columns_over_its_own():
    columns = Select(relation_of(PEOPLE), (("next", NEXT), ("sex", ref("sex"))))
    rows = Filter(columns, Compare(Comparison.LESS, ref("next"), Literal(Fraction(30))))
    found = linear(rows, keys=("sex",))
    assert found.table == "people"
    assert found.where == And((Compare(Comparison.LESS_EQUAL, NEXT, Literal(Fraction(29))),))
    assert found.keys == (ColumnRef("sex"),)
    assert found.numbers == ((((ROWS, Fraction(1)),),),)
    assert found.noises == (IntegerNoise("laplace", Fraction(1)),)


def test_a_sum_around_its_middle_is_a_plain_one_less_a_count():
    (plain,) = linear(PEOPLE, ("s", Sum(ref("age")))).numbers[0]
    ((basis, one),) = plain
    assert one == 1
    found = linear(PEOPLE, ("a", Mean(ref("age"))), ("s", Sum(ref("age"))))
    numbers = [number for own in found.numbers for number in own]
    assert ((basis, Fraction(1)), (numbers[0][0][0], Fraction(-50))) in numbers


def test_values_that_may_be_missing_are_counted_apart_from_rows():
    found = linear(PEOPLE, N, ("v", CountValues(ref("age"))), ("k", CountValues(ref("kids"))))
    bases = [number[0][0] for own in found.numbers for number in own]
    assert bases[0] == ROWS
    assert len(set(bases)) == 2, "kids are never NULL"


@pytest.mark.parametrize("statistic", [Variance(ref("age")), median("age")], ids=["variance", "median"])
def test_what_is_no_count_or_sum_says_nothing(statistic):
    found = linear(PEOPLE, ("x", statistic), N)
    assert ((ROWS, Fraction(1)),) in [number for own in found.numbers for number in own]
    assert any(own == () or None in own for own in found.numbers)


@pytest.mark.parametrize(
    "child",
    [
        VISITS,
        Distinct(Source(PEOPLE)),
        Join(left=Source(PEOPLE), right=Source(TOWNS), on=(("town", "code"),)),
    ],
    ids=["rows with owners", "distinct rows", "a join"],
)
def test_other_rows_serve_no_other_question(child):
    assert linear(child) is None


def test_private_keys_serve_no_other_question():
    assert linear(PEOPLE, keys=("town",), delta="1e-6") is None


def test_a_part_of_a_partition_is_not_the_whole():
    part = PeoplePart(
        child=Source(PEOPLE), by="sex", values=("f", "m"), value="f", max_parts_per_unit=1, salt="0" * 32
    )  # fmt: skip
    assert linear(part).part != linear(PEOPLE).part == ""


def workload_of(*questions, law=None):
    """What a batch measures together."""
    (found,) = compile_batch(
        questions, guarantee(1, "1e-6"), neighboring_relation=ADD_OR_REMOVE_ONE, law=law
    ).workloads  # fmt: skip
    return found


BATCHES = {
    "marginals": [asked(WIDE, keys=(f"c{i}", f"c{j}")) for i in range(3) for j in range(i)],
    "running": [asked(WIDE, keys=("c1", "c2"), windows=(("upto", running(by="c1", partition=("c2",))),))],
    "conditions": [ages(between(20, 40)), ages(between(30, 50)), asked(PEOPLE, N)],
}


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize("questions", BATCHES.values(), ids=BATCHES)
def test_what_a_workload_measures_is_sums_over_groups_of_its_marginals(questions, law):
    """Beside the strategy itself, which reads the whole histogram."""
    workload = workload_of(*questions, law=law)
    found = linear_workload(workload)
    sizes = [len(values) for values in found.values]
    histogram = np.arange(prod(sizes)).reshape(sizes) % 7
    again = read_workload(json.loads(json.dumps(found.document())))
    assert (again.histogram, again.values) == (found.histogram, found.values)
    for measurement, (section, groups, sums) in zip(found.strategy.measurements, again.marginals(), strict=True):
        exact = histogram
        for axis, part in enumerate(measurement.components):
            exact = part.measure(exact, axis)
        kept = [found.histogram.keys.index(key) for key in section.keys]
        marginal = histogram.sum(axis=tuple(axis for axis in range(len(sizes)) if axis not in kept))
        assert len(groups) == marginal.size
        assert (sums @ marginal.reshape(-1)).tolist() == (measurement.multiplier * exact.reshape(-1)).tolist()
    assert found.histogram.noises == (noise_of(workload.mechanism.noise),)


@pytest.mark.usefixtures("always")
def test_a_workload_of_people_with_limits_says_nothing():
    stays = replace(VISITS, limits=Limits(max_rows_per_unit=4))
    visits = [asked(stays, keys=keys) for keys in (("beds",), ("beds", "ward"))]
    assert linear_workload(workload_of(*visits, law="gaussian")) is None


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(
    "change",
    [{"histogram": 5}, {"values": [[["number", "1/2"]]]}, {"values": [[["null", "text"]]]}, {"values": 1},
     {"strategy": {}}, {"strategy": None}],
    ids=repr,
)  # fmt: skip
def test_a_workload_that_is_not_as_it_was_written_is_refused(change):
    document = linear_workload(workload_of(*BATCHES["conditions"])).document()
    with pytest.raises(LedgerError, match="cannot read"):
        read_workload(document | change)


def test_a_section_is_read_as_it_was_written():
    found = linear(Filter(relation_of(PEOPLE), YOUNG), N, ("a", Mean(ref("age"))), keys=("sex", "smokes"))
    assert read_linear(found.document()) == found
    assert read_linear(found.document()).signature == found.signature


@pytest.mark.parametrize(
    "change",
    [{"where": ["column", "x"]}, {"where": 5}, {"keys": [["delete"]]}, {"of": 1}, {"noise": [["cauchy", "1"]]},
     {"noise": [["laplace", "x"]]}, {"of": [[[["rows", "1/0"]]]]}],
    ids=repr,
)  # fmt: skip
def test_what_is_not_as_it_was_written_is_refused(change):
    document = linear(PEOPLE).document()
    with pytest.raises(LedgerError, match="cannot read"):
        read_linear(document | change)
