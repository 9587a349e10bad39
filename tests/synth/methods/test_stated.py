"""What is stated in public: workloads as whole weights, and impossible combinations as cells."""

import datetime as dt
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.query.model.kinds import Kind
from sfumato.session.training.attributes import Attribute
from sfumato.synth.methods import stated
from sfumato.synth.methods.merging import QuantileCut
from sfumato.synth.methods.stated import Stated
from sfumato.synth.models.measured import NoisyMarginal
from sfumato.synth.models.mixture import MixtureModel
from sfumato.synth.models.model import GraphicalModel
from sfumato.synth.models.relaxed import mixture_memory
from sfumato.synth.models.shape import TableShape

AGE = Attribute(name="age", kind=Kind.INTEGER, edges=(Fraction(0), Fraction(16), Fraction(18), Fraction(19)), missing=3)
PAY = Attribute(name="pay", kind=Kind.FLOAT, edges=(Fraction(0), Fraction(1, 2), Fraction(1)))
SEX = Attribute(name="sex", kind=Kind.TEXT, values=("f", "m"), missing="missing")
ILL = Attribute(name="ill", kind=Kind.BOOLEAN, values=(False, True), missing=2)
BORN = Attribute(name="born", kind=Kind.DATE, values=(dt.date(2024, 1, 1), dt.date(2024, 2, 1)))
ALL = (AGE, PAY, SEX, ILL, BORN)
NAMES = ("age", "pay", "sex", "ill", "born")


def test_weights_become_whole_numbers_without_a_common_divisor():
    found = Stated.of(ALL, workload={("sex", "age"): "1/3", ("ill",): 0.5, ("age", "sex"): 1})
    assert found.workload == {("age", "sex"): 8, ("ill",): 3}
    assert Stated.of(ALL, workload=[("age", "sex"), ["sex", "ill"]]).workload == {("age", "sex"): 1, ("sex", "ill"): 1}
    assert Stated.of(ALL, workload={("age",): 10, ("sex",): 4}).workload == {("age",): 5, ("sex",): 2}


def test_candidates_weigh_what_they_share_with_the_workload():
    own = Stated.of(ALL, workload={("age", "sex", "ill"): 2, ("sex", "born"): 1}).weights(NAMES, 3)
    assert own[("sex",)] == 3
    assert own[("age", "sex", "ill")] == 2 * 3 + 1
    assert own[("sex", "born")] == 2 * 1 + 2
    assert ("pay",) not in own
    assert ("age", "born") not in own
    assert len(own) == 7 + 2
    without = Stated().weights(("a", "b", "c", "d"), 3)
    assert len(without) == 4 + 6 + 4
    assert (without["a",], without["a", "b"], without["a", "b", "c"]) == (3, 2 * 2 + 2 * 1, 3 + 3 * 2)
    assert Stated().weights(("a", "b"), 3) == {("a",): 1, ("b",): 1, ("a", "b"): 2}


@pytest.mark.parametrize("workload", [
    [], 7, "age", ["age"], [("age", "name")], [()], {("age",): 0}, {("age",): -1}, {("age",): "x"}, [("age", "age")],
    {("age",): 1, ("sex",): 2**41}, {7: 1}, [("age",), None],
], ids=range(13))  # fmt: skip
def test_a_workload_that_is_none_is_refused(workload):
    with pytest.raises(ParameterError, match="workload"):
        Stated.of(ALL, workload=workload)


def test_a_workload_beyond_memory_is_refused(monkeypatch):
    many = [Attribute(name=f"x{place}", kind=Kind.TEXT, values=tuple(map(str, range(100)))) for place in range(9)]
    with pytest.raises(ParameterError, match="combinations; state fewer bins, or smaller groups"):
        Stated.of(many, workload=[("x0", "x1", "x2", "x3")])
    with pytest.raises(ParameterError, match="1 to 8 columns"):
        Stated.of(many, workload=[[f"x{place}" for place in range(9)]])
    monkeypatch.setattr(stated, "_MOST_GROUPS", 8)
    with pytest.raises(ParameterError, match="with all parts of groups at most 8"):
        Stated.of(many, workload=[("x0", "x1", "x2"), ("x3", "x4")])
    assert Stated.of(many, workload=[("x0", "x1", "x2"), ("x4",)]).workload


