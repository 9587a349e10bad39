"""Seeded bugs of monitors, and of states that are private themselves."""

from tests.mutations.mutants import Mutant

_COUNTER = "tests/mechanisms/pan_private/test_counter.py::"
_COSTS = f"{_COUNTER}test_one_event_costs_epsilon_whatever_is_seen"
_DENSITY = "tests/mechanisms/pan_private/test_density.py::"
_TOLD = f"{_DENSITY}test_no_two_streams_of_one_item_are_told_apart_by_more_than_epsilon"
_ALARM = "tests/mechanisms/monitors/test_threshold_alarm.py::"
_MOVES = "tests/mechanisms/monitors/test_statistics.py::test_no_unit_moves_a_statistic_by_more"
_MONITOR = "tests/streams/monitoring/test_monitor.py::"

PAN_PRIVATE = (
    Mutant(
        name="a pan-private count begins without noise",
        edits=(
            (
                "mechanisms/pan_private/counter.py",
                "self._open: list[int] = discrete_laplace(counter.scale, levels).tolist()",
                "self._open: list[int] = [0] * levels",
            ),
        ),
        tests=(_COSTS,),
    ),
    Mutant(
        name="a block of a pan-private count begins without noise",
        edits=(
            (
                "mechanisms/pan_private/counter.py",
                "self._open[:ended] = noise[ended:]",
                "self._open[:ended] = [0] * ended",
            ),
        ),
        tests=(_COSTS,),
    ),
    Mutant(
        name="a pan-private count is released without noise of its own",
        edits=(
            (
                "mechanisms/pan_private/counter.py",
                "[self._open[level] + noise[level] for level in range(ended)]",
                "[self._open[level] for level in range(ended)]",
            ),
        ),
        tests=(_COSTS,),
    ),
    Mutant(
        name="no noise stands between a look and a copy",
        edits=(
            (
                "mechanisms/pan_private/counter.py",
                "self._stir()  # between a look at the memory before it and the copy",
                "pass",
            ),
        ),
        tests=(_COSTS,),
    ),
    Mutant(
        name="no noise stands between a copy and a look",
        edits=(
            (
                "mechanisms/pan_private/counter.py",
                "self._stir()  # between the copy and a look at the memory after it",
                "pass",
            ),
        ),
        tests=(_COSTS,),
    ),
    Mutant(
        name="the levels of a pan-private count share one noise's worth of epsilon",
        edits=(
            (
                "mechanisms/pan_private/counter.py",
                "return self.events_per_unit * self.levels / self.epsilon",
                "return self.events_per_unit / self.epsilon",
            ),
        ),
        tests=(f"{_COUNTER}test_the_scale_follows_from_levels_and_events",),
    ),
    Mutant(
        name="a copy of a pan-private state is not counted",
        edits=(("mechanisms/pan_private/state.py", "self._copies -= 1", "pass"),),
        tests=("tests/mechanisms/pan_private/test_state.py",),
    ),
    Mutant(
        name="a copy of a density costs nothing",
        edits=(
            (
                "mechanisms/pan_private/density.py",
                "return (self.epsilon - self.output_epsilon) / (self.saved_copies + 1)",
                "return self.epsilon - self.output_epsilon",
            ),
        ),
        tests=(_TOLD,),
    ),
    Mutant(
        name="a copy of a density holds the bits themselves",
        edits=(("mechanisms/pan_private/density.py", "self._flipped(self._bits)", "self._bits"),),
        tests=(_TOLD,),
    ),
    Mutant(
        name="a density is restored to the bits of its copy",
        edits=(
            (
                "mechanisms/pan_private/density.py",
                'self._flipped(np.array(numbers_of(content, "bits", density.sample)) == 1)',
                'np.array(numbers_of(content, "bits", density.sample)) == 1',
            ),
        ),
        tests=(_TOLD,),
    ),
    Mutant(
        name="a density begins without random bits",
        edits=(
            (
                "mechanisms/pan_private/density.py",
                "self._bits = bernoulli(self._flip, density.sample)",
                "self._bits = np.zeros(density.sample, dtype=np.bool_)",
            ),
        ),
        tests=(_TOLD,),
    ),
    Mutant(
        name="a density is released without noise",
        edits=(("mechanisms/pan_private/density.py", " + discrete_laplace_one(1 / density.output_epsilon)", ""),),
        tests=(f"{_DENSITY}test_the_release_is_the_number_of_true_bits_with_noise",),
    ),
)

