"""Every mechanism that is exported, on neighbors that are among the worst; as many runs at once as it can make."""

from fractions import Fraction
from functools import partial
from json import loads

import numpy as np
from tests.audits_of_everything.judging import Case

from sfumato.accounting import ZCDPAccountant
from sfumato.accounting.gaussian.discrete_gaussian import discrete_gaussian_delta_up
from sfumato.audit.core.adapters import one_by_one
from sfumato.mechanisms import (
    BandedToeplitz,
    BetaBernoulli,
    BinaryTree,
    BufferedToeplitz,
    CellSensitivity,
    Contribution,
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
    HybridTree,
    JointQuantiles,
    KaryRandomizedResponse,
    Laplace,
    LaplaceThreshold,
    LinearQueries,
    MatrixMechanism,
    NoisyMax,
    NoisyTopK,
    PanPrivateCounter,
    PanPrivateDensity,
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
    SquareRoot,
    StableHistogram,
    StableMedian,
    StableValue,
    Staircase,
    ThresholdAlarm,
    TruncatedGeometricSelection,
    TruncatedLaplace,
    WorkloadMechanism,
    plan_workload,
)
from sfumato.privacy.events import ZCDPEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import REPLACE_ONE

QUARTER = Fraction(1, 4)
ONE = Contribution.one_of()
TICKS = (0, 0, 0), (1, 0, 0)
RHO = ApproxDP(ZCDPAccountant().compose(ZCDPEvent(Fraction("0.3"))).epsilon(delta="0.01"), "0.01")
MILD = "neighbours of so few numbers are not the worst"


def made(kind, mechanism, run, pair, *, claim=None, **facts):
    """A case of a class: `run` gives so many outputs of it."""
    delta = getattr(mechanism, "delta", 0)
    stated = ApproxDP(mechanism.epsilon, delta) if claim is None else claim
    return kind, Case(mechanism=lambda: partial(run, mechanism), pair=pair, claim=stated, **facts)


def columns(mechanism, exact, count):
    """One number for each run, all at once; each has noise of its own."""
    return mechanism.release([exact] * count)


def vectors(mechanism, exact, count):
    """The same for vectors: their numbers one after the other."""
    return np.reshape(mechanism.release(list(exact) * count), (count, len(exact)))


def over_time(mechanism, exact, count):
    """The releases of a few ticks, of as many counters side by side as there are runs."""
    increments = np.repeat(np.reshape(exact, (-1, 1)), count, axis=1)
    return np.transpose(mechanism.start(count).release_block(increments))


def singly(mechanism, exact, count):
    """One release after the other."""
    return one_by_one(mechanism.release)(exact, count)


def measured(mechanism, exact, count):
    """What a workload's answers are made of, one release after the other."""
    return [tuple(mechanism.release(exact).measurements.tolist()) for _ in range(count)]


def chosen(mechanism, scores, count):
    """Choices among candidates."""
    return mechanism.release_many(list(scores), count)


def shared(mechanism, exact, count):
    """The sum of the shares of all but those who drop out, of whom the first holds the value."""
    arrived = mechanism.parties - mechanism.max_dropouts
    return mechanism.combine([mechanism.share([exact if i == 0 else 0] * count) for i in range(arrived)])


def kept(mechanism, units, count):
    """A key of so many units in each run."""
    return mechanism.kept([units] * count).open_for_noise()


def counted(mechanism, units, count):
    """A histogram of as many keys as there are runs, of so many units each: what it says of each key."""
    shown = mechanism.release(dict.fromkeys(range(count), units))
    return [shown.get(key) for key in range(count)]


def valued(mechanism, answers, count):
    """Comparisons, and the values of what lies above."""
    return [mechanism.release_with_values(list(answers), 1) for _ in range(count)]


def compared(mechanism, answers, count):
    """Comparisons only."""
    return [mechanism.release(list(answers), 1) for _ in range(count)]


def asked_in_turn(mechanism, answers, count):
    """The same in sessions, which are asked until they halt."""

    def session():
        started, said = mechanism.start(1), []
        for answer in answers:
            if started.halted:
                break
            said.append(started.above(answer))
        return tuple(said)

    return [session() for _ in range(count)]


