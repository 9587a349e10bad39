"""Seeded bugs of keys that a counter selects: in their threshold, their cost, their order and what stays secret."""

from tests.mutations.mutants import Mutant

_FILE = "tests/streams/counting/test_selection.py"
_COUNTING = "streams/counting"
_CONTINUAL = "tests/mechanisms/continual"
_LATER = (
    f"{_CONTINUAL}/test_base.py::test_numbers_that_come_later_have_the_noise_of_all_ticks_and_the_others_keep_theirs"
)
_RESTORED = f"{_CONTINUAL}/test_hybrid_tree.py::test_a_restored_counter_draws_the_noise_of_its_present_tree"


def mutant(name, path, right, wrong, test):
    """One bug in one place, which one test must notice."""
    return Mutant(name=name, edits=((path, right, wrong),), tests=(f"{_FILE}::{test}",))


MUTANTS = (
    mutant(
        "a key is shown without what one unit adds",
        f"{_COUNTING}/selection.py",
        "return self.largest + ceil(",
        "return 0 * self.largest + ceil(",
        "test_a_key_of_one_unit_is_ever_shown_with_at_most_delta_over_its_keys",
    ),
    mutant(
        "a unit adds to a key once, however often it takes part",
        f"{_COUNTING}/selection.py",
        "max(0, largest) * together",
        "max(0, largest)",
        "test_a_key_of_one_unit_is_ever_shown_with_at_most_delta_over_its_keys",
    ),
    mutant(
        "the delta of keys is not for all steps of the horizon",
        f"{_COUNTING}/selection.py",
        "selected.delta / (keys * mechanism.horizon)",
        "selected.delta / keys",
        "test_thresholds_are_for_what_a_unit_adds_and_for_the_keys_it_may_have",
    ),
    mutant(
        "the delta of keys is not for all keys of a unit",
        f"{_COUNTING}/selection.py",
        "selected.delta / (keys * mechanism.horizon)",
        "selected.delta / mechanism.horizon",
        "test_thresholds_are_for_what_a_unit_adds_and_for_the_keys_it_may_have",
    ),
    mutant(
        "a replaced unit has the keys of one",
        f"{_COUNTING}/selection.py",
        "keys, sums = 2 * times if is_pair else times, mechanism.sums",
        "keys, sums = times, mechanism.sums",
        "test_replaced_units_have_twice_as_many_keys",
    ),
    mutant(
        "thresholds come from a numeric inversion",
        f"{_COUNTING}/selection.py",
        "within = 1 - min(self.failure, _LEAST_FAILURE)",
        "within = 1 - self.failure",
        "test_thresholds_are_for_what_a_unit_adds_and_for_the_keys_it_may_have",
    ),
    mutant(
        "keys are shown whatever their sums",
        f"{_COUNTING}/selection.py",
        "shown |= (numbers > self._threshold.at(first + at)).astype(np.bool_)",
        "shown |= (numbers > 0).astype(np.bool_)",
        "test_what_one_unit_changes_is_within_epsilon_and_delta",
    ),
    mutant(
        "keys are shown in the order in which they came",
        f"{_COUNTING}/selection.py",
        "sorted(np.flatnonzero(shown).tolist(), key=self._labels.__getitem__)",
        "np.flatnonzero(shown).tolist()",
        "test_keys_of_enough_units_are_shown_from_then_on_in_the_order_of_their_names",
    ),
    mutant(
        "keys that are not shown are among the releases",
        f"{_COUNTING}/selection.py",
        "places = sorted(np.flatnonzero(shown).tolist(), ",
        "places = sorted(range(1, len(shown)), ",
        "test_keys_of_enough_units_are_shown_from_then_on_in_the_order_of_their_names",
    ),
    mutant(
        "a shown key is hidden again",
        f"{_COUNTING}/selection.py",
        "        shown[: len(self._shown)] = self._shown\n",
        "",
        "test_sums_of_keys_may_be_negative_once_they_are_shown",
    ),
    mutant(
        "an event that does not count makes its key known",
        f"{_COUNTING}/intake.py",
        "found = self._selection.places_of(items if is_kept",
        "self._selection.places_of(items)\n        found = self._selection.places_of(items if is_kept",
        "test_an_event_that_does_not_count_makes_no_key_known",
    ),
    mutant(
        "selected keys cost nothing",
        f"{_COUNTING}/plan.py",
        "        event = ComposedEvent((event, ApproxEvent(Fraction(0), of_keys)))\n",
        "",
        "test_keys_are_charged_once_for_the_horizon_beside_the_sums",
    ),
    mutant(
        "a counter that goes on forgets which keys are shown",
        f"{_COUNTING}/selection.py",
        '        self._shown[saved["shown"]] = True\n',
        "",
        "test_keys_that_fell_are_shown_after_a_restart_too",
    ),
    Mutant(
        name="a key that comes later has no noise of the steps before",
        edits=(
            (
                "mechanisms/continual/base.py",
                "            fresh.release_block(np.zeros((ticks, more), dtype=np.int64))\n",
                "            fresh._noise.step += ticks\n",
            ),
        ),
        tests=(_LATER,),
    ),
    Mutant(
        name="a restored counter without a horizon has the noise of its first tree",
        edits=(
            (
                "mechanisms/continual/hybrid_tree.py",
                "self._tree = self._of_step(max(1, self.step))",
                "self._tree = self._of_step(1)",
            ),
        ),
        tests=(_RESTORED,),
    ),
)
