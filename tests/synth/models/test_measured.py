import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.synth.models.measured import NoisyMarginal, combined, estimated_total, zeros
from sfumato.synth.models.shape import TableShape

SHAPE = TableShape({"sex": 2, "smokes": 3})
COUNTS = np.arange(6).reshape(2, 3)


def test_marginals_of_the_same_columns_are_averaged_by_precision():
    once = NoisyMarginal(["sex", "smokes"], COUNTS, stddev=1)
    again = NoisyMarginal(["smokes", "sex"], COUNTS.T + 10, stddev=2)
    found = combined(SHAPE, [once, again])
    assert list(found) == [("sex", "smokes")]
    assert np.allclose(found["sex", "smokes"].counts, COUNTS + 2)  # 10 with a weight of 1/5
    assert found["sex", "smokes"].variance == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("columns", "counts", "stddev", "said"),
    [
        ([], 5, 1, "an axis for each"), (["sex"], [[1, 2]], 1, "an axis for each"), (["sex"], ["a", "b"], 1, "numbers"),
        (["sex"], [1, np.nan], 1, "within"), (["sex"], [1, np.inf], 1, "within"), (["sex"], [1, 2], 0, "from 1e-06"),
        (["sex"], [1, 2], -1, "from 1e-06"), (["sex"], [1, 2], np.nan, "stddev"), ("sex", [1, 2], 1, "list"),
        ([1], [1, 2], 1, "names of columns"),
    ],
)  # fmt: skip
def test_what_is_no_noisy_marginal_is_refused(columns, counts, stddev, said):
    with pytest.raises(ParameterError, match=said):
        NoisyMarginal(columns, counts, stddev=stddev)


def test_marginals_of_other_tables_are_refused():
    with pytest.raises(ParameterError, match="columns of the table"):
        combined(SHAPE, [NoisyMarginal(["age"], [1, 2], stddev=1)])
    with pytest.raises(ParameterError, match=r"must have the shape \(3,\) for the columns smokes"):
        combined(SHAPE, [NoisyMarginal(["smokes"], [1, 2], stddev=1)])
    with pytest.raises(ParameterError, match="NoisyMarginal"):
        combined(SHAPE, [COUNTS])
    with pytest.raises(ParameterError, match="list of noisy marginals"):
        combined(SHAPE, NoisyMarginal(["sex"], [1, 2], stddev=1))


def test_what_is_impossible_is_so_by_any_that_says_so():
    first = [[False, True, False], [False, False, False]]
    second = np.array([[False, False, False], [False, False, True]]).T
    found = zeros(SHAPE, {("sex", "smokes"): first, ("smokes", "sex"): second})
    assert np.isneginf(found["sex", "smokes"]).tolist() == [[False, True, False], [False, False, True]]


@pytest.mark.parametrize(
    "impossible", [[("sex",)], {"sex": [True, False]}, {("age",): [True]}, {("sex",): [True]}, {("sex",): [2, 0]}, 5]
)
def test_what_says_nothing_impossible_is_refused(impossible):
    with pytest.raises(ParameterError, match="impossible"):
        zeros(SHAPE, impossible)


def test_totals_are_weighted_by_the_precision_of_sums():
    first, second = np.array([40.0, 62.0]), np.array([30.0, 30.0, 30.0])
    assert estimated_total([(first, 3.0), (second, 1.0)]) == pytest.approx((102 / 6 + 90 / 3) / (1 / 6 + 1 / 3))
    assert estimated_total([(np.array([-40.0]), 3.0)]) == 1
    assert estimated_total([]) == 1
    assert estimated_total([(np.array([]), 3.0), (first, 1.0)]) == 102


@pytest.mark.statistical
def test_the_estimated_total_has_the_least_variance():
    """Its variance is 1/Σ 1/(cells·σ²); the band of a variance of 20,000 draws is 10% at 1e-6."""
    draws = np.random.default_rng(1).normal(size=(20_000, 8))
    found = [
        estimated_total([(1000 + 2 * row[:2], 4.0), (500 + row[2:6], 1.0), (1000 + 5 * row[6:], 25.0)]) for row in draws
    ]
    assert np.mean(found) == pytest.approx(2000, abs=0.1)
    assert np.var(found) == pytest.approx(1 / (1 / 8 + 1 / 4 + 1 / 50), rel=0.1)
