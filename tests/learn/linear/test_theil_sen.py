"""`TheilSen`: matchings and their coupling, exact probabilities over all neighbors, and scikit-learn's conventions."""

import pickle
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from math import floor, sqrt

import numpy as np
import pyarrow as pa
import pytest
from sklearn import linear_model
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from tests.learn.made import neighbors, secret_rows, tables, training_rows

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn import ConformalRegressor, LinearRegression, TheilSen
from sfumato.learn.linear import theil_sen
from sfumato.learn.linear.theil_sen import MatchedLines, matching
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.quantiles.quantile import Quantile
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.session.training.columns import TrainingColumn

UNLIKE_OTHERS = {
    "check_fit_idempotent": "matchings are drawn anew",
    "check_regressor_data_not_an_array": "likewise",
    "check_regressors_int": "likewise",
    "check_supervised_y_2d": "likewise",
    "check_regressors_train": "the target follows from ten features",
}
SURE = 10**12
HOURS = np.tile(np.arange(101.0), 40).reshape(-1, 1)
PAY = 3 * HOURS[:, 0] + 20
DECLARED = {"bounds": (0, 100), "target_bounds": (0, 400)}


def whole(steps):
    return TrainingColumn(name="w", lower=Fraction(0), upper=Fraction(steps), steps=steps)


FIVE, THREE = whole(4), whole(2)


def lines(*, epsilon=1, column=FIVE, target=THREE, rows_per_unit=1, matchings=1):
    return MatchedLines(
        column=column, target=target, rows_per_unit=rows_per_unit, matchings=matchings, charge=PureDP(epsilon)
    )  # fmt: skip


@cache
def every_matching(size):
    """All matchings of the numbers below `size`: sets of disjoint pairs, with one number left out of an odd size."""
    return in_order(pairings(tuple(range(size))))


def pairings(numbers):
    """By what becomes of the last one: it is left out, or it has one of the others as its partner."""
    if len(numbers) < 2:
        return {frozenset()}
    *others, last = numbers
    found = set() if len(numbers) % 2 == 0 else pairings(tuple(others))
    for partner in others:
        rest = pairings(tuple(one for one in others if one != partner))
        found |= {pairs | {frozenset((partner, last))} for pairs in rest}
    return found


def drawn_pairs(size, matchings):
    """All results of so many matchings, each as probable, as arrays of pairs."""
    for several in product(every_matching(size), repeat=matchings):
        yield np.array([sorted(pair) for one in several for pair in one], dtype=np.intp).reshape(-1, 2)


def in_order(matchings):
    return sorted(matchings, key=lambda pairs: sorted(map(sorted, pairs)))


def probabilities(fit, values):
    """The distribution of a median, from the definition of `Quantile` and what one replaced value may cost."""
    values, points = np.sort(values), np.arange(fit.target.steps + 1)
    below, up_to = np.searchsorted(values, points, "left"), np.searchsorted(values, points, "right")
    distances = np.maximum(np.maximum(below - len(values) / 2, len(values) / 2 - up_to), 0)
    weights = np.exp(-float(fit.median.epsilon) / float(fit.median.rank_range) * distances)
    return weights / weights.sum()


def laws(fit, records):
    """The exact distribution of both heights, and of each alone, over all matchings."""
    rows, found = training_rows(records or np.zeros((0, 4))), 0
    drawn = list(drawn_pairs(len(records), fit.matchings))
    for pairs in drawn:
        first, second = (probabilities(fit, heights) for heights in fit.exact(rows, pairs))
        found = found + np.outer(first, second) / len(drawn)
    return found, found.sum(axis=1), found.sum(axis=0)


def apart(first, second):
    """The largest log-ratio of two distributions, of both heights and of one."""
    both, *each = (np.abs(np.log(one / other)).max() for one, other in zip(first, second, strict=True))
    return both, max(each)


def test_matchings_are_uniform(monkeypatch):
    """Over all orders of random words; where two are equal, all are drawn again."""
    for size, count in ((0, 1), (1, 1), (2, 1), (3, 3), (4, 3), (5, 15), (6, 15)):
        drawn = Counter()
        for order in permutations(range(size)):
            words = iter([np.zeros(size, np.uint64), np.array(order, np.uint64)] if size > 1 else [np.array(order)])
            monkeypatch.setattr(theil_sen, "random_words", lambda wanted, words=words: next(words)[:wanted])
            drawn[frozenset(map(frozenset, matching(size).tolist()))] += 1
            assert next(words, None) is None
        assert in_order(drawn) == every_matching(size)
        assert (len(drawn), len(set(drawn.values()))) == (count, 1)


