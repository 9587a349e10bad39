"""The noise that would have led to the same releases from a neighboring stream, by the code's own recursion."""

from collections.abc import Callable

import numpy as np
import pytest

from sfumato.mechanisms.continual.base import RunningNoise


def drawn(noise: RunningNoise, fresh: np.ndarray, patch: pytest.MonkeyPatch, sampler: str) -> np.ndarray:
    """u for the z that are given, and the noise one block further."""
    patch.setattr(sampler, lambda _variance, size: np.array(fresh, dtype=fresh.dtype).reshape(size))
    found = noise.draw(len(fresh))
    noise.step += len(fresh)
    return found


def shift(made: Callable[[], RunningNoise], fresh: np.ndarray, change: np.ndarray, sampler: str) -> np.ndarray:
    """z′ − z, if z′ leads to u + change where z leads to u: so v = x + u = (x − change) + u′ is the same.

    A counter that is asked with z = 0 says −r_t; then z′_t = u′_t + r_t, and with it the counter must say u′_t.
    """
    with pytest.MonkeyPatch.context() as patch:
        steps = drawn(made(), fresh[:, None], patch, sampler)
        wanted = steps + (np.asarray(change)[:, None] << made().unit_bits)
        neighbor, found = made(), []
        for row in wanted:
            kept = {name: array.copy() for name, array in neighbor.state().items()}
            without = drawn(neighbor, np.zeros((1, 1), dtype=np.int64), patch, sampler)[0]
            neighbor.restore(kept)
            needed = row - without
            assert (drawn(neighbor, needed[None], patch, sampler)[0] == row).all()
            found.append(int(needed[0]))
    return np.array(found) - fresh
