"""Whatever is asked for, all that opens exact counts is charged: random tables, methods, budgets and workloads.

A synthesis is recorded, and played again on a neighboring table with the same outcomes. Then all parameters of all
mechanisms are the same, and how far their exact inputs are apart is what the outcomes cost.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from tests.synth.methods.small import Counted, without_an_engine

import sfumato as sf
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.selection.exponential import Exponential
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.sql.questions import parse_view
from sfumato.session.training.marginals import marginal_query
from sfumato.synth.methods.merging import QuantileCut
from sfumato.synth.methods.plan import METHODS, SynthesisModel, SynthesisPlan
from sfumato.synth.methods.stated import Stated

CASES = [(method, relation, seed) for method in METHODS for relation in NeighboringRelation for seed in range(2)]


class Tape:
    """What mechanisms are made with, what they are given, and what they answer: at first by chance, then the same."""

    def __init__(self, monkeypatch):
        self.entries, self.answers, self.is_played = [], [], False
        for name, kind in (("GaussianNoise", GaussianNoise), ("Exponential", Exponential)):
            monkeypatch.setattr(f"sfumato.synth.methods.measuring.{name}", self.watched(name, kind))

    def watched(self, name, kind):
        def made(**given):
            return Watched(self, name, given, kind(**given))

        return made

    def again(self):
        first, self.entries, self.is_played = self.entries, [], True
        return first


class Watched:
    def __init__(self, tape, name, given, mechanism):
        self.tape, self.name, self.given, self.mechanism = tape, name, given, mechanism

    def release(self, secret):
        self.tape.entries.append((self.name, self.given, np.array(secret.open_for_noise(), dtype=object)))
        if not self.tape.is_played:
            self.tape.answers.append(self.mechanism.release(secret))
        return self.tape.answers[len(self.tape.entries) - 1]


def query_of(sizes):
    """Columns with so many listed values each, and one for what is missing."""
    values = {name: [f"{name}{place}" for place in range(size)] for name, size in sizes.items()}
    table = pa.table({name: pa.array([], pa.string()) for name in sizes})
    declared = {name: sf.text(values=own) for name, own in values.items()}
    session = sf.open(table, name="t", columns=declared, budget=sf.ApproxDP(10, "1e-5"), engine="reference")
    return marginal_query(parse_view(f"SELECT {', '.join(sizes)} FROM t", session._tables)), values


def stated_of(random, method, query, values):
    names = tuple(values)
    pairs = list(combinations(names, 2))
    workload = None
    if method in {"aim", "mwem"} and random.random() < 0.5:
        workload = {names[-2:]: "1/3", names: int(random.integers(1, 9))}
    impossible = None
    if random.random() < 0.5:
        pair = pairs[random.integers(len(pairs))]
        impossible = {pair: [(values[pair[0]][0], values[pair[1]][0]), (None, values[pair[1]][0])]}
    tree_limit = int(random.integers(1, 20)) if random.random() < 0.5 else None
    found = Stated.of(query.attributes, workload=workload, impossible=impossible, tree_limit=tree_limit)
    own = names[-1]  # a category is cut as a number would be: a cut goes by the order of values
    if own in found.rule.kept or random.random() < 0.5:
        return found
    return replace(
        found, cuts={own: QuantileCut(parts=int(random.integers(1, len(values[own]) + 1)), bins=len(values[own]))}
    )


def neighbor_of(random, rows, sizes, relation):
    """Another table that differs in one row; one is there at least."""
    new = [int(random.integers(size + 1)) for size in sizes.values()]
    if relation is NeighboringRelation.REPLACE_ONE:
        return [*rows[1:], new]
    return [*rows, new] if random.random() < 0.5 else rows[1:]


def distance_of(name, given, one, other):
    """What an outcome costs in ρ by how far the exact inputs are apart."""
    change = [float(left - right) for left, right in zip(one, other, strict=True)]
    if name == "GaussianNoise":
        assert (
            sum(int(left - right) ** 2 for left, right in zip(one, other, strict=True)) <= given["l2_sensitivity"] ** 2
        )
        return sum(step**2 for step in change) / (2 * float(given["stddev"]) ** 2)
    assert max(map(abs, change)) <= given["utility_sensitivity"]
    reach = (max(change) - min(change)) / 2
    return (float(given["epsilon"]) * reach / float(given["utility_sensitivity"])) ** 2 / 8


@pytest.mark.parametrize(("method", "relation", "seed"), CASES, ids=range(len(CASES)))
def test_all_that_opens_counts_is_charged(method, relation, seed, monkeypatch):
    without_an_engine(monkeypatch)
    random = np.random.default_rng(seed + 100 * list(METHODS).index(method))
    sizes = {name: int(random.integers(1, 4)) for name in "abcd"[: random.integers(2, 5)]}
    query, values = query_of(sizes)
    rows = [[int(random.integers(size + 1)) for size in sizes.values()] for _ in range(random.integers(1, 60))]
    plan = SynthesisPlan(
        query=query, relation=relation, charge=ApproxDP(Fraction(int(random.integers(1, 60)), 10), "1e-6"),
        method=method, stated=stated_of(random, method, query, values),
    )  # fmt: skip
    tape = Tape(monkeypatch)
    found = plan.release(Counted(query, rows))
    first = tape.again()
    assert plan.release(Counted(query, neighbor_of(random, rows, sizes, relation))) == found
    assert [(name, given, len(exact)) for name, given, exact in first] == [
        (name, given, len(exact)) for name, given, exact in tape.entries
    ]
    steps = found["steps"]
    assert [stddev is not None for _, _, stddev, _ in steps] == [name == "GaussianNoise" for name, _, _ in first]
    spent = 0
    for (name, given, one), (_, _, other), (_, rho, _, _) in zip(first, tape.entries, steps, strict=True):
        cost = distance_of(name, given, one, other)
        assert cost <= float(Fraction(rho)) * (1 + 1e-9)
        spent += cost
    stated = sum(Fraction(rho) for _, rho, _, _ in steps)
    assert spent <= float(stated) * (1 + 1e-9)
    assert 0.99999 * plan.event.rho < stated <= plan.event.rho
    model = SynthesisModel.of(query, found, stated=plan.stated)
    assert len(model.model.rows(7, seed=1)["a"]) == 7
