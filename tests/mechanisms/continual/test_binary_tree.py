"""Binary trees: their exact distribution, what each release is made of, goldens, and what they refuse."""

from itertools import product
from math import exp

import numpy as np
import pytest
from tests.mechanisms.continual.streams import largest_move, nodes_of_a_tree
from tests.mechanisms.exhaustive import answers_by_noise, gaussian_probabilities, laplace_log_weights, max_log_ratio

from sfumato.errors import ParameterError
from sfumato.mechanisms import BinaryTree, Contribution, DecayingSum, Participation, SlidingWindow
from sfumato.mechanisms.continual import tree_noise
from sfumato.privacy.events import DiscreteGaussianEvent, DiscreteLaplaceEvent, PureEvent, ZCDPEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE


def laws(mechanism, sampler, weigh, noises):
    """The law of all releases together, for each stream of zeros and ones."""
    with pytest.MonkeyPatch.context() as patch:
        return {
            stream: weigh(
                answers_by_noise(
                    patch, tree_noise, sampler, lambda s=stream: mechanism.start().release_block(list(s)), noises
                )
            )
            for stream in product(range(2), repeat=mechanism.horizon)
        }


def pairs(streams):
    """Those that differ in one event at one tick."""
    return [(a, b) for a, b in product(streams, repeat=2) if sum(x != y for x, y in zip(a, b, strict=True)) == 1]


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_no_event_is_told_by_more_than_epsilon_and_the_first_one_by_no_less(relation):
    """Values of 0 and 1: an event that is changed to another changes the sum by 1 as well."""
    mechanism = BinaryTree(horizon=3, epsilon=1, contribution=Contribution.clamped(0, 1, relation))
    found = laws(mechanism, "discrete_laplace", laplace_log_weights, list(product(range(-1, 2), repeat=3)))
    assert max(max_log_ratio(found[a], found[b]) for a, b in pairs(found)) == 1
    assert max_log_ratio(found[0, 0, 0], found[0, 0, 1]) < 1


def test_the_renyi_divergence_of_two_streams_is_at_most_rho_times_the_order():
    mechanism = BinaryTree(horizon=2, rho="0.8")
    found = laws(mechanism, "discrete_gaussian", gaussian_probabilities, list(product(range(-6, 7), repeat=2)))
    for a, b in pairs(found):
        for order in (2, 5):
            common = found[a].keys() & found[b].keys()
            moment = sum(found[a][y] ** order * found[b][y] ** (1 - order) for y in common)
            assert moment <= exp((order - 1) * order * 0.8) * 1.001


@pytest.mark.parametrize("online", [False, True])
@pytest.mark.parametrize("horizon", [1, 2, 3, 5, 8])
def test_every_release_is_computed_from_measured_nodes(horizon, online):
    """With W the weights of the noises in the releases and C the ticks below each node, W·C must be the prefix sums."""
    weights, below = noise_weights(horizon, online)
    assert np.allclose(weights @ below, np.tril(np.ones((horizon, horizon))), atol=1e-4)
    variances = (weights**2).sum(axis=1)
    expected = [tree_noise.weights(step, 0, online=online).squared for step in range(1, horizon + 1)]
    assert np.allclose(variances, expected, atol=1e-3)


def noise_weights(horizon, online, size=1 << 20):
    """The weight of each noise in each release, by one large noise after the other; and what lies below its node."""
    drawn = {}

    def draw(_noise, ticks, _numbers):
        level = drawn["level"]
        drawn["level"] += 1
        places = range(drawn["count"], drawn["count"] + ticks)
        drawn["count"] += ticks
        drawn["nodes"] += [(level, place) for place in range(ticks)]
        return np.array([[size * (place == drawn["on"])] for place in places], dtype=np.int64)

    rows, on, nodes = [], 0, None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_noise, "drawn", draw)
        while nodes is None or on < len(nodes):
            drawn.update(level=0, count=0, nodes=[], on=on)
            released = BinaryTree(horizon=horizon, rho="0.5", online=online).start().release_block([0] * horizon)
            rows.append(released / size)
            nodes, on = drawn["nodes"], on + 1
    if online:  # all nodes, level by level
        starts = [(place << level, place + 1 << level) for level, place in nodes]
        below = [[start <= t < stop for t in range(horizon)] for start, stop in starts]
    else:  # of each tick the largest node that ends there
        ends = [(place + 1, (place + 1) & -(place + 1)) for _, place in nodes]
        below = [[end - length <= t < end for t in range(horizon)] for end, length in ends]
    return np.array(rows).T, np.array(below, dtype=float)


