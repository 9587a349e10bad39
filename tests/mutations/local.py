"""Seeded bugs of the local model: on devices, in reports, and where they are counted."""

from tests.mutations.mutants import Mutant

_RATIO = (
    "tests/local/core/test_protocol.py::test_the_largest_ratio_over_all_values_and_payloads_is_the_realized_epsilon"
)

MUTANTS = (
    Mutant(
        name="a local probability is rounded to 8 bits",
        edits=(
            ("local/core/odds.py", "return Fraction(least, 1 << _BITS)", "return Fraction(-(-least >> 56), 1 << 8)"),
        ),
        tests=("tests/local/core/test_odds.py", _RATIO),
    ),
    Mutant(
        name="a local probability is rounded up",
        edits=(("local/core/odds.py", "exponent = epsilon * _SHORTENED", "exponent = epsilon * (2 - _SHORTENED)"),),
        tests=("tests/local/core/test_odds.py", _RATIO),
    ),
    Mutant(
        name="the bit of the true value is never flipped",
        edits=(("local/frequency/unary.py", "held] = bernoulli(p, len(held))", "held] = True"),),
        tests=(_RATIO,),
    ),
    Mutant(
        name="bits of one report share their coin with those of the next",
        edits=(
            (
                "local/frequency/unary.py",
                "bernoulli(q, len(held) * size).reshape(len(held), size)",
                "np.repeat(bernoulli(q, size)[None, :], len(held), axis=0)",
            ),
        ),
        tests=("tests/local/frequency/test_unary.py::test_bits_are_independent_coins_of_their_probabilities",),
    ),
    Mutant(
        name="a device is silent about a value outside of the domain",
        edits=(("local/frequency/oracle.py", "        if len(unknown):\n", "        if False:\n"),),
        tests=("tests/local/core/test_protocol.py::test_no_value_is_an_error_and_what_is_unknown_counts_as_stated",),
    ),
    Mutant(
        name="a masked number counts as what the mask hides",
        edits=(
            (
                "local/core/domain.py",
                "is_plain = isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray)",
                "is_plain = isinstance(values, np.ndarray)",
            ),
        ),
        tests=("tests/local/core/test_domain.py",),
    ),
    Mutant(
        name="numbers have no place between bounds that are too near for floats",
        edits=(("local/means/numbers.py", "        _check_floats(lower, upper, taken)\n", ""),),
        tests=("tests/local/means/test_numbers.py",),
    ),
    Mutant(
        name="fake reports make a collector try all words",
        edits=(("local/sketches/fragments.py", "while prod(map(len, of_hash)) > _MOST_JOINED:", "while False:"),),
        tests=(
            "tests/local/sketches/test_fragments.py::test_fake_reports_of_one_hash_cannot_make_a_collector_try_all_words",
        ),
    ),
    Mutant(
        name="who has no value in a file of one column has no report",
        edits=(
            (
                "local/files.py",
                "is_alone = len(header) == 1 and columns != (REPORT,)",
                "is_alone = False",
            ),
        ),
        tests=("tests/local/test_files.py",),
    ),
    Mutant(
        name="a ticket of a survey is not put back",
        edits=(("local/survey.py", 'if tool.startswith("draw") else ""', 'if tool.startswith("?") else ""'),),
        tests=("tests/local/test_survey.py",),
    ),
    Mutant(
        name="a hostile report alone stops the collector",
        edits=(
            (
                "local/means/attributes.py",
                "payloads.reshape(len(payloads) * self.sampled, self.payload_bytes // self.sampled)",
                "payloads.reshape(len(payloads) * self.sampled, -1)",
            ),
        ),
        tests=(
            "tests/local/core/test_aggregator.py::test_a_hostile_report_is_refused_where_no_good_one_comes_with_it",
        ),
    ),
    Mutant(
        name="reports of another protocol are counted",
        edits=(
            (
                "local/core/reports.py",
                "fits = given.fingerprint == fingerprint and given.payloads.shape[1] == width",
                "fits = given.payloads.shape[1] == width",
            ),
        ),
        tests=("tests/local/core/test_aggregator.py::test_a_batch_of_another_protocol_is_refused_whole",),
    ),
    Mutant(
        name="raw estimates are clipped at 0",
        edits=(
            (
                "local/frequency/estimates.py",
                "return (self.shares - self.when_not) / (self.when_held - self.when_not)",
                "return np.maximum((self.shares - self.when_not) / (self.when_held - self.when_not), 0)",
            ),
        ),
        tests=("tests/local/frequency/test_estimates.py",),
    ),
    Mutant(
        name="a payload that no client makes is counted",
        edits=(
            (
                "local/core/aggregator.py",
                "valid = self.protocol.are_valid(block.payloads)",
                "valid = np.ones(len(block.payloads), dtype=np.bool_)",
            ),
        ),
        tests=("tests/local/core/test_aggregator.py::test_payloads_that_no_client_makes_are_refused",),
    ),
    Mutant(
        name="people of one batch share their hash function",
        edits=(
            (
                "local/frequency/hashing.py",
                "keys = random_keys(len(inputs), self.family.word_bits)",
                "keys = np.repeat(random_keys(1, self.family.word_bits), len(inputs), axis=0)",
            ),
        ),
        tests=("tests/local/frequency/test_hashing.py::test_without_a_pool_half_of_the_people_add_nothing_to_others",),
    ),
    Mutant(
        name="hash functions come from a generator that anybody can predict",
        edits=(
            (
                "local/frequency/hash_family.py",
                "entropy.random_bytes(2 * width * count)",
                "np.random.default_rng().bytes(2 * width * count)",
            ),
        ),
        tests=("tests/local/frequency/test_hash_family.py",),
    ),
    Mutant(
        name="the row of a Hadamard matrix depends on the value",
        edits=(
            (
                "local/frequency/hadamard.py",
                "rows = uniform_below(self.rows, len(inputs))",
                "rows = uniform_below(self.rows, len(inputs)) | (inputs & 1)",
            ),
        ),
        tests=(_RATIO,),
    ),
    Mutant(
        name="a set that lacks the truth may gain it again",
        edits=(
            (
                "local/frequency/subset.py",
                "place = number + (number >= held[wrong])  # skips the truth",
                "place = number",
            ),
        ),
        tests=("tests/local/frequency/test_subset.py",),
    ),
    Mutant(
        name="tails are rounded away from each other",
        edits=(
            (
                "local/frequency/thresholded.py",
                "Fraction(floor(held * _GRID), _GRID), Fraction(ceil(other * _GRID), _GRID)",
                "Fraction(ceil(held * 16), 16), Fraction(floor(other * 16), 16)",
            ),
        ),
        tests=("tests/local/frequency/test_thresholded.py",),
    ),
    Mutant(
        name="a pool of hash functions is taken for fresh ones",
        edits=(
            (
                "local/frequency/hashing.py",
                "return min(squares, 1.0) / ((self._pooled.family.cells - 1) * self._pooled.pool)",
                "return 0.0 * squares",
            ),
        ),
        tests=("tests/local/frequency/test_hashing.py",),
    ),
    Mutant(
        name="the window does not move with the number at its end",
        edits=(
            (
                "local/means/windows.py",
                "outputs[missed] = rest + np.where(rest >= places[missed], self.width, 0)",
                "outputs[missed] = rest + np.where(rest > places[missed], self.width, 0)",
            ),
        ),
        tests=("tests/local/means/test_windows.py",),
    ),
    Mutant(
        name="each of several numbers gets the whole epsilon",
        edits=(
            (
                "local/means/attributes.py",
                "return HybridMean(low, high, epsilon=self.epsilon / self.sampled, steps=self.steps)",
                "return HybridMean(low, high, epsilon=self.epsilon, steps=self.steps)",
            ),
        ),
        tests=("tests/local/core/test_protocol.py", "tests/local/means/test_attributes.py"),
    ),
    Mutant(
        name="which mechanism a mixture takes depends on the number",
        edits=(
            (
                "local/means/mean.py",
                "is_window = bernoulli(self._windowed, len(places))",
                "is_window = bernoulli(self._windowed, len(places)) & (places > 0)",
            ),
        ),
        tests=(_RATIO,),
    ),
    Mutant(
        name="an interval of a mean forgets who was drawn",
        edits=(
            (
                "local/means/mean.py",
                "max(square - mean**2, noise) if are_sampled else noise",
                "noise",
            ),
        ),
        tests=("tests/local/means/test_mean.py", "tests/local/means/test_attributes.py"),
    ),
    Mutant(
        name="an interval forgets that a random part of the people was asked",
        edits=(
            (
                "local/frequency/estimates.py",
                "spread / (asked * (p - q) ** 2) + drawn",
                "spread / (asked * (p - q) ** 2) + 0 * drawn",
            ),
        ),
        tests=("tests/local/frequency/test_estimates.py",),
    ),
    Mutant(
        name="what shared hashes make up is kept as significant",
        edits=(
            (
                "local/frequency/estimates.py",
                "errors_at_0=_kept(np.sqrt(self.variances(np.zeros(len(fractions))) + extra_variance))",
                "errors_at_0=_kept(np.sqrt(self.variances(np.zeros(len(fractions)))))",
            ),
        ),
        tests=("tests/local/frequency/test_estimates.py",),
    ),
    Mutant(
        name="the share of uniform bits of a permanent response is rounded to 7 bits",
        edits=(
            (
                "local/rappor/permanent.py",
                "is_seven = (f * SEVEN_BITS).denominator == 1",
                "is_seven = True",
            ),
        ),
        tests=("tests/local/rappor/test_permanent.py::test_any_other_f_is_compared_with_63_bits",),
    ),
    Mutant(
        name="permanent responses are remembered without the value that they are of",
        edits=(
            (
                "local/rappor/permanent.py",
                "message = bloom.to_bytes(4 if bits <= SHORT else -(-bits // 8))",
                "message = bytes(4 if bits <= SHORT else -(-bits // 8))",
            ),
        ),
        tests=("tests/local/rappor/test_permanent.py",),
    ),
    Mutant(
        name="metrics of one device share their permanent responses",
        edits=(
            (
                "local/rappor/device.py",
                "bits=held.bits, f=held.f, metric=held.metric",
                'bits=held.bits, f=held.f, metric=""',
            ),
        ),
        tests=("tests/local/rappor/test_device.py::test_metrics_with_different_names_respond_independently",),
    ),
    Mutant(
        name="the cohort of a device depends on its value",
        edits=(
            (
                "local/rappor/device.py",
                "self._protocol.payloads_of(np.array([self.cohort]), bits[None, :])",
                "self._protocol.payloads_of(np.array([len(str(value)) % self._protocol.cohorts]), bits[None, :])",
            ),
        ),
        tests=("tests/local/rappor/test_device.py::test_a_cohort_has_nothing_to_do_with_what_is_held",),
    ),
    Mutant(
        name="a device sends its permanent response",
        edits=(
            (
                "local/rappor/device.py",
                "bits = self._protocol.instantaneous(self.permanent(value))",
                "bits = self.permanent(value)",
            ),
        ),
        tests=(
            "tests/local/rappor/test_device.py::test_a_report_is_its_permanent_response_seen_through_fresh_coins",
            "tests/local/rappor/test_protocol.py::test_the_bytes_are_the_cohort_and_the_bits_of_the_cpp_client",
        ),
    ),
    Mutant(
        name="a device forgets its permanent responses",
        edits=(
            (
                "local/rappor/device.py",
                "return permanent_response(self.secret, set_bits",
                "return permanent_response(random_bytes(32), set_bits",
            ),
        ),
        tests=("tests/local/rappor/test_device.py::test_the_same_secret_is_the_same_device",),
    ),
    Mutant(
        name="the lifetime of a text counts the bits of one text, not of two",
        edits=(
            (
                "local/rappor/permanent.py",
                "return event_of((mine[a] * others[b], others[a] * mine[b]) for a, b in pairs)",
                "return event_of((mine[a], others[a]) for a in range(each + 1))",
            ),
        ),
        tests=("tests/local/rappor/test_protocol.py::test_the_published_epsilons",),
    ),
    Mutant(
        name="texts are detected without regard to how many were tried",
        edits=(
            ("local/rappor/estimates.py", "is_detected=p_values < level / len(texts)", "is_detected=p_values < level"),
        ),
        tests=("tests/local/rappor/test_estimates.py::test_frequent_texts_are_found_and_hardly_ever_others",),
    ),
    Mutant(
        name="the row of a sketch depends on the value",
        edits=(
            (
                "local/sketches/count_mean.py",
                "drawn = uniform_below(self.hashes, len(inputs))",
                "drawn = inputs % self.hashes",
            ),
        ),
        tests=("tests/local/sketches/test_count_mean.py::test_the_largest_ratio_is_the_realized_epsilon",),
    ),
    Mutant(
        name="the sign of a sketch is never flipped",
        edits=(
            (
                "local/sketches/hadamard_sketch.py",
                "signs = odd_ones(places & held) ^ bernoulli(1 - kept, len(inputs))",
                "signs = odd_ones(places & held)",
            ),
        ),
        tests=("tests/local/sketches/test_count_mean.py::test_the_largest_ratio_is_the_realized_epsilon",),
    ),
    Mutant(
        name="hash functions of a sketch are independent in pairs only",
        edits=(
            (
                "local/sketches/polynomials.py",
                "_modular(_modular(held[rows, 0], points) + held[rows, 1], points)",
                "_modular(held[rows, 1], points)",
            ),
        ),
        tests=("tests/local/sketches/test_polynomials.py::test_columns_are_those_of_python_s_own_numbers",),
    ),
    Mutant(
        name="intervals of a sketch forget the columns that values share",
        edits=(
            (
                "local/sketches/count_mean.py",
                "return shared / (self._sketch.hashes * (self._sketch.width - 1))",
                "return 0.0 * shared",
            ),
        ),
        tests=("tests/local/sketches/test_count_mean.py::test_what_is_shared_widens_the_intervals",),
    ),
    Mutant(
        name="both halves of a puzzle get the whole epsilon",
        edits=(("local/sketches/fragments.py", "epsilon=self.epsilon / 2", "epsilon=self.epsilon"),),
        tests=("tests/local/sketches/test_fragments.py",),
    ),
    Mutant(
        name="a device spends more than its lifetime",
        edits=(
            (
                "local/devices/budget.py",
                "is_fresh = today + cost <= self.per_day and spent + today + cost <= self.lifetime",
                "is_fresh = today + cost <= self.per_day",
            ),
        ),
        tests=("tests/local/devices/test_budget.py",),
    ),
    Mutant(
        name="a device gets a new day when its clock goes back",
        edits=(
            (
                "local/devices/budget.py",
                "self._day is None or day > self._day",
                "self._day is None or day != self._day",
            ),
        ),
        tests=("tests/local/devices/test_budget.py::test_asking_again_gives_the_same_reports_and_costs_nothing",),
    ),
    Mutant(
        name="a device is charged only for days with values",
        edits=(
            (
                "local/devices/budget.py",
                "for name, is_fresh in schedule if is_fresh)",
                "for name, is_fresh in schedule if is_fresh and values.get(name))",
            ),
        ),
        tests=("tests/local/devices/test_budget.py::test_what_is_charged_does_not_depend_on_values",),
    ),
    Mutant(
        name="reports leave a device before its ledger is written",
        edits=(
            (
                "local/devices/budget.py",
                "with draft_of(self._path, json.dumps(document).encode()) as draft:",
                "with draft_of(self._path, json.dumps(document).encode(), is_synced=False) as draft:",
            ),
        ),
        tests=(
            "tests/local/devices/test_budget.py::test_nothing_is_returned_if_the_ledger_cannot_be_written",
            "tests/local/devices/test_budget.py::test_the_name_of_the_file_is_on_the_disk_before_reports_are_returned",
        ),
    ),
    Mutant(
        name="a program that is started twice spends one day of a device twice",
        edits=(
            (
                "local/devices/budget.py",
                "            self._read()\n            if self._day",
                "            if self._day",
            ),
        ),
        tests=("tests/local/devices/test_budget.py::test_processes_with_one_ledger_send_one_set_of_reports",),
    ),
    Mutant(
        name="a client with a memory counts as one without",
        edits=(("local/devices/budget.py", "if self._clients[name].has_memory:", "if False:"),),
        tests=(
            "tests/local/devices/test_budget.py::test_a_client_with_a_memory_is_refused_and_one_without_can_have_a_ledger",
        ),
    ),
    Mutant(
        name="the group of a person follows from the text",
        edits=(
            (
                "local/hitters/prefixes.py",
                "groups = uniform_below(len(lengths), len(inputs))",
                "groups = (inputs % np.uint64(len(lengths))).astype(np.int64)",
            ),
        ),
        tests=("tests/local/hitters/test_prefixes.py",),
    ),
    Mutant(
        name="people hide in a crowd that counts themselves",
        edits=(
            (
                "local/shuffle/crowds.py",
                "ratio=float(ratio) * (1 + _ERROR), others=reports - 1,",
                "ratio=float(ratio) * (1 + _ERROR), others=reports,",
            ),
        ),
        tests=("tests/local/shuffle/test_crowds.py",),
    ),
    Mutant(
        name="losses of a crowd are rounded down",
        edits=(
            (
                "local/shuffle/crowds.py",
                "for loss, weight in zip(grid[:-1], weights[:-1], strict=True):",
                "for loss, weight in zip([0, *grid[:-2]], weights[:-1], strict=True):",
            ),
        ),
        tests=("tests/local/shuffle/test_crowds.py",),
    ),
    Mutant(
        name="people at other values are replaced by their mean",
        edits=(
            (
                "local/shuffle/crowds.py",
                "for low, high in _steps(len(masses), _COLUMNS):",
                "for low, high in [(int(masses @ np.arange(len(masses))), len(masses))]:",
            ),
            ("local/shuffle/crowds.py", "float(masses[low:high].sum()) * upto", "float(masses.sum()) * upto"),
        ),
        tests=("tests/local/shuffle/test_crowds.py",),
    ),
    Mutant(
        name="a shuffler hands on reports in the order in which they came",
        edits=(("local/shuffle/shuffler.py", "payloads[order]", "payloads"),),
        tests=("tests/local/shuffle/test_shuffler.py",),
    ),
    Mutant(
        name="a shuffler gives out what it has before enough came",
        edits=(("local/shuffle/shuffler.py", "if len(self) < self.least:", "if not len(self):"),),
        tests=("tests/local/shuffle/test_shuffler.py",),
    ),
    Mutant(
        name="fake reports count as a crowd",
        edits=(
            (
                "local/shuffle/shuffler.py",
                "dominating_event(crowd_of(self.protocol, reports=self.honest))",
                "dominating_event(crowd_of(self.protocol, reports=len(self)))",
            ),
        ),
        tests=("tests/local/shuffle/test_shuffler.py",),
    ),
    Mutant(
        name="a device remembers one response for all of its values",
        edits=(
            (
                "local/longitudinal/memory.py",
                "(key,) = held.remembered(np.array([self._index(opened(value))]), device).tolist()",
                "key = 0 * self._index(opened(value))",
            ),
        ),
        tests=("tests/local/longitudinal/test_memory.py",),
    ),
    Mutant(
        name="a device draws its response to a value anew for each report",
        edits=(("local/longitudinal/memory.py", "if key not in self._responses:", "if True:"),),
        tests=("tests/local/longitudinal/test_memory.py",),
    ),
    Mutant(
        name="a report is the permanent response itself",
        edits=(
            (
                "local/longitudinal/direct.py",
                "KaryRandomizedResponse(categories=self.choices, probability=self.repeated)",
                "KaryRandomizedResponse(categories=self.choices, probability=Fraction(1))",
            ),
        ),
        tests=("tests/local/longitudinal/test_direct.py",),
    ),
    Mutant(
        name="a device draws a hash function for each report",
        edits=(
            (
                "local/longitudinal/memory.py",
                "device = self._device[None, :]",
                "device = held.devices(1)",
            ),
        ),
        tests=("tests/local/longitudinal/test_direct.py::test_the_function_of_a_device_is_one_for_all_its_reports",),
    ),
    Mutant(
        name="the length of a reported prefix follows from the text",
        edits=(
            (
                "local/hitters/tree.py",
                "drawn = uniform_below(max(1, 2 * (self.levels - 1)), len(inputs))",
                "drawn = inputs % max(1, 2 * (self.levels - 1))",
            ),
        ),
        tests=("tests/local/hitters/test_tree.py",),
    ),
    Mutant(
        name="the bit of a sampled bucket is never flipped",
        edits=(
            (
                "local/longitudinal/buckets.py",
                "bits[known, remembered[known]] = bernoulli(held, len(known))",
                "bits[known, remembered[known]] = True",
            ),
        ),
        tests=("tests/local/longitudinal/test_buckets.py",),
    ),
    Mutant(
        name="flips of reports are drawn once for all devices",
        edits=(
            (
                "local/longitudinal/buckets.py",
                "bernoulli(self.flipped, count * self.sampled).reshape(count, self.sampled)",
                "np.repeat(bernoulli(self.flipped, self.sampled)[None, :], count, axis=0)",
            ),
        ),
        tests=("tests/local/longitudinal/test_buckets.py",),
    ),
    Mutant(
        name="a response that is flipped later costs as little as a report",
        edits=(
            (
                "local/longitudinal/buckets.py",
                "return self._event(*self.permanent_probabilities)",
                "return self._event(*self.support_probabilities)",
            ),
        ),
        tests=("tests/local/longitudinal/test_buckets.py",),
    ),
    Mutant(
        name="a device rounds a number anew for each report",
        edits=(
            (
                "local/longitudinal/mean.py",
                "ends: Places = (indexes + devices[:, 0]) //",
                "ends: Places = (indexes + self.devices(len(indexes))[:, 0]) //",
            ),
        ),
        tests=("tests/local/longitudinal/test_mean.py",),
    ),
    Mutant(
        name="numbers are rounded to the nearest end",
        edits=(
            (
                "local/longitudinal/mean.py",
                "return uniform_below(self.steps // self.segments, count)[:, None]",
                "return np.full((count, 1), self.steps // self.segments // 2)",
            ),
        ),
        tests=("tests/local/longitudinal/test_mean.py",),
    ),
    Mutant(
        name="intervals of pairs forget that fractions add up to 1",
        edits=(
            (
                "local/rappor/association.py",
                "basis = np.linalg.qr(np.column_stack((np.ones(len(free)), np.eye(len(free))[:, 1:])))[0][:, 1:]",
                "basis = np.eye(len(free))",
            ),
        ),
        tests=("tests/local/rappor/test_association.py",),
    ),
    Mutant(
        name="numbers of a crowd count as the largest of their step",
        edits=(
            (
                "local/shuffle/crowds.py",
                "total = (start + low + more + least)",
                "total = (start + high + more + least)",
            ),
        ),
        tests=("tests/local/shuffle/test_crowds.py",),
    ),
)
