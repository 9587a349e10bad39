"""The roles of mechanisms: what every one of them does, whatever it releases."""

import inspect
from fractions import Fraction
from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.laws import SAMPLES
from tests.mechanisms.contract import ADDITIVE, CASES, ONE_ROW

from sfumato import mechanisms
from sfumato.accounting import BasicAccountant, ZCDPAccountant
from sfumato.errors import ParameterError
from sfumato.mechanisms import (
    Contribution,
    DistributedGaussian,
    DistributedLaplace,
    DistributedSkellam,
    Gaussian,
    GaussianNoise,
    Laplace,
    MatrixMechanism,
    NoisyMax,
    Staircase,
    ThresholdAlarm,
)
from sfumato.mechanisms.base import LatticeNoise, half_width, integers, opened
from sfumato.noise.uniform.integers import add
from sfumato.privacy.codec import decode_event, encode_event
from sfumato.privacy.events import Event, ZCDPEvent
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.privacy.secret import Secret

RELATED = [
    value
    for value in (getattr(mechanisms, name) for name in mechanisms.__all__)
    if inspect.isclass(value)
    and value is not Contribution  # which is made by functions of its own
    and "neighboring_relation" in inspect.signature(value).parameters
]


def title(case):
    return type(getattr(case, "mechanism", case)).__name__


def test_every_mechanism_has_its_case():
    released = {name for name in mechanisms.__all__ if hasattr(getattr(mechanisms, name), "release")}
    without_event = {"Mechanism", "AdditiveMechanism", "SampledSensitivity"}  # the last one is no differential privacy
    without_event |= {"RunningCounter", "PanPrivateDensityState"}  # what has an event starts them
    assert released - {type(case.mechanism).__name__ for case in CASES} == without_event


@pytest.mark.parametrize("case", CASES, ids=title)
def test_its_event_has_a_price_and_is_kept_as_text(case):
    event = case.mechanism.event
    assert isinstance(event, Event)
    assert decode_event(encode_event(event)) == event
    accountant = ZCDPAccountant() if isinstance(event, ZCDPEvent) else BasicAccountant()
    assert accountant.compose(event).epsilon(delta="1e-5") < inf


@pytest.mark.parametrize("case", CASES, ids=title)
def test_it_takes_secrets(case):
    case.mechanism.release(Secret(case.exact))


@pytest.mark.parametrize("case", CASES, ids=title)
def test_no_data_value_is_an_error(case):
    for exact in case.odd:
        case.mechanism.release(exact)


@pytest.mark.parametrize("case", CASES, ids=title)
def test_no_answer_carries_the_container_of_the_data(case):
    for exact in case.odd:
        assert not isinstance(case.mechanism.release(exact), np.ma.MaskedArray | pd.Series)


@pytest.mark.parametrize("case", CASES, ids=title)
def test_what_it_is_given_stays_as_it_was(case):
    for exact in (case.exact, *case.odd):
        before = repr(exact)
        case.mechanism.release(exact)
        assert repr(exact) == before


@pytest.mark.parametrize("case", CASES, ids=title)
def test_it_is_a_frozen_value_that_remembers_nothing(case):
    before = repr(case.mechanism)
    with pytest.raises((AttributeError, TypeError)):
        case.mechanism.epsilon = 0
    case.mechanism.release(case.exact)
    assert repr(case.mechanism) == before
    assert hash(case.mechanism) == hash(case.mechanism)
    assert case.mechanism == case.mechanism


@pytest.mark.parametrize("case", CASES, ids=title)
def test_its_docstring_states_guarantee_and_edge_cases(case):
    text = inspect.getdoc(type(case.mechanism))
    assert "**Guarantee**" in text
    assert "dge case" in text
    assert ">>>" in text


@pytest.mark.parametrize("kind", RELATED, ids=lambda kind: kind.__name__)
def test_a_relation_that_is_unknown_is_refused_and_a_name_is_as_good_as_the_relation(kind):
    others = next(
        {
            name: getattr(example, name)
            for name in inspect.signature(kind).parameters
            if name != "neighboring_relation" and hasattr(example, name)
        }
        for example in (*(case.mechanism for case in CASES), ONE_ROW, ThresholdAlarm(10, epsilon=1))
        if type(example) is kind
    )
    positional = [others.pop(name) for name in list(others) if name in {"workload", "model", "threshold"}]
    named = kind(*positional, **others, neighboring_relation="replace_one")
    assert named == kind(*positional, **others, neighboring_relation=REPLACE_ONE)
    with pytest.raises(ParameterError, match="neighboring_relation"):
        kind(*positional, **others, neighboring_relation="replace one")


