"""Models that are trained on one table and tested on another."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.query.model.kinds import Kind
from sfumato.session.training.attributes import Attribute
from sfumato.synth.reports.exact import prediction
from sfumato.synth.reports.exact.prediction import MODELS, predictions

AGE = Attribute(name="age", kind=Kind.INTEGER, edges=tuple(map(Fraction, range(11))), missing=10)
SEX = Attribute(name="sex", kind=Kind.TEXT, values=("f", "m", "x"))
ILL = Attribute(name="ill", kind=Kind.TEXT, values=("no", "yes"))
ATTRIBUTES = (AGE, SEX, ILL)


def rows_of(seed, n, *, flipped=0.0):
    """Ill are those whose number of age is from 3 to 6, whatever their sex."""
    random = np.random.default_rng(seed)
    age, sex = random.integers(0, 11, n), random.integers(0, 3, n)
    ill = ((age >= 3) & (age <= 6)) ^ (random.random(n) < flipped)
    return {"age": age, "sex": sex, "ill": ill.astype(np.int64)}


def test_models_learn_what_their_rows_say_and_are_tested_on_others():
    test = rows_of(9, 300)
    shuffled = rows_of(1, 400)
    shuffled["ill"] = np.random.default_rng(5).permutation(shuffled["ill"])
    found = predictions({"real": rows_of(1, 400), "synthetic": shuffled}, test, ATTRIBUTES, target="ill")
    assert [(one.model, one.trained_on) for one in found] == [
        (model, source) for model in MODELS for source in ("real", "synthetic")
    ]
    for one in found:
        if one.trained_on == "real":
            assert (one.accuracy, one.auc) == (1, pytest.approx(1))
        else:
            assert 0.3 < one.auc < 0.7
            assert one.accuracy < 0.75


def test_a_target_of_several_values_has_the_mean_of_their_areas():
    rows = rows_of(2, 400)
    rows["sex"] = np.minimum(rows["age"] // 4, 2)
    found = predictions({"real": rows}, rows, ATTRIBUTES, target="sex")
    assert [(one.accuracy, one.auc) for one in found] == [(1, pytest.approx(1))] * 2


def test_a_value_that_no_row_had_is_never_named_and_one_alone_always():
    train, test = rows_of(3, 50), rows_of(4, 50)
    train["ill"][:] = 1
    for one in predictions({"real": train}, test, ATTRIBUTES, target="ill"):
        assert one.accuracy == test["ill"].mean()
        assert one.auc == 0.5
    test["ill"][:] = 0
    for one in predictions({"real": train}, test, ATTRIBUTES, target="ill"):
        assert (one.accuracy, one.auc) == (0, None)


def test_a_target_with_many_values_or_alone_is_refused():
    wide = Attribute(name="age", kind=Kind.INTEGER, edges=tuple(map(Fraction, range(30))))
    with pytest.raises(ParameterError, match="at most 20 values"):
        predictions({}, {}, (wide, SEX), target="age")
    with pytest.raises(ParameterError, match="another column"):
        predictions({}, {}, (ILL,), target="ill")


def test_without_scikit_learn_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(prediction, "find_spec", lambda _: None)
    with pytest.raises(ParameterError, match="pip install scikit-learn"):
        predictions({}, {}, ATTRIBUTES, target="ill")
