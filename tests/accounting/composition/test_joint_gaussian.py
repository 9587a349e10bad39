"""Several Gaussian answers calibrated at once: certified twice, and not wider than needed."""

from fractions import Fraction

import pytest

from sfumato.accounting.composition.joint_gaussian import joint_stddevs
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.privacy.events import ComposedEvent, DiscreteGaussianEvent

CASES = [
    # Δ, l0, weights, ε, δ
    ([1, 1, 1], [1, 1, 1], [1, 1, 1], 1, "1e-6"),
    ([1, 5, 2], [1, 1, 1], [1, 2, 3], "0.3", "1e-8"),
    ([10], [1], [1], 4, "1e-5"),
    ([1, 2, 3, 4, 5, 6], [1] * 6, [1] * 6, 8, "1e-3"),
]


def composed(stddevs, distances, moved):
    pairs = zip(stddevs, distances, moved, strict=True)
    return ComposedEvent(tuple(DiscreteGaussianEvent(s, Fraction(d), n) for s, d, n in pairs))


@pytest.mark.parametrize(("distances", "moved", "weights", "epsilon", "delta"), CASES)
def test_another_accountant_agrees_that_they_cost_no_more_than_asked(distances, moved, weights, epsilon, delta):
    stddevs = joint_stddevs(
        l2_sensitivities=distances, l0_sensitivities=moved, weights=weights, epsilon=epsilon, delta=delta
    )
    asked = float(Fraction(epsilon))
    interval = PLDAccountant().compose(composed(stddevs, distances, moved)).interval(Fraction(delta))
    assert interval.lower <= asked
    assert interval.upper <= asked * 1.001
    narrower = composed([stddev * Fraction(9, 10) for stddev in stddevs], distances, moved)
    assert PLDAccountant().compose(narrower).interval(Fraction(delta)).lower > asked


def test_noise_grows_with_the_root_of_the_number_of_answers():
    one, four, sixteen = (
        joint_stddevs(
            l2_sensitivities=[1] * n, l0_sensitivities=[1] * n, weights=[1] * n, epsilon=1, delta="1e-6"
        )[0]
        for n in (1, 4, 16)
    )  # fmt: skip
    assert float(four / one) == pytest.approx(2, rel=0.01)
    assert float(sixteen / four) == pytest.approx(2, rel=0.01)


def test_a_heavier_answer_has_less_noise():
    light, heavy = joint_stddevs(
        l2_sensitivities=[1, 1], l0_sensitivities=[1, 1], weights=[1, 4], epsilon=1, delta="1e-6"
    )
    assert float(light / heavy) == pytest.approx(2, rel=1e-6)


@pytest.mark.parametrize(
    "wrong", [{"l2_sensitivities": []}, {"l2_sensitivities": [0]}, {"weights": [0]}, {"delta": 0}, {"epsilon": -1}]
)
def test_what_cannot_be_calibrated_is_refused(wrong):
    given = {"l2_sensitivities": [1], "l0_sensitivities": [1], "weights": [1], "epsilon": 1, "delta": "1e-6"} | wrong
    if not given["l2_sensitivities"]:
        given |= {"l0_sensitivities": [], "weights": []}
    with pytest.raises(ParameterError):
        joint_stddevs(**given)
