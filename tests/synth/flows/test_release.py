"""Synthetic flows of a session: charged before data is read, for declared places alone, and with the law they state."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.laws import assert_law, cdf_of
from tests.synth.flows.test_urn import mass, outputs

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import BudgetExceededError, NotPrivateError, ParameterError
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.privacy.secret import Secret
from sfumato.synth.flows.priors import flow_prior
from sfumato.synth.flows.release import Destination, FlowFit

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


class Given:
    """Marginals with these counts, which remember for which columns they were asked."""

    def __init__(self, counts):
        self.counted, self.asked = np.array(counts, dtype=np.int64), []

    def counts(self, names):
        self.asked.append(tuple(names))
        return Secret(self.counted.reshape(-1))


def fit_of(*destinations, width):
    return FlowFit(columns=("work", "home"), width=width, destinations=destinations, charge=sf.PureDP(1))


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


@pytest.mark.statistical
def test_drawn_flows_have_the_law_of_counts_priors_and_public_flows():
    """Type-I error 1e-6: the weights are 2 + 1/2 + 3 and 0 + 1/2 + 0, and the origin in between has no flow."""
    fit = fit_of(Destination(draws=4, prior=Fraction(1, 2), added=(3, None, 0)), width=4)
    given = Given([[2, 9, 0, 7]])
    drawn = np.array([{at: n for _, at, n in fit.release(given)["flows"]}.get(0, 0) for _ in range(4000)])
    assert set(given.asked) == {("work", "home")}
    law = [float(mass([Fraction(11, 2), Fraction(1, 2)], (k, 4 - k))) for k in range(5)]
    assert_law(drawn, cdf_of(np.array(law)))
    assert sum(law) == pytest.approx(1)
    assert len(outputs(2, 4)) == 5


@pytest.mark.statistical
def test_an_audit_refutes_a_tenth_of_the_price_and_not_the_price():
    """Type-I error 1e-6 each: one worker of an origin that nobody else comes from."""
    prior = flow_prior(epsilon=1, draws=1, origins=2)
    fit = fit_of(Destination(draws=1, prior=prior, added=(0, 0)), width=2)

    def mechanism(counts):
        return fit.release(Given([counts]))["flows"][0][1]

    pairs = [((1, 3), (0, 3))]

    def run(counts, size):
        return [mechanism(counts) for _ in range(size)]

    assert not audit(run, pairs, epsilon=1, samples=2_000).is_refuted
    assert audit(run, pairs, epsilon="0.1", samples=6_000).is_refuted


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
