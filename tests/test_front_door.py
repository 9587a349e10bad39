"""The front door: whatever anyone hands to a public name, it works or says in the package's words what was wanted.

The examples in the docstrings call public classes and functions; `CALLS` has the calls of those without one. Each call
is repeated with one argument after the other replaced by what people hand over by mistake. Python's own errors are left
to what its grammar refuses: a name that is no parameter, or one that is missing.
"""

import asyncio
import contextlib
import doctest
import importlib
import inspect
import io
import os
import signal
import sys
import warnings
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.client.relays import NAMES, Plan

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.privacy import events

PRIVACY = ("budgets", "events", "guarantees", "neighbors", "promises", "secret")
PACKAGES = (
    "accounting",
    "attacks",
    "audit",
    "datasets",
    "geo",
    "learn",
    "local",
    "mechanisms",
    "plots",
    "streams",
    "synth",
)
NOBODY = "sfk_none"
"""A key that no server accepts."""

SECONDS = 10
"""Of the processor, after which a call is taken for one without an end; the slowest takes 2 where nothing else runs."""


class Anything:
    """Made of whatever it is called with. `int` would be a function of the caller's, with errors of its own."""

    def __init__(self, *_, **__):
        pass


WRONG = {
    "None": lambda: None, "True": lambda: True, "-1": lambda: -1, "0": lambda: 0, "1.5": lambda: 1.5,
    "a tiny number": lambda: 1e-320, "nan": lambda: float("nan"), "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"), "a large number": lambda: 10**400, "no text": str, "a word": lambda: "abc",
    "a fraction in text": lambda: "1/3", "a division by zero": lambda: "1/0", "digits of a script": lambda: "\u0663",
    "NUL": lambda: "\0", "bytes": lambda: b"abc", "no list": list, "a list": lambda: [1, "a", None],
    "no dict": dict, "a dict": lambda: {"a": 1}, "no tuple": tuple, "a set": lambda: {1}, "an object": object,
    "a function": lambda: lambda *_: None, "a class": lambda: Anything, "a module": lambda: os,
    "a complex number": lambda: 1j,
    "no number": lambda: Decimal("NaN"), "a decimal": lambda: Decimal("0.1"), "a fraction": lambda: Fraction(1, 3),
    "a date": lambda: date(2026, 1, 1), "a time": lambda: datetime(2026, 1, 1, tzinfo=UTC),
    "a duration": lambda: timedelta(1), "no array": lambda: np.array([]), "a matrix": lambda: np.ones((2, 2)),
    "an array of objects": lambda: np.array([None, "a"], dtype=object), "a NumPy float": lambda: np.float32(0.1),
    "a NumPy integer": lambda: np.int64(2), "NaT": lambda: np.datetime64("NaT", "s"), "missing": lambda: pd.NA,
    "a series": lambda: pd.Series([1.0, None]), "a frame": pd.DataFrame, "a generator": lambda: iter(()),
    "an Arrow column": lambda: pa.array([1, None]), "a guarantee": lambda: sf.PureDP(1),
}  # fmt: skip
"""Made anew for each call, because some are used up."""


@dataclass(frozen=True)
class Call:
    """The arguments of a call."""

    positional: tuple
    named: dict


def call(*positional, **named):
    return Call(positional, named)


@cache
def regions():
    """Regions of a map, and the public table of a session that has them."""
    cells = sf.geo.h3_cells(sf.geo.Grid.around(45, 7, width=1000, height=1000, cell=100), 7)
    policy = sf.Policy(
        dataset="regions", version="1", data_version="1", unit_name="row", tables={"regions": cells.table()},
        sources={"regions": sf.SourceFacts(source=cells.to_arrow())},
    )  # fmt: skip
    return cells, sf.Session(policy, budget=sf.PureDP(1)).table("regions")


