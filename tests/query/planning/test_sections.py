"""One way to group: which statements are run, what they need, and how private keys are shown."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial

import pytest
from tests.query.laws_of_choices import contributions, joined, law_of, loss
from tests.query.planned import PEOPLE, TOWNS, VISITS, N, grouped, planned, question, ref, relation_of

from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.mechanisms.quantiles.joint import JointQuantiles
from sfumato.mechanisms.selection.noisy_top_k import NoisyTopK
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.events import ExponentialEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, UnitColumn
from sfumato.query.analysis.keys import MAX_GROUPS
from sfumato.query.analysis.stability import Sensitivity
from sfumato.query.model.expressions import Compare, Comparison, Literal
from sfumato.query.model.facts import Edition
from sfumato.query.model.relations import BoundRows, Distinct, Filter, Grouped, Join, UnionAll
from sfumato.query.model.schema import Limits, Table, integer, text
from sfumato.query.model.statement import Bins, CellCount, LatticeValue, RowCount, Statement, StepSum, UnitCount, Values
from sfumato.query.planning.allocation import Choice, KeySelection, Noise, Share, Weight
from sfumato.query.planning.sections import check_size, draft, grouped_rows, measurement_of, moved, need_of
from sfumato.query.statistics.counts import CountDistinct, CountRows
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.recipes import BinQuantile, NoisyCells, NoisyMeasures, TopCells
from sfumato.query.statistics.top_values import TopValues


def drafted(child, *statistics, keys=(), relation=ADD_OR_REMOVE_ONE, edition=Edition.LATEST, **clauses):
    asked = question(child, *statistics, keys=keys, **clauses)
    return draft(asked, keys, neighboring_relation=relation, edition=edition)


def test_measures_of_all_statistics_are_computed_once_in_one_statement():
    statistics = N, ("m", Mean(ref("age"))), ("s", Mean(ref("age"))), ("again", CountRows())
    made, apart = (drafted(PEOPLE, *statistics, edition=edition) for edition in (Edition.LATEST, Edition.FIRST))
    for one in (made, apart):
        assert len(one.statements) == 1
        assert len(one.statements[0].measures) == 3
    assert made.sharing.places == ((0,), (1, 2), (1, 2), (0,))
    assert apart.sharing.places == ((0,), (1, 2), (3, 4), (5,))


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
    statistics = N, ("s", Sum(ref("age"), (Fraction(1), Fraction(100))))
    made = drafted(PEOPLE, *statistics, keys=("town",))
    assert made.needs[0] == KeySelection(is_free=False, keys=("town",))
    assert made.weights == (Weight(1, 1),) * 3
    weighted = drafted(PEOPLE, *statistics, keys=("town",), weights=(Fraction(3), Fraction(5)))
    assert weighted.weights == (Weight(1, 1), Weight(3, 3), Weight(5, 5))
    assert drafted(PEOPLE, N, keys=("sex",), weights=(Fraction(3),)).weights == (Weight(3, 3),)


def test_all_keys_of_public_rows_are_shown_for_nothing():
    plan = planned(TOWNS, keys=("code",))
    assert (plan.sections[0].selection.mechanism, plan.charge.epsilon) == (None, 0)
    assert drafted(TOWNS, keys=("code",)).needs[0] == KeySelection(is_free=True, keys=("code",))


def test_units_cannot_be_counted_where_one_row_may_become_several():
    twice = UnionAll(relation_of(PEOPLE), relation_of(PEOPLE))
    for rows in (twice, Grouped(relation_of(PEOPLE), ("town",), ())):
        with pytest.raises(NotPrivateError, match="one row may become several"):
            drafted(rows, keys=("town",))
    assert drafted(twice, keys=("sex",)).needs[0].sensitivity.l1 == 2


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
    (need,) = drafted(VISITS, ("s", Sum(ref("hours")))).needs
    assert isinstance(need, Noise)
    assert need.sensitivity.l1 == 4 * 2400


BOTH = (ADD_OR_REMOVE_ONE, REPLACE_ONE)
AGE = LatticeValue(value=ref("age"), resolution=Fraction(1), lower=0, upper=100, offset=0, nullable=True)
PAY = LatticeValue(value=ref("pay"), resolution=Fraction(1), lower=-3, upper=10, offset=0, nullable=True)


def main(child, *measures, keys=()):
    own = grouped(child, *keys)
    return Statement(rows=own.rows, keys=own.keys, measures=measures or (RowCount(),), limits=own.limits)


def test_a_count_and_a_sum_need_noise_for_all_rows_of_one_unit():
    need = need_of(NoisyMeasures((RowCount(),)), main(VISITS), ADD_OR_REMOVE_ONE)
    assert (need.sensitivity.l1, need.sensitivity.l0) == (4, 1)
    assert need_of(NoisyMeasures((StepSum(AGE),)), main(PEOPLE), REPLACE_ONE).sensitivity.l1 == 100


def test_several_measures_are_one_vector():
    measures = (StepSum(AGE), StepSum(PAY), RowCount())
    need = need_of(NoisyMeasures(measures), main(PEOPLE, *measures, keys=("sex",)), ADD_OR_REMOVE_ONE)
    assert (need.sensitivity.l1, need.sensitivity.l0) == (111, 3)
    assert need.sensitivity.l2 == sqrt_up(Fraction(100**2 + 10**2 + 1))


def test_cells_are_counted_in_a_vector_of_their_own():
    statement = grouped(VISITS, "ward").with_cells(Values(value=ref("beds"), values=tuple(range(10))))
    need = need_of(NoisyCells(statement), main(PEOPLE), ADD_OR_REMOVE_ONE)
    assert (need.sensitivity.l1, need.sensitivity.l0) == (4, 4)


@pytest.mark.parametrize(("relation", "rows"), [(ADD_OR_REMOVE_ONE, 4), (REPLACE_ONE, 8)])
def test_choices_need_a_share_for_every_row_that_enters_or_leaves(relation, rows):
    statement = grouped(VISITS).with_cells(Bins(steps=AGE, width=1))
    assert moved(statement, relation) == rows
    assert need_of(BinQuantile(statement, Fraction(1, 2)), statement, relation) == Choice(is_free=False)
    choice = measurement_of(
        BinQuantile(statement, Fraction(1, 2)), Share(Fraction(1), Fraction(0)), [statement], relation
    )
    assert (choice.mechanism.epsilon, choice.rows, choice.event) == (Fraction(1, rows), rows, PureEvent(1))


def test_of_units_with_one_row_a_choice_is_the_mechanism_itself():
    plan = planned(PEOPLE, Percentile(ref("age"), Fraction(1, 2)))
    assert plan.event.events == (ExponentialEvent(1),)
    plan = planned(PEOPLE, Percentile(ref("age"), Fraction(1, 2)), relation=REPLACE_ONE)
    assert plan.event.events == (PureEvent(1),)


def test_choices_from_public_rows_are_free():
    statement = grouped(TOWNS).with_cells(Values(value=ref("size"), values=("s", "l")))
    assert need_of(TopCells(statement, 1), statement, REPLACE_ONE) == Choice(is_free=True)
    free = measurement_of(TopCells(statement, 1), Share(Fraction(0), Fraction(0)), [statement], REPLACE_ONE)
    assert (free.event, free.mechanism.scale) == (PureEvent(0), Fraction(1, 1000))


def test_a_share_beyond_the_narrowest_noise_is_not_used_up():
    statement = grouped(PEOPLE).with_cells(Values(value=ref("sex"), values=("f", "m")))
    share = Share(Fraction(10**9), Fraction(0))
    top = measurement_of(TopCells(statement, 2), share, [statement], ADD_OR_REMOVE_ONE)
    assert (top.mechanism.scale, top.mechanism.epsilon) == (Fraction(1, 1000), 2000)


def test_measurements_point_at_their_statement_and_measures():
    measures = (RowCount(), StepSum(AGE))
    first = main(PEOPLE, *measures)
    cells = first.__class__(rows=first.rows, keys=(), measures=(RowCount(),), cell=Bins(steps=AGE, width=1))
    moved_by = Sensitivity(l1=100, l2=Fraction(100), l0=1)
    share = Share(Fraction(1), Fraction(0), Laplace(l1_sensitivity=100, epsilon=1), moved_by)
    found = measurement_of(NoisyMeasures((StepSum(AGE),)), share, [first, cells], ADD_OR_REMOVE_ONE)
    assert (found.statement, found.measures, found.mechanism) == (0, (1,), share.mechanism)
    assert found.sensitivity == moved_by
    assert measurement_of(NoisyCells(cells), share, [first, cells], ADD_OR_REMOVE_ONE).statement == 1


@pytest.mark.parametrize("component", [NoisyMeasures((RowCount(),)), BinQuantile(main(PEOPLE), Fraction(1, 2))])
def test_mistakes_of_the_planner_are_no_answers(component):
    with pytest.raises(TypeError):
        measurement_of(component, Share(Fraction(1), Fraction(0)), [main(PEOPLE)], ADD_OR_REMOVE_ONE)


LIMITS = {
    "one row": Limits(max_rows_per_unit=1),
    "three rows": Limits(max_rows_per_unit=3),
    "one a group": Limits(max_rows_per_group_per_unit=1, max_groups_per_unit=2),
    "two of one group": Limits(max_rows_per_group_per_unit=2, max_groups_per_unit=1),
    "rows and groups": Limits(max_rows_per_unit=3, max_groups_per_unit=2, max_rows_per_group_per_unit=2),
}
STATISTICS = {
    "median": Percentile(ref("v"), Fraction(1, 2)),
    "minimum": Percentile(ref("v"), Fraction(0)),
    "maximum": Percentile(ref("v"), Fraction(1)),
    "third": Percentile(ref("v"), Fraction(1, 3)),
    "quartiles": [Percentile(ref("v"), Fraction(k, 4)) for k in (1, 2, 3)],
    "mode": TopValues(ref("v")),
    "two best": TopValues(ref("v"), 2),
}
DATABASES = (
    [[0, 0, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 2]], [[2, 2, 1], [0, 1, 1]], [[3, 0, 3], [16, 4, 20]],
    [[30, 0, 6], [9, 40, 17]],
)  # fmt: skip


def worst(limits, statistic, relation, *, epsilon=1, noise=Fraction(1)):
    """The price of a choice from two groups of three cells, and the largest loss that one unit can cause."""
    columns = {"u": text(), "g": integer(values=[1, 2]), "v": integer(0, 2, values=[0, 1, 2])}
    table = Table(name="t", columns=columns, unit=UnitColumn("u"), limits=limits)
    asked = STATISTICS[statistic] if isinstance(STATISTICS[statistic], list) else [STATISTICS[statistic]]
    named = [(f"s{index}", one) for index, one in enumerate(asked)]
    plan = planned(table, *named, keys=("g",), epsilon=epsilon, relation=relation)
    (measurement,) = plan.sections[0].measurements
    law = lru_cache(maxsize=None)(partial(law_of, _with_less_noise(measurement.mechanism, noise)))
    own = list(
        contributions(
            2, 3, rows=limits.max_rows_per_unit or 2, per_group=limits.max_rows_per_group_per_unit,
            most_groups=limits.max_groups_per_unit,
        )
    )  # fmt: skip
    others = own if relation is REPLACE_ONE else [[(0, 0, 0), (0, 0, 0)]]
    found = 0.0
    for base in DATABASES:
        tables = {str(unit): _frozen(joined(base, unit)) for unit in (*own, *others)}
        for first in own:
            for second in others:
                one, other = tables[str(first)], tables[str(second)]
                found = max(found, loss(law, one, other), loss(law, other, one))
    return plan.charge.epsilon, found


def _frozen(counts):
    return tuple(tuple(group) for group in counts)


def _with_less_noise(mechanism, share):
    """The same mechanism with only a share of its noise."""
    epsilon = mechanism.epsilon / share
    match mechanism:
        case NoisyTopK():
            return NoisyTopK(k=mechanism.k, epsilon=epsilon, monotonic=True, utility_sensitivity=1)
        case Extreme():
            return Extreme(largest=mechanism.largest, lower=mechanism.lower, upper=mechanism.upper, epsilon=epsilon)
        case JointQuantiles():
            chosen = mechanism.quantiles
            return JointQuantiles(quantiles=chosen, lower=mechanism.lower, upper=mechanism.upper, epsilon=epsilon)
        case _:
            quantile = mechanism.quantile
            return type(mechanism)(quantile=quantile, lower=mechanism.lower, upper=mechanism.upper, epsilon=epsilon)


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("limits", ["one row", "one a group", "two of one group"])
def test_no_unit_tells_choices_apart_by_more_than_they_cost(limits, statistic, relation):
    charged, found = worst(LIMITS[limits], statistic, relation)
    assert charged == 1
    assert found <= 1 + 1e-9


@pytest.mark.parametrize("statistic", ["median", "mode", "quartiles"])
@pytest.mark.parametrize("limits", ["three rows", "rows and groups"])
def test_nor_does_one_with_more_rows_in_several_groups(limits, statistic):
    charged, found = worst(LIMITS[limits], statistic, ADD_OR_REMOVE_ONE)
    assert 0.3 < found <= charged == 1


@pytest.mark.parametrize(("statistic", "least"), [("mode", 0.99), ("maximum", 0.49), ("median", 0.53)])
def test_what_choices_cost_is_nearly_what_a_unit_can_learn(statistic, least):
    _, found = worst(LIMITS["one a group"], statistic, ADD_OR_REMOVE_ONE)
    assert found > least


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_choice_with_a_third_of_its_noise_would_be_caught(statistic):
    _, found = worst(LIMITS["one a group"], statistic, ADD_OR_REMOVE_ONE, noise=Fraction(1, 3))
    assert found > 1.4


def test_the_laws_add_up():
    top = planned(PEOPLE, TopValues(ref("sex"), 2)).sections[0].measurements[0].mechanism
    assert math.isclose(sum(law_of(top, (3, 1, 2))), 1, rel_tol=1e-9)
    extreme = planned(PEOPLE, Percentile(ref("age"), Fraction(1))).sections[0].measurements[0].mechanism
    assert math.isclose(sum(law_of(extreme, (3, 1, 2))), 1, rel_tol=1e-9)


def test_groups_that_leave_and_enter_are_two_rows():
    sexes = Grouped(relation_of(PEOPLE), ("sex",), ())
    statement = replace(grouped(PEOPLE).with_cells(Values(value=ref("sex"), values=("f", "m"))), rows=sexes)
    assert [moved(statement, relation) for relation in BOTH] == [2, 4]


def test_noise_of_a_free_measure_is_none():
    need = need_of(NoisyMeasures((RowCount(),)), main(TOWNS), REPLACE_ONE)
    assert isinstance(need, Noise)
    assert need.is_free
