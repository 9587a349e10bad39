"""Ghost clipping: what a row adds and the error of sums keep exact bounds, for adversarial rows and all neighbors."""

from fractions import Fraction
from itertools import combinations
from math import inf, isqrt, nan

import pytest
import torch
from tests.learn.torch.gradients.networks import ROWS, TARGETS, fractions, looped, networks, rows_for
from tests.learn.torch.gradients.test_pieces import formed
from torch import nn

from sfumato.errors import ParameterError
from sfumato.learn.torch.gradients import ghost
from sfumato.learn.torch.gradients.ghost import STEPS, GhostSums
from sfumato.learn.torch.gradients.pieces import GramPiece, OuterPiece, RowsPiece, TokensPiece

torch.manual_seed(8)
LOSS = nn.CrossEntropyLoss()
ALL = torch.ones(ROWS, dtype=torch.bool)
SMALL = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))
PLACES = nn.Sequential(nn.Linear(8, 6, bias=False), nn.Flatten(), nn.Linear(12, 3, bias=False))
"""The first layer's gradient is not formed: its two places are compared."""


def sums_of(model, inputs, *, block=ROWS):
    return GhostSums(model, LOSS, inputs, TARGETS[:3], block=block)


def exact_rows(piece):
    """The rows of a piece in rationals."""
    match piece:
        case RowsPiece():
            return [fractions(row) for row in piece.rows]
        case OuterPiece():
            return formed(piece.inputs[:, None], piece.slopes[:, None])
        case GramPiece():
            return formed(piece.inputs, piece.slopes)
        case TokensPiece():
            spread = torch.zeros(len(piece.tokens), piece.size, piece.slopes.shape[2], dtype=torch.float64)
            for row, (tokens, slopes) in enumerate(zip(piece.tokens, piece.slopes.double(), strict=True)):
                spread[row].index_add_(0, tokens, slopes)
            return [fractions(row) for row in spread]


def added(sums, inputs, targets, used, clip):
    """What each row adds, in rationals, by the definition: its factor times its gradient."""
    passages = sums._network.passages(inputs, targets)
    with torch.no_grad():
        pieces, norms = ghost._measured(passages)
        factors = ghost._factors(pieces, norms, used, clip)
    rows = [[Fraction(0)] * sums.width for _ in range(len(inputs))]
    for piece in pieces:
        kept = [factor != 0 for factor in factors.tolist()]
        chosen = type(piece)(**{
            name: value[kept] if isinstance(value := getattr(piece, name), torch.Tensor) else value
            for name in piece.__dataclass_fields__
        })  # fmt: skip
        places = [index for index, keep in enumerate(kept) if keep]
        for index, row in zip(places, exact_rows(chosen), strict=True):
            factor = Fraction(factors[index].item())
            for place, number in enumerate(row, piece.start):
                rows[index][place] += factor * number
    return rows


def square(vector):
    return sum(number * number for number in vector)


def assert_within_bounds(sums, inputs, targets, used, clip):
    """No row adds more than the clip, and the sum is near that of the rows."""
    rows = added(sums, inputs, targets, used, clip)
    assert max(map(square, rows)) <= STEPS**2
    total, _ = sums.add(inputs, targets, used, clip)
    assert total.dtype is torch.int64
    error = [number - sum(column) for number, column in zip(total.tolist(), zip(*rows, strict=True), strict=True)]
    assert square(error) <= sums.sum_error**2
    return rows


@pytest.mark.parametrize("kind", ["linear", "few places", "Conv1d", "Embedding", "LayerNorm", "attention"])
def test_what_rows_add_and_the_error_of_their_sum_keep_their_bounds(kind):
    model, shape = networks()[kind]
    inputs = rows_for(shape)
    sums = sums_of(model, inputs)
    middle = sums.norms(inputs, TARGETS).median().item()
    assert_within_bounds(sums, inputs, TARGETS, ALL, middle)


ADVERSARIAL = {
    "huge": lambda rows: rows * torch.logspace(0, 11, ROWS).view(-1, *[1] * (rows.ndim - 1)),
    "tiny": lambda rows: rows * torch.logspace(0, -44, ROWS).view(-1, *[1] * (rows.ndim - 1)),
    "not numbers": lambda rows: rows / torch.tensor([1, 0, nan, 1, inf, -1]).view(-1, *[1] * (rows.ndim - 1)),
    "cancelling": lambda rows: (
        torch.stack([rows[:, 0], -rows[:, 0] * (1 + 1e-7)], dim=1) * 1e5 if rows.ndim == 3 else rows
    ),
    "all the same": lambda rows: rows[:1].expand_as(rows).contiguous(),
}