def calls():
    """Of what no example calls."""
    column = {"x": sf.integer(0, 9), "y": sf.integer(0, 9), "who": sf.text()}
    people = sf.Table(name="people", columns=column, unit=sf.UnitColumn("who"), limits=sf.Limits(max_rows_per_unit=1))
    handle = sf.constant(1)
    noise = sf.mechanisms.DistributedLaplace(parties=5, l1_sensitivity=1, epsilon=20, max_dropouts=2)
    of_regions = regions()
    return {
        "sf.Limits": call(max_rows_per_unit=1, max_groups_per_unit=1, max_rows_per_group_per_unit=1),
        "sf.SourceFacts": call(source="people.csv"),
        "sf.Table": call(name="people", columns=column, unit=sf.UnitColumn("who"), limits=people.limits, matches={}),
        "sf.UnitColumn": call("who"),
        "sf.UnitPath": call(column="who", table=people, key="who"),
        "sf.coalesce": call(handle, handle),
        "sf.connect": call(url="http://127.0.0.1:9", token=NOBODY, dataset="people", timeout=1, insecure=False),
        "sf.connect_async": call("http://127.0.0.1:9", token=NOBODY, dataset="people", timeout=1, insecure=False),
        "sf.correlation": call("x", "y"),
        "sf.count_distinct": call("x", max_values_per_unit=1),
        "sf.covariance": call("x", "y", population=True),
        "sf.geo.Regions": call(of_regions[0], table=of_regions[1]),
        "sf.greatest": call(handle, handle),
        "sf.join_federation": call("http://127.0.0.1:9", "hospitals", token=NOBODY, timeout=1, insecure=False),
        "sf.open_federation": call(
            "http://127.0.0.1:9",
            "hospitals",
            Plan(),
            list(NAMES),
            max_colluders=1,
            seconds=60,
            token=NOBODY,
            timeout=1,
            insecure=False,
        ),
        "sf.least": call(handle, handle),
        "sf.max": call("x", bounds=(0, 1)),
        "sf.mean": call("x", bounds=(0, 1)),
        "sf.median": call("x", bounds=(0, 1)),
        "sf.min": call("x", bounds=(0, 1)),
        "sf.mode": call("x"),
        "sf.stddev": call("x", bounds=(0, 1), population=True),
        "sf.timestamp": call(values=[datetime(2026, 1, 1)]),  # noqa: DTZ001 # keys are in UTC, without a time zone
        "sf.top_k": call("x", 2),
        "sf.variance": call("x", bounds=(0, 1), population=True),
        "sf.vector_sum": call("x", "y"),
        "sf.attacks.Known": call(movies=[0], ratings=[5.0], days=[10.0]),
        "sf.accounting.largest_sampling_probability": call(
            events.PureEvent(1), target=sf.PureDP(1), accountant=sf.accounting.BasicAccountant(), count=1
        ),
        "sf.accounting.repeated": call(single=sf.PureDP(1), count=2),
        "sf.accounting.to_approx": call(pure=sf.PureDP(1)),
        "sf.accounting.to_pure": call(approx=sf.ApproxDP(1, 0)),
        "sf.datasets.load_adult": call(None),
        "sf.mechanisms.RunningTotal": call(),
        "sf.mechanisms.SlidingWindow": call(7),
        "sf.local.DirectEncoding": call(domain=3, epsilon=1),
        "sf.local.HadamardResponse": call(domain=3, epsilon=1),
        "sf.local.OptimizedUnaryEncoding": call(domain=3, epsilon=1),
        "sf.local.SubsetSelection": call(domain=3, epsilon=1),
        "sf.local.SymmetricUnaryEncoding": call(domain=3, epsilon=1),
        "sf.local.DuchiMean": call(low=0, high=1, epsilon=1, steps=3),
        "sf.local.HybridMean": call(low=0, high=1, epsilon=1, steps=3),
        "sf.local.PiecewiseMean": call(low=0, high=1, epsilon=1, steps=3),
        "sf.local.SquareWave": call(low=0, high=1, epsilon=1, steps=3),
        "sf.local.Party": call(sf.local.PartySum(noise, low=0, high=9), number=0, session=bytes(16)),
        "sf.local.Reports": call(b"abcd", np.zeros((1, 1), dtype=np.uint8)),
        "sf.local.load_protocol": call("survey.json"),
        "sf.local.save_protocol": call(sf.local.DirectEncoding(3, epsilon=1), "survey.json"),
        "sf.privacy.budgets.as_budget": call(sf.PureDP(1), "budget"),
        "sf.privacy.guarantees.as_guarantee": call(sf.PureDP(1)),
        "sf.privacy.guarantees.guarantee": call(1, "0.1"),
        "sf.privacy.neighbors.UnitColumn": call("who"),
        "sf.privacy.events.ApproxEvent": call(1, "0.1"),
        "sf.privacy.events.DiscreteLaplaceEvent": call(1, 1),
        "sf.privacy.events.ExponentialEvent": call(1),
        "sf.privacy.events.FiniteEvent": call(("0.5", "0.5"), ("0.4", "0.6")),
        "sf.privacy.events.GaussianEvent": call(1),
        "sf.privacy.events.LaplaceEvent": call(1),
        "sf.privacy.events.MixtureOfGaussiansEvent": call(1, (1, 2), ("0.5", "0.5")),
        "sf.privacy.events.PureEvent": call(1),
        "sf.privacy.events.RandomizedResponseEvent": call("0.5", 2),
        "sf.privacy.events.ZCDPEvent": call(1),
        "sf.privacy.events.ComposedEvent": call((events.PureEvent(1),)),
        "sf.privacy.events.GroupEvent": call(events.PureEvent(1), 2),
        "sf.privacy.events.PartitionEvent": call((events.PureEvent(1),), 1),
        "sf.privacy.events.PoissonSampledEvent": call("0.1", events.PureEvent(1)),
        "sf.privacy.events.FullyAdaptiveEvent": call(events.PureEvent(1)),
        "sf.privacy.events.RepeatAndSelectEvent": call(events.PureEvent(1), 2, None),
        "sf.privacy.events.SampledWithoutReplacementEvent": call(1, 2, events.PureEvent(1)),
        "sf.privacy.events.TruncatedPoissonSampledEvent": call("0.1", 10, 2, events.PureEvent(1)),
        "sf.privacy.events.SelfComposedEvent": call(events.PureEvent(1), 2),
    }


