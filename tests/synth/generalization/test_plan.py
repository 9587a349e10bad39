"""A generalized table as a plan: its event costs what is charged, and its law changes by no more than that."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.synth.generalization.small import HIERARCHIES, Given, Query, plan_of, rows_of

from sfumato.audit import audit
from sfumato.errors import ParameterError
from sfumato.ledger.core.prices import price_of
from sfumato.mechanisms.selection.exponential import Exponential
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation
from sfumato.synth.generalization.hierarchies import Group
from sfumato.synth.generalization.scores import right_rows

FLAT = Group(label="any", codes=(0, 1), below=(Group(label="a", codes=(0,)), Group(label="b", codes=(1,))))
KINDS = list(product(range(2), range(2), range(2)))


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("epsilon", "steps"), [("0.1", 3), (1, 10), (Fraction(7, 3), 7), (10**6, 1), ("0.001", 1000)])
def test_choices_and_counts_together_cost_what_is_charged(epsilon, steps, rows, relation):
    plan = plan_of(epsilon, steps=steps, relation=relation, query=Query(rows_per_unit=rows))
    price = price_of(plan.event, delta=Fraction(0), neighboring_relation=relation)
    assert 0.999999 * plan.charge.epsilon <= price or epsilon == 10**6  # there is no noise so narrow
    assert price <= plan.charge.epsilon


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_units_of_several_rows_move_scores_and_counts_by_all_of_them(relation):
    plan = plan_of(relation=relation, query=Query(rows_per_unit=3))
    assert plan.choice.utility_sensitivity == 3
    assert not plan.choice.monotonic
    assert plan.noise.l1_sensitivity == (3 if relation is ADD_OR_REMOVE_ONE else 6)
    one = plan_of(relation=relation)
    assert one.choice.monotonic == (relation is ADD_OR_REMOVE_ONE)


class Known:
    """The law of a plan for given rows: of each way to choose its probability, and the counts that it ends with."""

    def __init__(self, plan, given):
        self.plan, self.rows, self.ways = plan, rows_of(given), {}
        self._walk(plan.start, (), 1.0)

    def _walk(self, grid, way, share):
        candidates = grid.candidates(most_cells=self.plan.most_cells)
        if len(way) == self.plan.steps or not candidates:
            counts = self.rows.counted(grid.cells_of(self.rows.codes), size=grid.cells)
            self.ways[way] = share, counts
            return
        chances = self.plan.choice.probabilities(right_rows(self.rows, grid, candidates))
        for place, chance in enumerate(chances.tolist()):
            self._walk(grid.specialized(candidates[place]), (*way, place), share * chance)

    def furthest(self, other):
        """The largest logarithm of a ratio of probabilities of an outcome: discrete Laplace noise attains its own."""
        return max(
            np.log(share / other.ways[way][0])
            + np.abs(counts - other.ways[way][1]).sum() / float(self.plan.noise.scale)
            for way, (share, counts) in self.ways.items()
        )


def tables():
    """Some tables, few rows beside many, so that the law of a choice is far from uniform."""
    rng = np.random.default_rng(3)
    crafted = [{(0, 0, 0): 60, (0, 0, 1): 60, (0, 1, 0): 0}, {(0, 0, 0): 50, (1, 0, 1): 50, (0, 1, 1): 49}]
    return crafted + [dict(zip(KINDS, rng.choice([0, 1, 2, 9], 8).tolist(), strict=True)) for _ in range(25)]


def with_one(given, kind, amount):
    return given | {kind: given.get(kind, 0) + amount}


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("steps", [1, 2])
def test_no_neighbor_makes_an_outcome_more_probable_than_epsilon_allows(steps, relation):
    """Over all outcomes, and all neighbors of some tables; what is allowed is nearly reached."""
    query = Query()
    plan = plan_of(2, steps=steps, relation=relation, query=query, hierarchies=(FLAT, FLAT))
    worst = 0.0
    for given in tables():
        longer = [Known(plan, with_one(given, kind, 1)) for kind in KINDS]
        if relation is REPLACE_ONE:
            pairs = [(one, other) for one in longer for other in longer if one is not other]
        else:
            own = Known(plan, given)
            pairs = [pair for one in longer for pair in ((one, own), (own, one))]
        worst = max(worst, *(one.furthest(other) for one, other in pairs))
    assert 1.4 < worst <= 2 + 1e-9


def test_every_cell_and_class_is_counted_whatever_the_rows_and_all_choices_are_made():
    for given in ({}, {(0, 0, 0): 5}):
        plan = plan_of(steps=3)
        found = plan.release(Given(given))
        assert len(found["choices"]) == 3
        grid = plan.start.replayed(found["choices"], most_cells=100)
        assert len(found["counts"]) == 2 * grid.cells


def test_what_can_be_chosen_does_not_depend_on_rows(monkeypatch):
    seen = []

    def first(_choice, scores):
        seen.append(len(scores.open_for_noise()))
        return 0

    monkeypatch.setattr(Exponential, "release", first)
    for given in ({}, {(1, 2, 1): 9}, {(2, 0, 0): 1, (0, 1, 1): 3}):
        plan_of(steps=4).release(Given(given))
    assert seen == [3, 4, 3, 2] * 3


def test_choices_end_where_no_group_is_left_or_all_would_make_too_many_cells():
    found = plan_of(steps=9, hierarchies=(FLAT, FLAT)).release(Given({}))
    assert (len(found["choices"]), len(found["counts"])) == (2, 8)
    assert plan_of(steps=9, most_cells=1).release(Given({}))["choices"] == []


def test_without_noise_it_is_the_best_table_of_the_rows():
    """At a huge ε: the class follows the age above 20, and a row without a class does not count."""
    given = {(2, 0, 0): 40, (1, 1, 0): 30, (0, 2, 1): 50, (1, 2, 1): 9, (1, 2, 2): 77}
    plan = plan_of(10**6, steps=1)
    found = plan.release(Given(given))
    (age,) = found["choices"]
    parts = plan.start.candidates(most_cells=100)[age].parts
    assert [part.label for part in parts] == ["0 to 19", "20 to 29"]
    assert found["counts"] == [70, 0, 0, 59]


def test_what_it_depends_on_is_in_its_document():
    plan = plan_of()
    others = [plan_of(steps=3), plan_of(most_cells=5), plan_of(hierarchies=(HIERARCHIES[0].below[0], HIERARCHIES[1]))]
    assert all(one.document() != plan.document() for one in others)


def test_an_epsilon_without_noise_is_refused():
    with pytest.raises(ParameterError, match="must be larger"):
        plan_of(Fraction(1, 10**15))


@pytest.mark.statistical
def test_it_is_not_refuted_but_one_of_a_larger_cost_is():
    """Type-I error 1e-6 each: the counts of the class of the row that is there or not, whatever was chosen."""
    with_it, without = {(0, 0, 0): 3, (1, 1, 1): 3, (0, 1, 1): 1}, {(0, 0, 0): 3, (1, 1, 1): 3, (0, 1, 1): 0}

    def refuted(epsilon):
        plan = plan_of(epsilon, steps=1, hierarchies=(FLAT, FLAT))

        def told(rows, size):
            found = [plan.release(Given(rows)) for _ in range(size)]
            return [(one["choices"][0], min(max(one["counts"][1] + one["counts"][3], 2), 5)) for one in found]

        return audit(told, [(with_it, without)], epsilon="1/2", samples=150).is_refuted

    assert not refuted("1/2")
    assert refuted(60)
