"""`CategoricalNB`: with negligible noise it is scikit-learn's; values are those that are declared."""

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB as ExactNB

from sfumato.errors import ParameterError
from sfumato.learn import CategoricalNB

SURE = 10**6


def made(rows=3000):
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, rows)
    return (labels[:, None] + generator.integers(0, 4, (rows, 2))) % [5, 3], labels


@pytest.mark.parametrize("alpha", [1, "0.5"])
def test_without_noise_it_is_the_model_of_scikit_learn(alpha):
    rows, labels = made()
    model = CategoricalNB(epsilon=SURE, bounds=(0, [4, 2]), classes=range(3), alpha=alpha).fit(rows, labels)
    exact = ExactNB(alpha=float(alpha)).fit(rows, labels)
    for found, expected in zip(model.feature_log_prob_, exact.feature_log_prob_, strict=True):
        assert np.allclose(found, expected)
    assert np.allclose(model.predict_proba(rows), exact.predict_proba(rows))


def test_values_that_never_occur_have_a_probability_too():
    rows, labels = made(60)
    model = CategoricalNB(epsilon=SURE, bounds=(-3, 9), classes=[0, 1, 2, 3]).fit(rows, labels)
    assert [one.shape for one in model.feature_log_prob_] == [(4, 13)] * 2
    assert np.isfinite(model.predict_log_proba([[-3, 9], [-99, 99]])).all()
    assert (model.predict_proba([[-99, 99]]) == model.predict_proba([[-3, 9]])).all()


def test_numbers_between_values_are_rounded():
    rows, labels = made()
    model = CategoricalNB(epsilon=1, bounds=(0, [4, 2]), classes=range(3)).fit(rows + 0.2, labels)
    assert (model.predict_proba(rows + 0.3) == model.predict_proba(rows)).all()


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"bounds": (0, 1.5)}, "whole numbers"),
        ({"bounds": None, "norm": "0.5"}, "whole numbers"),
        ({"bounds": (0, 1000)}, "at most 1,000"),
        ({"alpha": 0}, "alpha"),
        ({"alpha": None}, "alpha"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, wrong):
    rows, labels = made(60)
    with pytest.raises(ParameterError, match=wrong):
        CategoricalNB(**({"epsilon": 1, "bounds": (0, 4), "classes": range(3)} | arguments)).fit(rows, labels)
    CategoricalNB(epsilon=1, bounds=(0, 999), classes=range(3)).fit(rows, labels)


def test_noisy_counts_below_zero_are_none():
    rows, labels = made(6)
    model = CategoricalNB(epsilon="0.01", bounds=(0, 4), classes=range(3)).fit(rows, labels)
    for table in model.feature_log_prob_:
        assert np.allclose(np.exp(table).sum(axis=1), 1)