@pytest.mark.parametrize("rows", ADVERSARIAL)
@pytest.mark.parametrize("model", [SMALL, PLACES], ids=["single", "places"])
@pytest.mark.parametrize("clip", [2.0**-20, 1.0, 2.0**20])
def test_adversarial_rows_keep_the_bounds(model, rows, clip):
    usual = rows_for((3,) if model is SMALL else (2, 8))
    assert_within_bounds(sums_of(model, usual), ADVERSARIAL[rows](usual), TARGETS, ALL, clip)


def test_terms_that_cancel_too_far_are_scaled_and_keep_the_bound():
    """The norm is nothing beside the terms, so that a clip of the norm alone would leave them large."""
    model = nn.Sequential(nn.Linear(64, 8, bias=False), nn.Flatten(), nn.Linear(16, 3, bias=False))
    with torch.no_grad():
        model[2].weight[:, 8:] = model[2].weight[:, :8]  # both places have the same slopes
    half = rows_for((1, 64))
    rows = torch.cat([half, -half], dim=1) * 2.0**18
    sums = sums_of(model, rows)
    passages = sums._network.passages(rows, TARGETS)
    with torch.no_grad():
        pieces, norms = ghost._measured(passages[:1])
        factors = ghost._factors(pieces, norms, ALL, 2.0**-20)
    masses = pieces[0].mass()
    assert (masses > ghost.MOST_MASS * norms.clamp(min=2.0**-20)).all()
    assert (factors.double() * masses <= ghost.MOST_MASS * STEPS).all()


def test_a_row_that_is_not_finite_counts_as_zero():
    rows = rows_for((3,))
    sums = sums_of(SMALL, rows)
    for bad in (nan, inf, -inf, 1e30):
        spoilt = rows.clone()
        spoilt[2, 1] = bad
        without = ALL.clone()
        without[2] = False
        ours, theirs = sums.add(spoilt, TARGETS, ALL, 0.5), sums.add(rows, TARGETS, without, 0.5)
        assert torch.equal(ours[0], theirs[0])
        assert torch.equal(ours[1], theirs[1])
    assert not sums.add(rows, TARGETS, ~ALL, 0.5)[0].any()


@pytest.mark.parametrize("kind", ["linear", "few places", "Embedding"])
def test_no_neighbor_moves_the_sum_further_than_the_sensitivity(kind):
    """All sets of rows of a block, less or more any row, and with any row replaced."""
    model, shape = networks()[kind]
    rows, others = rows_for(shape), rows_for(shape, seed=1)
    sums = sums_of(model, rows)
    clip = sums.norms(rows, TARGETS).min().item() / 2
    for size in (1, 3, ROWS):
        for chosen in list(combinations(range(ROWS), size))[:4]:
            used = torch.zeros(ROWS, dtype=torch.bool)
            used[list(chosen)] = True
            whole = sums.add(rows, TARGETS, used, clip)[0]
            for row in chosen:
                without, replaced = used.clone(), rows.clone()
                without[row] = False
                replaced[row] = others[row]
                lost = (whole - sums.add(rows, TARGETS, without, clip)[0]).tolist()
                swapped = (whole - sums.add(replaced, TARGETS, used, clip)[0]).tolist()
                assert (STEPS * 0.999) ** 2 < square(lost) <= sums.sensitivity**2
                assert square(swapped) <= (2 * sums.sensitivity) ** 2


def test_a_row_can_move_the_sum_further_than_the_clip_but_not_than_the_sensitivity():
    """All numbers of its gradient are the same and are rounded up: 5242.88 steps become 5243."""
    side = 200
    layer = nn.Linear(side, side, bias=False)
    sums = GhostSums(layer, lambda out, _: out.sum(), torch.ones(1, side), torch.zeros(1), block=1)
    moved = sums.add(torch.ones(1, side), torch.zeros(1), torch.tensor([True]), 1.0)[0]
    assert STEPS**2 < square(moved.tolist()) <= sums.sensitivity**2


def test_norms_are_rounded_up_and_equal_those_of_a_loop():
    model, shape = networks()["linear"]
    double = nn.Sequential(*model).double()
    inputs = torch.cat([rows_for(shape, seed=seed) for seed in range(20)]).double()
    targets = TARGETS.repeat(20)
    norms = GhostSums(double, LOSS, inputs[:1], targets[:1], block=len(inputs)).norms(inputs, targets)
    wanted = looped(double, LOSS, inputs, targets).norm(dim=1)
    assert (norms > wanted * (1 + 2.0**-20)).all()
    assert torch.allclose(norms, wanted, rtol=1e-5)


def test_the_bound_is_that_of_the_proof():
    block, width = 64, 26_010
    gamma = Fraction(67, 2**24) / (1 - Fraction(67, 2**24))
    least = block * STEPS * gamma + Fraction(isqrt(width)) / 2
    assert least < ghost._sum_error(block, width, 0) < least + 4
    assert ghost._sum_error(block, width, 20) > ghost._sum_error(block, width, 0)
    larger = [ghost._sum_error(rows, width, 0) / rows for rows in (64, 128, 512)]
    assert larger[0] > larger[1] > larger[2]  # in each chunk of 64 rows the relative error is the same


