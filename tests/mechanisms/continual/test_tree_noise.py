"""The noise of a tree: nodes are drawn once and shared, whatever the blocks; weights of estimates."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.mechanisms.continual import tree_noise
from sfumato.mechanisms.continual.tree_noise import TreeNoise, drawn, shares, variance, weights
from sfumato.numeric.noise_sums import IntegerNoise

NODE = IntegerNoise("gaussian", Fraction(10))


@pytest.mark.parametrize("blocks", [[1] * 21, [21], [5, 1, 0, 15], [20, 1]])
def test_each_total_has_the_noises_of_its_nodes_and_no_others(blocks, monkeypatch):
    fresh = iter(range(10**9))
    monkeypatch.setattr(
        tree_noise,
        "drawn",
        lambda _, ticks, n: np.array([3 ** next(fresh) for _ in range(ticks)], dtype=np.int64).reshape(-1, n),
    )
    noise, totals = TreeNoise(1, NODE, online=False), [0]
    for ticks in blocks:
        for step in noise.draw(ticks).ravel().tolist():
            totals.append(totals[-1] + step)
        noise.step += ticks
    of_nodes = [3**place for place in range(21)]  # tick by tick, the largest node that ends there
    for step in range(1, 22):
        expected, rest = 0, step
        while rest:
            expected += of_nodes[rest - 1]
            rest &= rest - 1
        assert totals[step] == expected


def test_online_estimates_weigh_by_variance():
    own = [float(share.value) for share in shares()]
    assert own[:3] == pytest.approx([1, 2 / 3, 4 / 7])
    assert own[30] == pytest.approx(0.5, abs=1e-6)
    for level in range(12):
        made = weights(1 << level, 0, online=True)
        assert made.squared == pytest.approx(own[level])
        assert made.times.sum() == (2 << level) - 1


def test_wide_noise_and_noise_beyond_machine_integers_is_kept(monkeypatch):
    wide = TreeNoise(2, IntegerNoise("laplace", Fraction(2**50)), online=True)
    assert wide.unit_bits == 0
    assert wide.draw(9).shape == (9, 2)
    monkeypatch.setattr(tree_noise, "drawn", lambda _, ticks, n: np.full((ticks, n), 2**90, dtype=object))
    for online in (False, True):
        noise = TreeNoise(1, NODE, online=online)
        totals = np.cumsum(np.concatenate([noise.draw(3), _next(noise, 3).draw(4)]), axis=0)
        scale = 1 << noise.unit_bits
        assert int(totals[0, 0]) // scale == 2**90
        assert totals[-1, 0] > 2**91 * scale


def _next(noise, ticks):
    noise.step += ticks
    return noise


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_nodes_have_the_law_that_is_stated(law):
    node = IntegerNoise(law, Fraction(7))
    draws = drawn(node, 30_000, 2)
    assert draws.shape == (30_000, 2)
    assert draws.var() == pytest.approx(variance(node), rel=0.06)


def test_a_state_of_another_shape_is_refused():
    with pytest.raises(ValueError, match="shape"):
        TreeNoise(2, NODE, online=False).restore(TreeNoise(3, NODE, online=False).state())
