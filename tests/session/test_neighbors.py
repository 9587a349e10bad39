"""Whole plans on random neighbors: no unit moves what is measured further than noise and choices are made for."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.query.planned import TOWNS, VISITS, N, planned, ref
from tests.query.planning.test_plan import questions
from tests.session.desk import desk, rows

from sfumato.engines.base import aligned, groups
from sfumato.errors import SfumatoError
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.model.facts import Edition
from sfumato.query.model.relations import tables_of
from sfumato.query.planning.plan import compile_plan, with_chosen_bounds
from sfumato.query.statistics.means import Sum
from sfumato.query.statistics.measurements import Additive, SumOutput, estimators
from sfumato.query.statistics.quantiles import BinOutput, Percentile
from sfumato.query.statistics.top_values import TopOutput

SALTS = ("00" * 16, "a5" * 16)
TOWN_ROWS = rows(TOWNS, {"code": "x", "area": 7, "size": "s"}, {"code": "y", "area": 600, "size": "l"}, {"code": "y"})
CELLS = {
    "age": st.none() | st.integers(-5, 120), "pay": st.none() | st.floats(-2, 12).map(lambda v: round(v, 2)),
    "sex": st.sampled_from(["f", "m", "x", None]), "town": st.sampled_from(["x", "y", "z", None]),
    "smokes": st.none() | st.booleans(), "born": st.none(), "kids": st.none() | st.integers(-1, 12),
    "free": st.none() | st.integers(-(2**40), 2**40), "who": st.sampled_from(["a", "b", "c", None]),
    "ward": st.sampled_from(["A", "B", "C", "D", None]), "ill": st.sampled_from(["flu", "gout", None]),
    "hours": st.none() | st.floats(-1, 30).map(lambda v: round(v, 2)), "day": st.none(),
    "beds": st.none() | st.integers(-1, 12),
}  # fmt: skip


def found(section, tables, salt):
    """What an engine finds of each statement: a number of each group and cell, by measure."""
    engine = desk(*tables).engine
    results = []
    for statement in section.statements:
        one = engine.run(statement, salt=salt).open_for_noise()
        size = len(one.amounts[0])
        keys = list(zip(*one.keys, strict=True)) if one.keys else [()] * size
        cells = one.cells if one.cells is not None else [None] * size
        results.append([
            {(*key, cell): int(amount) for key, cell, amount in zip(keys, cells, amounts, strict=True)}
            for amounts in one.amounts
        ])  # fmt: skip
    return results


def differences(first, second):
    """How far two vectors lie apart, in each coordinate that differs."""
    moved = Counter(first)
    moved.subtract(second)
    return [abs(step) for step in moved.values() if step]


def assert_within(section, first, second):
    for measurement in section.measurements:
        pairs = list(zip(first[measurement.statement], second[measurement.statement], strict=True))
        if isinstance(measurement, Additive):
            moved = [step for place in measurement.measures for step in differences(*pairs[place])]
            limit = measurement.sensitivity
            assert sum(moved) <= limit.l1
            assert sum(step**2 for step in moved) <= limit.l2**2
            assert len(moved) <= limit.l0
        else:
            assert sum(differences(*pairs[0])) <= measurement.rows
    if section.selection is not None and section.selection.mechanism is not None:
        units = differences(first[0][section.selection.measure], second[0][section.selection.measure])
        assert len(units) <= section.selection.mechanism.changed_keys
        assert all(step == 1 for step in units)


def databases(draw, table, relation):
    """Two databases that differ in one unit: a row, or all rows of an owner."""
    row = st.fixed_dictionaries({name: CELLS[name] for name in table.columns})
    shared = draw(st.lists(row, max_size=6))
    if not table.has_owners:
        first, second = [draw(row)], [draw(row)] if relation is REPLACE_ONE else []
    else:
        shared = [one for one in shared if one["who"] != "a"]
        own = st.lists(row, min_size=1, max_size=12).map(lambda some: [one | {"who": "a"} for one in some])
        first, second = draw(own), draw(own) if relation is REPLACE_ONE else []
    return [rows(table, *shared, *own) for own in (first, second)]


@given(questions(), st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE]), st.sampled_from(SALTS), st.data())
@settings(suppress_health_check=list(HealthCheck))
def test_no_unit_moves_what_is_measured_further_than_the_plan_says(asked, relation, salt, data):
    shape = shape_of(asked.child.child)
    if shape.metric is Metric.PUBLIC:
        return
    try:
        plan = compile_plan(asked, guarantee(1, Fraction(1, 10**6)), neighboring_relation=relation, law="laplace")
    except SfumatoError:
        return
    table = next(one for one in tables_of(asked.child.child) if not one.is_public)
    first, second = ([(table, own), (TOWNS, TOWN_ROWS)] for own in databases(data.draw, table, relation))
    sections = plan.sections
    if plan.bounds is not None:
        chosen = [[[data.draw(st.integers(0, 10**6)) for _ in range(82)]] for _ in plan.bounds.section.measurements]
        sections = (plan.bounds.section, *with_chosen_bounds(plan, chosen, neighboring_relation=relation).sections)
    for section in sections:
        assert_within(section, found(section, first, salt), found(section, second, salt))


def exact_answers(plan, tables, salt):
    """Of each section the values of its columns, by name, in the order of its public groups, as if there were no noise.

    Columns of choices are left out.
    """
    engine, found = desk(*tables).engine, []
    for section in plan.sections:
        results = [engine.run(statement, salt=salt).open_for_noise() for statement in section.statements]
        shown = groups(section.statements[0])
        measured = [exact_numbers(one, section.statements, results, shown) for one in section.measurements]
        columns = zip(section.outputs, estimators(section, Fraction(1, 2)), strict=True)
        found.append({
            output.name: (isinstance(output, SumOutput), [one.value for one in estimate(measured)])
            for output, estimate in columns
            if not isinstance(output, BinOutput | TopOutput)
        })  # fmt: skip
    return found


def exact_numbers(measurement, statements, results, shown):
    """What a measurement would release of each group without noise; zeros for a choice."""
    if not isinstance(measurement, Additive):
        return [(0,) * 9 for _ in shown]
    exact = aligned(statements[measurement.statement], results[measurement.statement], shown)
    return exact[:, list(measurement.measures)].reshape(len(shown), -1).tolist()


@given(questions(), st.sampled_from(SALTS), st.data())
@settings(suppress_health_check=list(HealthCheck))
def test_without_noise_shared_numbers_make_the_answers_that_numbers_of_their_own_do(asked, salt, data):
    """So nothing is shared by statistics of other numbers. Rows of each unit above a limit move a sum by a step."""
    shape, plans = shape_of(asked.child.child), []
    for edition in Edition:
        try:
            plans.append(compile_plan(asked, guarantee(1), neighboring_relation=ADD_OR_REMOVE_ONE, edition=edition))
        except SfumatoError:
            return
    if shape.metric is Metric.PUBLIC or plans[0].bounds is not None:
        return
    table = next(one for one in tables_of(asked.child.child) if not one.is_public)
    first, _ = databases(data.draw, table, ADD_OR_REMOVE_ONE)
    apart, shared = (exact_answers(plan, [(table, first), (TOWNS, TOWN_ROWS)], salt) for plan in plans)
    steps = 0 if shape.metric is Metric.ROWS else len(first)
    for before, after in zip(apart, shared, strict=True):
        assert before.keys() == after.keys()
        for name, (is_sum, values) in before.items():
            assert after[name][1] == pytest.approx(values, rel=1e-9, abs=1e-9 + steps * is_sum)


def test_what_is_too_small_by_one_would_be_seen():
    statistics = (N, ("s", Sum(ref("beds"))), ("q", Percentile(ref("beds"), Fraction(1, 2))))
    (section,) = planned(VISITS, *statistics, keys=("ward",)).sections
    heavy = rows(VISITS, *[{"who": "a", "ward": ward, "beds": 9} for ward in "AB" for _ in range(2)])
    first, second = (found(section, [(VISITS, own)], SALTS[0]) for own in (heavy, rows(VISITS)))
    assert_within(section, first, second)
    count, total, choice = section.measurements
    for wrong in (
        replace(count, sensitivity=replace(count.sensitivity, l1=3)),
        replace(total, sensitivity=replace(total.sensitivity, l2=total.sensitivity.l2 / 2)),
        replace(total, sensitivity=replace(total.sensitivity, l0=1)),
        replace(choice, rows=3),
    ):
        with pytest.raises(AssertionError):
            assert_within(replace(section, measurements=(wrong,)), first, second)