def test_who_is_short_is_told():
    rows = rows_for((3,))
    sums = sums_of(SMALL, rows)
    norms = sums.norms(rows, TARGETS)
    clip = norms.median().item()
    assert sums.add(rows, TARGETS, ALL, clip)[1].tolist() == (norms <= clip).tolist()
    assert sums.is_exact


def test_products_have_full_precision_and_what_the_user_set_is_put_back(monkeypatch):
    seen = []
    factors_of = ghost._factors

    def factors(*given):
        seen.append((torch.get_float32_matmul_precision(), torch.is_autocast_enabled("cpu")))
        return factors_of(*given)

    monkeypatch.setattr(ghost, "_factors", factors)
    rows = rows_for((3,))
    sums = sums_of(SMALL, rows)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with torch.autocast("cpu"):
            sums.add(rows, TARGETS, ALL, 1.0)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
    assert seen == [("highest", False)]


@pytest.mark.parametrize("kind", ["few places", "Conv1d", "Embedding"])
def test_what_is_compared_in_all_places_is_all_that_a_row_adds(kind):
    """Nothing but these numbers enters a factor or a sum: pieces, with their norms and masses."""
    model, shape = networks()[kind]
    inputs = rows_for(shape)
    numbers = sums_of(model, inputs).rows(inputs, TARGETS)
    pieces, norms = ghost._measured(sums_of(model, inputs)._network.passages(inputs, TARGETS))
    held = [
        value
        for piece in pieces
        for name in piece.__dataclass_fields__
        if torch.is_tensor(value := getattr(piece, name))
    ]
    held += [norms, *(piece.mass() for piece in pieces if piece.mass() is not None)]
    assert numbers.shape == (ROWS, sum(value[0].numel() for value in held))
    assert sorted(numbers[2].tolist()) == sorted(torch.cat([value[2].flatten().double() for value in held]).tolist())


class ByPlace(nn.Module):
    """Rows change by their place in blocks of more than two, or each time."""

    def __init__(self, *, always=False):
        super().__init__()
        self.layer, self.always, self.calls = nn.Linear(4, 4), always, 0

    def forward(self, rows):
        self.calls += 1
        shift = self.calls if self.always else torch.arange(len(rows))[:, None] * (len(rows) > 2)
        return self.layer(rows + shift)


def test_blocks_are_as_large_as_rows_are_the_same_in_every_place():
    like, targets = torch.zeros(1, 4), torch.tensor([0, 3])
    assert ghost.ghost_for(ByPlace(), LOSS, 8, like, targets).block == 2
    with pytest.raises(ParameterError, match="each time"):
        ghost.ghost_for(ByPlace(always=True), LOSS, 4, like, targets)


def test_rows_in_two_blocks_differ_by_the_sensitivity_at_most():
    """A row leaves, and the last row takes its place in another block."""
    model, rows = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 8)), rows_for((8,))
    sums = ghost.ghost_for(model, LOSS, 4, rows, TARGETS[:3])
    targets = TARGETS[[0, 1, 2, 3]]
    first, last = rows[[0, 1, 2, 3]], rows[[4, 5, 0, 0]]
    used = torch.tensor([True, True, False, False])
    whole = sums.add(first, targets, ~used | used, 0.1)[0] + sums.add(last, targets, used, 0.1)[0]
    moved = rows[[0, 5, 2, 3]]
    without = sums.add(moved, targets, ~used | used, 0.1)[0]
    without = without + sums.add(last, targets, torch.tensor([True, False, False, False]), 0.1)[0]
    assert square((whole - without).tolist()) <= sums.sensitivity**2
    assert sums.sensitivity == STEPS + 4 * sums.sum_error


def test_wrong_blocks_are_refused():
    rows = rows_for((3,))
    sums = sums_of(SMALL, rows)
    for inputs, targets, used, clip in (
        (rows[:5], TARGETS, ALL, 1.0), (rows, TARGETS[:5], ALL, 1.0), (rows, TARGETS, ALL[:5], 1.0),
        (rows[:, :2], TARGETS, ALL, 1.0), (rows.double(), TARGETS, ALL, 1.0),
        (rows, TARGETS, ALL, 0.0), (rows, TARGETS, ALL, nan), (rows, TARGETS, ALL, 2.0**21),
    ):  # fmt: skip
        with pytest.raises(ParameterError):
            sums.add(inputs, targets, used, clip)
    for block in (0, 2**60):
        with pytest.raises(ParameterError, match="block"):
            sums_of(SMALL, rows[:1], block=block) if block == 0 else ghost._gamma(block, ghost.DOUBLE)
