"""The cost of two tables: both parts together take what was charged, under any choice of methods."""

from fractions import Fraction
from functools import partial

import pytest
from tests.synth.relational.clinic import crowd, session_of

from sfumato.accounting import ZCDPAccountant
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.synth.relational.plan import TablesPlan, TablesQuery
from sfumato.synth.relational.reading import TwoTables

CHARGE = ApproxDP(2, "1e-6")


ALL = {"people": ("age", "ill"), "visits": ("ward", "id")}


def plan_of(session, methods=("mst", "mst"), charge=CHARGE, columns=ALL):
    tables = session.policy.tables
    two = TwoTables(parents=tables["people"], children=tables["visits"], columns=columns)
    parents, children = (session.marginals(sql).query for sql in (two.parents_sql(), two.children_sql()))
    query = TablesQuery(parents=parents, children=children)
    return TablesPlan(query=query, relation=session.policy.neighboring_relation, charge=charge, methods=methods)


def released(plan, session):
    return plan.release(plan.query.read(partial(session.desk.engine.run, salt="00" * 16)))


@pytest.mark.parametrize("methods", [("mst", "mst"), ("independent", "aim"), ("privbayes", "mwem")])
@pytest.mark.parametrize("relation", NeighboringRelation)
def test_both_parts_together_cost_what_was_charged(methods, relation):
    with session_of(*crowd(30), relation=relation) as session:
        plan = plan_of(session, methods)
        found = released(plan, session)
    spent = [sum(Fraction(rho) for _, rho, _, _ in found[part]["steps"]) for part in ("parents", "children")]
    assert 0.999999 * plan.event.rho < sum(spent) <= plan.event.rho
    assert spent[0] == pytest.approx(spent[1])
    cost = ZCDPAccountant(neighboring_relation=relation).compose(plan.event).epsilon(CHARGE.delta)
    assert 0.999 * CHARGE.epsilon <= cost <= CHARGE.epsilon


def test_what_is_read_of_both_is_in_the_key():
    with session_of([], []) as session:
        plan = plan_of(session)
        assert plan.query.rows_per_unit == 2
        text, *lattices = plan.query.lattices
        assert "visits" in text
        assert lattices == [plan.query.parents.lattices, plan.query.children.lattices]
        assert plan.document() == {"methods": ["mst", "mst"]}
        assert plan.name == "synthetic tables by mst"
        assert plan.query.statement == plan.query.children.statement


def test_noise_hides_more_of_children_than_of_parents():
    """A unit has one parent row and two children: noise on counts of children is twice as wide."""
    with session_of(*crowd(30)) as session:
        found = released(plan_of(session, ("independent", "independent")), session)
    parents, children = (float(Fraction(found[part]["steps"][0][2])) for part in ("parents", "children"))
    assert children / parents == pytest.approx(2 * (4 / 3) ** 0.5, rel=0.01)  # of four columns, and of three
