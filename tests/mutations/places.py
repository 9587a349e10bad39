"""Seeded bugs of places: noise, snapping, memories, metrics, and what is charged for them."""

from tests.mutations.mutants import Mutant


def bug(name, test, edit):
    """One edit of the package, and the test that notices it."""
    return Mutant(name=name, edits=(edit,), tests=(f"tests/{test}",))


PLANAR = "geo/locations/test_planar_laplace.py"
RATIO = f"{PLANAR}::test_every_report_has_the_ratio_of_its_distance_from_every_two_cells"
TRUE = f"{PLANAR}::test_between_true_places_snapping_and_the_projection_are_in_the_promise"
PROMISED = f"{PLANAR}::test_the_guarantee_is_epsilon_times_the_stretch_with_a_diagonal_as_offset"

MUTANTS = (
    bug(
        "noise that leaves the region is taken back",
        RATIO,
        (
            "geo/locations/planar_laplace.py",
            "        return self.nearest(self.noisy_places(cells))\n",
            (
                "        noisy = self.noisy_places(cells)\n"
                "        inside = (noisy >= 0) & (noisy < [self.grid.columns, self.grid.rows])\n"
                "        return np.where(inside.all(axis=1), self.nearest(noisy), cells)\n"
            ),
        ),
    ),
    bug(
        "noise is cut before it is added",
        f"{PLANAR}::test_noise_is_added_in_full_before_the_sum_is_moved_into_the_grid",
        (
            "geo/locations/planar_laplace.py",
            "planar_laplace(self.scale, len(columns)))",
            "np.clip(planar_laplace(self.scale, len(columns)), -(1 << 40), 1 << 40))",
        ),
    ),
    bug(
        "the sum of place and noise wraps around",
        f"{PLANAR}::test_noise_is_added_in_full_before_the_sum_is_moved_into_the_grid",
        (
            "geo/locations/planar_laplace.py",
            "add(np.stack([columns, rows], axis=1), planar",
            "np.add(np.stack([columns, rows], axis=1), planar",
        ),
    ),
    bug(
        "threads charge an account at once",
        "geo/locations/test_keeping.py::test_threads_never_pass_a_budget_together",
        ("geo/locations/keeping.py", "        with self._lock:\n            yield\n", "        yield\n"),
    ),
    bug(
        "what a device keeps goes on in a forked process",
        "geo/locations/test_keeping.py::test_a_real_fork_is_refused",
        ("geo/locations/keeping.py", "if getpid() != self._process:", "if False:"),
    ),
    bug(
        "what a device keeps is copied",
        "geo/locations/test_keeping.py::test_nothing_that_is_kept_is_copied",
        (
            "geo/locations/keeping.py",
            "    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse",
            "    _copy = _refuse",
        ),
    ),
    bug(
        "what is said to be spent shows which reports were fresh",
        "geo/locations/test_traces.py::test_what_is_said_to_be_spent_is_a_function_of_the_number_of_reports",
        (
            "geo/locations/traces.py",
            "min(self._reports * self.mechanism.epsilon + tests, self.budget.epsilon)",
            "self._paid + 0 * tests",
        ),
    ),
    bug(
        "reports that are repeated are said to be free",
        "geo/locations/test_traces.py::test_reports_alone_tell_no_two_traces_apart_by_more_than_is_said_to_be_spent",
        (
            "geo/locations/traces.py",
            "min(self._reports * self.mechanism.epsilon + tests, self.budget.epsilon)",
            "min(self.mechanism.epsilon + tests, self.budget.epsilon)",
        ),
    ),
    bug(
        "a place outside of the region is an error",
        "geo/planes/test_grid.py::test_points_outside_are_in_no_cell_and_nearest_to_one_at_the_edge",
        (
            "geo/planes/grid.py",
            "np.where(is_place, columns, self.columns // 2).clip(0, self.columns - 1)",
            "np.where(is_place, columns, self.columns // 2)",
        ),
    ),
    bug(
        "planar noise has half of its scale",
        RATIO,
        (
            "geo/locations/planar_laplace.py",
            "return 1 / (self.epsilon * self.grid.cell)",
            "return 1 / (2 * self.epsilon * self.grid.cell)",
        ),
    ),
    bug(
        "snapping to cells is left out of the guarantee",
        TRUE,
        ("geo/locations/planar_laplace.py", '"meter", 2 * displacement * self.epsilon', '"meter", 0 * displacement'),
    ),
    bug(
        "the projection is left out of the guarantee",
        PROMISED,
        ("geo/locations/planar_laplace.py", "MetricDP(self.epsilon * stretch,", "MetricDP(self.epsilon + 0 * stretch,"),
    ),
    bug(
        "degrees of longitude are taken at the wrong end of a region",
        "geo/planes/test_projection.py::test_no_pair_of_points_is_stretched_beyond_the_bound",
        (
            "geo/planes/projection.py",
            "most=inflated(max(north / short_north, east / short_east))",
            "most=inflated(max(north / short_north, east / long_east))",
        ),
    ),
    bug(
        "proposals are no bound of planar noise",
        "noise/laws/test_planar_laplace.py::test_proposed_and_kept_places_have_the_distribution_exactly",
        ("noise/laws/planar_laplace.py", "Fraction(70, 99)", "Fraction(5, 7)"),
    ),
    bug(
        "floats decide about far places",
        "noise/laws/test_planar_laplace.py::test_far_places_are_decided_by_whole_numbers",
        ("noise/laws/planar_laplace.py", " | (distances > _FARTHEST)", ""),
    ),
    bug(
        "places on the diagonal are kept as those on an axis",
        "noise/laws/test_planar_laplace.py::test_distances_follow_their_distribution_and_none_five_percent_off",
        ("noise/laws/planar_laplace.py", "kept: Booleans = differences > 0", "kept: Booleans = differences > -1"),
    ),
    bug(
        "a tile is drawn for anew",
        "geo/locations/test_tiles.py::test_the_report_of_a_tile_is_always_the_same",
        ("geo/locations/tiles.py", "        if tile in self._reports:\n", "        if False:\n"),
    ),
    bug(
        "averaging finds homes in spite of a memory",
        "attacks/linking/test_finding_homes.py::test_two_months_of_fresh_reports_finds_homes_and_a_memory_hides_them",
        ("geo/locations/tiles.py", "        if tile in self._reports:\n", "        if False:\n"),
    ),
    bug(
        "the report of a tile is drawn for the place",
        "geo/locations/test_tiles.py::test_only_the_tile_is_drawn_for_never_the_place",
        ("geo/locations/tiles.py", "columns, np.array([middle])", "columns, cell + 0 * middle"),
    ),
    bug(
        "the width of a tile is left out of its guarantee",
        "geo/locations/test_tiles.py::test_no_place_is_farther_from_the_middle_of_its_tile_than_the_guarantee_says",
        (
            "geo/locations/tiles.py",
            "across = self.mechanism.grid.cell * self.width",
            "across = self.mechanism.grid.cell",
        ),
    ),
    bug(
        "a report leaves before it is on the disk",
        "geo/locations/test_tiles.py::test_nothing_is_returned_and_nothing_remembered_if_the_file_cannot_be_written",
        ("geo/locations/tiles.py", "        self._write(self._reports | {tile: report})\n", ""),
    ),
    bug(
        "tests of a trace are free",
        "geo/locations/test_traces.py::test_no_sequence_tells_two_traces_apart_by_more_than_what_was_spent",
        ("geo/locations/traces.py", "        self._paid += self.test_epsilon\n", ""),
    ),
    bug(
        "a test of a trace forgets that distances are rounded",
        "geo/locations/test_traces.py::test_the_test_pays_for_rounding_down",
        ("geo/locations/traces.py", "short_scale((_PARTS + 1) /", "short_scale(Fraction(_PARTS) /"),
    ),
    bug(
        "a trace goes on beyond its budget",
        "geo/locations/test_traces.py::test_the_budget_is_never_passed_and_the_last_report_is_sent_for_ever",
        ("geo/locations/traces.py", "> self.budget.epsilon:", "> 2 * self.budget.epsilon:"),
    ),
    bug(
        "a release under a metric is not charged",
        "geo/locations/test_account.py::test_a_release_is_charged_before_it_is_made",
        ("geo/locations/account.py", "        self.charge(mechanism.guarantee)\n", ""),
    ),
    bug(
        "an account does not see what another process has spent",
        "geo/locations/test_account.py::test_a_file_keeps_what_was_spent",
        ("geo/locations/account.py", "            self._read()\n            spent", "            spent"),
    ),
    bug(
        "kilometers are taken for meters",
        "privacy/test_promises.py::test_lengths_are_converted_and_other_units_are_not",
        ("privacy/promises.py", "self.epsilon * LENGTHS[unit] / LENGTHS[self.unit]", "self.epsilon"),
    ),
    bug(
        "a metric's exponent is not halved",
        "geo/metrics/test_exponential.py::test_no_report_tells_two_points_apart_by_more_than_their_distance",
        ("geo/metrics/exponential.py", "(1 if self.constant_normalizer else 2)", "1"),
    ),
    bug(
        "a constant normalizer is believed",
        "geo/metrics/test_exponential.py::test_without_the_half_a_line_would_break_its_promise",
        ("geo/metrics/finite.py", "return all(bool((np.sort", "return True or all(bool((np.sort"),
    ),
    bug(
        "distances of words are rounded down",
        "geo/metrics/test_words.py::test_what_is_rounded_up_is_a_metric",
        ("geo/metrics/words.py", "        roots += roots**2 < squares\n", "        roots -= roots**2 > squares\n"),
    ),
    bug(
        "rounding is left out of the promise of a number with a slope",
        "geo/metrics/test_lipschitz.py::test_the_loss_is_within_epsilon_times_the_distance_and_the_offset",
        ("geo/metrics/lipschitz.py", "self.epsilon * (self.resolution or 0) / self.lipschitz", "0"),
    ),
    bug(
        "the remap takes unlikely places for likely ones",
        "geo/locations/test_remap.py::test_no_cell_has_a_smaller_expected_distance",
        ("geo/locations/remap.py", "believed - rate *", "believed + rate *"),
    ),
    bug(
        "a middling sample is taken for the sensitivity",
        "mechanisms/stable/test_sampled_sensitivity.py::test_the_sensitivity_is_the_sample_of_its_rank",
        ("mechanisms/stable/sampled_sensitivity.py", "distances[self.plan.rank - 1]", "distances[self.plan.rank // 2]"),
    ),
    bug(
        "random differential privacy is added to the other kind",
        "privacy/test_promises.py::test_nothing_of_differential_privacy_takes_them",
        ("privacy/guarantees.py", '-> "Guarantee":\n    as_guarantee(second, "other")\n', '-> "Guarantee":\n'),
    ),
    bug(
        "an account takes a promise under a metric",
        "privacy/test_promises.py::test_nothing_of_differential_privacy_takes_them",
        (
            "ledger/core/prices.py",
            '    if reason := why_refused(charge):\n        raise ParameterError("charge", charge, reason)\n',
            "",
        ),
    ),
)
