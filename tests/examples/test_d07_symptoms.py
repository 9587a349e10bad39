from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from tests.laws import assert_law

import sfumato as sf
from examples import d07_symptoms as example
from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.numeric.distributions import discrete_laplace_cdf

NAMES = ("fever", "cough", "shortness_of_breath", "fatigue", "headache", "sore_throat", "diarrhea")


def test_the_symptoms_are_the_seven_of_the_texts():
    assert NAMES == example.SYMPTOMS


def test_a_patient_may_have_all_seven_which_is_7_in_l1_and_root_7_in_l2():
    patients = [row for row in sf.datasets.symptoms().to_pylist() if all(row[name] for name in NAMES)]
    assert patients
    assert example.L1_SENSITIVITY == 7
    assert float(example.L2_SENSITIVITY) == pytest.approx(sqrt(7))
    assert example.L2_SENSITIVITY**2 >= 7


def test_noise_is_of_scale_seven_for_the_vector_and_one_for_the_choice():
    assert example.LAPLACE.scale == 7
    assert example.NOISY_MAX.scale == 1
    assert sf.mechanisms.NoisyMax(epsilon=1, neighboring_relation=sf.REPLACE_ONE).scale == 2


def test_the_session_gives_each_symptom_a_seventh_and_so_the_same_scale():
    columns = {name: sf.integer(0, 1) for name in NAMES}
    with sf.open(sf.datasets.symptoms(), name="patients", columns=columns, budget=sf.PureDP(1)) as session:
        release = session.table().agg(**{name: sf.sum(name) for name in NAMES}).release(epsilon=1)
    assert [event.scale for event in release.receipt.event.events] == [7] * 7
    assert release.receipt.guarantee == sf.PureDP(1)


def test_the_gaussian_vector_costs_what_it_says():
    accountant = BasicAccountant().compose(example.gaussian().event)
    assert accountant.epsilon(delta=example.DELTA) <= 1


@pytest.mark.statistical
def test_the_histogram_of_the_session_counts_symptoms():
    errors = np.array(example.histogram_by_session()) - np.array(example.exact_counts())
    # |noise| ≥ 111 has probability 1.4e-7 at scale 7, so the type-I error of seven of them is below 1e-6
    assert np.abs(errors).max() < 111


@pytest.mark.statistical
def test_the_noise_of_the_vector_follows_its_law():
    exact = np.tile(example.exact_counts(), 10_000)
    noise = np.asarray(example.LAPLACE.release(exact)) - exact
    assert_law(noise, lambda k: discrete_laplace_cdf(Fraction(7), k))


def test_the_most_common_symptom_is_cough():
    counts = dict(zip(NAMES, example.exact_counts(), strict=True))
    assert max(counts, key=counts.get) == "cough"
    lead = counts["cough"] - sorted(counts.values())[-2]
    assert lead == 134
    assert (
        NAMES[example.NOISY_MAX.release(list(counts.values()))] == "cough"
    )  # else two noises differ by 134, below 1e-50


def test_football_is_played_by_60_percent_and_its_release_spends_the_budget(capsys):
    example.football()
    out = capsys.readouterr().out
    assert "exact 18 of 30, 60%" in out
    assert "spent ε 1 of ε 1, remaining ε 0" in out
