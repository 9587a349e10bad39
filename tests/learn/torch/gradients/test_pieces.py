"""Norms and sums of single pieces, against rationals: also where terms cancel, are tiny, or are no numbers."""

from fractions import Fraction
from math import inf, nan

import pytest
import torch
from tests.learn.torch.gradients.networks import fractions

from sfumato.learn.torch.gradients.pieces import (
    CHUNK,
    NORM_MARGIN,
    GramPiece,
    OuterPiece,
    RowsPiece,
    TokensPiece,
    squares_of,
)

torch.manual_seed(3)
PLACES, GIVEN, MADE = 3, 5, 4


def places_of_rows(rows, kind):
    inputs, slopes = torch.randn(rows, PLACES, GIVEN), torch.randn(rows, PLACES, MADE)
    if kind == "cancelling":
        inputs[:, 1], slopes[:, 1] = inputs[:, 0] * (1 + 1e-6), -slopes[:, 0]
        inputs[:, 2] = 0
        inputs *= 1e4
    if kind == "tiny":
        inputs *= 1e-22
    return inputs, slopes


def formed(inputs, slopes):
    """Σ_t b_t ⊗ a_t of each row in rationals."""
    rows = []
    for given, made in zip(inputs, slopes, strict=True):
        pairs = [(fractions(a), fractions(b)) for a, b in zip(given, made, strict=True)]
        rows.append([sum(b[i] * a[j] for a, b in pairs) for i in range(len(made[0])) for j in range(len(given[0]))])
    return rows


def kinds_of(inputs, slopes):
    """Pieces, and the rows in rationals that each stands for."""
    rows = torch.randn(len(inputs), 70)
    tokens = torch.tensor([[0, 2, 1]]).expand(len(inputs), -1)
    spread = []
    for row in slopes:
        flat = [Fraction(0)] * (4 * MADE)
        for place, token in enumerate(tokens[0].tolist()):
            flat[token * MADE : (token + 1) * MADE] = fractions(row[place])
        spread.append(flat)
    single = (inputs[:, :1], slopes[:, :1])
    return {
        "rows": (RowsPiece(start=2, rows=rows), [fractions(row) for row in rows]),
        "outer": (OuterPiece(start=2, inputs=single[0][:, 0], slopes=single[1][:, 0]), formed(*single)),
        "gram": (GramPiece(start=2, inputs=inputs.double(), slopes=slopes.double()), formed(inputs, slopes)),
        "tokens": (TokensPiece(start=2, size=4, tokens=tokens, slopes=slopes), spread),
    }


@pytest.mark.parametrize("numbers", ["usual", "cancelling", "tiny"])
@pytest.mark.parametrize("kind", ["rows", "outer", "gram", "tokens"])
def test_a_norm_is_never_below_the_true_one_and_hardly_above(kind, numbers):
    piece, rows = kinds_of(*places_of_rows(40, numbers))[kind]
    masses = piece.mass()
    for index, (square, row) in enumerate(zip(piece.squares().tolist(), rows, strict=True)):
        true = sum(number**2 for number in row)
        rounded_up = Fraction(square) * (1 + Fraction(NORM_MARGIN)) ** 2
        assert true <= rounded_up
        lost = 0 if masses is None else Fraction(masses[index].item()) ** 2 / 10**12
        assert rounded_up <= true * (1 + Fraction(1, 10**5)) + lost


@pytest.mark.parametrize("kind", ["rows", "outer", "gram", "tokens"])
def test_the_sum_is_that_of_the_rows_each_times_its_factor(kind):
    piece, rows = kinds_of(*places_of_rows(CHUNK + 3, "usual"))[kind]
    factors = torch.rand(CHUNK + 3)
    factors[1] = 0
    total = torch.zeros(len(rows[0]) + 4, dtype=torch.float64)
    piece.add_to(total, factors)
    piece.add_to(total, factors)
    assert total[:2].tolist() == [0, 0] == total[-2:].tolist()
    weights = fractions(factors)
    wanted = [
        float(2 * sum(w * row[place] for w, row in zip(weights, rows, strict=True))) for place in range(len(rows[0]))
    ]
    assert total[2:-2].tolist() == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("bad", [nan, inf, -inf])
@pytest.mark.parametrize("kind", ["rows", "outer", "gram", "tokens"])
def test_rows_of_the_factor_0_add_nothing_whatever_they_hold(kind, bad):
    inputs, slopes = places_of_rows(5, "usual")
    factors = torch.tensor([1.0, 0.0, 2.0, 3.0, 0.5])
    sums = []
    for number in (1.0, bad):
        inputs[1], slopes[1] = number, number
        torch.manual_seed(4)
        piece = kinds_of(inputs.nan_to_num(), slopes.nan_to_num())[kind][0]
        if kind == "rows":
            piece.rows[1] = number
        elif kind == "tokens":
            piece.slopes[1] = number
        else:
            piece.slopes[1], piece.inputs[1] = number, number
        total = torch.zeros(80, dtype=torch.float64)
        piece.add_to(total, factors)
        sums.append(total.tolist())
    assert sums[0] == sums[1]


def test_the_largest_number_is_not_a_number_where_one_is_none():
    inputs = torch.tensor([[1.0, -5.0], [nan, 1.0], [inf, 0.0]])
    slopes = torch.tensor([[2.0], [7.0], [0.0]])
    largest = OuterPiece(start=0, inputs=inputs, slopes=slopes).largest()
    assert largest.isnan().tolist() == [False, True, False]
    assert largest[[0, 2]].tolist() == [5.0, inf]
    repeated = GramPiece(start=0, inputs=inputs[:, None].double(), slopes=slopes[:, None].double())
    assert repeated.largest()[0].item() == 5.0


@pytest.mark.parametrize("width", [1, 31, 32, 33, 100])
def test_squares_are_those_of_all_numbers(width):
    rows = torch.arange(3.0 * width).reshape(3, width)
    assert squares_of(rows).tolist() == pytest.approx([float((row.double() ** 2).sum()) for row in rows], rel=1e-6)
