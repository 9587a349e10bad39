"""Seeded bugs of counters over time, without a ledger."""

from tests.mutations.mutants import Mutant

TESTS = "tests/mechanisms/continual"


def mutant(name, path, right, wrong, test):
    """One bug in one place of a counter, which one test or file must notice."""
    return Mutant(name=name, edits=((f"mechanisms/continual/{path}", right, wrong),), tests=(f"{TESTS}/{test}",))


MUTANTS = (
    mutant(
        "a node has the noise of the node before it",
        "tree_noise.py",
        "if stop >> level & 1 and end > start:",
        "if stop >> level & 1 and end > start and not self._open[level].any():",
        "test_tree_noise.py::test_each_total_has_the_noises_of_its_nodes_and_no_others",
    ),
    mutant(
        "a level of a tree is forgotten",
        "binary_tree.py",
        "levels, times = horizon.bit_length(), participation.within(horizon)",
        "levels, times = max(1, (horizon - 1).bit_length()), participation.within(horizon)",
        "test_binary_tree.py::test_noise_is_for_as_much_as_an_event_moves_all_nodes",
    ),
    mutant(
        "the bits of the next tick make the error",
        "tree_noise.py",
        "range(top) if step >> level & 1)",
        "range(top) if step >> level + 1 & 1)",
        "test_binary_tree.py::test_every_release_is_computed_from_measured_nodes",
    ),
    mutant(
        "several participations cost Laplace noise once",
        "binary_tree.py",
        "moved = contribution.l1_sensitivity * levels * times",
        "moved = contribution.l1_sensitivity * levels",
        "test_binary_tree.py::test_noise_is_for_as_much_as_an_event_moves_all_nodes",
    ),
    mutant(
        "several participations never meet in a node",
        "participation.py",
        "total += full * packed**2 + rest**2",
        "total += full * packed + rest",
        "test_participation.py",
    ),
    mutant(
        "a separation is one tick longer",
        "participation.py",
        "return -(-ticks // self.separation)",
        "return max(1, ticks // self.separation)",
        "test_participation.py",
    ),
    mutant(
        "an event is not clamped",
        "contribution.py",
        "return narrow(np.clip(values, self.lower, self.upper))",
        "return narrow(values)",
        "test_contribution.py",
    ),
    mutant(
        "a key that is replaced moves as one that is added",
        "contribution.py",
        'sqrt_up(Fraction(2)) if self.kind == "one_of"',
        'Fraction(1) if self.kind == "one_of"',
        "test_contribution.py",
    ),
    mutant(
        "an event is taken to stay in one of several numbers",
        "base.py",
        'if numbers > 1 and self.contribution.kind == "clamped":',
        "if False:",
        "test_base.py::test_a_contribution_to_one_number_is_none_of_several",
    ),
    mutant(
        "what was released is the running total itself",
        "sums.py",
        "self._total = narrow(totals[-1].copy())",
        "self._total = narrow(totals[-1])",
        "test_base.py::test_what_is_returned_shares_no_memory_with_the_counter",
    ),
    mutant(
        "an empty tick has no noise",
        "base.py",
        "noise = self._noise.draw(len(increments))",
        "noise = self._noise.draw(len(increments)) * (increments != 0)",
        "test_base.py::test_the_stddev_is_as_stated_at_every_tick_and_the_sums_are_right[tree]",
    ),
    mutant(
        "a counter goes on behind its horizon",
        "base.py",
        "is not None and self.step + ticks > horizon:",
        "is not None and self.step > horizon:",
        "test_base.py::test_shapes_and_the_horizon_are_refused_before_anything_is_drawn",
    ),
    mutant(
        "the state of another mechanism is taken over",
        "base.py",
        'if header.get("mechanism") != repr(self):',
        'if "mechanism" not in header:',
        "test_base.py::test_a_state_of_another_mechanism_or_none_is_refused",
    ),
    mutant(
        "restored buffers begin anew",
        "buffered.py",
        'self._buffers = arrays["buffers"]',
        "self._buffers = self._buffers",
        "test_base.py::test_a_restored_counter_goes_on_with_its_noise[buffers]",
    ),
    mutant(
        "the rounding of buffers is not in the sensitivity",
        "toeplitz.py",
        "moved = distance + slack(bits) * sqrt_up(Fraction(horizon * numbers))",
        "moved = distance + 0 * slack(bits) * sqrt_up(Fraction(horizon * numbers))",
        "test_toeplitz.py",
    ),
    mutant(
        "a buffer's rounding is counted at one tick",
        "buffered.py",
        "(weight.value * grown_by + 1 for",
        "(weight.value + 0 * grown_by for",
        "test_buffered.py::test_rounding_is_counted_at_every_tick_at_which_it_is_held",
    ),
    mutant(
        "participations in buffers are twice as far apart",
        "buffered.py",
        "starts = [j * participation.separation for",
        "starts = [2 * j * participation.separation for",
        "test_buffered.py::test_no_placement_of_a_unit_moves_the_measurements_further",
    ),
    mutant(
        "participations in windows do not add up",
        "square_root.py",
        "worst = np.maximum.accumulate(products[::-1])[::-1]",
        "worst = 0 * products",
        "test_square_root.py::test_no_placement_of_a_unit_moves_the_measurements_further",
    ),
    mutant(
        "a block forgets the noise of the blocks before it",
        "square_root.py",
        "drawn = self._solved(noise - held)",
        "drawn = self._solved(noise - 0 * held)",
        "test_square_root.py::test_any_blocks_give_the_same_noise",
    ),
    mutant(
        "noise is undone by coefficients that were not rounded",
        "square_root.py",
        "held = _product(self._coefficients[tick:0:-1], found[:tick]) if tick else 0",
        "held = _product(self._coefficients[tick:0:-1] | 1, found[:tick]) if tick else 0",
        "test_square_root.py::test_a_neighbor_has_the_same_releases_with_noise_as_far_off_as_its_column",
    ),
    mutant(
        "all trees have the noise of the first",
        "hybrid_tree.py",
        "noise = self._mechanism.noise_of(step.bit_length() - 1)",
        "noise = self._mechanism.noise_of(0 * step)",
        "test_hybrid_tree.py::test_the_real_noise_is_that_of_each_tree",
    ),
    mutant(
        "several participations cost a tree without a horizon once",
        "hybrid_tree.py",
        "most = self.participation.most",
        "most = min(1, self.participation.most)",
        "test_hybrid_tree.py::test_each_tree_has_noise_for_its_own_levels",
    ),
    mutant(
        "an interrupted counter goes on with other noise",
        "base.py",
        "self._is_broken = True  #",
        "self._is_broken = False  #",
        "test_base.py::test_an_interrupted_counter_neither_goes_on_nor_is_saved",
    ),
    mutant(
        "noise is for the rounding of a finer lattice",
        "square_root.py",
        "while self.lattice_bits < finest:",
        "if self.lattice_bits < finest:",
        "test_square_root.py::test_noise_is_for_the_rounding_of_the_lattice_that_it_has",
    ),
    mutant(
        "bands that overlap are taken to be apart",
        "banded.py",
        "total += 2 * (times - distance) * int(places[lag:] @ places[: len(column) - lag])",
        "total += 0 * lag",
        "test_banded.py::test_no_placement_of_a_unit_moves_the_measurements_further",
    ),
    mutant(
        "events of overlapping bands are composed as if apart",
        "banded.py",
        "if times == 1 or participation.separation >= wide:",
        "if times == 1 or participation.separation >= 1:",
        "test_banded.py::test_events_are_those_of_the_columns",
    ),
    mutant(
        "noise of the latest tick takes the coefficient of the first",
        "banded.py",
        "backward = [self._coefficients[(self._place - 1 - place) % bands] for place in range(bands)]",
        "backward = [self._coefficients[(self._place + place) % bands] for place in range(bands)]",
        "test_banded.py::test_the_strategy_makes_the_fresh_noise_of_the_correlated_one",
    ),
)
