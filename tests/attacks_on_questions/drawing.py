"""What noise is drawn: the samplers that mechanisms call, each call noted; and the bytes that they are made of."""

from collections import Counter
from hashlib import shake_256

from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.selection import noisy_top_k


class Recorder:
    """Notes every draw of noise: its law, its width, and how many numbers."""

    def __init__(self, monkeypatch):
        self.drawn = Counter()
        for module, law, names in (
            (laplace, "laplace", ("discrete_laplace", "discrete_laplace_one")),
            (noisy_top_k, "laplace", ("discrete_laplace",)),
            (gaussian, "gaussian", ("discrete_gaussian", "discrete_gaussian_one")),
        ):
            for name in names:
                monkeypatch.setattr(module, name, self._noting(law, getattr(module, name)))

    def _noting(self, law, draw):
        def noted(width, *size):
            self.drawn[law, width] += size[0] if size else 1
            return draw(width, *size)

        return noted


class Stream:
    """The same bytes every time, in the place of those of the system."""

    def __init__(self):
        self.taken = 0

    def __call__(self, count):
        start, self.taken = self.taken, self.taken + count
        return shake_256(str(start).encode()).digest(count)
