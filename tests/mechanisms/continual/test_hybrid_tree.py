"""The tree without a horizon: each event in one tree, at the noise of that tree; and the error of every tick."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.mechanisms.exhaustive import max_log_ratio

from sfumato.errors import ParameterError
from sfumato.mechanisms import BinaryTree, HybridTree, Participation
from sfumato.mechanisms.continual import hybrid_tree, tree_noise
from sfumato.privacy.events import PureEvent, ZCDPEvent


def log_weights(mechanism, stream, noises):
    """Σ|z|/scale of all releases by the noise that gave them: the tree at tick 1 has one level, that at 2 and 3 two."""
    scales = [mechanism.noise_of(0).scale, mechanism.noise_of(1).scale, mechanism.noise_of(1).scale]
    with pytest.MonkeyPatch.context() as patch:
        found = {}
        for noise in noises:
            left = iter(noise)
            patch.setattr(
                tree_noise, "discrete_laplace", lambda _, size, left=left: np.array([next(left) for _ in range(size)])
            )
            answer = tuple(mechanism.start().release_block(list(stream)).tolist())
            found[answer] = -sum(
                (Fraction(abs(z)) / scale for z, scale in zip(noise, scales, strict=True)), Fraction(0)
            )
        return found


def test_no_event_is_told_by_more_than_epsilon():
    mechanism, noises = HybridTree(epsilon=1), list(product(range(-1, 2), repeat=3))
    found = {stream: log_weights(mechanism, stream, noises) for stream in product(range(2), repeat=3)}
    pairs = [(a, b) for a, b in product(found, repeat=2) if sum(x != y for x, y in zip(a, b, strict=True)) == 1]
    ratios = {(a, b): max_log_ratio(found[a], found[b]) for a, b in pairs}
    assert max(ratios.values()) == 1
    assert ratios[(0, 0, 0), (1, 0, 0)] == ratios[(0, 0, 0), (0, 1, 0)] == 1


def test_each_tree_has_noise_for_its_own_levels():
    mechanism = HybridTree(epsilon="0.5")
    assert [mechanism.noise_of(tree).scale for tree in range(4)] == [2, 4, 6, 8]
    assert mechanism.event == PureEvent(Fraction(1, 2))
    twice = HybridTree(rho=1, participation=Participation(2))
    assert twice.event == ZCDPEvent(1)
    assert float(twice.noise_of(0).scale) ** 2 == pytest.approx(2)  # 1/(2·ρ/4)


def test_every_event_is_below_as_many_nodes_as_its_tree_has_levels(monkeypatch):
    """One large noise after the other: at tick t the roots of all earlier trees, and the nodes of this one."""
    for step in (1, 2, 3, 7, 12, 15):
        weights = []
        for on in range(15):
            fresh = iter(range(10**6))
            monkeypatch.setattr(
                tree_noise, "drawn",
                lambda _, ticks, n, fresh=fresh, on=on: np.array([[int(next(fresh) == on)] * n for _ in range(ticks)]),
            )  # fmt: skip
            weights.append(int(HybridTree(epsilon=1).start().release_block([0] * 15)[step - 1]))
        tree = step.bit_length() - 1
        assert sum(weights) == tree + (step - (1 << tree) + 1).bit_count()


def test_the_error_is_near_that_of_a_tree_that_knew_the_horizon():
    for power in (8, 12, 20):
        step = (1 << power) - 2
        known = BinaryTree(horizon=1 << power, rho="0.5").stddev(step)
        assert known < HybridTree(rho="0.5").stddev(step) < 1.6 * known


def test_blocks_over_the_ends_of_trees_are_as_single_ticks(monkeypatch):
    found = []
    for blocks in ([1] * 20, [20], [3, 13, 0, 4]):
        fresh = iter(range(1, 10**6))
        monkeypatch.setattr(
            tree_noise, "drawn",
            lambda _, ticks, n, fresh=fresh: np.array([[7 ** (next(fresh) % 20)] * n for _ in range(ticks)]),
        )  # fmt: skip
        running = HybridTree(epsilon=1).start()
        found.append(np.concatenate([running.release_block([1] * ticks) for ticks in blocks]).tolist())
    assert found[0] == found[1] == found[2]
    assert hybrid_tree.HybridNoise(2, 0, HybridTree(epsilon=1)).draw(0).shape == (0, 2)


@pytest.mark.parametrize(
    "wrong", [{}, {"epsilon": 1, "rho": 1}, {"epsilon": 0}, {"rho": 1, "online": 0}, {"rho": 1, "contribution": 1}]
)
def test_what_is_no_tree_is_refused(wrong):
    with pytest.raises(ParameterError):
        HybridTree(**wrong)
    with pytest.raises(ParameterError):
        HybridTree(rho=1).stddev(0)


def test_the_real_noise_is_that_of_each_tree(monkeypatch):
    asked = []

    def draw(scale, size):
        asked.extend([scale] * size)
        return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr(tree_noise, "discrete_laplace", draw)
    HybridTree(epsilon=1).start().release_block([0] * 7)
    assert asked == [1, 2, 2, 3, 3, 3, 3]


@pytest.mark.parametrize("step", [0, 1, 2, 3, 7, 8, 12])
def test_a_restored_counter_draws_the_noise_of_its_present_tree(step):
    mechanism = HybridTree(epsilon=1)
    running = mechanism.start()
    running.release_block([0] * step)
    restored = mechanism.restored(running.saved())
    assert (
        restored._noise._tree._noise == running._noise._tree._noise == mechanism.noise_of(max(1, step).bit_length() - 1)
    )
