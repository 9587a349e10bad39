"""Fits that are ordered by name cross as text, and say what they are to the last parameter."""

from dataclasses import dataclass, replace

import pytest

from sfumato.errors import ParameterError
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingColumn
from sfumato.session.training.ordered import DeclaredRows, FitOrder, OrderedFit, fit_digest, written_json

ORDER = FitOrder(estimator="Half", arguments="{}")
ROWS = DeclaredRows(
    columns=(TrainingColumn(name="sex", values=("f", "m")),), target=None, rows_per_unit=1,
    neighboring_relation=ADD_OR_REMOVE_ONE,
)  # fmt: skip


@dataclass(frozen=True)
class Half:
    """A fit of nothing."""

    name: str = "half"
    event: object = PureEvent("0.5")
    charge: object = PureDP("0.5")
    parameter: object = 1

    def document(self):
        return {"parameter": self.parameter}

    def release(self, rows):
        return {"rows": rows.open_for_noise()}


def ordered(fit=None, **changes):
    return replace(OrderedFit.of(ORDER, fit or Half(), steps_a_row=3, steps=7), **changes)


def test_it_says_what_the_fit_says():
    fit, found = Half(), OrderedFit.of(ORDER, Half(), steps_a_row=3, steps=7)
    assert (found.name, found.event, found.charge) == (fit.name, fit.event, fit.charge)
    assert found.document() == fit.document()
    assert fit_digest(found) == fit_digest(fit)
    assert found.release(Secret(5)) == {"rows": 5}


def test_what_was_planned_elsewhere_runs_nothing():
    found = ordered(steps=8)
    assert found.planned is None
    with pytest.raises(ParameterError, match="where the data are"):
        found.release(Secret(5))


@pytest.mark.parametrize(
    "other",
    [
        Half(name="other"), Half(event=PureEvent("0.25")), Half(charge=PureDP(1)), Half(charge=ApproxDP("0.5", "1e-6")),
        Half(parameter=2), Half(parameter="1"), Half(parameter=[1]),
    ],
    ids=repr,
)  # fmt: skip
def test_whatever_differs_is_another_plan(other):
    assert fit_digest(other) != fit_digest(Half())
    assert OrderedFit.of(ORDER, other, steps_a_row=3, steps=7) != ordered()


def test_equal_values_have_one_text():
    assert (
        written_json({"b": 1, "a": [True, None]})
        == written_json({"a": [True, None], "b": 1})
        == '{"a":[true,null],"b":1}'
    )


def test_rows_that_are_only_declared_are_fitted_by_nobody():
    with pytest.raises(ParameterError):
        ROWS.fit(Half())
    with pytest.raises(ParameterError):
        ROWS.order(object(), Half())
