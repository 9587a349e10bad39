"""Seeded bugs of who takes part in a training, and of its noise; some are tried by tests/learn/torch."""

from tests.mutations.mutants import Mutant

TESTS = "tests/learn/torch/noise"


def mutant(name, path, right, wrong, test):
    """One bug in one place of the noise of a training, which one test or file must notice."""
    return Mutant(name=name, edits=((f"learn/torch/noise/{path}", right, wrong),), tests=(f"{TESTS}/{test}",))


MUTANTS = (
    mutant(
        "the phase of a unit is its place",
        "sampling.py",
        "uniform_below(batches.period, units) if batches.period > 1",
        "np.arange(units) % batches.period if batches.period > 1",
        "test_sampling.py::test_a_phase_is_drawn_and_no_place",
    ),
    mutant(
        "units of a group are not sampled",
        "sampling.py",
        "return self._batches.kept(members[coins])",
        "return self._batches.kept(members[coins | (self._batches.period > 1)])",
        "test_sampling.py::test_each_unit_takes_part_by_its_own_draws[cyclic]",
    ),
    mutant(
        "a group is sampled as all units are",
        "sampling.py",
        "once = PoissonSampledEvent(self.sampling_probability, once)",
        "once = PoissonSampledEvent(self.share, once)",
        "test_sampling.py::test_no_training_is_more_revealing_than_its_event_and_some_are_as_revealing",
    ),
    mutant(
        "the last batch of a unit is not counted",
        "sampling.py",
        'return -(-positive_integer(steps, "steps") // self.period)',
        'return max(1, positive_integer(steps, "steps") // self.period)',
        "test_sampling.py::test_no_training_is_more_revealing_than_its_event_and_some_are_as_revealing",
    ),
    mutant(
        "a training resumes amid a period",
        "sampling.py",
        'if whole(step, "step", least=0) % self.period:',
        'if whole(step, "step", least=0) < 0:',
        "test_sampling.py::test_a_batch_is_drawn_once_and_a_training_resumes_where_a_period_begins",
    ),
    mutant(
        "a batch that is cut keeps its first units",
        "sampling.py",
        "np.sort(drawn[np.argsort(keys)[: self.largest]])",
        "drawn[: self.largest]",
        "test_sampling.py::test_of_a_batch_that_is_too_large_all_choices_are_equally_likely",
    ),
    mutant(
        "a batch that is cut is priced as one that is not",
        "sampling.py",
        "sampled = TruncatedPoissonSampledEvent(self.probability, self.units, self.largest, once)",
        "sampled = PoissonSampledEvent(self.probability, once)",
        "test_sampling.py::test_a_truncated_batch_is_priced_for_so_many_units_as_there_are",
    ),
    mutant(
        "batches are cut for another number of units than the event is for",
        "sampling.py",
        "if units != self.units:",
        "if units < 0:",
        "test_sampling.py::test_a_truncated_batch_is_priced_for_so_many_units_as_there_are",
    ),
    Mutant(
        name="a batch is cut where the number of units is a secret",
        edits=(
            (
                "learn/torch/training/examples.py",
                "if self.neighboring_relation is REPLACE_ONE else None",
                "if True else None",
            ),
        ),
        tests=(
            "tests/learn/torch/training/test_private.py::test_a_largest_batch_needs_a_number_of_units_that_is_no_secret",
        ),
    ),
    mutant(
        "a unit that replaces another moves a sum half as far",
        "steps.py",
        "return 2 * distance if neighboring_relation",
        "return distance if neighboring_relation",
        "test_steps.py::test_the_event_counts_every_step_and_every_sample",
    ),
    mutant(
        "all steps have the noise of the first",
        "steps.py",
        "return discrete_gaussian(self._variance, self._width)",
        "return discrete_gaussian.__dict__.setdefault('first', discrete_gaussian(self._variance, self._width))",
        "test_steps.py::test_draws_have_the_stated_variance_and_are_fresh",
    ),
    Mutant(
        name="correlated noise of all steps is made of the same fresh noise",
        edits=(
            (
                "mechanisms/continual/banded.py",
                "fresh = discrete_gaussian(self._variance, ticks * self.numbers)",
                (
                    "fresh = discrete_gaussian.__dict__.setdefault("
                    "'first', discrete_gaussian(self._variance, ticks * self.numbers))"
                ),
            ),
        ),
        tests=(f"{TESTS}/test_correlated.py::test_noise_of_a_step_and_of_all_together_is_as_stated[4]",),
    ),
    mutant(
        "bands are longer than a unit stays away",
        "correlated.py",
        "if wide > self.participation.period:",
        "if wide > self.steps:",
        "test_correlated.py::test_what_is_no_noise_is_refused",
    ),
    mutant(
        "parts of a unit are taken to be further apart",
        "correlated.py",
        "separation=self.participation.period)",
        "separation=2 * self.participation.period)",
        "test_correlated.py::test_with_buffers_all_parts_together_move_as_much_as_the_event_says",
    ),
    mutant(
        "a unit that replaces another moves correlated sums half as far",
        "correlated.py",
        "relation = ADD_OR_REMOVE_ONE if self.participation.is_secret else self.neighboring_relation",
        "relation = ADD_OR_REMOVE_ONE",
        "test_correlated.py::test_events_are_of_all_parts_or_of_samples",
    ),
    mutant(
        "overlapping parts are priced as one",
        "correlated.py",
        "self.mechanism.stddev_steps / self.noise_multiplier",
        "self.mechanism.stddev_steps / self.noise_multiplier / 2",
        "test_correlated.py::test_with_buffers_all_parts_together_move_as_much_as_the_event_says",
    ),
    Mutant(
        name="rows of one unit take turns in several groups",
        edits=(
            (
                "learn/torch/training/private.py",
                'if noise == "banded" and rows_per_unit > 1:',
                'if noise == "banded" and rows_per_unit < 1:',
            ),
        ),
        tests=("tests/learn/torch/training/test_private.py::test_rows_of_a_unit_of_a_query_take_no_turns_in_groups",),
    ),
)
