"""Seeded bugs of gradients of rows: what a row depends on, and which models are refused."""

from tests.mutations.mutants import Mutant

_ROWS = "learn/torch/gradients/per_example.py"
_CHECKS = "learn/torch/gradients/supported.py"
_OF_ROWS = "tests/learn/torch/gradients/test_per_example.py"
_OF_CHECKS = "tests/learn/torch/gradients/test_supported.py"
_MASKS = f"{_OF_ROWS}::TestRows::test_masks_differ_by_row_and_time_whatever_the_seed_of_torch_is"
_REFUSED = f"{_OF_CHECKS}::TestModels::test_what_cannot_be_trained_is_named_with_the_fix"

MUTANTS = (
    Mutant(
        name="each row has the mean gradient of its block",
        edits=((_ROWS, "found[name].reshape(len", "found[name].mean(0).expand_as(found[name]).reshape(len"),),
        tests=(f"{_OF_ROWS}::TestRows::test_rows_are_gradients_of_autograd_one_by_one",),
    ),
    Mutant(
        name="frozen parameters have gradients",
        edits=((_ROWS, "in model.named_parameters() if parameter.requires_grad}", "in model.named_parameters()}"),),
        tests=(f"{_OF_ROWS}::TestRows::test_frozen_parameters_are_no_part_of_a_row",),
    ),
    Mutant(
        name="masks of rows follow the seed of torch",
        edits=((_ROWS, "torch.set_rng_state(state)", "state.clone()"),),
        tests=(_MASKS,),
    ),
    Mutant(
        name="all rows of a block have one mask",
        edits=(
            (
                _ROWS,
                'in_dims=(None, None, 0, 0), randomness="different"',
                'in_dims=(None, None, 0, 0), randomness="same"',
            ),
        ),
        tests=(_MASKS,),
    ),
    Mutant(
        name="no check that rows keep to themselves in a block",
        edits=((_ROWS, "if same_in_every_place(gradients, inputs, targets):", "if len(inputs):"),),
        tests=(f"{_OF_ROWS}::TestPlaces::test_a_slower_way_is_taken_where_a_faster_one_mixes_rows",),
    ),
    Mutant(
        name="rows are not tried beside numbers that are not finite",
        edits=(
            (_ROWS, "    if inputs.is_floating_point():\n        yield", "    if inputs.is_complex():\n        yield"),
        ),
        tests=(f"{_OF_ROWS}::TestPlaces::test_a_neighbor_that_is_not_finite_is_found",),
    ),
    Mutant(
        name="models that mix rows are accepted",
        edits=((_CHECKS, "    _check_neighbors(model, inputs)\n", ""),),
        tests=(_REFUSED,),
    ),
    Mutant(
        name="models that keep something of rows are accepted",
        edits=((_CHECKS, "    _check_memory(model, inputs)\n", ""),),
        tests=(_REFUSED,),
    ),
    Mutant(
        name="parameters that the loss does not use are accepted",
        edits=((_CHECKS, "if gradient is None:", "if gradient is ...:"),),
        tests=(_REFUSED,),
    ),
    Mutant(
        name="an optimizer may leave trainable parameters out",
        edits=((_CHECKS, "if id(parameter) not in held:", "if not held:"),),
        tests=(f"{_OF_CHECKS}::TestOptimizers",),
    ),
    Mutant(
        name="gradients by torch.func are not compared with autograd",
        edits=((_CHECKS, "    _check_gradients(model, loss, inputs, targets)\n", ""),),
        tests=(_REFUSED,),
    ),
)