def test_equal_parameters_make_equal_mechanisms():
    assert Laplace(l1_sensitivity=1, epsilon=0.1) == Laplace(l1_sensitivity="1", epsilon="1/10")
    assert len({NoisyMax(epsilon=1), NoisyMax(epsilon="1.0")}) == 1
    assert MatrixMechanism([[1, 0]], epsilon=1) == MatrixMechanism([[1, 0]], epsilon="1")


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=title)
def test_a_higher_confidence_has_a_wider_error(mechanism):
    widths = [mechanism.accuracy(confidence) for confidence in (0.5, 0.9, 0.95, 0.999)]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=title)
def test_the_standard_deviation_is_the_root_of_the_variance(mechanism):
    assert float(mechanism.stddev) == pytest.approx(mechanism.variance**0.5)
    assert 0 < mechanism.stddev < mechanism.accuracy("0.999")


VECTORS = [
    Laplace(l1_sensitivity=1, epsilon="0.4"),
    Gaussian(l2_sensitivity=1, epsilon=2, delta="1e-3", l0_sensitivity=1),
    GaussianNoise(l2_sensitivity=1, stddev="0.5"),
    Staircase(linf_sensitivity=10, epsilon=1, l0_sensitivity=1),
    DistributedGaussian(parties=3, l2_sensitivity=1, rho="0.5", l0_sensitivity=1, max_dropouts=1),
    DistributedLaplace(parties=3, l1_sensitivity=2, epsilon=1, max_dropouts=1),
    DistributedSkellam(parties=3, linf_sensitivity=2, epsilon=1, delta="1e-6", l0_sensitivity=1, max_dropouts=1),
]


@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", VECTORS, ids=title)
def test_releases_vary_as_much_as_is_said(mechanism):
    noise = mechanism.release(np.full(SAMPLES, 7)) - 7
    assert noise.var() == pytest.approx(mechanism.variance, rel=0.06)  # 6 standard errors and more
    assert noise.var() != pytest.approx(mechanism.variance * 1.2, rel=0.06)


def test_where_nothing_is_told_the_variance_is_infinite_and_without_noise_it_is_zero():
    for kind, sensitivity in ((Laplace, "l1_sensitivity"), (Staircase, "linf_sensitivity")):
        assert kind(**{sensitivity: 1}, epsilon=0).variance == kind(**{sensitivity: 1}, epsilon=0).stddev == inf
        assert kind(**{sensitivity: 0}, epsilon=1).variance == kind(**{sensitivity: 0}, epsilon=1).stddev == 0
    assert DistributedLaplace(parties=2, l1_sensitivity=1, epsilon=0).variance == inf
    assert DistributedLaplace(parties=2, l1_sensitivity=0, epsilon=1).variance == 0
    assert Gaussian(l2_sensitivity=0, epsilon=1, delta="1e-6").variance == 0
    assert DistributedGaussian(parties=2, l2_sensitivity=0, rho=1).variance == 0
    assert DistributedSkellam(parties=2, linf_sensitivity=0, epsilon=1, delta="1e-6").variance == 0


def test_opened_takes_values_with_and_without_a_wrapper():
    assert opened(Secret(3)) == opened(3) == 3


class Moved(LatticeNoise):
    """Adds 1 to every number, or to each of a vector what it is told."""

    def __init__(self, resolution, by):
        self.resolution, self.by = resolution, by

    def _perturb(self, steps):
        return add(steps, np.ones(len(steps), dtype=np.int64) if self.by is None else np.array(self.by))

    def _perturb_one(self, step):
        return step + 1


def release(exact, by=None, *, resolution=None):
    return Moved(resolution, by).release(exact)


@pytest.mark.parametrize("exact", [42, np.int64(42), np.uint8(42), np.array(42), Secret(42)], ids=repr)
def test_a_number_gives_an_int(exact):
    answer = release(exact)
    assert (answer, type(answer)) == (43, int)


@pytest.mark.parametrize(
    "exact",
    [
        [1, 2],
        (1, 2),
        range(1, 3),
        np.array([1, 2]),
        np.array([1, 2], dtype=np.int8),
        np.array([1, 2], dtype=np.uint64),
        np.array([1, 2], dtype=object),
        Secret([1, 2]),
    ],
    ids=repr,
)
def test_a_vector_gives_an_array(exact):
    answer = release(exact)
    assert (answer.tolist(), answer.dtype) == ([2, 3], np.int64)


def test_bits_count_as_integers():
    assert release(np.array([True, False])).tolist() == [2, 1]


@pytest.mark.parametrize("exact", [[2**63 - 1, 0], np.array([2**63 - 1, 0]), [2**63 - 1, -1 - 2**90]], ids=repr)
def test_sums_beyond_int64_are_python_integers(exact):
    answer = release(exact)
    assert answer.tolist() == [int(value) + 1 for value in exact]


