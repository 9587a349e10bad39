"""Selected keys: their guarantee by brute force, their thresholds by exact tails, and what a counter shows."""

import itertools
from collections import defaultdict
from datetime import date
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom
from tests.streams.accounts import counter, stream

import sfumato as sf
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.mechanisms.continual.binary_tree import BinaryTree
from sfumato.mechanisms.continual.participation import Participation
from sfumato.mechanisms.continual.sums import SlidingWindow
from sfumato.numeric.distributions import discrete_laplace_tail
from sfumato.privacy.events import ApproxEvent, ComposedEvent, GroupEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import EACH_ROW, REPLACE_ONE
from sfumato.streams.counting.measures import ClampedSum, EventCount
from sfumato.streams.counting.selection import CounterKeys, SelectedKeys, key_of, key_threshold

ALPHA = 1e-6
DELTA = Fraction(1, 10**8)
KEYS = SelectedKeys(DELTA)
BUDGET = ApproxDP(10_000, "0.1")
REACH = 10


@pytest.fixture
def rows():
    with stream(unit=EACH_ROW, budget=BUDGET) as found:
        yield found


@pytest.fixture
def people(tmp_path):
    with stream(tmp_path, budget=BUDGET) as found:
        yield found


def searches(session, *, measure=None, **options):
    return counter(session, measure=EventCount(keys=KEYS) if measure is None else measure, **options)


# the guarantee, by brute force


class Fixed:
    """Noise that was chosen: of two steps, the same for whichever key comes; and the threshold for its exact law."""

    def __init__(self, noise):
        self.noise, self.numbers = np.array(noise), 1

    def widen(self, more):
        self.numbers += more

    def release_block(self, secret):
        added = secret.open_for_noise()
        return np.cumsum(added, axis=0) + self.noise[:, None]

    @staticmethod
    def at(step):
        """1, and 3, above which geometric noise with q = 1/2 is with probability 1/3·2^−3 = 1/24."""
        del step
        return 1 + 3


def law(events):
    """How likely each output is, of a tree of two steps whose nodes have P(z) = 1/3·2^−|z|, for one key."""
    found = defaultdict(float)
    for noise in itertools.product(range(-REACH, REACH + 1), repeat=2):
        selection, running, shown = CounterKeys(Fixed), Fixed(noise), []
        for at, count in enumerate(events):
            selection.places_of(["a"] * count)
            running.noise = np.array(noise[at : at + 1])
            added = np.zeros((1, selection.numbers), dtype=np.int64)
            added[0, 1:] = sum(events[: at + 1])
            out = selection.drawn(running, at + 1, added)
            shown += [
                (step, key, value) for (step, _, value), key in zip(out.tolist(), selection.labels_of(out), strict=True)
            ]
        found[tuple(shown)] += 2.0 ** -sum(map(abs, noise)) / 9
    return found


@pytest.mark.parametrize(
    ("events", "without"),
    [((1, 0), (0, 0)), ((0, 1), (0, 0)), ((1, 3), (0, 3)), ((3, 1), (3, 0)), ((1, 1), (0, 1))],
    ids=str,
)
def test_what_one_unit_changes_is_within_epsilon_and_delta(events, without):
    """ε = 2·ln 2 for both nodes that an event is in, and δ = 2 steps · 1/24."""
    ones, others = law(events), law(without)
    for one, other in ((ones, others), (others, ones)):
        excess = sum(max(0.0, mass - 4 * other.get(out, 0.0)) for out, mass in one.items())
        assert excess <= 2 / 24 + 4 * 2.0**-REACH


def tail_at(mechanism, step, threshold):
    """P(noise of the total at a step > threshold), by convolution of the nodes' exact masses."""
    scale, nodes = mechanism.noise.scale, step.bit_count()
    if nodes == 1:
        return float(discrete_laplace_tail(scale, threshold)) / 2
    far = 60 * int(scale)
    masses = np.exp(-np.abs(np.arange(-far, far + 1)) / float(scale))
    masses /= masses.sum()
    whole = masses
    for _ in range(nodes - 1):
        whole = np.convolve(whole, masses)
    middle = len(whole) // 2
    return float(whole[middle + threshold + 1 :].sum())


@pytest.mark.parametrize("most", [1, 3])
def test_a_key_of_one_unit_is_ever_shown_with_at_most_delta_over_its_keys(most):
    tree = BinaryTree(horizon=8, epsilon=8, participation=Participation(most))
    threshold = key_threshold(tree, KEYS, largest=5, is_pair=False)
    assert threshold.largest == 5 * most
    shown = sum(tail_at(tree, step, threshold.at(step) - 5 * most) for step in range(1, 9))
    assert float(DELTA) / 1000 < most * shown <= float(DELTA)


