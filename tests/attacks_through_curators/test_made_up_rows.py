"""Made-up rows: copies say who was in the table, also if drawn with replacement, and synthetic data at ε = 1 do not.

The adversary knows the table of everybody else and which marginals were measured, and looks there for the values of
person 0, whom nobody is like.
"""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.core.membership_game import play
from sfumato.attacks.core.outcome import largest_advantage
from sfumato.attacks.members.made_up import copied_records, marginal_ratios
from sfumato.privacy.secret import Secret
from sfumato.session.training.marginals import Marginals
from sfumato.synth.methods.plan import SynthesisModel, SynthesisPlan

RNG = np.random.default_rng(2028)
SURE = 1 - 4e-6
NAMES, VALUES, OTHERS, DELTA = ("a", "b", "c"), 4, 12, 1e-6
RECORD = {name: [VALUES - 1] for name in NAMES}
LARGE = {name: RNG.integers(VALUES - 1, size=297).tolist() + [VALUES - 1] * 3 for name in NAMES}
GROUPS = [["a", "b"], ["b", "c"]]


def tables(coins):
    """In each world twelve people of the other values, and person 0 where the coin says so."""
    for coin in coins:
        others = {name: RNG.integers(VALUES - 1, size=OTHERS).tolist() for name in NAMES}
        yield {name: others[name] + RECORD[name] * coin for name in NAMES}


def answering(made, groups):
    return lambda question: made if question == "rows" else groups


def bootstraps(coins):
    for table in tables(coins):
        taken = RNG.integers(len(table["a"]), size=len(table["a"]))
        yield answering({name: [table[name][place] for place in taken] for name in NAMES}, GROUPS)


COLUMNS = {name: sf.integer(0, VALUES - 1, nullable=False) for name in NAMES}
EVERYTHING = "SELECT a, b, c FROM people"


class Counted(Marginals):
    """Marginals of a table in memory, without an engine: for many worlds."""

    def __init__(self, query, table):
        super().__init__(query, None)
        self.table = table

    def different_rows(self, names):
        codes = np.stack([self.table[name] for name in names], axis=1)
        return Secret((codes, np.ones(len(codes), dtype=np.int64)))


def private(epsilon, method):
    """What `synthesize` charges, measures and fits, in each world."""
    empty = pa.table({name: pa.array([], pa.int64()) for name in NAMES})
    with sf.open(empty, name="people", columns=COLUMNS, budget=sf.PureDP(1)) as people:
        query = people.marginals(EVERYTHING).query
        relation = people.policy.neighboring_relation
    plan = SynthesisPlan(query=query, relation=relation, charge=sf.ApproxDP(epsilon, DELTA), method=method)

    def worlds(coins):
        for table in tables(coins):
            released = plan.release(Counted(query, table))
            model = SynthesisModel.of(query, released, total=OTHERS).model
            rows = {name: values.tolist() for name, values in model.rows(200, seed=1).items()}
            yield answering(rows, [columns for columns, _, stddev, _ in released["steps"] if stddev])

    return worlds


def score(answer):
    return float(marginal_ratios(RECORD, answer("rows"), LARGE, groups=answer("groups"))[0])


def advantage(worlds, trials, threshold=1.0):
    return play(worlds, score, trials=trials, threshold=threshold).rates.advantage_limits(confidence=SURE)


@pytest.mark.statistical
def test_bootstrap_copies_say_who_was_there():
    assert advantage(bootstraps, 2_000)[0] > largest_advantage(epsilon=1, delta=DELTA), "0.63 expected"


@pytest.mark.statistical
@pytest.mark.parametrize(("method", "trials"), [("independent", 200), ("mst", 50)])
def test_synthetic_data_at_an_epsilon_of_one_say_no_more_than_it_allows(method, trials):
    found = advantage(private(1, method), trials, threshold=2.75)  # noise is above 1
    assert found[0] <= largest_advantage(epsilon=1, delta=DELTA)


@pytest.mark.statistical
def test_at_an_epsilon_of_a_hundred_they_say_who_was_there():
    assert advantage(private(100, "independent"), 150)[0] > largest_advantage(epsilon=1, delta=DELTA)


def test_records_are_read_off_a_bootstrap_copy_and_not_off_synthetic_data():
    there, others = ({name: RNG.integers(30, size=200).tolist() for name in NAMES} for _ in range(2))
    taken = RNG.integers(200, size=200)
    copy = {name: [there[name][place] for place in taken] for name in NAMES}
    assert copied_records(copy, members=there, outsiders=others, columns=NAMES).success > 0.5
    columns = {name: sf.integer(0, 29, nullable=False) for name in NAMES}
    with sf.open(pa.table(there), name="people", columns=columns, budget=sf.ApproxDP(1, DELTA)) as people:
        made = sf.synth.synthesize(people, "SELECT a, b, c FROM people", epsilon=1, delta=DELTA, method="mst")
    found = copied_records(made.rows(200, seed=1), members=there, outsiders=others, columns=NAMES)
    assert found.success < 0.1