def watched(mechanism, totals, count):
    """At which ticks there are alarms."""

    def replies(state):
        return tuple(state.tick(total) is not None for total in totals if not state.is_over)

    return [replies(mechanism.start()) for _ in range(count)]


def spied_on(look):
    """What a look shows and what is released: the first events come before the look, the others after it."""

    def run(mechanism, arrivals, count):
        return [_spied_on(mechanism.start(), arrivals, look) for _ in range(count)]

    return run


def _spied_on(running, arrivals, look):
    arrive, release = (running.add, running.tick) if hasattr(running, "tick") else (running.see, running.release)
    arrive(list(arrivals[0]))
    seen = look(running)
    arrive(list(arrivals[1]))
    return *seen, float(release())


def gaussian(stddev, epsilon):
    """What noise of a width promises."""
    return ApproxDP(epsilon, discrete_gaussian_delta_up(stddev=stddev, l2_sensitivity=1, epsilon=epsilon))


FIRST, LATER = (1,) + (0,) * 5, (0,) + (1,) * 5
NONE, ALL_BUT_FIRST = (0,) * 6, (0,) + (1,) * 5
ENDS = (-9, 0, 0, 1), (-9, 0, 0, 1, 1)
TOP = (1,) * 8 + (-9,) * 2, (1,) * 9 + (-9,) * 2
GRID = {"lower": -9, "upper": 1, "epsilon": 2}
OVER = (0, 0, 0, 0, 1), (1, 1, 1, 1, 0)
PREFIXES = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
ONE_ROW = CellSensitivity(l0=1, linf=1, is_nonnegative=True)
TOTALS = plan_workload({"x": 3}, [LinearQueries({"x": "prefix"})], unit=ONE_ROW, noise="laplace")