ALARMS = (
    Mutant(
        name="each alarm draws the noise of the threshold again at the full epsilon",
        edits=(
            (
                "mechanisms/monitors/threshold_alarm.py",
                "if self._alarm.is_refreshed and self._remaining:",
                "if self._remaining:",
            ),
        ),
        tests=(f"{_ALARM}test_the_noise_of_the_threshold_is_drawn_once_for_all_alarms",),
    ),
    Mutant(
        name="alarms after the first are not counted",
        edits=(("mechanisms/monitors/threshold_alarm.py", "        self._remaining -= 1\n", "        pass\n"),),
        tests=(f"{_ALARM}test_after_the_last_alarm_nothing_is_read",),
    ),
    Mutant(
        name="refreshed alarms have all of epsilon each",
        edits=(
            (
                "mechanisms/monitors/threshold_alarm.py",
                "epsilon=self.epsilon / self.alarms if self.is_refreshed else self.epsilon",
                "epsilon=self.epsilon",
            ),
        ),
        tests=(f"{_ALARM}test_a_refreshed_threshold_has_noise_of_its_own_for_each_alarm",),
    ),
    Mutant(
        name="ticks of a pause are compared",
        edits=(
            (
                "mechanisms/monitors/threshold_alarm.py",
                "            self._pause -= 1\n            return None\n",
                "            self._pause -= 1\n",
            ),
        ),
        tests=(f"{_ALARM}test_in_a_pause_nothing_is_compared",),
    ),
    Mutant(
        name="a change has the noise of a count",
        edits=(
            (
                "mechanisms/monitors/statistics.py",
                "Fraction(moved if is_added else 2 * moved), is_monotonic=False",
                "Fraction(moved if is_added else 2 * moved), is_monotonic=True",
            ),
        ),
        tests=(_MOVES,),
    ),
    Mutant(
        name="a unit is in one tick of a window",
        edits=(("mechanisms/monitors/statistics.py", "times = participation.within(width)\n", "times = 1\n"),),
        tests=(_MOVES,),
    ),
    Mutant(
        name="a unit that is replaced moves a window once",
        edits=(("mechanisms/monitors/statistics.py", "(size if is_added else spread)", "size"),),
        tests=(_MOVES,),
    ),
    Mutant(
        name="a restored sparse vector has another threshold",
        edits=(("mechanisms/selection/sparse_vector.py", "remaining, noisy_threshold=noisy)", "remaining)"),),
        tests=(f"{_ALARM}test_a_restored_alarm_goes_on_with_the_noise_it_had",),
    ),
    Mutant(
        name="an alarm leaves before it is kept",
        edits=(
            (
                "streams/monitoring/monitor.py",
                "            self._keep(kept, found)\n            if not",
                "            self._raised += found\n            self._keep(kept, found)\n            if not",
            ),
        ),
        tests=(f"{_MONITOR}test_no_alarm_leaves_before_it_is_kept",),
    ),
    Mutant(
        name="a monitor compares before its threshold is kept",
        edits=(
            (
                "streams/monitoring/monitor.py",
                "                self._keep(None, [])  # the noise",
                "                pass  # the noise",
            ),
        ),
        tests=(f"{_MONITOR}test_the_noise_of_the_threshold_is_kept_before_anything_is_compared",),
    ),
    Mutant(
        name="a monitor forgets who took part",
        edits=(
            (
                "streams/monitoring/monitor.py",
                'self._intake.memory.recall((unit, step) for unit, step in row["taken"])',
                "pass",
            ),
        ),
        tests=(f"{_MONITOR}test_a_restored_monitor_goes_on_with_its_noise_and_without_a_charge",),
    ),
    Mutant(
        name="a monitor does not ask for participations",
        edits=(("streams/monitoring/monitor.py", "        _require_participation(payer, participation)\n", ""),),
        tests=(f"{_MONITOR}test_an_account_of_people_needs_participations",),
    ),
)

MUTANTS = (*PAN_PRIVATE, *ALARMS)
