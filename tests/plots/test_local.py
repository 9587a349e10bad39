import numpy as np
import pytest
from tests.plots.reading import legend_texts, spans

from sfumato.errors import ParameterError
from sfumato.plots.local import detection_curve, device_costs, fractions_found, variances_over_epsilon

TRUE, FOUND = [0.1, 0.6, 0.3], [0.15, 0.55, -0.01]
LIMITS = [(0.05, 0.25), (0.5, 0.6), (-0.1, 0.08)]


def test_values_come_by_their_true_fraction_with_their_intervals():
    (axes,) = fractions_found(TRUE, FOUND, limits=LIMITS, confidence=0.9).axes
    assert axes.containers[0].lines[0].get_ydata().tolist() == [0.55, -0.01, 0.15]
    assert spans(axes) == [pytest.approx(LIMITS[index]) for index in (1, 2, 0)]
    true = next(line for line in axes.lines if line.get_label() == "true fraction")
    assert true.get_ydata().tolist() == [0.6, 0.3, 0.1]
    assert "estimate, with 90% interval" in legend_texts(axes)
    assert axes.get_title(loc="left") == "2 of 3 intervals hold the true fraction"
    assert axes.yaxis.get_major_formatter()(0.5) == "50%"


def test_each_protocol_is_a_curve_on_scales_of_powers_of_ten():
    curves = {"direct": [300, 2000, 0.3], "optimized": [4, 16, 0.5]}
    (axes,) = variances_over_epsilon([1, 0.5, 4], curves).axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert legend_texts(axes) == ["direct", "optimized"]
    assert axes.lines[0].get_xdata().tolist() == [0.5, 1, 4]
    assert axes.lines[0].get_ydata().tolist() == [2000, 300, 0.3]
    assert axes.get_title(loc="left") == "At ε = 4, direct has the least variance"


def test_ten_curves_look_different():
    (axes,) = variances_over_epsilon([1, 2], {str(number): [1, 2] for number in range(10)}).axes
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 10


def test_texts_come_by_their_frequency_with_the_frequency_of_detection():
    (axes,) = detection_curve([0.02, 0.001, 0.01, 0.03], [0.95, 0, 0.4, 1], threshold=0.0138).axes
    assert axes.lines[0].get_xdata().tolist() == [0.001, 0.01, 0.02, 0.03]
    assert axes.lines[0].get_ydata().tolist() == [0, 0.4, 0.95, 1]
    assert axes.lines[1].get_xdata()[0] == 0.0138
    assert legend_texts(axes) == ["share of collections", "detection frequency, 1.38%"]
    assert axes.get_title(loc="left") == "Texts are detected from 2.00% of the people on"
    assert axes.xaxis.get_major_formatter()(0.001) == "0.1%"
    (axes,) = detection_curve([0.02, 0.1], [1, 0.5]).axes
    assert axes.get_title(loc="left") == "No text is always detected"


def test_what_devices_spend_is_a_curve_for_each_way():
    (axes,) = device_costs([365, 1], {"16 a day": [5840, 16], "with a budget": [50, 1]}).axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.lines[0].get_ydata().tolist() == [16, 5840]
    assert legend_texts(axes) == ["16 a day", "with a budget"]
    assert axes.get_title(loc="left") == "After 365 days ε is 50 to 5.84e+03"


def test_wrong_shares_and_costs_are_refused():
    for frequencies, detected in (([0.1], [1.1]), ([0], [1]), ([], []), ([0.1], [0.1, 0.2])):
        with pytest.raises(ParameterError):
            detection_curve(frequencies, detected)
    for days, spent in (([0], {"a": [1]}), ([1], {"a": [0]}), ([1], {}), ([1, 2], {"a": [1]})):
        with pytest.raises(ParameterError):
            device_costs(days, spent)


def test_what_does_not_belong_together_is_refused():
    for truths, estimates, limits in (([], [], []), (TRUE, FOUND[:2], LIMITS), (TRUE, FOUND, LIMITS[:2])):
        with pytest.raises(ParameterError):
            fractions_found(truths, estimates, limits=limits)
    for epsilons, curves in (([1, 2], {}), ([1, 2], {"a": [1]}), ([0, 1], {"a": [1, 1]}), ([1, 2], {"a": [1, -1]})):
        with pytest.raises(ParameterError):
            variances_over_epsilon(epsilons, curves)
    with pytest.raises(ParameterError):
        fractions_found([np.nan], [0.1], limits=[(0, 1)])
