"""One charge for two tables, before a row is read; clear errors before it; and an audit of all that is released."""

import numpy as np
import pytest
from tests.synth.relational.clinic import crowd, session_of
from tests.synth.relational.test_plan import plan_of

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.secret import Secret
from sfumato.session.training.marginals import MarginalQuery, Marginals
from sfumato.synth.relational.release import synthesize_tables

COST = {"epsilon": 1, "delta": "1e-6"}


def test_both_tables_are_charged_once_and_the_same_again_costs_nothing():
    with session_of(*crowd(50), budget=sf.ApproxDP(1, "1e-6")) as session:
        made = synthesize_tables(session, "people", "visits", **COST, method="independent")
        assert session.spent == ApproxDP(1, "1e-6")
        again = synthesize_tables(session, "people", "visits", **COST, method="independent")
        assert (made.reused, again.reused) == (False, True)
        assert again.rows(9, seed=1)["visits"].equals(made.rows(9, seed=1)["visits"])
        with pytest.raises(BudgetExceededError):
            synthesize_tables(session, "people", "visits", **COST, method="mst")
        assert session.spent == ApproxDP(1, "1e-6")


def test_an_account_pays_and_columns_and_bins_are_chosen():
    with session_of(*crowd(50)) as session:
        ann = session.open_account("ann", budget=sf.ApproxDP(1, "1e-6"))
        made = synthesize_tables(
            ann, "people", "visits", **COST, columns={"people": ["age"], "visits": ["id"]}, bins={"people.age": 1}
        )  # fmt: skip
        assert ann.spent == ApproxDP(1, "1e-6")
    assert {one.name: one.size for one in made.children.attributes} == {"people.age": 2, "visits.id": 3}
    assert made.parents.method == "aim"
    assert "column" in made.parents.reason
    assert made.rows(5, seed=1)["people"].column_names == ["who", "age"]


def test_empty_tables_are_answered_as_others():
    with session_of([], []) as session:
        made = synthesize_tables(session, "people", "visits", **COST, method="mst")
        assert session.spent == ApproxDP(1, "1e-6")
    assert made.rows(10, seed=1)["people"].num_rows == 10


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"parents": "persons"}, "table of the policy"),
        ({"children": 7}, "table of the policy"),
        ({"children": "people"}, "another table"),
        ({"columns": {"persons": ["age"]}}, "must be of tables"),
        ({"columns": {"people": ["who"]}}, "not its unit"),
        ({"columns": {"people": []}}, "at least one column"),
        ({"columns": ["age"]}, "by table"),
        ({"bins": {"age": 2}}, "must be of columns"),
        ({"bins": 3}, "people.age"),
        ({"method": "gan"}, "method"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"session": "clinic"}, "session"),
    ],
)
def test_what_cannot_be_made_is_refused_before_anything_is_charged(changed, match):
    with session_of(*crowd(5)) as session:
        asked = {"session": session, "parents": "people", "children": "visits", **COST} | changed
        with pytest.raises(ParameterError, match=match):
            synthesize_tables(**asked)
        assert session.spent == ApproxDP(0, 0)


class Counted(Marginals):
    """Marginals of rows in memory, without an engine: for many runs."""

    def __init__(self, query, rows):
        super().__init__(query, None)
        self.rows = np.array(rows, dtype=np.int64).reshape(-1, len(query.attributes))

    def different_rows(self, names):
        own = [one.name for one in self._query.attributes]
        return Secret((self.rows[:, [own.index(name) for name in names]], np.ones(len(self.rows), dtype=np.int64)))


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_cost_but_refutes_a_smaller_one(monkeypatch):
    """One unit with two visits, or nobody: all that tells of its values, in both parts."""
    known, whole = {}, MarginalQuery.sensitivity

    def remembered(self, names, relation):
        key = (tuple(one.name for one in self.attributes), tuple(names), relation)
        if key not in known:
            known[key] = whole(self, names, relation)
        return known[key]

    monkeypatch.setattr(MarginalQuery, "sensitivity", remembered)
    columns = {"people": ("age",), "visits": ("ward",)}
    with session_of([], []) as session:
        plans = {
            epsilon: plan_of(session, ("independent", "independent"), ApproxDP(epsilon, "1e-6"), columns)
            for epsilon in (1, 80)
        }
    unit = {"parents": [(2, 2)], "children": [(2, 0), (2, 0)]}
    nobody = {"parents": [], "children": []}

    def told(plan):
        def one(rows):
            read = Counted(plan.query.parents, rows["parents"]), Counted(plan.query.children, rows["children"])
            found = plan.release(read)
            return sum(
                counts[rows_of[0][names.index(columns[0])]]
                for part, rows_of in unit.items()
                for names in [[own.name for own in getattr(plan.query, part).attributes]]
                for columns, _, stddev, counts in found[part]["steps"]
                if stddev
            )

        return one

    assert not audit(told(plans[1]), [(nobody, unit)], epsilon=1, delta="1e-6", samples=100).is_refuted
    assert audit(told(plans[80]), [(nobody, unit)], epsilon=1, delta="1e-6", samples=100).is_refuted
