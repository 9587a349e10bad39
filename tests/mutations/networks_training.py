"""Seeded bugs of trainings of networks: who takes part, how gradients are clipped, what has noise, what is priced."""

from tests.mutations.mutants import Mutant

_SUMS = "tests/learn/torch/gradients/test_sums.py"
_PLAN = "tests/learn/torch/training/test_plan.py"
_LOOPS = "tests/learn/torch/training/test_loop.py"
_PRIVATE = "tests/learn/torch/training/test_private.py"
_CLIPPING = "tests/learn/torch/training/test_clipping.py"
_CHECKPOINTS = "tests/learn/torch/training/test_checkpoints.py"
_MOVES = f"{_SUMS}::test_a_row_moves_the_sum_by_no_more_than_the_steps_and_by_itself_alone"
_NOISE = f"{_PLAN}::test_noise_is_on_every_parameter_whoever_is_there"
_UNIT = f"{_LOOPS}::test_all_rows_of_a_unit_move_the_sum_as_one_row_does"
_ONCE = f"{_CHECKPOINTS}::test_what_was_reserved_is_spent_and_the_rest_is_drawn"

_LOOP = "learn/torch/training/loop.py"
_OF_PLANS = "learn/torch/training/plan.py"
_PRICE = "learn/torch/training/private.py"
_LATTICE = "learn/torch/gradients/sums.py"


def _bug(name: str, file: str, right: str, wrong: str, *tests: str) -> Mutant:
    return Mutant(name=name, edits=((file, right, wrong),), tests=tests)


MUTANTS = (
    _bug(
        "batches of a training are fixed", _OF_PLANS, "batches.draw(step), noise.draw()",
        "list(range(step % 6, len(rows.places), 6)), noise.draw()",
        f"{_PLAN}::test_who_takes_part_changes_from_update_to_update",
    ),
    _bug("noise of an update is shared out over blocks", _LOOP, "total + noise", "total + noise // 4", _NOISE),
    _bug(
        "some parameters of a network have no noise", _LOOP, "total + noise",
        "total + np.where(np.arange(len(noise)) < len(noise) - 2, noise, 0)", _NOISE,
    ),
    _bug(
        "an empty batch is skipped", _OF_PLANS, "run.update(rows, batches.draw(step), noise.draw())",
        "len(units := batches.draw(step)) and run.update(rows, units, noise.draw())", _NOISE,
    ),
    _bug(
        "gradients of rows are not clipped", _LATTICE, "norms.clamp(min=clip)", "norms.clamp(max=clip, min=clip)",
        _MOVES,
    ),
    _bug("a gradient that is not finite counts", _LATTICE, "used & norms.isfinite()", "used", _MOVES),
    _bug(
        "gradients of two parameters share memory", "learn/torch/gradients/per_example.py",
        "parts = [part.clone() for part in parts]", "pass",
        "tests/learn/torch/gradients/test_per_example.py::test_parts_share_no_memory",
    ),
    _bug(
        "an empty place of a block counts", _LATTICE, "used & norms.isfinite()", "norms.isfinite()",
        f"{_SUMS}::test_a_row_in_an_empty_place_counts_nothing",
    ),
    _bug(
        "rows of a unit are clipped one by one", _LATTICE, "if self.rows_per_unit > 1:", "if self.rows_per_unit < 1:",
        _UNIT,
    ),
    _bug(
        "a training that is resumed draws again", "learn/torch/training/checkpoints.py",
        "        return self._reserved\n", "        return self._run.drawn\n", _ONCE,
    ),
    _bug(
        "updates of a training follow from the number of rows", _PRICE,
        'steps = ceil(positive(epochs, "epochs") * count / size)',
        'steps = ceil(positive(epochs, "epochs") * len(source.places.open_for_noise()) / size) or 1',
        f"{_PRIVATE}::test_nothing_is_read_off_the_data",
    ),
    _bug(
        "a training costs twice what its noise is for", _PRICE, '"l2_sensitivity": self.sensitivity,',
        '"l2_sensitivity": self.sensitivity / 2,',
        f"{_PRIVATE}::test_the_noise_is_what_another_accountant_says_that_the_price_needs",
    ),
    _bug(
        "rows of a unit are priced as one", _PRICE,
        "return event if self.rows_per_unit == 1 else GroupEvent(event, self.rows_per_unit)", "return event",
        f"{_PRIVATE}::test_rows_of_a_unit_of_a_query_are_priced_as_a_group",
    ),
    _bug(
        "the number within the clip has no noise", "learn/torch/training/clipping.py",
        "return below + discrete_gaussian_one(self.stddev**2)", "return below",
        f"{_CLIPPING}::test_the_number_has_noise",
    ),
    _bug(
        "the number within the clip is free", "learn/torch/training/clipping.py",
        "ComposedEvent((DiscreteGaussianEvent(self.stddev_steps, distance), self.rule.event))",
        "DiscreteGaussianEvent(self.stddev_steps, distance)",
        f"{_CLIPPING}::test_the_number_of_each_update_is_in_the_event_and_costs_something",
    ),
    _bug(
        "a row that the loss refuses takes its block along", _LOOP,
        "            return self.sums.add(only(inputs, valid), only(targets, valid), valid, self.clip)",
        "            valid[:] = False\n"
        "            return self.sums.add(only(inputs, valid), only(targets, valid), valid, self.clip)",
        f"{_LOOPS}::test_a_row_that_the_loss_cannot_take_counts_as_nothing_and_changes_no_other",
    ),
    _bug(
        "a plan trains twice", _OF_PLANS, "        if self._begun:", "        if False:",
        f"{_PLAN}::test_a_plan_trains_once",
    ),
    _bug(
        "a weight that does not move goes unnoticed", _LOOP, "if torch.equal(own, was)]", "if own is was]",
        f"{_PLAN}::test_a_weight_that_does_not_move_is_named",
    ),
)  # fmt: skip