@pytest.mark.parametrize("exact", [[2**63, -1], np.array([2**63, 5], dtype=np.uint64)], ids=repr)
def test_the_type_of_an_answer_follows_from_the_answer(exact):
    answer = release(exact, [-1, 0])
    assert answer.dtype == np.int64


LARGE = [2**62 - 2**10, 2**62, 2**62 + 2**12, 2**63 - 2**12, -(2**62) - 2**12]


@pytest.mark.parametrize(
    "hold",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        pa.array,
        pl.Series,
        lambda values: np.array(values, dtype=np.float64),
        lambda values: np.array(values, dtype=np.longdouble),
        lambda values: np.array(values, dtype=object),
        lambda values: pd.Series(values, dtype="Int64"),
        lambda values: pd.Series([*values, None])[:-1],
        lambda values: [float(value) for value in values],
        lambda values: [np.int64(value) for value in values],
        Secret,
    ],
)
def test_whole_numbers_are_the_same_whatever_holds_them(hold):
    assert release(hold(LARGE)).tolist() == [value + 1 for value in LARGE]


@pytest.mark.parametrize("hold", [int, float, np.int64, np.float64, np.longdouble, np.array, Secret])
@pytest.mark.parametrize("value", LARGE)
def test_a_whole_number_is_the_same_whatever_holds_it(value, hold):
    assert release(hold(value)) == value + 1


@pytest.mark.parametrize("huge", [10**308, 10**309, 10**400])
def test_there_is_one_clamp_for_all(huge):
    clamped = 10**308 + 1
    assert release([huge]).tolist() == release(np.array([huge], dtype=object)).tolist() == [clamped]
    assert (
        release([inf]).tolist() == release(np.array([inf])).tolist() == release(pd.Series([inf])).tolist() == [clamped]
    )
    assert release(huge) == release(inf) == release(np.float64(inf)) == clamped


def test_that_one_cell_is_missing_moves_no_other_by_more_than_pandas_rounds():
    """pandas turns a column of whole numbers with a missing cell into floats: beyond 2^53 it rounds them before us."""
    values = [2**62 + 2**61, 2**63 - 2**10, -(2**63), 2**53, -5]
    whole, with_missing = release(pd.Series([*values, 1])), release(pd.Series([*values, None]))
    assert whole[:-1].tolist() == with_missing[:-1].tolist()


def test_real_numbers_become_lattice_points():
    assert release(0.26, resolution=Fraction(1, 10)) == Fraction(4, 10)
    answer = release([0.26, -1], resolution=Fraction(1, 10))
    assert answer.tolist() == [0.4, -0.9]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, object])
def test_on_the_lattice_a_vector_gives_floats_whatever_it_holds(dtype):
    answer = release(np.array([0.25, -1, np.nan, np.inf], dtype=dtype), resolution=Fraction(1, 10))
    assert (answer.dtype, answer.tolist()) == (np.float64, [0.4, -0.9, 0.1, float(2**62 + 1) / 10])


@pytest.mark.parametrize("values", [[1, 2], [1, None], [1.5, 2]], ids=str)
def test_that_a_value_is_missing_does_not_show_in_the_type_of_an_answer(values):
    assert release(values, resolution=Fraction(1, 2)).dtype == np.float64
    assert release(pd.Series(values), resolution=Fraction(1, 2)).dtype == np.float64


@pytest.mark.parametrize(
    ("values", "whole"),
    [([1, 2, 3], [1, 2, 3]), ([1, None, 3], [1, 0, 3]), ([1.0, nan], [1, 0])],
    ids=str,
)
def test_integers_that_pandas_keeps_as_floats_are_integers(values, whole):
    answer = release(pd.Series(values))
    assert (answer.dtype, answer.tolist()) == (np.int64, [value + 1 for value in whole])


@pytest.mark.parametrize(("value", "answer"), [(4.0, 5), (nan, 1), (np.float32(3), 4), (None, 1), (inf, 10**308 + 1)])
def test_a_whole_float_is_an_integer(value, answer):
    assert release(value) == answer


@pytest.mark.parametrize("empty", [[], np.array([], dtype=np.int64)], ids=repr)
def test_an_empty_vector_gives_an_empty_array(empty):
    assert release(empty).tolist() == []


@pytest.mark.parametrize(
    "exact", [4321.5, "4321", [4321, 4321.5], b"4321", np.array([4321.5]), np.array([[4321]])], ids=repr
)
def test_what_is_no_integer_is_an_error_that_does_not_tell_the_value(exact):
    with pytest.raises(ParameterError) as caught:
        release(exact)
    assert "4321" not in str(caught.value)


def test_integers_do_not_pass_through_floats():
    assert integers([2**63, -1]).tolist() == [2**63, -1]


def test_rounding_to_the_lattice_adds_half_a_step_to_the_error():
    assert half_width(7, None) == 7
    assert half_width(7, Fraction(1, 10)) == Fraction(75, 100)