MADE_BY_THE_PACKAGE = {
    "sf.privacy.neighbors.NeighboringRelation", "sf.attacks.Disclosure", "sf.attacks.Distinction", "sf.attacks.Game",
    "sf.attacks.Generalized", "sf.attacks.MeanOf", "sf.attacks.Membership", "sf.attacks.Reconstruction",
    "sf.attacks.Timing", "sf.audit.AccountingFinding", "sf.audit.CanaryFinding", "sf.audit.CanaryReport",
    "sf.audit.Columns", "sf.audit.EventFinding", "sf.audit.LawFinding", "sf.audit.RepeatFinding", "sf.audit.Runs",
    "sf.audit.SensitivityFinding", "sf.audit.Verdict",
    "sf.mechanisms.RunningCounter", "sf.mechanisms.WorkloadAnswers", "sf.mechanisms.WorkloadPlan",
    "sf.Policy", "sf.Place", "sf.Question", "sf.Release", "sf.SavedRelease", "sf.NeighboringRelation",
    "sf.accounting.Best", "sf.accounting.Calibration", "sf.accounting.EpsilonInterval", "sf.accounting.Estimate",
    "sf.accounting.Parameter", "sf.accounting.PrivacyLoss", "sf.accounting.RiskTable",
    "sf.local.Aggregator", "sf.local.Association", "sf.local.Deployment", "sf.local.PuzzleAggregator",
    "sf.local.HitterAggregator", "sf.local.TreeAggregator", "sf.local.LongitudinalOracle", "sf.local.MemoryClient",
    "sf.local.RapporAggregator", "sf.local.RapporClient", "sf.local.RapporEstimates",
    "sf.local.DistributionEstimate", "sf.local.FrequencyAggregator",
    "sf.local.FrequencyEstimates", "sf.local.FrequencyOracle", "sf.local.Intake", "sf.local.LocalClient",
    "sf.local.LocalProtocol", "sf.local.MeanEstimate", "sf.local.OracleChoice", "sf.local.PoisoningGain",
    "sf.local.PartyEstimate", "sf.local.ProjectedFrequencies", "sf.local.PublicKeys", "sf.local.Revealed",
    "sf.local.SampledEstimates", "sf.local.ShuffledReports",
    "sf.datasets.City", "sf.datasets.Commuters", "sf.datasets.HospitalAndVoters", "sf.datasets.LabeledImages",
    "sf.datasets.SearchLog", "sf.mechanisms.SmoothedValue",
    "sf.synth.Synthetic", "sf.geo.MapCell", "sf.geo.MapQuestion", "sf.geo.NoisyMap", "sf.geo.RegionCells",
    "sf.learn.ExpectedAccuracy", "sf.learn.ModelAudit", "sf.learn.ModelFinding", "sf.learn.UtilityWarning",
    "sf.geo.SegmentTraffic", "sf.geo.Location", "sf.geo.Stretch", "sf.geo.Traffic", "sf.geo.TrafficQuestion",
    "sf.synth.FitReport", "sf.synth.Flows", "sf.synth.GeneralizedTable", "sf.synth.NoisyDistance",
    "sf.synth.OwnerReport", "sf.synth.Prediction", "sf.synth.PrivateReport", "sf.synth.FrequentItemsets",
    "sf.synth.SyntheticBaskets", "sf.synth.SyntheticTables", "sf.synth.PublishedSynthetic", "sf.datasets.Shop",
    "sf.mechanisms.SparseVectorSession", "sf.mechanisms.StableValue", "sf.mechanisms.SurveyEstimate",
    "sf.mechanisms.TopK", "sf.streams.CounterReleases", "sf.streams.Measure", "sf.mechanisms.Alarm",
    "sf.mechanisms.AlarmState", "sf.streams.SelectedReleases",
    "sf.mechanisms.PanPrivateCounterState", "sf.mechanisms.PanPrivateDensityState",
}  # fmt: skip
"""Classes of what calls give back, and `Policy`, which files and `open` make."""