@pytest.mark.parametrize("size", range(7))
def test_one_row_changes_at_most_one_pair_of_a_matching(size):
    """The coupling of the proof: both matchings are uniform, and at most one pair is added or replaced."""
    new, drawn = size, Counter()
    if size % 2:
        for few in every_matching(size):
            (left,) = set(range(size)).difference(*few)
            drawn[few | {frozenset((left, new))}] += 1
        assert sorted(drawn.values()) == [1] * len(every_matching(size + 1))
        return
    for many in every_matching(size + 1):
        (left,) = set(range(size + 1)).difference(*many)
        few = many if left == new else frozenset(pair - {new} | {left} if new in pair else pair for pair in many)
        assert len(many - few) <= 1
        assert len(few - many) <= 1
        drawn[few] += 1
    assert set(drawn) == set(every_matching(size))
    assert len(set(drawn.values())) == 1


@pytest.mark.parametrize("matchings", [1, 2])
def test_no_neighbor_makes_heights_more_probable_than_epsilon_allows(matchings):
    """All pairs of tables of up to four rows in both relations, and units of two rows that enter or leave."""
    records = list(product((0, 1, 3), (0, 2)))
    added, replaced = neighbors(records, most=3)
    twice = [
        (table, [*table, *two]) for table in tables(records, most=2)
        for two in combinations_with_replacement(records, 2)
    ]  # fmt: skip
    for pairs, rows_per_unit in ((added[:: matchings**2], 1), (replaced[:: matchings**2], 1), (twice[::matchings], 2)):
        fit = lines(epsilon=2, matchings=matchings, rows_per_unit=rows_per_unit)
        known = cache(lambda table, fit=fit: laws(fit, table))
        worst = [apart(*(known(tuple(sorted(one))) for one in pair)) for pair in pairs]
        both, each = np.max(worst, axis=0)
        assert 0.2 < both <= 2 + 1e-9
        assert 0.1 < each <= 1 + 1e-9


@pytest.mark.parametrize(
    ("rows_per_unit", "others", "matchings", "close"), [(1, 3, 1, 0.99), (1, 3, 3, 0.99), (2, 6, 1, 0.8)]
)
def test_replaced_rows_come_close_to_half_of_epsilon_at_one_place(rows_per_unit, others, matchings, close):
    """Whatever they are paired with, their lines have their own height there; all others pass just below the end.

    Two rows of a unit may be paired with each other, and are then no line: so they are not as close.
    """
    top = 8000
    fit = lines(column=whole(12), target=whole(top), rows_per_unit=rows_per_unit, matchings=matchings)
    found = []
    for height in (0, top):
        records = [(3, height)] * rows_per_unit + [(4 + place, top - 1) for place in range(others)]
        heights = [fit.exact(training_rows(records), pairs)[0] for pairs in drawn_pairs(len(records), matchings)]
        counts = Counter(tuple(np.sort(some)) for some in heights)
        found.append(sum(count * probabilities(fit, some) for some, count in counts.items()) / len(heights))
    assert close / 2 < np.abs(np.log(found[0] / found[1])).max() <= 1 / 2 + 1e-9


def test_heights_are_those_of_exact_lines():
    generator = np.random.default_rng(0)
    fit = lines(column=whole(8), target=whole(9))
    records = np.stack([generator.integers(0, 9, 300), generator.integers(0, 10, 300)], axis=1)
    pairs = np.arange(300).reshape(-1, 2)
    expected = ([], [])
    for (start, low), (end, high) in records.reshape(-1, 2, 2).tolist():
        if start != end:
            for heights, place in zip(expected, (2, 6), strict=True):
                height = floor(low + Fraction((high - low) * (place - start), end - start) + Fraction(1, 2))
                heights.append(min(max(height, 0), 9))
    assert fit.places == (2, 6)
    for order in (pairs, pairs[:, ::-1]):
        assert tuple(heights.tolist() for heights in fit.exact(training_rows(records), order)) == expected


@pytest.mark.statistical
def test_releases_have_the_distribution_of_the_formula():
    """Each of nine results within six standard errors, of which together one in 10^7 runs fails."""
    fit, records, runs = lines(epsilon=20, matchings=2), [(0, 0), (1, 2), (3, 1), (4, 0), (4, 2)], 500
    drawn = Counter(tuple(fit.release(secret_rows(records))["heights"]) for _ in range(runs))
    for result, share in np.ndenumerate(laws(fit, records)[0]):
        assert abs(drawn[result] - runs * share) <= 6 * sqrt(runs * share * (1 - share)) + 6


def test_only_private_medians_reach_a_model(monkeypatch):
    seen = []

    def same(median, heights):
        seen.append((median, len(heights)))
        return Fraction(1)

    monkeypatch.setattr(Quantile, "release", same)
    fit = lines(matchings=3)
    for records in ([(1, 1)], [(0, 0), (1, 2)], [(0, 0), (1, 2), (3, 1)] * 9):
        assert fit.release(secret_rows(records)) == {"heights": [1, 1]}
    assert [count for _, count in seen[:4]] == [0, 0, 3, 3]
    assert {median for median, _ in seen} == {fit.median}