def test_impossible_values_become_cells():
    found = Stated.of(ALL, impossible={
        ("sex", "age"): [("m", (0, 15)), (None, 18), ("f", None)], ("pay", "born"): [((0, 0.5), dt.date(2024, 2, 1))],
        ("ill",): [(True,)],
    })  # fmt: skip
    ages = found.impossible["age", "sex"]
    assert ages.tolist() == [
        [False, True, False], [False] * 3, [False, False, True], [True, False, False],
    ]  # fmt: skip
    assert found.impossible["pay", "born"].tolist() == [[False, True], [False, False]]
    assert found.impossible["ill",].tolist() == [False, True, False]
    assert found.rule.kept == {"age", "sex", "pay", "born", "ill"}
    both = Stated.of(ALL, impossible={("sex", "ill"): [("m", True)], ("ill", "sex"): [(False, "f")]})
    assert both.impossible["sex", "ill"].sum() == 2
    assert Stated.of(ALL, impossible={("age",): [((-5, 17),)]}).impossible["age",].tolist() == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("impossible", [
    7, {("name",): [("x",)]}, {"sex": [("f",)]}, {("sex",): [("x",)]}, {("sex",): ["f"]}, {("sex", "ill"): [("f",)]},
    {("age",): [((0, 10),)]}, {("age",): [(16,)]}, {("age",): [((30, 40),)]}, {("age",): [("old",)]},
    {("pay",): [(0.5,)]}, {("pay",): [((0, 0.6),)]}, {("age",): [((0, 5, 9),)]},
    {("ill",): [(False,), (True,), (None,)]},
    {("pay",): [(None,)]}, {(): [()]}, {("sex",): [([1],)]}, {("sex",): 3}, {("age",): [((17, 2),)]},
], ids=range(19))  # fmt: skip
def test_what_is_no_combination_is_refused(impossible):
    with pytest.raises(ParameterError, match="impossible"):
        Stated.of(ALL, impossible=impossible)


def test_zeros_that_need_much_memory_are_refused(monkeypatch):
    monkeypatch.setattr(stated, "_MOST_ZEROS", 12)
    Stated.of(ALL, impossible={("age", "sex"): [(18, "m")]})
    with pytest.raises(ParameterError, match="at most 12 combinations"):
        Stated.of(ALL, impossible={("age", "sex", "ill"): [(18, "m", True)]})
    circle = {("age", "sex"): [(18, "m")], ("sex", "ill"): [("m", True)], ("age", "ill"): [(18, True)]}
    with pytest.raises(ParameterError, match="too much memory together"):
        Stated.of(ALL, impossible=circle)


def test_documents_tell_all_that_is_stated():
    assert Stated().document() == {}
    found = Stated.of(ALL, workload=[("age", "sex")], impossible={("sex", "ill"): [("m", True)]})
    assert found.document() == {"workload": [[["age", "sex"], 1]], "impossible": [[["sex", "ill"], [4]]]}


def test_models_leave_out_what_is_impossible():
    found = Stated.of((SEX, ILL), impossible={("sex", "ill"): [("m", True)]})
    shape = TableShape({"sex": 3, "ill": 3})
    model = found.fit(
        shape, [NoisyMarginal(["sex"], [10, 20, 5], stddev=2), NoisyMarginal(["ill"], [9, 9, 9], stddev=2)]
    )
    assert model.marginal(["sex", "ill"])[1, 1] == 0
    assert np.isclose(model.marginal(["sex", "ill"]).sum(), model.total)
    assert Stated().fit(shape, [], total=9).total == 9


def test_room_is_beside_what_is_impossible():
    shape = TableShape({"sex": 3, "ill": 3, "born": 2})
    groups = [("sex", "ill"), ("ill", "born")]
    assert Stated().fits(shape, groups, 8 * 15)
    assert not Stated().fits(shape, groups, 8 * 15 - 1)
    zeros = Stated(impossible={("sex", "ill"): np.zeros((3, 3), dtype=bool)})
    assert zeros.fits(shape, groups, 8 * 15 - 8 * 11)
    assert not zeros.fits(shape, groups, 8 * 15 - 8 * 11 - 1)