TRUSTING = {"sf.privacy.events.moved_coordinates", "sf.privacy.guarantees.exact_guarantee"}
"""Functions for the package alone: what they take was checked where it came in."""


@cache
def public():
    """Every public class and function, by its name; roles and enumerations are not called."""
    found = {f"sf.{name}": getattr(sf, name) for name in dir(sf)}
    for package in PACKAGES:
        module = getattr(sf, package)
        found |= {f"sf.{package}.{name}": getattr(module, name) for name in module.__all__}
    for home in PRIVACY:
        module = importlib.import_module(f"sfumato.privacy.{home}")
        own = {
            name: value for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
        }
        found |= {f"sf.privacy.{home}.{name}": value for name, value in own.items() if not name.startswith("_")}
    return {
        name: value
        for name, value in found.items()
        if (inspect.isclass(value) or inspect.isfunction(value)) and not getattr(value, "_is_protocol", False)
    }


def code_of(value):
    target = value.__init__ if inspect.isclass(value) else inspect.unwrap(value)
    return getattr(target, "__code__", None)


def calls_in_examples(name):
    """How the examples of its docstring call it."""
    value = public()[name]
    code, found = code_of(value), []

    def watch(frame, event, _):
        if event == "call" and frame.f_code is code:
            found.append(call_of(frame, value))

    module = sys.modules[value.__module__]
    for test in doctest.DocTestFinder(recurse=False).find(value, name, module=module, globs=dict(vars(module))):
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        sys.setprofile(watch)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                runner.run(test, out=lambda _: None, clear_globs=False)
        finally:
            sys.setprofile(None)
    return found


def call_of(frame, value):
    """The arguments with which a function was entered."""
    positional, named = [], {}
    target = value.__init__ if inspect.isclass(value) else inspect.unwrap(value)
    parameters = list(inspect.signature(target).parameters.values())[inspect.isclass(value) :]
    has_more = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    for parameter in parameters:
        held = frame.f_locals[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += held
        elif parameter.kind is parameter.VAR_KEYWORD:
            named |= held
        elif has_more and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            positional.append(held)
        else:
            named[parameter.name] = held
    return Call(tuple(positional), named)


def spoiled(right):
    """The call with one argument after the other replaced by each wrong value."""
    for what, made in WRONG.items():
        for place in range(len(right.positional)):
            changed = list(right.positional)
            changed[place] = made()
            yield f"{place} = {what}", Call(tuple(changed), right.named)
        for name in right.named:
            yield f"{name} = {what}", Call(right.positional, right.named | {name: made()})


class TooLongError(BaseException):
    """No answer after seconds of the processor."""


def late(*_):
    raise TooLongError


def outcome(value, spoilt):
    """What went wrong, or nothing."""
    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = value(*spoilt.positional, **spoilt.named)
            if inspect.iscoroutine(found):
                asyncio.run(found)
    except SfumatoError:
        return ""
    except TooLongError:
        return "no answer after seconds"
    except Exception as error:  # noqa: BLE001 # whatever else comes is what is looked for
        return f"{type(error).__name__}: {str(error)[:100]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return ""


@pytest.mark.parametrize("name", sorted(public().keys() - MADE_BY_THE_PACKAGE - TRUSTING))
def test_a_wrong_argument_is_used_or_refused_in_the_words_of_the_package(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of what is handed over is taken for a path
    monkeypatch.setattr("sfumato.client.problems.FIRST_PAUSE", 0.0)
    monkeypatch.setattr("sys.stdin", io.StringIO())  # which `serve` reads, if nothing else is handed over
    (right, *_) = calls_in_examples(name) or [calls().get(name)]
    if right is None:
        assert not inspect.signature(public()[name]).parameters, f"no example calls {name}, and CALLS has none"
        return
    wrong = [f"{where}: {said}" for where, spoilt in spoiled(right) if (said := outcome(public()[name], spoilt))]
    assert not wrong, "\n".join(wrong)


def test_another_exception_is_seen():
    assert outcome(lambda x: x + 1, call("a")).startswith("TypeError")
    assert outcome(sf.PureDP, call("a")) == ""
    assert {where for where, _ in spoiled(call(1, b=2))} == {f"{place} = {what}" for place in "0b" for what in WRONG}


def test_what_the_package_makes_is_there():
    assert public().keys() >= MADE_BY_THE_PACKAGE | TRUSTING
