"""Every mechanism with an example of what it releases, and with data that no policy would have allowed.

The odd data has the public shape and types of the example, so that nothing about it may be an error.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from sfumato.mechanisms import (
    AdditiveMechanism,
    BetaBernoulli,
    CellSensitivity,
    DistributedGaussian,
    DistributedLaplace,
    DistributedSkellam,
    Exponential,
    Extreme,
    GammaPoisson,
    Gaussian,
    GaussianNoise,
    GaussianThreshold,
    Geometric,
    JointQuantiles,
    KaryRandomizedResponse,
    Laplace,
    LaplaceLocation,
    LaplaceThreshold,
    LinearQueries,
    MatrixMechanism,
    Mechanism,
    NoisyMax,
    NoisyTopK,
    PermuteAndFlip,
    PosteriorSampling,
    ProposeTestRelease,
    Quantile,
    QuantileEnd,
    Quantiles,
    RandomizedResponse,
    SmoothedValue,
    SmoothMedian,
    SmoothSensitivity,
    SparseVector,
    StableHistogram,
    StableMedian,
    StableValue,
    Staircase,
    TruncatedGeometricSelection,
    TruncatedLaplace,
    WorkloadMechanism,
    plan_workload,
)
from sfumato.privacy.neighbors import REPLACE_ONE

HUGE = (10**30, -(10**30), 2**63, -(2**63), 2**62, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A mechanism, what it may be given, and odd values of the same public shape and types."""

    mechanism: Mechanism
    exact: Any
    odd: tuple[Any, ...]


def whole(mechanism, *, length=3):
    """Releases a vector of integers."""
    odd = [[value] * length for value in (*HUGE, None)] + [np.full(length, 2**63 - 1), np.full(length, -(2**63))]
    odd += [np.ma.masked_array([1] * length, mask=[True] * length), pd.Series([None] * length, dtype="Int64")]
    odd += [np.array([value] * length) for value in (1.0, nan, inf, -inf, 1e300)]
    odd += [[None, 1.0, nan][:length], pa.array([None] * length, pa.int64()), pd.Series([1.0] * length)]
    return Case(mechanism=mechanism, exact=[1, 0, 1][:length], odd=tuple(odd))


def real(mechanism, *, length=3):
    """Releases a vector of numbers of any kind."""
    odd = [[value] * length for value in (*HUGE, nan, inf, -inf, None, 1e308, 5e-324, -0.0, Fraction(1, 3))]
    arrays = [np.full(length, value) for value in (nan, inf, -inf, 1e308, -0.0)]
    arrays += [np.ma.masked_array([1.5] * length, mask=[True] * length), pd.Series([pd.NA] * length, dtype="Float64")]
    arrays += [[1.5, None, 2][:length], np.array([1.5] * length, dtype=np.longdouble), pa.array([None] * length)]
    return Case(mechanism=mechanism, exact=[1.5, 0.0, 1.0][:length], odd=(*odd, *arrays))


def counts(mechanism):
    """Releases keys of a mapping."""
    far = datetime.max.replace(tzinfo=timezone(-timedelta(hours=5)))
    keys = (True, 0.5, Decimal("0.1"), nan, inf, pd.NA, pd.NaT, Decimal("1E+999999999"), far, 1j, b"", "\ud800")
    odd = ({}, dict.fromkeys(keys, 100), *({"a": value, None: value, ("b", 2): value} for value in HUGE))
    return Case(mechanism=mechanism, exact={"a": 100, "b": 1}, odd=odd)


RUNNING_TOTALS = [LinearQueries({"x": "prefix"}), LinearQueries({"x": "cells"})]
ONE_ROW = CellSensitivity(l0=1, linf=1, is_nonnegative=True)

