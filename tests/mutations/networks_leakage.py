"""Seeded bugs of gradient leakage: what is found from an update, and how it is counted."""

from tests.mutations.mutants import Mutant

_LEAKAGE = "learn/torch/attacks/leakage.py"
_TESTS = "tests/learn/torch/attacks/test_leakage.py"
_READ = f"{_TESTS}::test_a_linear_first_layer_gives_the_input_away_whatever_the_update_was_multiplied_with"
_FROZEN = f"{_TESTS}::test_frozen_parameters_are_no_part_of_an_update"
_HALF = f"{_TESTS}::test_a_guess_that_does_not_look_at_the_update_is_right_in_one_half"
_PRIVATE = f"{_TESTS}::test_private_updates_of_the_same_network_lead_no_nearer_than_no_update"

MUTANTS = (
    Mutant(
        name="a guess from an update is compared with the next example of another pair",
        edits=((_LEAKAGE, "inputs[place ^ 1]", "inputs[(place + 2) % len(inputs)]"),),
        tests=(_HALF,),
    ),
    Mutant(
        name="the label of an update is its largest slope",
        edits=((_LEAKAGE, ".sum(dim=1).argmin())", ".sum(dim=1).argmax())"),),
        tests=(f"{_TESTS}::test_the_label_is_found_from_every_raw_update",),
    ),
    Mutant(
        name="an input is read off without its scale",
        edits=((_LEAKAGE, "slopes.square().sum().clamp_min(1e-300)", "slopes.abs().sum().clamp_min(1e-300)"),),
        tests=(_READ,),
    ),
    Mutant(
        name="an update has frozen parameters too",
        edits=(
            (
                _LEAKAGE,
                "parts = [part for part in model.parameters() if part.requires_grad]\n    try",
                "parts = [part.requires_grad_() for part in model.parameters()]\n    try",
            ),
        ),
        tests=(_FROZEN,),
    ),
    Mutant(
        name="a distance to an example is its square",
        edits=((_LEAKAGE, "return sqrt(float((one - other).square().mean()))", "return float((one - other).sum())"),),
        tests=(_PRIVATE,),
    ),
    Mutant(
        name="a layer behind another one is read off",
        edits=(
            (
                _LEAKAGE,
                "return layer if same and torch.equal(went_in[0].reshape(-1), probe.reshape(-1)) else None",
                "return layer if same else None",
            ),
        ),
        tests=(f"{_TESTS}::test_only_a_linear_first_layer_of_the_whole_input_is_read_off",),
    ),
)
