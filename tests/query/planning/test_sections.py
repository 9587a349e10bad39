"""One way to group: which statements are run, what they need, and how private keys are shown."""

from fractions import Fraction

import pytest
from tests.query.planned import PEOPLE, TOWNS, VISITS, N, planned, question, ref, relation_of

from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, UnitColumn
from sfumato.query.analysis.keys import MAX_GROUPS
from sfumato.query.model.expressions import Compare, Comparison, Literal
from sfumato.query.model.measures import CellCount, RowCount, UnitCount
from sfumato.query.model.relations import BoundRows, Distinct, Filter, Grouped, Join, UnionAll
from sfumato.query.model.schema import Limits, Table, integer, text
from sfumato.query.planning.allocation import KeySelection, Noise
from sfumato.query.planning.sections import check_size, draft, grouped_rows
from sfumato.query.statistics.counts import CountDistinct, CountRows
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues


def drafted(child, *statistics, keys=(), relation=ADD_OR_REMOVE_ONE, **clauses):
    return draft(question(child, *statistics, keys=keys, **clauses), keys, neighboring_relation=relation)


def test_measures_of_all_statistics_are_computed_once_in_one_statement():
    made = drafted(PEOPLE, N, ("m", Mean(ref("age"))), ("s", Mean(ref("age"))), ("again", CountRows()))
    assert len(made.statements) == 1
    assert len(made.statements[0].measures) == 3
    assert [len(needs) for needs in made.needs] == [1, 2, 2, 1]


def test_what_counts_cells_has_a_statement_of_its_own_with_the_same_keys_and_limits():
    statistics = (N, ("q", Percentile(ref("hours"), Fraction(1, 2))), ("d", CountDistinct(ref("ill"))))
    first, second, third = drafted(VISITS, *statistics, keys=("ward",)).statements
    assert first.keys == second.keys == third.keys
    assert first.limits == second.limits == third.limits
    assert (first.measures, second.measures, third.measures) == ((RowCount(),), (RowCount(),), (CellCount(),))


def test_equal_statements_are_run_once():
    edges = (Fraction(0), Fraction(5))
    made = drafted(PEOPLE, ("h", Histogram(ref("pay"), edges)), ("again", Histogram(ref("pay"), edges)))
    assert len(made.statements) == 1


def test_the_main_statement_is_left_out_where_nothing_needs_it():
    (statement,) = drafted(PEOPLE, TopValues(ref("sex"))).statements
    assert statement.cell is not None
    plan = planned(PEOPLE, TopValues(ref("sex")))
    assert plan.sections[0].measurements[0].statement == 0


def test_private_keys_are_selected_by_the_units_that_they_hold():
    plan = planned(VISITS, N, ("d", CountDistinct(ref("ill"))), keys=("ill", "ward"), delta="1e-6")
    (section,) = plan.sections
    assert section.statements[0].measures[section.selection.measure] == UnitCount()
    assert [key.values for key in section.keys] == [None, ("A", "B", "C")]
    assert (section.selection.mechanism.max_groups_per_unit, section.selection.mechanism.delta) == (2, Fraction("1e-6"))


@pytest.mark.parametrize(
    ("table", "relation", "changed"),
    [
        (PEOPLE, ADD_OR_REMOVE_ONE, 1),
        (PEOPLE, REPLACE_ONE, 2),
        (VISITS, ADD_OR_REMOVE_ONE, 2),
        (VISITS, REPLACE_ONE, 4),
    ],
)
def test_as_many_private_keys_change_as_a_unit_may_be_in(table, relation, changed):
    key = "town" if table is PEOPLE else "ill"
    plan = planned(table, keys=(key,), delta="1e-6", relation=relation)
    assert plan.sections[0].selection.mechanism.changed_keys == changed


def test_a_unit_is_in_no_more_groups_than_it_has_rows():
    table = Table(
        name="t", columns={"u": text(), "k": text()}, unit=UnitColumn("u"),
        limits=Limits(max_rows_per_unit=3, max_groups_per_unit=50),
    )  # fmt: skip
    assert planned(table, keys=("k",), delta="1e-6").sections[0].selection.mechanism.max_groups_per_unit == 3
    narrower = planned(table, keys=("k",), delta="1e-6", limits=Limits(max_groups_per_unit=2))
    assert narrower.sections[0].selection.mechanism.max_groups_per_unit == 2