@pytest.mark.parametrize("horizon", [1, 2, 3, 6, 8])
def test_noise_is_for_as_much_as_an_event_moves_all_nodes(horizon):
    nodes = nodes_of_a_tree(horizon)
    for change in (1, 3):
        bound = Contribution.clamped(-change, change)
        pure = BinaryTree(horizon=horizon, epsilon=1, contribution=bound)
        assert pure.event == DiscreteLaplaceEvent(pure.noise.scale, int(largest_move(nodes, 1, 1, (change,), power=1)))
        several = BinaryTree(horizon=horizon, rho=1, contribution=bound, participation=Participation(2, 2))
        assert float(several.noise.scale) ** 2 * 2 >= largest_move(nodes, 2, 2, (-change, change), power=2)
    assert several.event == ZCDPEvent(1) or horizon <= 2
    twice = BinaryTree(horizon=8, epsilon=1, participation=Participation(2))
    assert (twice.noise.scale, twice.event) == (8, PureEvent(1))
    keys = BinaryTree(horizon=8, rho=1, contribution=Contribution.one_of(REPLACE_ONE))
    assert isinstance(keys.event, DiscreteGaussianEvent)
    assert keys.event.l0_sensitivity == 8
    assert float(keys.event.l2_sensitivity) == pytest.approx(8**0.5)


@pytest.mark.parametrize(
    ("power", "online", "largest", "rms"),
    [
        (10, False, 10.488, 7.417), (12, False, 12.490, 8.832), (14, False, 14.491, 10.247),
        (16, False, 16.492, 11.662),
        (20, False, 20.494, 14.491), (10, True, 7.989, 5.650), (12, True, 9.404, 6.650), (14, True, 10.819, 7.650),
        (16, True, 12.233, 8.650),
    ],
)  # fmt: skip
def test_noise_is_that_of_the_tables_of_the_field(power, online, largest, rms):
    """In units of 1/√(2ρ); the mean square over 2^power ticks is half the sum over its lower levels, and a node."""
    thousands = Contribution.clamped(0, 1000)  # beside which rounding to whole numbers is little
    mechanism = BinaryTree(horizon=1 << power, rho="0.5", online=online, contribution=thousands)
    assert mechanism.largest_stddev / 1000 == pytest.approx(largest, abs=1e-3)
    parts = [mechanism.stddev(1 << level) ** 2 for level in range(power)]
    mean = sum(parts) / 2 + mechanism.stddev(1 << power) ** 2 / (1 << power)
    assert mean**0.5 / 1000 == pytest.approx(rms, abs=1e-3)


def test_windows_of_a_tree_share_the_nodes_of_both_ends():
    found = [
        tree_noise.weights(step, step - width, online=online).squared
        for step, width, online in ((8, 1, False), (16, 5, False), (16, 5, True), (11, 3, True))
    ]
    weights = {online: noise_weights(16, online)[0] for online in (False, True)}
    ends = ((8, 7, False), (16, 11, False), (16, 11, True), (11, 8, True))
    expected = [((weights[online][step - 1] - weights[online][before - 1]) ** 2).sum() for step, before, online in ends]
    assert found == pytest.approx(expected, abs=1e-3)
    windows = BinaryTree(horizon=1 << 20, rho=1, sums=SlidingWindow(30))
    assert windows.stddev(1 << 19) < BinaryTree(horizon=1 << 20, rho=1).largest_stddev * 1.5
    assert windows.largest_stddev >= max(windows.stddev(step) for step in range((1 << 19) - 40, (1 << 19) + 40))


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 1, "rho": 1}, {}, {"epsilon": 0}, {"rho": -1}, {"epsilon": 1, "horizon": 0},
        {"epsilon": 1, "sums": 1},
        {"epsilon": 1, "sums": DecayingSum("0.5")}, {"epsilon": 1, "online": 1}, {"epsilon": 1, "contribution": 1},
        {"epsilon": 1, "contribution": Contribution.vector(l2=2)}, {"epsilon": 1, "participation": 2},
        {"epsilon": 1, "horizon": 1 << 31}, {"epsilon": "1e-40"}, {"rho": "1e40"},
    ],
)  # fmt: skip
def test_what_is_no_tree_is_refused(wrong):
    with pytest.raises(ParameterError):
        BinaryTree(**{"horizon": 8} | wrong)