def test_thresholds_are_for_what_a_unit_adds_and_for_the_keys_it_may_have():
    once = BinaryTree(horizon=8, epsilon=1)
    apart = Participation(4, 3)
    assert key_threshold(once, KEYS, largest=7, is_pair=False).failure == DELTA / 8
    assert key_threshold(once, KEYS, largest=7, is_pair=True).failure == DELTA / 16
    assert key_threshold(once, KEYS, largest=-2, is_pair=False).largest == 0
    often = BinaryTree(horizon=8, epsilon=1, participation=apart)
    found = key_threshold(often, KEYS, largest=7, is_pair=False)
    assert (found.largest, found.failure) == (21, DELTA / 24)  # 3 of its 4 participations are within the horizon
    window = BinaryTree(horizon=8, epsilon=1, participation=apart, sums=SlidingWindow(4))
    assert key_threshold(window, KEYS, largest=7, is_pair=False).largest == 14
    large = key_threshold(once, SelectedKeys("0.5"), largest=1, is_pair=False)
    assert large.at(1) >= 1 + once.half_width(1, 1 - Fraction(1, 10**7))  # never from a numeric inversion


def test_only_mechanisms_whose_noise_has_a_proven_bound_select_keys(rows):
    for mechanism in (sf.mechanisms.SquareRoot, sf.mechanisms.BufferedToeplitz):
        with pytest.raises(ParameterError, match="must be a BinaryTree"):
            searches(rows, mechanism=mechanism, epsilon=None, rho=1, delta="1e-6")
    with pytest.raises(ParameterError, match="must be a BinaryTree"):
        searches(rows, mechanism=sf.mechanisms.HybridTree, horizon=None)
    assert str(rows.spent) == "ε 0"


@pytest.mark.statistical
def test_keys_are_shown_as_often_as_their_noise_says(rows):
    """Counts at the threshold itself, with one step: shown iff the noise is at least 1."""
    number, scale = 4_000, Fraction(2)
    visits = searches(rows, horizon=1, epsilon="0.5")
    at = visits._plan.threshold.at(1)
    names = [f"k{place}" for place in range(number)]
    visits.add_many(keys=names * at)
    shown = len(visits.tick().labels)
    rate = float(discrete_laplace_tail(scale, 0)) / 2  # of two sides, P(|noise| > 0)
    low, high = binom.ppf([ALPHA / 2, 1 - ALPHA / 2], number, rate)
    assert low <= shown <= high, f"{shown} keys, expected {low} to {high} but for {ALPHA}"


# what a counter shows


def rows_of(releases):
    return [(row["step"], row["key"], row["value"]) for row in releases.records()]


def test_keys_of_enough_units_are_shown_from_then_on_in_the_order_of_their_names(rows):
    visits = searches(rows)
    visits.add_many(keys=["zoo"] * 9 + ["ann"] * 9 + ["rare"])
    assert rows_of(visits.tick()) == [(1, "ann", 9), (1, "zoo", 9)]
    visits.add_many(keys=["flu"] * 9)
    visits.add(key="rare", step=4)
    assert rows_of(visits.tick(2)) == [
        (step, key, 9) for step in (2, 3) for key in ("ann", "flu", "zoo")
    ]  # flu has the noise of all steps
    assert "rare" not in repr(visits.releases) + str(visits.releases.to_arrow()) + repr(visits)
    assert visits.releases.labels == ("ann", "flu", "zoo")
    assert len(visits.tick(4)) == 4


def test_sums_of_keys_may_be_negative_once_they_are_shown(rows):
    visits = searches(rows, measure=ClampedSum(-5, 3, keys=KEYS))
    assert visits._plan.threshold.largest == 3
    visits.add_many([3] * 9 + [-5] * 9, keys=["up"] * 9 + ["down"] * 9)
    assert rows_of(visits.tick()) == [(1, "up", 27)]
    visits.add_many([-5] * 9, keys=["up"] * 9)
    assert rows_of(visits.tick()) == [(2, "up", -18)]


def test_keys_are_text_and_what_is_no_key_is_dropped(rows):
    visits = searches(rows)
    good = ["7", 7, np.int64(7)] * 3
    visits.add_many(keys=[*good, None, float("nan"), True, ["7"], "\ud800"])
    visits.add(key=date(2026, 1, 2))
    assert rows_of(visits.tick()) == [(1, "7", 9)]
    assert [key_of(key) for key in (np.str_("a"), 2.5, "é")] == ["a", None, "é"]
    with pytest.raises(ParameterError, match="are missing"):
        visits.add()