def test_a_selection_is_a_need_of_weight_one_before_the_others():
    made = drafted(PEOPLE, N, ("s", Sum(ref("age"))), keys=("town",))
    assert made.needs[0] == (KeySelection(is_free=False, keys=("town",)),)
    assert made.weights((Fraction(3), Fraction(5))) == (1, 3, 5)
    assert made.weights(()) == (1, 1, 1)
    assert drafted(PEOPLE, N, keys=("sex",)).weights((Fraction(3),)) == (3,)


def test_all_keys_of_public_rows_are_shown_for_nothing():
    plan = planned(TOWNS, keys=("code",))
    assert (plan.sections[0].selection.mechanism, plan.charge.epsilon) == (None, 0)
    assert drafted(TOWNS, keys=("code",)).needs[0] == (KeySelection(is_free=True, keys=("code",)),)


def test_units_cannot_be_counted_where_one_row_may_become_several():
    twice = UnionAll(relation_of(PEOPLE), relation_of(PEOPLE))
    for rows in (twice, Grouped(relation_of(PEOPLE), ("town",), ())):
        with pytest.raises(NotPrivateError, match="one row may become several"):
            drafted(rows, keys=("town",))
    assert drafted(twice, keys=("sex",)).needs[0][0].sensitivity.l1 == 2


def test_private_keys_of_rows_that_stay_one_are_fine():
    towns = Join(left=relation_of(PEOPLE), right=relation_of(TOWNS), on=(("town", "code"),))
    adults = Filter(Distinct(towns), Compare(Comparison.GREATER, ref("age"), Literal(Fraction(17))))
    assert drafted(adults, keys=("town",)).is_selected


def test_without_keys_the_limit_of_a_group_is_one_of_all_rows():
    table = Table(
        name="t", columns={"u": text(), "k": text(values=["x"])}, unit=UnitColumn("u"),
        limits=Limits(max_rows_per_group_per_unit=3, max_groups_per_unit=2),
    )  # fmt: skip
    asked = question(table, keys=("k",))
    assert grouped_rows(asked, ("k",)).limits == table.limits
    assert grouped_rows(asked, ()).limits == Limits(max_rows_per_unit=3, max_rows_per_group_per_unit=3)


def test_analysts_may_narrow_limits_and_never_widen_them():
    asked = question(VISITS, limits=Limits(max_rows_per_unit=100, max_groups_per_unit=1), keys=("ward",))
    assert grouped_rows(asked, ("ward",)).limits == Limits(max_rows_per_unit=4, max_groups_per_unit=1)


def test_joins_within_units_are_bounded_on_both_sides():
    other = Table(
        name="o", columns={"v": text(), "x": integer()}, unit=UnitColumn("v"), limits=Limits(max_rows_per_unit=2),
        matches={("x",): 1},
    )  # fmt: skip
    rows = grouped_rows(
        question(Join(left=relation_of(VISITS), right=relation_of(other), on=(("beds", "x"),))), ()
    ).rows
    assert isinstance(rows.left, BoundRows)
    assert isinstance(rows.right, BoundRows)


def test_a_unit_without_a_limit_is_refused():
    table = Table(
        name="t", columns={"u": text(), "k": text()}, unit=UnitColumn("u"), limits=Limits(max_rows_per_group_per_unit=2)
    )
    with pytest.raises(UnboundedSensitivityError, match="max_groups_per_unit"):
        planned(table, keys=("k",), delta="1e-6")


def test_more_groups_and_cells_than_an_answer_can_hold_are_refused():
    table = Table(name="t", columns={"a": integer(1, 1000), "b": integer(1, 1000)})
    wide = Histogram(ref("a"), (Fraction(0), Fraction(1), Fraction(2)))
    fits = [drafted(table, keys=("a", "b"))]
    check_size(fits)
    assert sum(one.size for one in fits) == MAX_GROUPS
    for drafts in ([drafted(table, wide, keys=("a", "b"))], [*fits, drafted(table)]):
        with pytest.raises(ParameterError, match="groups and cells"):
            check_size(drafts)


def test_the_cells_of_private_groups_and_of_quantiles_are_not_listed():
    assert drafted(PEOPLE, Percentile(ref("pay"), Fraction(1, 2)), keys=("sex",)).size == 2
    assert drafted(PEOPLE, CountDistinct(ref("town")), keys=("town",)).size == 1
    assert drafted(PEOPLE, TopValues(ref("sex")), keys=("sex",)).size == 4


def test_needs_are_of_noise_with_the_sensitivity_of_the_measure():
    ((need,),) = drafted(VISITS, ("s", Sum(ref("hours")))).needs
    assert isinstance(need, Noise)
    assert need.sensitivity.l1 == 4 * 2400
