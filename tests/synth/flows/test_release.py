"""Synthetic flows of a session: charged before data is read, for declared places alone, and with the law they state."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import BudgetExceededError, NotPrivateError, ParameterError
from sfumato.privacy.neighbors import REPLACE_ONE, NeighboringRelation
from sfumato.synth.flows.priors import flow_prior

PLACES = ["north", "south", "east"]
COLUMNS = {
    "home": sf.text(values=PLACES),
    "work": sf.text(values=PLACES[:2]),
    "who": sf.text(),
    "age": sf.integer(0, 9),
}
ASK = {"origin": "home", "destination": "work", "draws": 20, "epsilon": 1}
QUERY = "SELECT home, work FROM commuters"
ROWS = [("north", "south"), ("south", "south"), ("east", "north"), (None, "north"), ("moon", "north"), ("east", None)]


def commuters(rows=ROWS, *, budget=1, **changes):
    data = pa.table(
        {"home": [one for one, _ in rows], "work": [two for _, two in rows], "age": [1] * len(rows),
         "who": [str(at) for at in range(len(rows))]},
        schema=pa.schema([("home", "string"), ("work", "string"), ("age", "int64"), ("who", "string")]),
    )  # fmt: skip
    return sf.open(
        data,
        **{"name": "commuters", "columns": COLUMNS, "budget": sf.PureDP(budget) if isinstance(budget, int) else budget}
        | changes,
    )


def test_flows_are_charged_once_and_stored():
    with commuters(budget=1) as people:
        flows = sf.synth.synthetic_flows(people.marginals(QUERY), **ASK)
        assert people.spent == sf.PureDP(1)
        assert flows.counts.shape == (2, 3)
        assert flows.counts.sum(axis=1).tolist() == [20, 20]
        assert (flows.origins, flows.destinations) == (tuple(PLACES), tuple(PLACES[:2]))
        again = sf.synth.synthetic_flows(people.marginals(QUERY), **ASK)
        assert np.array_equal(again.counts, flows.counts)
        with pytest.raises(BudgetExceededError):
            sf.synth.synthetic_flows(people.marginals(QUERY), **ASK | {"draws": 21})
        assert people.spent == sf.PureDP(1)


def test_a_delta_is_charged_too_and_an_empty_table_has_flows():
    with commuters([], budget=sf.ApproxDP(1, "1e-5")) as people:
        flows = sf.synth.synthetic_flows(people.marginals(QUERY), **ASK | {"delta": "1e-5"})
        assert people.spent == sf.ApproxDP(1, "1e-5")
        assert flows.priors == (flow_prior(epsilon=1, delta="1e-5", draws=20, origins=3),) * 2
        assert flows.counts.sum() == 40


def test_rows_without_declared_places_are_in_no_flow_and_counts_are_where_they_belong():
    rows = [("south", "north")] * 10**5 + [("east", "south")] * 10**5 + [("moon", "south"), (None, "north")] * 10**5
    with commuters(rows, budget=30) as people:
        flows = sf.synth.synthetic_flows(people.marginals(QUERY), **ASK | {"epsilon": 30})
    assert flows.counts.tolist() == [[0, 20, 0], [0, 0, 20]]  # but for a chance below 1e-3 of the smallest prior
    assert {(row["origin"], row["destination"]) for row in flows.to_arrow().to_pylist()} == {
        ("south", "north"), ("east", "south"),
    }  # fmt: skip


def test_public_flows_leave_out_origins_and_so_need_less_prior():
    prior = {"north": {"south": 5}, "south": {"north": 0, "south": 7}}
    with commuters(budget=sf.ApproxDP(2, "1e-5")) as people:
        flows = sf.synth.synthetic_flows(people.marginals(QUERY), **ASK | {"prior": prior, "delta": "1e-5"})
    assert flows.counts[0].tolist() == [0, 20, 0]
    assert flows.counts[1, 2] == 0
    sizes = [flow_prior(epsilon=1, delta="1e-5", draws=20, origins=size) for size in (1, 2)]
    assert flows.priors == tuple(sizes)


def test_where_workers_replace_one_another_the_destination_with_the_fewest_origins_counts():
    with commuters(neighboring_relation=REPLACE_ONE) as people:
        flows = sf.synth.synthetic_flows(
            people.marginals(QUERY), **ASK | {"prior": {"north": {"south": 5}}, "draws": {"north": 3, "south": 9}}
        )
    asked = {"epsilon": 1, "origins": 1, "neighboring_relation": REPLACE_ONE}
    assert flows.priors == (flow_prior(draws=3, **asked), flow_prior(draws=9, **asked))


def test_a_unit_of_several_rows_is_refused():
    limits = sf.Limits(max_rows_per_unit=2)
    with commuters(unit="who", limits=limits) as people, pytest.raises(NotPrivateError, match="several rows"):
        sf.synth.synthetic_flows(people.marginals(QUERY), **ASK)


@pytest.mark.parametrize(
    "changed",
    [{"origin": "away"}, {"destination": "home"}, {"origin": "age"}, {"draws": -1}, {"draws": {"north": 1}},
     {"draws": 100_001}, {"draws": 20_000, "delta": "1e-6"}, {"epsilon": 0}, {"delta": 2},
     {"prior": {"moon": {}}}, {"prior": {"north": {}}}, {"prior": {"north": {"moon": 1}}},
     {"prior": {"north": {"south": -1}}}, {"prior": [1]}, {"marginals": "people"}],
)  # fmt: skip
def test_what_is_wrong_is_refused_before_anything_is_charged(changed):
    with commuters() as people:
        query = people.marginals("SELECT home, work, age FROM commuters")
        with pytest.raises(ParameterError):
            sf.synth.synthetic_flows(**{"marginals": query} | ASK | changed)
        assert people.spent == sf.PureDP(0)


SHRUNK = {"shrinking": sf.ApproxDP("0.5", "1e-5"), "delta": "1e-5"}


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_chosen_origins_and_flows_are_one_charge_and_stored(relation):
    rows = [("south", "north")] * 1000 + [("moon", "south"), (None, "north")]
    with commuters(rows, budget=sf.ApproxDP(1, "1e-5"), neighboring_relation=relation) as people:
        flows = sf.synth.synthetic_flows(people.marginals(QUERY), **ASK | SHRUNK)
        assert people.spent == flows.charge == sf.ApproxDP(1, "1e-5")
        assert flows.receipt.guarantee == flows.charge
        assert flows.kept.tolist() == [[False, True, False], [False, False, False]]
        assert flows.counts.tolist() == [[0, 20, 0], [0, 0, 0]]
        asked = {"epsilon": "0.5", "origins": 1, "neighboring_relation": relation}
        assert flows.priors[0] == flow_prior(draws=20, **asked) - 1
        again = sf.synth.synthetic_flows(people.marginals(QUERY), **ASK | SHRUNK)
        assert np.array_equal(again.kept, flows.kept)
        assert again.priors == flows.priors
        with pytest.raises(BudgetExceededError):
            sf.synth.synthetic_flows(people.marginals(QUERY), **ASK | SHRUNK | {"shrinking": sf.ApproxDP(0, "1e-5")})
        assert people.spent == flows.charge


def test_public_flows_name_the_origins_that_can_be_kept():
    prior = {"north": {"south": 5, "east": 0}}
    with commuters([("north", "north")] * 10**5 + [("east", "north")] * 10**5, budget=sf.ApproxDP(3, "1e-5")) as people:
        asked = ASK | SHRUNK | {"epsilon": 2, "prior": prior}
        flows = sf.synth.synthetic_flows(people.marginals(QUERY), **asked)
        assert flows.kept[0].tolist() == [False, False, True]
        plain = sf.synth.synthetic_flows(people.marginals(QUERY), **ASK | {"prior": prior})
    assert plain.kept.tolist() == [[False, True, True], [True, True, True]]


@pytest.mark.parametrize(
    "changed",
    [{"shrinking": sf.ApproxDP(1, "1e-6")}, {"shrinking": sf.ApproxDP("0.5", "1e-4")}, {"delta": 0},
     {"shrinking": sf.ApproxDP("0.5", 0)}, {"shrinking": sf.PureDP("0.5")}, {"shrinking": "0.5"}, {"shrinking": True},
     {"shrinking": sf.ApproxDP(2, "1e-6")}, {"draws": 100_001},
     {"draws": 10_001, "shrinking": sf.ApproxDP("0.5", "1e-6")}],
)  # fmt: skip
def test_a_part_for_choosing_that_is_none_is_refused_before_anything_is_charged(changed):
    with commuters(budget=sf.ApproxDP(9, "1e-2")) as people:
        with pytest.raises(ParameterError, match="^draws" if "draws" in changed else "^shrinking"):
            sf.synth.synthetic_flows(people.marginals(QUERY), **ASK | SHRUNK | changed)
        assert people.spent == sf.PureDP(0)


def test_what_is_left_without_a_delta_allows_more_draws():
    with commuters(budget=sf.ApproxDP(1, "1e-5")) as people:
        flows = sf.synth.synthetic_flows(people.marginals(QUERY), **ASK | SHRUNK | {"draws": 10_001})
    assert not flows.counts.any()