@pytest.mark.parametrize(("rows_per_unit", "matchings"), [(1, 1), (1, 10), (5, 10)])
def test_the_charge_covers_both_medians_of_all_heights_that_a_unit_changes(rows_per_unit, matchings):
    fit = lines(epsilon=3, rows_per_unit=rows_per_unit, matchings=matchings)
    require_price(fit.event, fit.charge, ADD_OR_REMOVE_ONE)
    assert 2 * rows_per_unit * matchings * fit.median.epsilon == fit.charge.epsilon
    assert fit.median.rank_range == 2  # that of a replaced value, the most a changed pair can do


def test_its_document_tells_fits_apart():
    documents = [
        lines(**change).document()
        for change in ({}, {"column": whole(5)}, {"target": whole(3)}, {"rows_per_unit": 2}, {"matchings": 2})
    ]
    assert all(documents.count(one) == 1 for one in documents)


class ForChecks(TheilSen):
    """Takes the first feature of each check, and the bounds of its target for declared: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        numbers = np.asarray(y)
        is_usual = numbers.dtype.kind in "iuf" and numbers.size and np.isfinite(numbers).all()
        declared.target_bounds = (float(numbers.min()) - 1, float(numbers.max()) + 1) if is_usual else (0, 1)
        return TheilSen._array_target(declared, y)

    def _planned(self, data, total):
        return super()._planned(replace(data, columns=data.columns[:1]), total)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn():
    """At an ε that leaves no noise, where only matchings differ; most checks have several features."""
    results = check_estimator(ForChecks(epsilon=SURE, bounds=(-10, 10)), on_fail=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed <= UNLIKE_OTHERS.keys()
    assert len(results) > 40


def test_it_learns_from_arrays_and_says_what_it_cost():
    model = TheilSen(epsilon=1, **DECLARED).fit(HOURS, PAY)
    assert model.score(HOURS, PAY) > 0.95
    assert (model.guarantee_, model.receipt_, model.n_features_in_) == (PureDP(1), None, 1)
    by_hand = np.clip(HOURS @ model.coef_ + model.intercept_, 0, 400)
    assert np.allclose(model.predict(HOURS), by_hand, atol=0.1)
    assert model.noise_["rank_error"] < len(HOURS) * 10 / 2 / 10
    few = TheilSen(epsilon=1, matchings=1, **DECLARED).fit(HOURS, PAY)
    assert few.noise_["rank_error"] == pytest.approx(model.noise_["rank_error"] / 10)


def test_outliers_move_it_less_than_least_squares():
    spoiled = np.where(HOURS[:, 0] > 75, 0, PAY)
    errors = {
        kind: np.abs(kind(epsilon=SURE, **DECLARED).fit(HOURS, spoiled).predict(HOURS) - PAY).mean()
        for kind in (TheilSen, LinearRegression)
    }
    assert errors[TheilSen] < errors[LinearRegression] / 3
    peer = linear_model.TheilSenRegressor(random_state=0).fit(HOURS[:404], spoiled[:404])
    assert errors[TheilSen] < np.abs(peer.predict(HOURS) - PAY).mean() + 5


def test_no_attribute_holds_an_exact_fact_of_the_data(monkeypatch):
    """Where all medians are the same, models of different data are equal in every attribute."""
    monkeypatch.setattr(Quantile, "release", lambda *_: Fraction(7))
    models = [TheilSen(epsilon=1, **DECLARED).fit(HOURS[:size], PAY[:size]) for size in (1, 50, 4000)]
    kept = [{name: repr(value) for name, value in vars(model).items()} for model in models]
    assert kept[0] == kept[1] == kept[2]


def test_rows_and_targets_are_clamped_when_fitting_and_when_predicting():
    steep = TheilSen(epsilon=SURE, bounds=(0, 100), target_bounds=(0, 30)).fit(HOURS * 2 - 50, 10 * HOURS[:, 0])
    assert (steep.predict(HOURS).min(), steep.predict(HOURS).max()) == (pytest.approx(30, abs=1), 30)
    model = TheilSen(epsilon=SURE, **DECLARED).fit(HOURS, PAY)
    assert model.predict([[1e9]]) == model.predict([[100]])
    assert model.predict([[-1e9]]) == model.predict([[0]])
    within = TheilSen(epsilon=SURE, norm=100, target_bounds=(0, 400)).fit(HOURS, PAY)
    assert within.predict([[50]]) == pytest.approx(170, abs=1)


@pytest.mark.parametrize("size", [0, 1])
def test_without_a_line_heights_lie_anywhere(size):
    heights = [lines(target=whole(50)).release(secret_rows(np.zeros((size, 2))))["heights"] for _ in range(20)]
    assert len(np.unique(heights)) > 10
    assert 0 <= np.min(heights) <= np.max(heights) <= 50


def test_a_score_depends_on_no_other_row_to_the_last_digit():
    model = TheilSen(epsilon=1, **DECLARED).fit(HOURS, PAY)
    codes = model.encode(HOURS)
    whole_scores = model.row_scores(codes)
    for some in (slice(0, 1), slice(3, 5), slice(100, 117), slice(None, None, -1)):
        assert (model.row_scores(codes[some]) == whole_scores[some]).all()
    interval = ConformalRegressor(TheilSen(epsilon=1, **DECLARED)).fit(HOURS, PAY).predict_interval([[50]])
    assert interval[0, 0] < 170 < interval[0, 1]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"bounds": None}, "bounds"),
        ({"target_bounds": None}, "target_bounds"),
        ({"target_bounds": (1, 0)}, "target_bounds"),
        ({"norm": -1, "bounds": None}, "norm"),
        ({"matchings": 0}, "matchings"),
        ({"matchings": 1001}, "matchings"),
        ({"matchings": "many"}, "matchings"),
        ({"neighboring_relation": "none"}, "neighboring_relation"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(arguments, wrong, monkeypatch):
    monkeypatch.setattr(MatchedLines, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        TheilSen(**({"epsilon": 1} | DECLARED | arguments)).fit(HOURS, PAY)


def test_other_rows_than_those_of_one_number_are_refused():
    model = TheilSen(epsilon=1, **DECLARED)
    with pytest.raises(ParameterError, match="one column"):
        model.fit(np.tile(HOURS, 2), PAY)
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="contains"):
            model.fit(np.where(HOURS == 3, wrong, HOURS), PAY)
        with pytest.raises(ValueError, match="contains"):
            model.fit(HOURS, np.where(PAY == 20, wrong, PAY))


def test_pickles():
    model = TheilSen(epsilon=1, **DECLARED).fit(HOURS, PAY)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 # made in the line before
    assert (copy.predict(HOURS) == model.predict(HOURS)).all()
    assert copy.event_ == model.event_


def test_a_session_is_charged_once_for_one_model_of_all_rows_of_a_unit():
    places = range(3000)
    data = pa.table(
        {
            "hours": [float(place % 100) for place in places], "job": ["ab"[place % 2] for place in places],
            "pay": [float(place % 100 * 2) for place in places], "who": [str(place // 3) for place in places],
        }
    )  # fmt: skip
    columns = {"hours": sf.real(0, 100), "job": sf.text(values=["a", "b"]), "pay": sf.real(0, 250), "who": sf.text()}
    limits = sf.Limits(max_rows_per_unit=3)
    with sf.open(data, name="work", columns=columns, budget=sf.PureDP(4), unit="who", limits=limits) as work:
        model = TheilSen(epsilon=3).fit("SELECT hours, pay FROM work", "pay", session=work)
        again = TheilSen(epsilon=3).fit(work.training_set("SELECT hours, pay FROM work", target="pay"))
        assert (model.coef_, model.intercept_) == (again.coef_, again.intercept_)
        assert work.spent == PureDP(3)
        assert model.coef_[0] == pytest.approx(2, abs=0.5)
        alone = TheilSen(epsilon=3, **DECLARED | {"target_bounds": (0, 250)}).fit([[0]], [0])
        assert model.noise_["rank_error"] == pytest.approx(3 * alone.noise_["rank_error"])
        for fit in (
            lambda: TheilSen(epsilon=1).fit("SELECT job, pay FROM work", "pay", session=work),
            lambda: TheilSen(epsilon=1).fit("SELECT hours, job FROM work", "job", session=work),
            lambda: TheilSen(epsilon=1).fit("SELECT hours, job, pay FROM work", "pay", session=work),
        ):
            with pytest.raises(ParameterError):
                fit()
        with pytest.raises(BudgetExceededError):
            TheilSen(epsilon=2).fit("SELECT hours, pay FROM work", "pay", session=work)


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_less_noise():
    """A row with its own height at one place is replaced by its opposite; most points lie on one side of the others."""

    def refuted(epsilon):
        fit = lines(epsilon=epsilon, target=whole(100))

        def height(records):
            return fit.release(secret_rows(np.reshape(records, (-1, 2))))["heights"][0]

        low, high = ([1, own, 2, 99, 3, 99, 4, 99] for own in (0, 100))
        return audit(height, [(low, high)], epsilon="0.5", delta=0, samples=150).is_refuted

    assert not refuted(Fraction(1, 2))
    assert refuted(60)
