"""Parameters of noise reach the samplers as they are: numerator and denominator, however long.

A scale that is off by 1e-13 shows in no sample of a size that anybody draws, but the guarantee is of another law.
"""

from fractions import Fraction

import numpy as np
import pytest
from tests.noise.exact_tables import LONG

from sfumato.mechanisms import (
    DistributedLaplace,
    Gaussian,
    GaussianNoise,
    Laplace,
    NoisyMax,
    NoisyTopK,
    ProposeTestRelease,
    SparseVector,
)
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.distributed import laplace as distributed_laplace
from sfumato.mechanisms.selection import noisy_max, noisy_top_k, sparse_vector_session
from sfumato.mechanisms.stable import propose_test_release

EPSILON = 1 / LONG
WIDE = LONG * 200
SAMPLERS = ("discrete_laplace", "discrete_laplace_one", "discrete_gaussian", "discrete_gaussian_one")
DRAWN = Laplace(l1_sensitivity=7, epsilon=EPSILON)
TOP = NoisyTopK(k=3, epsilon=EPSILON, utility_sensitivity=1)
VECTOR = SparseVector(epsilon=EPSILON, cutoff=2, linf_sensitivity=1, answer_share="1/3")
CALIBRATED = Gaussian(l2_sensitivity=LONG, epsilon=1, delta="1e-6", l0_sensitivity=2)


@pytest.mark.parametrize(
    ("module", "draw", "parameters"),
    [
        (laplace, lambda: DRAWN.release([1, 2]), {DRAWN.event.scale}),
        (laplace, lambda: DRAWN.release(1), {DRAWN.event.scale}),
        (gaussian, lambda: GaussianNoise(l2_sensitivity=1, stddev=LONG).release([1, 2]), {LONG**2}),
        (gaussian, lambda: GaussianNoise(l2_sensitivity=1, stddev=WIDE).release(1), {WIDE**2}),
        (gaussian, lambda: CALIBRATED.release([1, 2]), {CALIBRATED.event.stddev**2}),
        (gaussian, lambda: CALIBRATED.release(1), {CALIBRATED.event.stddev**2}),
        (noisy_max, lambda: NoisyMax(epsilon=EPSILON).release([1, 2]), {LONG}),
        (noisy_top_k, lambda: TOP.release([1, 2, 3, 4]), {6 * LONG}),
        (
            sparse_vector_session,
            lambda: VECTOR.release_with_values([1, 2], threshold=-9),
            {VECTOR.threshold_scale, VECTOR.comparison_scale, VECTOR.answer_scale},
        ),
        (
            distributed_laplace,
            lambda: DistributedLaplace(parties=1, l1_sensitivity=7, epsilon=EPSILON).share(1),
            {7 * LONG},
        ),
        (
            propose_test_release,
            lambda: ProposeTestRelease(proposed_sensitivity=3, epsilon=EPSILON, delta="1e-6").release((1, 99)),
            {2 * LONG, 6 * LONG},
        ),
    ],
)
def test_the_parameters_of_noise_are_not_rounded_on_their_way(module, draw, parameters, monkeypatch):
    arrived = set()

    def no_noise(parameter, size=None):
        arrived.add(parameter.as_integer_ratio())
        return 0 if size is None else np.zeros(size, dtype=np.int64)

    for name in SAMPLERS:
        monkeypatch.setattr(module, name, no_noise, raising=False)
    draw()
    assert arrived == {Fraction(parameter).as_integer_ratio() for parameter in parameters}