CASES = {
    "Laplace": made(Laplace, Laplace(l1_sensitivity=1, epsilon=2), columns, (5, 6)),
    "Laplace vectors": made(Laplace, Laplace(l1_sensitivity=2, epsilon=2), vectors, ((0, 0), (1, 1))),
    "Laplace on a lattice": made(
        Laplace,
        Laplace(l1_sensitivity=1, epsilon=2, resolution="0.5", dimension=1),
        singly,
        (Fraction(0), Fraction(1)),
        fewer=3,
    ),
    "Gaussian": made(Gaussian, Gaussian(l2_sensitivity=1, epsilon=2, delta="0.01", l0_sensitivity=1), columns, (5, 6)),
    "GaussianNoise": made(
        GaussianNoise,
        GaussianNoise(l2_sensitivity=1, stddev=1, l0_sensitivity=1),
        columns,
        (5, 6),
        claim=gaussian(1, 2),
    ),
    "Geometric": made(Geometric, Geometric(lower=0, upper=10, epsilon=2, l1_sensitivity=1), columns, (0, 1)),
    "Staircase": made(Staircase, Staircase(linf_sensitivity=10, epsilon=2, l0_sensitivity=1), columns, (0, 10)),
    "TruncatedLaplace": made(
        TruncatedLaplace,
        TruncatedLaplace(linf_sensitivity=1, epsilon=2, delta="0.01", l0_sensitivity=1),
        columns,
        (5, 6),
    ),
    "DistributedGaussian": made(
        DistributedGaussian,
        DistributedGaussian(parties=3, l2_sensitivity=2, rho="0.3", max_dropouts=1, l0_sensitivity=1),
        shared,
        (0, 2),
        claim=RHO,
    ),
    "DistributedLaplace": made(
        DistributedLaplace, DistributedLaplace(parties=3, l1_sensitivity=2, epsilon=2, max_dropouts=1), shared, (0, 2)
    ),
    "DistributedSkellam": made(
        DistributedSkellam,
        DistributedSkellam(parties=3, linf_sensitivity=2, epsilon=2, delta="0.01", max_dropouts=1, l0_sensitivity=1),
        shared,
        (0, 2),
    ),
    "MatrixMechanism": made(
        MatrixMechanism, MatrixMechanism(PREFIXES, epsilon=2), singly, ((1, 1, 1), (2, 1, 1)), fewer=3
    ),
    "WorkloadMechanism": made(
        WorkloadMechanism,
        WorkloadMechanism(TOTALS, epsilon=2),
        measured,
        ((1, 1, 1), (2, 1, 1)),
        claim=ApproxDP(2, 0),
        fewer=3,
    ),
    "Exponential": made(Exponential, Exponential(utility_sensitivity=1, epsilon=2), chosen, (FIRST, LATER)),
    "Exponential, monotonic": made(
        Exponential, Exponential(utility_sensitivity=1, epsilon=2, monotonic=True), chosen, (NONE, ALL_BUT_FIRST)
    ),
    "PermuteAndFlip": made(PermuteAndFlip, PermuteAndFlip(utility_sensitivity=1, epsilon=2), chosen, (FIRST, LATER)),
    "NoisyMax": made(NoisyMax, NoisyMax(epsilon=2), singly, (NONE, ALL_BUT_FIRST)),
    "NoisyMax, replacement": made(
        NoisyMax, NoisyMax(epsilon=2, neighboring_relation=REPLACE_ONE), singly, (FIRST, LATER)
    ),
    "NoisyTopK": made(
        NoisyTopK,
        NoisyTopK(k=2, epsilon=2, utility_sensitivity=1),
        singly,
        ((1, 0, 0, 0), (0, 1, 1, 1)),
        share=Fraction(1, 5),
    ),
    "Quantile": made(Quantile, Quantile(quantile="1/2", **GRID), singly, ENDS),
    "QuantileEnd": made(
        QuantileEnd, QuantileEnd(quantile="1/2", is_upper=True, confidence="0.05", **GRID), singly, ENDS, share=QUARTER
    ),
    "Quantiles": made(
        Quantiles, Quantiles(quantiles=["1/4", "1/2", "3/4"], **GRID), singly, ENDS, fewer=10, share=None, why=MILD
    ),
    "JointQuantiles": made(JointQuantiles, JointQuantiles(quantiles=["2/5", "1/2"], **GRID), singly, ENDS),
    "Extreme": made(Extreme, Extreme(largest=True, **GRID), singly, TOP, share=QUARTER),
    "SparseVector": made(SparseVector, SparseVector(epsilon=2, cutoff=1, linf_sensitivity=1), compared, OVER),
    "SparseVector, twice": made(
        SparseVector, SparseVector(epsilon=2, cutoff=2, linf_sensitivity=1), compared, OVER, share=QUARTER
    ),
    "SparseVector, values": made(
        SparseVector,
        SparseVector(epsilon=2, answer_share="0.5", linf_sensitivity=1),
        valued,
        ((0, 0), (1, 1)),
        share=QUARTER,
    ),
    "SparseVectorSession": made(
        SparseVector, SparseVector(epsilon=2, cutoff=1, linf_sensitivity=1), asked_in_turn, OVER
    ),
    "PanPrivateCounter, looked at after an event": made(
        PanPrivateCounter,
        PanPrivateCounter(horizon=1, epsilon=2),
        spied_on(lambda state: state._open),
        (((0,), (0,)), ((1,), (0,))),
        fewer=25,
        share=QUARTER,
    ),
    "PanPrivateCounter, looked at before an event": made(
        PanPrivateCounter,
        PanPrivateCounter(horizon=1, epsilon=2),
        spied_on(lambda state: state._open),
        (((0,), (0,)), ((0,), (1,))),
        fewer=25,
        share=QUARTER,
    ),
    "PanPrivateCounter, saved between events": made(
        PanPrivateCounter,
        PanPrivateCounter(horizon=1, epsilon=2, saved_copies=1, events_per_unit=2),
        spied_on(lambda state: loads(state.saved())["open"]),
        (((0,), (0,)), ((1,), (1,))),
        fewer=25,
        share=QUARTER,
    ),
    "PanPrivateDensity": made(
        PanPrivateDensity,
        PanPrivateDensity(universe=1, epsilon=2),
        spied_on(lambda state: state._bits.tolist()),
        (((), ()), ((0,), (0,))),
        fewer=25,
        share=QUARTER,
    ),
    "BinaryTree": made(
        BinaryTree, BinaryTree(horizon=3, epsilon=2, contribution=ONE), over_time, TICKS, claim=ApproxDP(2, 0)
    ),
    "BinaryTree, Gaussian": made(
        BinaryTree, BinaryTree(horizon=3, rho="0.3", contribution=ONE), over_time, TICKS, claim=RHO, share=QUARTER
    ),
    "BinaryTree, online": made(
        BinaryTree,
        BinaryTree(horizon=3, rho="0.3", contribution=ONE, online=True),
        over_time,
        TICKS,
        claim=RHO,
        share=QUARTER,
    ),
    "HybridTree": made(
        HybridTree, HybridTree(epsilon=2, contribution=ONE), over_time, TICKS, claim=ApproxDP(2, 0), share=QUARTER
    ),
    "SquareRoot": made(
        SquareRoot, SquareRoot(horizon=3, rho="0.3", contribution=ONE), over_time, TICKS, claim=RHO, share=QUARTER
    ),
    "BandedToeplitz": made(
        BandedToeplitz,
        BandedToeplitz(horizon=3, rho="0.3", bands=2, contribution=ONE),
        over_time,
        TICKS,
        claim=RHO,
        share=QUARTER,
    ),
    "BufferedToeplitz": made(
        BufferedToeplitz,
        BufferedToeplitz(horizon=256, rho="0.3", contribution=ONE),
        over_time,
        TICKS,
        claim=RHO,
        share=QUARTER,
    ),
    "ThresholdAlarm": made(
        ThresholdAlarm, ThresholdAlarm(1, epsilon=2), watched, ((0, 0, 0, 0), (1, 1, 1, 1)), fewer=40, share=QUARTER
    ),
    "PosteriorSampling, Beta": made(
        PosteriorSampling,
        PosteriorSampling(BetaBernoulli(low="0.1", high="0.9")),
        singly,
        ((True,), (False,)),
        fewer=30,
        share=QUARTER,
    ),
    "PosteriorSampling, Gamma": made(
        PosteriorSampling,
        PosteriorSampling(GammaPoisson(low="0.5", high=5, maximum=3), epsilon=2),
        singly,
        ((0,), (3,)),
        fewer=30,
        share=QUARTER,
    ),
    "SmoothMedian": made(
        SmoothMedian,
        SmoothMedian(lower=0, upper=10, epsilon=2),
        singly,
        ((4, 5, 6), (4, 5, 6, 10)),
        share=None,
        why=MILD,
        fewer=3,
    ),
    "SmoothSensitivity": made(
        SmoothSensitivity,
        SmoothSensitivity(epsilon=2, largest_sensitivity=10),
        singly,
        (SmoothedValue(42, 3), SmoothedValue(45, 3)),
        share=None,
        why="noise of wide tails shows less",
        fewer=3,
    ),
    "StableMedian": made(
        StableMedian,
        StableMedian(lower=0, upper=10, proposed_sensitivity=1, epsilon=2, delta="0.01"),
        singly,
        ((5,) * 9, (5,) * 9 + (6,)),
        share=None,
        why=MILD,
        fewer=3,
    ),
    "ProposeTestRelease": made(
        ProposeTestRelease,
        ProposeTestRelease(proposed_sensitivity=1, epsilon=2, delta="0.01"),
        singly,
        (StableValue(42, 9), StableValue(43, 8)),
        share=QUARTER,
    ),
    "TruncatedGeometricSelection": made(
        TruncatedGeometricSelection,
        TruncatedGeometricSelection(epsilon=2, delta="0.01", max_groups_per_unit=1),
        kept,
        (1, 2),
        share=QUARTER,
    ),
    "TruncatedGeometricSelection, a key of one": made(
        TruncatedGeometricSelection,
        TruncatedGeometricSelection(epsilon=2, delta="0.01", max_groups_per_unit=1),
        kept,
        (0, 1),
        share=None,
        why="that is what δ is for",
    ),
    "LaplaceThreshold": made(
        LaplaceThreshold,
        LaplaceThreshold(epsilon=2, delta="0.01", max_groups_per_unit=1, max_rows_per_group_per_unit=1),
        kept,
        (2, 3),
    ),
    "LaplaceThreshold, a key of one": made(
        LaplaceThreshold,
        LaplaceThreshold(epsilon=2, delta="0.01", max_groups_per_unit=1, max_rows_per_group_per_unit=1),
        kept,
        (0, 1),
        share=None,
        why="δ",
    ),
    "GaussianThreshold": made(
        GaussianThreshold,
        GaussianThreshold(epsilon=2, delta="0.01", max_groups_per_unit=1, max_rows_per_group_per_unit=1),
        kept,
        (3, 4),
        share=None,
        why=MILD,
    ),
    "StableHistogram": made(
        StableHistogram,
        StableHistogram(
            LaplaceThreshold(epsilon=2, delta="0.01", max_groups_per_unit=1, max_rows_per_group_per_unit=1)
        ),
        counted,
        (5, 6),
        claim=ApproxDP(2, "0.01"),
    ),
    "RandomizedResponse": made(RandomizedResponse, RandomizedResponse(), columns, (False, True)),
    "RandomizedResponse, another coin": made(
        RandomizedResponse, RandomizedResponse(heads_probability="0.8"), columns, (False, True)
    ),
    "KaryRandomizedResponse": made(
        KaryRandomizedResponse, KaryRandomizedResponse(categories=3, epsilon=2), columns, (0, 2)
    ),
}
KINDS = {name: kind for name, (kind, _) in CASES.items()}
CASES = {name: case for name, (_, case) in CASES.items()}

