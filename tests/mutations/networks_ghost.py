"""Seeded bugs of ghost clipping: norms, factors, sums, and their bounds."""

from tests.mutations.mutants import Mutant

_GHOST = "tests/learn/torch/gradients/test_ghost.py"
_PIECES = "tests/learn/torch/gradients/test_pieces.py"
_CAPTURE = "tests/learn/torch/gradients/test_capture.py"
_BOUNDS = f"{_GHOST}::test_adversarial_rows_keep_the_bounds"
_LOOP = "tests/learn/torch/gradients/test_sites.py::test_norms_and_sums_equal_a_loop_of_autograd"

MUTANTS = (
    Mutant(
        name="ghost norms forget biases",
        edits=(
            ("learn/torch/gradients/pieces.py", "return squares_of(self.rows)", "return 0 * squares_of(self.rows)"),
        ),
        tests=(_LOOP, _BOUNDS),
    ),
    Mutant(
        name="ghost sensitivity without the rounding of the sum",
        edits=(
            (
                "learn/torch/gradients/ghost.py",
                "return STEPS + 2 * CHANGED_BLOCKS * self.sum_error",
                "return Fraction(STEPS)",
            ),
        ),
        tests=(f"{_GHOST}::test_a_row_can_move_the_sum_further_than_the_clip_but_not_than_the_sensitivity",),
    ),
    Mutant(
        name="ghost sums are taken to be exact before they are rounded",
        edits=(
            (
                "learn/torch/gradients/ghost.py",
                "ceil(whole_rows + single_places + below_floats + root / 2)",
                "ceil(root / 2)",
            ),
        ),
        tests=(f"{_GHOST}::test_the_bound_is_that_of_the_proof",),
    ),
    Mutant(
        name="ghost norms are not rounded up",
        edits=(("learn/torch/gradients/ghost.py", "squares.sqrt() * (1 + NORM_MARGIN)", "squares.sqrt()"),),
        tests=(f"{_GHOST}::test_norms_are_rounded_up_and_equal_those_of_a_loop",),
    ),
    Mutant(
        name="ghost norms where terms cancel are not rounded up",
        edits=(
            (
                "learn/torch/gradients/pieces.py",
                ".clamp(min=0) + margin * self.mass() ** 2",
                ".clamp(min=0) + 0 * margin",
            ),
        ),
        tests=(f"{_PIECES}::test_a_norm_is_never_below_the_true_one_and_hardly_above",),
    ),
    Mutant(
        name="squares of tiny numbers are lost in ghost norms",
        edits=(
            (
                "learn/torch/gradients/pieces.py",
                "self.inputs.double().square().sum(dim=1) * self.slopes.double()",
                "self.inputs.square().sum(dim=1).double() * self.slopes.double()",
            ),
        ),
        tests=(f"{_PIECES}::test_a_norm_is_never_below_the_true_one_and_hardly_above",),
    ),
    Mutant(
        name="a row that is not finite is kept",
        edits=(
            (
                "learn/torch/gradients/pieces.py",
                "return torch.where((factors != 0).view(-1, *[1] * (rows.ndim - 1)), rows, 0)",
                "return rows",
            ),
        ),
        tests=(f"{_GHOST}::test_a_row_that_is_not_finite_counts_as_zero",),
    ),
    Mutant(
        name="factors after the sum",
        edits=(
            (
                "learn/torch/gradients/pieces.py",
                "part += factors[some].to(rows.dtype) @ rows[some]",
                "part += factors[some].mean() * rows[some].sum(dim=0)",
            ),
        ),
        tests=(_LOOP, _BOUNDS),
    ),
    Mutant(
        name="rows of a short norm are scaled up",
        edits=(("learn/torch/gradients/ghost.py", "norms.clamp(min=clip)", "norms"),),
        tests=(_BOUNDS, f"{_GHOST}::test_who_is_short_is_told"),
    ),
    Mutant(
        name="terms that cancel are not bounded",
        edits=(
            (
                "learn/torch/gradients/ghost.py",
                "torch.maximum(limits, torch.stack(masses).sum(dim=0) / MOST_MASS)",
                "torch.maximum(limits, 0 * torch.stack(masses).sum(dim=0))",
            ),
        ),
        tests=(f"{_GHOST}::test_terms_that_cancel_too_far_are_scaled_and_keep_the_bound",),
    ),
    Mutant(
        name="rows beside the block are in its sum",
        edits=(("learn/torch/gradients/ghost.py", "used & norms.isfinite()", "norms.isfinite()"),),
        tests=(f"{_GHOST}::test_a_row_that_is_not_finite_counts_as_zero",),
    ),
    Mutant(
        name="products of a block in the precision that a user allows",
        edits=(("learn/torch/gradients/ghost.py", 'torch.set_float32_matmul_precision("highest")', "pass"),),
        tests=(f"{_GHOST}::test_products_have_full_precision_and_what_the_user_set_is_put_back",),
    ),
    Mutant(
        name="equal tokens of a row have norms of their own",
        edits=(
            (
                "learn/torch/gradients/sites.py",
                "(same.to(made.dtype) @ made).masked_fill(repeated[:, :, None], 0)",
                "made + 0 * repeated[:, :, None]",
            ),
        ),
        tests=(_LOOP,),
    ),
    Mutant(
        name="a module that is called twice has its last gradient",
        edits=(("learn/torch/gradients/capture.py", "if seen[id(sight.site)] > 1:", "if seen[id(sight.site)] > 9:"),),
        tests=(f"{_CAPTURE}::test_what_cannot_be_trained_is_refused_by_its_path",),
    ),
    Mutant(
        name="parameters used in functions lose that part of their gradient",
        edits=(("learn/torch/gradients/capture.py", "uses[id(parameter)] != int(known)", "uses[id(parameter)] < 0"),),
        tests=(f"{_CAPTURE}::test_what_cannot_be_trained_is_refused_by_its_path",),
    ),
    Mutant(
        name="slopes are taken after what follows in place",
        edits=(
            (
                "learn/torch/gradients/capture.py",
                "edges = [sight.edge for sight in sights]",
                "edges = [GradientEdge(*sight.edge.node.next_functions[0]) for sight in sights]",
            ),
        ),
        tests=(f"{_CAPTURE}::test_mixed_precision_gives_single_precision", _LOOP),
    ),
    Mutant(
        name="batches keep their order, in which rows move up",
        edits=(("learn/torch/gradients/places.py", "members[np.argsort(keys)]", "members[: len(keys)]"),),
        tests=("tests/learn/torch/gradients/test_places.py",),
    ),
    Mutant(
        name="blocks in which rows depend on their place",
        edits=(("learn/torch/gradients/ghost.py", "if same_in_every_place(sums, inputs, targets):", "if block:"),),
        tests=(f"{_GHOST}::test_blocks_are_as_large_as_rows_are_the_same_in_every_place",),
    ),
)
