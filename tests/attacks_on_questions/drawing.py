"""What noise is drawn: the samplers that mechanisms call, each call noted."""

from collections import Counter

from sfumato.mechanisms import gaussian_noise, laplace, noisy_top_k


class Recorder:
    """Notes every draw of noise: its law, its width, and how many numbers."""

    def __init__(self, monkeypatch):
        self.drawn = Counter()
        for module, law, names in (
            (laplace, "laplace", ("discrete_laplace", "discrete_laplace_one")),
            (noisy_top_k, "laplace", ("discrete_laplace",)),
            (gaussian_noise, "gaussian", ("discrete_gaussian", "discrete_gaussian_one")),
        ):
            for name in names:
                monkeypatch.setattr(module, name, self._noting(law, getattr(module, name)))

    def _noting(self, law, draw):
        def noted(width, *size):
            self.drawn[law, width] += size[0] if size else 1
            return draw(width, *size)

        return noted