WITHOUT = {
    "RunningCounter": "what a counter over time starts, in the cases of these",
    "Contribution": "what counters over time are given", "Participation": "what counters over time are given",
    "RunningTotal": "what counters over time release", "SlidingWindow": "what counters over time release",
    "DecayingSum": "what counters over time release", "nondecreasing": "made of releases alone",
    "best_counter": "no mechanism: a choice from public facts",
    "AdditiveMechanism": "a role", "Mechanism": "a role", "PosteriorModel": "a role",
    "BetaBernoulli": "what PosteriorSampling draws from", "GammaPoisson": "what PosteriorSampling draws from",
    "LaplaceLocation": "what PosteriorSampling draws from",
    "SampledSensitivity": "no differential privacy, which audits of neighbors rightly refute",
    "Alarm": "what ThresholdAlarm gives", "AlarmState": "what ThresholdAlarm starts, in its case",
    "Change": "what ThresholdAlarm compares", "CumulativeSum": "what ThresholdAlarm compares",
    "PanPrivateCounterState": "what PanPrivateCounter starts",
    "PanPrivateDensityState": "what PanPrivateDensity starts",
    "SmoothedValue": "what SmoothSensitivity is given", "StableValue": "what ProposeTestRelease is given",
    "SparseVectorSession": "what SparseVector starts, in a case of its own", "SurveyEstimate": "made of answers alone",
    "TopK": "what NoisyTopK gives", "canonical_key": "no mechanism: the form of a key",
    "CellSensitivity": "what plan_workload is given", "LinearQueries": "what plan_workload is given",
    "Subsets": "what plan_workload is given",
    "WorkloadAnswers": "what WorkloadMechanism gives", "WorkloadPlan": "what WorkloadMechanism is made of",
    "marginals": "no mechanism: queries", "plan_workload": "no mechanism: a choice from public facts",
}  # fmt: skip
"""What is exported and has no case, and why."""

_LEFT_TO_AUDITS = ("PosteriorSampling", "PanPrivateCounter, looked at before", "PanPrivateCounter, saved")
IN_TEST = tuple(name for name in CASES if not name.startswith(_LEFT_TO_AUDITS))
"""What `make test` audits: all but those that take seconds, with 10,000 runs each; fewer where a case says so."""