def test_an_event_that_does_not_count_makes_no_key_known(people):
    visits = searches(people, participation=Participation(2))
    visits.add_many(keys=["a", "b", "c", "d"], units=["ann"] * 4, steps=[1, 2, 3, 4])
    visits.add(key="e", unit="ann")
    visits.add(key="f", unit=None)
    visits.tick()
    assert visits._selection.saved()["keys"] == ["a", "b"]


def test_a_counter_goes_on_with_its_keys_and_their_noise(people, tmp_path):
    options = {"participation": Participation(1), "state": tmp_path / "searches.counter", "epsilon": 2}
    visits = searches(people, **options)
    visits.add_many(keys=["old"] * 900 + ["rare"], units=range(901))
    first = rows_of(visits.tick(2))
    visits.add_many(keys=["new"] * 900, units=range(1000, 1900))
    visits.commit()
    noise = visits._running.saved()
    visits.close()
    again = searches(people, **options)
    assert again._running.saved() == noise
    assert (rows_of(again.releases), again._selection.saved()["keys"]) == (first, ["old", "rare", "new"])
    third = again.tick()
    assert third.labels == ("new", "old")
    assert rows_of(again.releases) == first + rows_of(third)
    again.close()
    last = searches(people, **options)
    assert rows_of(last.releases) == first + rows_of(third)
    assert last.tick().labels == ("new", "old")
    assert str(people.spent) == "ε 2, δ 1e-08"


def test_keys_that_fell_are_shown_after_a_restart_too(people, tmp_path):
    options = {"participation": Participation(1), "state": tmp_path / "searches.counter"}
    options["measure"] = ClampedSum(-5, 3, keys=KEYS)
    with searches(people, **options) as visits:
        visits.add_many([3] * 9, keys=["up"] * 9, units=range(9))
        visits.tick()
    with searches(people, **options) as again:
        again.add_many([-5] * 9, keys=["up"] * 9, units=range(9, 18))
        assert rows_of(again.tick()) == [(2, "up", -18)]


def test_memory_holds_the_last_rows_alone(rows, monkeypatch):
    monkeypatch.setattr("sfumato.streams.counting.selection.MOST_ROWS", 3)
    visits = searches(rows)
    visits.add_many(keys=["a"] * 9 + ["b"] * 9)
    for _ in range(5):
        visits.tick()
    assert visits.releases.steps.tolist() == [4, 5]


# what it costs


def test_keys_are_charged_once_for_the_horizon_beside_the_sums(rows):
    visits = searches(rows, horizon=30, epsilon=1)
    assert visits.receipt.guarantee == ApproxDP(1, DELTA)
    assert visits.receipt.event == ComposedEvent((visits._plan.mechanism.event, ApproxEvent(0, DELTA)))
    visits.tick(30)
    assert str(rows.spent) == "ε 1, δ 1e-08"


def test_gaussian_noise_has_a_delta_beside_that_of_keys(rows):
    with pytest.raises(ParameterError, match="delta is missing"):
        searches(rows, epsilon=None, rho="0.5")
    visits = searches(rows, epsilon=None, rho="0.5", delta="1e-6")
    assert visits.receipt.guarantee.delta == Fraction("1e-6") + DELTA
    with stream(unit=EACH_ROW, budget=sf.ZCDP(1, "1e-6")) as concentrated:
        searches(concentrated, epsilon=None, rho="0.5")
        assert str(concentrated.spent) == "ρ 0.5, δ 1e-08"


@pytest.mark.parametrize("budget", [PureDP(5), sf.ZCDP(5)], ids=["pure", "rho"])
def test_an_account_without_delta_has_no_selected_keys(budget):
    with stream(unit=EACH_ROW, budget=budget) as session:
        before = session.spent
        with pytest.raises((UnsupportedEventError, sf.errors.BudgetExceededError), match="δ"):
            searches(session, epsilon=1)
        assert session.spent == before


def test_replaced_units_have_twice_as_many_keys(tmp_path):
    with stream(tmp_path, budget=BUDGET, neighboring_relation=REPLACE_ONE) as session:
        visits = searches(session, epsilon=1, participation=Participation(3))
    plan = visits._plan
    assert plan.threshold.failure == DELTA / (2 * 3 * 8)
    assert plan.event == ComposedEvent((GroupEvent(plan.mechanism.event, 2), ApproxEvent(0, DELTA)))
    assert plan.charge == ApproxDP(1, DELTA)


def test_a_public_file_has_no_selected_keys(rows, tmp_path):
    with pytest.raises(ParameterError, match="its first line names all keys"):
        searches(rows).publish(tmp_path / "public.jsonl")
    assert not (tmp_path / "public.jsonl").exists()
