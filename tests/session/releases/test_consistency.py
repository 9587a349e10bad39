"""Sums that add up: against least squares by matrix, and what they do to the error."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from tests.query.planned import PEOPLE, TOWNS, N, planned, ref
from tests.session.desk import SURE, asked, desk, rows

from sfumato.numeric.distributions import discrete_laplace_variance
from sfumato.query.model.expressions import Call, IsNull, Not
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.planning.grouping import cube, rollup
from sfumato.query.statistics.estimates import NOTHING
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.measurements import CenteredOutput
from sfumato.query.statistics.top_values import TopValues
from sfumato.session.releases.consistency import NoisyTable, consistent_figures, fit
from sfumato.session.releases.releasing import Released

KEYS = ("a", "b", "c")
LENGTHS = (2, 3, 4)
SETS = [kept for size in range(4) for kept in combinations(KEYS, size)]
RNG = np.random.default_rng(20261120)


def others(kept):
    return tuple(axis for axis, key in enumerate(KEYS) if key not in kept)


def noisy(leaves, sets, variances):
    """Tables of sums with noise of some variance each."""
    tables = [leaves.sum(axis=others(kept), keepdims=True) for kept in sets]
    return [
        NoisyTable(frozenset(kept), table + RNG.normal(scale=variance**0.5, size=table.shape), variance)
        for kept, table, variance in zip(sets, tables, variances, strict=True)
    ]


def by_matrix(tables):
    """The weighted least squares fit as textbooks have it."""
    units = np.eye(np.prod(LENGTHS)).reshape(-1, *LENGTHS)
    design = np.vstack([
        np.stack([unit.sum(axis=others(one.keys)).reshape(-1) for unit in units], axis=1) for one in tables
    ])  # fmt: skip
    measured = np.concatenate([one.table.reshape(-1) for one in tables])
    weights = np.concatenate([np.full(one.table.size, one.variance**-0.5) for one in tables])
    leaves = np.linalg.lstsq(design * weights[:, None], measured * weights, rcond=None)[0]
    return design @ leaves


@pytest.mark.parametrize("run", range(30))
def test_the_fit_is_that_of_weighted_least_squares_for_any_sets(run):
    count = 1 + run % len(SETS)
    sets = [SETS[i] for i in sorted(RNG.choice(len(SETS), count, replace=False))] + ([] if run % 2 else [KEYS])
    sets = list(dict.fromkeys(sets))
    tables = noisy(RNG.normal(size=LENGTHS), sets, RNG.uniform(0.1, 5, len(sets)).tolist())
    if set().union(*sets) == set(KEYS):
        found = np.concatenate([table.reshape(-1) for table in fit(tables, KEYS)])
        assert found == pytest.approx(by_matrix(tables), abs=1e-9)


def test_what_is_fitted_adds_up_whatever_was_released():
    tables = noisy(np.zeros(LENGTHS), rollup(KEYS), [1.0, 2.0, 3.0, 4.0])
    whole, *totals = fit(tables, KEYS)
    for kept, total in zip(rollup(KEYS)[1:], totals, strict=True):
        assert total == pytest.approx(whole.sum(axis=others(kept), keepdims=True))


def test_exact_totals_are_kept():
    tables = noisy(np.ones(LENGTHS), [KEYS, ("a",), ()], [1.0, 1.0, 0.0])
    assert fit(tables, KEYS)[2].item() == tables[2].table.item() == pytest.approx(24)


def test_tables_that_add_up_already_stay_as_they_are():
    tables = noisy(RNG.normal(size=LENGTHS), cube(KEYS), [0.0] * 8)
    for one, fitted in zip(tables, fit(tables, KEYS), strict=True):
        assert fitted == pytest.approx(one.table)


def variances_after(sets, variances):
    """The variance of each fitted number, from the fit of each unit vector."""
    tables = noisy(np.zeros(LENGTHS), sets, [0.0] * len(sets))
    tables = [NoisyTable(one.keys, one.table, variance) for one, variance in zip(tables, variances, strict=True)]
    found = [np.zeros_like(one.table) for one in tables]
    for moved, variance in enumerate(variances):
        for place in np.ndindex(tables[moved].table.shape):
            tables[moved].table[place] = 1
            fitted = fit(tables, KEYS)
            found = [total + variance * one**2 for total, one in zip(found, fitted, strict=True)]
            tables[moved].table[place] = 0
    return found


@pytest.mark.parametrize("variances", [[1.0] * 8, [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]])
@pytest.mark.parametrize("sets", [rollup(KEYS), cube(KEYS), (("a", "b", "c"), ("a", "b"), ("b", "c"))])
def test_no_number_has_more_variance_than_before(sets, variances):
    before = variances[: len(sets)]
    after = variances_after(sets, before)
    assert all((found <= variance * (1 + 1e-9)).all() for found, variance in zip(after, before, strict=True))
    assert sum(found.sum() for found in after) < 0.9 * sum(
        variance * found.size for variance, found in zip(before, after, strict=True)
    )


DATA = rows(
    PEOPLE, *[{"sex": "f", "smokes": True, "age": 30, "pay": 2.5}] * 30,
    *[{"sex": "m", "smokes": False, "age": 50}] * 20, *[{"sex": None, "smokes": True}] * 7,
)  # fmt: skip
SETS_OF_KEYS = (("sex", "smokes"), ("sex",), ("smokes",), ())
CLAUSES = {"keys": ("sex", "smokes"), "sets": SETS_OF_KEYS, "consistent": True}


def answer(*statistics, epsilon, **clauses):
    return asked(desk((PEOPLE, DATA)), PEOPLE, statistics=statistics, **(CLAUSES | clauses)).release(epsilon=epsilon)


def figures(release, name):
    return {group: estimate.value for group, estimate in zip(release.groups, release[name], strict=True)}


@pytest.mark.parametrize(
    ("statistic", "name"), [(N, "n"), (("s", Sum(ref("age"))), "s"), (("p", Sum(ref("pay"))), "p")]
)
def test_parts_of_an_answer_sum_to_their_totals(statistic, name):
    n = figures(answer(statistic, epsilon="0.1"), name)
    for sex in "fm":
        assert n[sex, False] + n[sex, True] == pytest.approx(n[sex, None])
    assert n["f", None] + n["m", None] == pytest.approx(n[None, None])
    assert n[None, False] + n[None, True] == pytest.approx(n[None, None])


def test_every_bin_of_a_histogram_adds_up():
    release = answer(("h", Histogram(ref("age"), (Fraction(0), Fraction(40), Fraction(100)))), epsilon="0.1")
    for name in ("h_1", "h_2"):
        n = figures(release, name)
        assert n["f", None] + n["m", None] == pytest.approx(n[None, None])


def test_sums_around_their_middle_add_up_to_what_the_exact_ones_do():
    release = answer(N, ("s", Sum(ref("age"))), epsilon=SURE)
    assert figures(release, "s")["f", None] == pytest.approx(900)
    assert figures(release, "s")[None, None] == pytest.approx(1_900)


def test_a_sum_around_its_middle_is_fitted_with_the_variance_of_both_its_noises():
    plan = planned(PEOPLE, N, ("s", Sum(ref("age"))), keys=("sex",), sets=(("sex",), ()))
    draws = [[[(3,), (5,)], [(10,), (-60,)]], [[(9,)], [(7,)]]]
    released = [
        Released(groups=groups, measured=tuple(map(tuple, own)))
        for groups, own in zip(((("f",), ("m",)), ((),)), draws, strict=True)
    ]
    for section in plan.sections:
        assert isinstance(section.outputs[1], CenteredOutput)
    ours = consistent_figures(plan, released)
    tables = []
    for section, (counts, totals), kept in zip(plan.sections, draws, (("sex",), ()), strict=True):
        count, total = (discrete_laplace_variance(one.mechanism.scale) for one in section.measurements)
        sums = [s + 50 * n for (n,), (s,) in zip(counts, totals, strict=True)]
        tables.append(NoisyTable(frozenset(kept), np.array(sums, dtype=float), total + 2500 * count))
    for found, fitted in zip(ours, fit(tables, ("sex",)), strict=True):
        assert found["s"] == pytest.approx(fitted.reshape(-1))


def test_totals_are_of_the_rows_with_listed_keys():
    n = figures(answer(N, epsilon=SURE), "n")
    assert (n[None, None], n["f", True], n["m", False], n["m", True]) == pytest.approx((50, 30, 20, 0))
    plain = figures(answer(N, epsilon=SURE, consistent=False), "n")
    assert plain[None, None] == 57


def test_values_are_floats_and_lie_in_their_intervals():
    release = answer(N, epsilon="0.05")
    assert release.kinds[-1] is Kind.FLOAT
    assert all(isinstance(one.value, float) and one.low <= one.value <= one.high for one in release["n"])


def test_intervals_still_hold_the_exact_value():
    for one, exact in zip(answer(N, epsilon=100)["n"], (0, 30, 20, 0, 30, 20, 20, 30, 50), strict=True):
        assert one.low <= exact <= one.high


def test_expressions_are_over_what_adds_up():
    per_person = (("mean", Call(Function.DIVIDE, (ref("s"), ref("n")))),)
    having = Not(IsNull(ref("sex")))
    release = answer(N, ("s", Sum(ref("age"))), epsilon=SURE, columns=per_person, having=having)
    assert [one.value for one in release["mean"]][-2:] == pytest.approx([30, 50])


def test_of_nothing_released_nothing_adds_up():
    release = answer(N, epsilon=0)
    assert set(release["n"]) == {NOTHING}


def test_public_tables_add_up_by_themselves():
    data = rows(TOWNS, {"size": "s", "code": "a"}, {"size": "l", "code": "b"}, {"size": "l", "code": "c"})
    question = asked(desk((TOWNS, data)), TOWNS, keys=("size",), sets=(("size",), ()), statistics=(N,), consistent=True)
    assert [one.value for one in question.release(epsilon=1)["n"]] == [1, 2, 3]


def test_only_sums_add_up():
    for statistic in (Mean(ref("age")), TopValues(ref("sex"))):
        plan = planned(PEOPLE, statistic)
        with pytest.raises(TypeError, match="only sums"):
            consistent_figures(plan, [Released(groups=((),), measured=(((1,),),) * 2)])
