"""What a section says of one table, and that it is read as it was written."""

from fractions import Fraction

import pytest
from tests.query.planned import PEOPLE, TOWNS, VISITS, N, planned, ref, relation_of

from sfumato.errors import LedgerError
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.query.model.expressions import And, Call, ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Distinct, Filter, Join, PeoplePart, Select, Source
from sfumato.query.planning.linear import ROWS, linear_section, read_linear
from sfumato.query.statistics.counts import CountValues
from sfumato.query.statistics.means import Mean, Sum
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
