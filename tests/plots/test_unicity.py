import pytest
from tests.plots.reading import legend_texts, spans

from sfumato.errors import ParameterError
from sfumato.plots.unicity import unicity_curves

POINTS = {"an hour": [1, 2, 4], "a day": [1, 2]}
SHARES = {"an hour": [0.2, 0.7, 0.95], "a day": [0.1, 0.3]}
LIMITS = {"an hour": [(0.1, 0.3), (0.6, 0.8), (0.9, 1)], "a day": [(0, 0.2), (0.2, 0.5)]}


def test_each_resolution_is_a_curve_with_its_limits():
    (axes,) = unicity_curves(POINTS, SHARES, limits=LIMITS, title="phones").axes
    assert legend_texts(axes) == ["an hour", "a day"]
    assert axes.containers[0].lines[0].get_ydata().tolist() == SHARES["an hour"]
    assert spans(axes) == [pytest.approx(limits) for limits in LIMITS["a day"]]
    assert axes.get_xticks().tolist() == [1, 2, 4]
    assert axes.get_title(loc="left") == "phones"


def test_there_are_more_curves_than_colors():
    many = {f"{hours} hours": [1] for hours in range(9)}
    (axes,) = unicity_curves(many, many, limits={name: [(0, 1)] for name in many}).axes
    assert len(axes.containers) == 9


@pytest.mark.parametrize(
    ("points", "shares"), [({}, {}), (POINTS, {"an hour": [0.2]}), (POINTS, SHARES | {"a day": [0.1]})]
)
def test_nothing_and_what_does_not_belong_together_are_refused(points, shares):
    with pytest.raises(ParameterError):
        unicity_curves(points, shares, limits=LIMITS if points else {})