def test_numbers_are_cut_into_as_many_parts_as_stated():
    found = Stated.of(ALL, quantiles={"age": 2, "pay": 1})
    assert found.cuts == {"age": QuantileCut(parts=2, bins=3), "pay": QuantileCut(parts=1, bins=2)}
    assert found.rule.cuts == found.cuts
    assert found.document() == {"quantiles": [["age", 2], ["pay", 1]]}
    assert Stated.of(ALL).document() == Stated.of(ALL, quantiles={}).document() == {}


@pytest.mark.parametrize("quantiles", [
    {"sex": 2}, {"born": 2}, {"name": 2}, {"age": 0}, {"age": 4}, {"age": 1.5}, {"age": True}, ["age"], 7, {7: 2},
], ids=range(10))  # fmt: skip
def test_quantiles_of_what_is_no_number_are_refused(quantiles):
    with pytest.raises(ParameterError, match="quantiles"):
        Stated.of(ALL, quantiles=quantiles)


def test_a_column_with_impossible_values_is_not_cut():
    with pytest.raises(ParameterError, match="stay apart: state its bins"):
        Stated.of(ALL, impossible={("age", "sex"): [((0, 15), "m")]}, quantiles={"age": 2})


def test_a_tree_limit_is_stored_only_where_it_is_stated():
    assert Stated.of(ALL).document() == Stated.of(ALL, tree_limit=None).document() == {}
    assert Stated.of(ALL, tree_limit=7).document() == {"tree_limit": 7}


def test_beyond_a_tree_limit_any_groups_fit_that_alone_are_small():
    shape = TableShape(dict.fromkeys("abcdef", 20))
    pairs = list(combinations(shape.sizes, 2))
    plain, relaxed = Stated(), Stated(tree_limit=1_000)
    room = 8 * 20**3
    assert not plain.fits(shape, pairs, room)
    assert relaxed.fits(shape, pairs, room)
    assert relaxed.fits(shape, [("c", "b", "a")], room)
    assert not relaxed.fits(shape, [("a", "b", "c")], room - 1)
    noisy = [NoisyMarginal(pair, np.full((20, 20), 5), stddev=9) for pair in pairs]
    assert isinstance(relaxed.fit(shape, noisy), MixtureModel)
    assert isinstance(relaxed.fit(shape, noisy[:2]), GraphicalModel)


def test_groups_for_which_a_mixture_has_no_memory_do_not_fit(monkeypatch):
    shape = TableShape(dict.fromkeys("abc", 20))
    monkeypatch.setattr(stated, "MEMORY_LIMIT", mixture_memory(shape, [("a",), ("b",), ("c",), ("a", "b")], []))
    relaxed = Stated(tree_limit=1)
    assert relaxed.fits(shape, [("a", "b")], 1 << 20)
    assert not relaxed.fits(shape, [("a", "b"), ("b", "c")], 1 << 20)


def test_columns_for_which_a_mixture_has_no_memory_are_refused():
    values = tuple(map(str, range(1_000)))
    wide = [Attribute(name=f"x{place}", kind=Kind.TEXT, values=values) for place in range(100)]
    Stated.of(wide)
    with pytest.raises(ParameterError, match="too many for a mixture"):
        Stated.of(wide, tree_limit=1_000)
    many = [Attribute(name=f"x{place}", kind=Kind.TEXT, values=tuple(map(str, range(50)))) for place in range(3)]
    never = {(f"x{place}", f"x{place + 1}"): [("0", "0")] for place in range(2)}  # 125,000 cells together
    Stated.of(many, impossible=never)
    with pytest.raises(ParameterError, match="impossible together"):
        Stated.of(many, impossible=never, tree_limit=1_000)
    for limit in (0, 1.5, "x", (1 << 19) + 1):
        with pytest.raises(ParameterError, match="tree_limit"):
            Stated.of(ALL, tree_limit=limit)