CASES = [
    whole(Laplace(l1_sensitivity=1, epsilon=1)),
    whole(Laplace(l1_sensitivity=1, epsilon=0)),
    whole(Laplace(l1_sensitivity=0, epsilon=1)),
    real(Laplace(l1_sensitivity=1, epsilon=1, resolution="0.01", dimension=3)),
    whole(Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6", l0_sensitivity=1)),
    real(Extreme(largest=True, lower=0, upper=5, epsilon=1)),
    whole(GaussianNoise(l2_sensitivity=1, stddev=5, l0_sensitivity=2)),
    real(Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6", resolution="0.01", l0_sensitivity=3)),
    whole(Geometric(lower=0, upper=10, epsilon=1, l1_sensitivity=1)),
    real(Geometric(lower=0, upper=10, epsilon=1, l1_sensitivity=1, resolution="0.1", dimension=3)),
    whole(Staircase(linf_sensitivity=10, epsilon=1), length=1),
    whole(TruncatedLaplace(linf_sensitivity=2, epsilon=1, delta="1e-6", l0_sensitivity=1)),
    real(TruncatedLaplace(linf_sensitivity=2, epsilon=1, delta="1e-6", l0_sensitivity=3, resolution="0.1")),
    real(Exponential(utility_sensitivity=1, epsilon=1)),
    real(Exponential(utility_sensitivity=1, epsilon=1, resolution="0.5")),
    real(PermuteAndFlip(utility_sensitivity=1, epsilon=1)),
    whole(NoisyMax(epsilon=1)),
    whole(NoisyMax(epsilon=1, neighboring_relation=REPLACE_ONE)),
    real(NoisyMax(epsilon=1, utility_sensitivity=2, monotonic=False, resolution="0.5")),
    whole(NoisyTopK(k=2, epsilon=1, utility_sensitivity=1)),
    real(NoisyTopK(k=3, epsilon=1, resolution="0.5", utility_sensitivity=1)),
    real(Quantile(quantile="1/2", lower=0, upper=10, epsilon=1)),
    real(QuantileEnd(quantile="1/2", is_upper=True, lower=0, upper=10, epsilon=1)),
    real(Quantiles(quantiles=["1/4", "1/2", "3/4"], lower=0, upper=10, epsilon=1)),
    real(JointQuantiles(quantiles=["1/4", "1/2", "3/4"], lower=0, upper=10, epsilon=1)),
    whole(SparseVector(epsilon=1, cutoff=3, linf_sensitivity=1)),
    real(SparseVector(epsilon=1, resolution="0.1", linf_sensitivity=1)),
    real(SmoothMedian(lower=0, upper=10, epsilon=1)),
    real(SmoothMedian(lower=0, upper=10, epsilon=1, delta="1e-6", neighboring_relation=REPLACE_ONE)),
    real(StableMedian(lower=0, upper=10, proposed_sensitivity=1, epsilon=1, delta="1e-6")),
    Case(
        mechanism=SmoothSensitivity(epsilon=1, largest_sensitivity=10),
        exact=SmoothedValue(42, 3),
        odd=tuple(SmoothedValue(value, value) for value in HUGE),
    ),
    Case(
        mechanism=ProposeTestRelease(proposed_sensitivity=1, epsilon=1, delta="1e-6"),
        exact=StableValue(42, 3),
        odd=tuple(StableValue(value, value) for value in HUGE),
    ),
    counts(TruncatedGeometricSelection(epsilon=1, delta="1e-6", max_groups_per_unit=1)),
    counts(LaplaceThreshold(epsilon=1, delta="1e-6", max_groups_per_unit=1, max_rows_per_group_per_unit=1)),
    counts(GaussianThreshold(epsilon=1, delta="1e-6", max_groups_per_unit=2, max_rows_per_group_per_unit=1)),
    counts(
        StableHistogram(LaplaceThreshold(epsilon=1, delta="1e-6", max_groups_per_unit=1, max_rows_per_group_per_unit=1))
    ),
    Case(
        mechanism=RandomizedResponse(),
        exact=[True, False, True],
        odd=([None, True, False], [nan, 0.0, 1.0], [2**70, -1, 0], np.array([nan, inf, 0.0])),
    ),
    real(KaryRandomizedResponse(categories=3, epsilon=1)),
    real(KaryRandomizedResponse(categories=3, probability="1/2")),
    real(PosteriorSampling(BetaBernoulli(low="0.1", high="0.9"))),
    real(PosteriorSampling(GammaPoisson(low="0.5", high=5, maximum=3), epsilon=1)),
    real(PosteriorSampling(LaplaceLocation(low=-1, high=5, scale=2, resolution="0.1"), epsilon=1)),
    whole(MatrixMechanism([[1, 0, 0], [1, 1, 0], [1, 1, 1]], epsilon=1)),
    whole(MatrixMechanism([[1, 0, 0], [1, 1, 0], [1, 1, 1]], epsilon=1, delta="1e-6")),
    whole(WorkloadMechanism(plan_workload({"x": 3}, RUNNING_TOTALS, unit=ONE_ROW), rho="0.5")),
    whole(WorkloadMechanism(plan_workload({"x": 3}, RUNNING_TOTALS, unit=ONE_ROW, noise="laplace"), epsilon=1)),
    whole(DistributedGaussian(parties=3, l2_sensitivity=2, rho="0.1", max_dropouts=1), length=1),
    whole(DistributedLaplace(parties=3, l1_sensitivity=2, epsilon=1, max_dropouts=1), length=1),
    whole(DistributedSkellam(parties=3, linf_sensitivity=2, epsilon=1, delta="1e-6", max_dropouts=1), length=1),
]

ADDITIVE: list[AdditiveMechanism] = [
    Laplace(l1_sensitivity=1, epsilon=1),
    Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6"),
    GaussianNoise(l2_sensitivity=1, stddev=5),
    Staircase(linf_sensitivity=10, epsilon=1),
    TruncatedLaplace(linf_sensitivity=2, epsilon=1, delta="1e-6"),
    DistributedGaussian(parties=3, l2_sensitivity=2, rho="0.1", max_dropouts=1),
    DistributedLaplace(parties=3, l1_sensitivity=2, epsilon=1, max_dropouts=1),
    DistributedSkellam(parties=3, linf_sensitivity=2, epsilon=1, delta="1e-6", max_dropouts=1),
]
