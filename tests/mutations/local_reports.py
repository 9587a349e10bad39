"""Seeded bugs of devices, parties and shufflers: what reports reveal, what is remembered, and what a budget allows."""

from tests.mutations.mutants import Mutant

_RATIO = "core/test_protocol.py::test_the_largest_ratio_over_all_values_and_payloads_is_the_realized_epsilon"
_SKETCH = "sketches/test_count_mean.py::test_the_largest_ratio_is_the_realized_epsilon"
_LIFETIME = (
    "longitudinal/test_memory.py::"
    "test_all_reports_of_one_value_reveal_more_than_one_and_no_more_than_the_permanent_response"
)


def bug(name, test, *edits):
    """A bug in files of the local model, and the test that notices it."""
    placed = tuple((f"local/{file}", old, new) for file, old, new in edits)
    return Mutant(name=name, edits=placed, tests=(f"tests/local/{test}",))


MUTANTS = (
    bug(
        "the epsilon of outcomes looks at one direction of each ratio",
        "core/test_odds.py::test_outcomes_of_one_ratio_are_one",
        ("core/odds.py", "max(max(p / q, q / p) for", "max(p / q for"),
    ),
    bug(
        "a fingerprint covers the kind of a protocol alone",
        "core/test_protocol.py::test_fingerprints_are_those_of_earlier_versions_and_differ",
        ("core/protocol.py", "json.dumps(self.to_json(), sort_keys", "json.dumps(self.kind, sort_keys"),
    ),
    bug(
        "stored probabilities are rounded to floats",
        "core/test_protocol.py::test_the_stored_form_is_the_protocol",
        ("core/protocol.py", "return str(value)", "return str(float(value))"),
    ),
    bug(
        "an unknown value is always the first one",
        "core/test_protocol.py::test_an_unknown_value_gives_the_average_of_all_values",
        (
            "frequency/oracle.py",
            "indexes[unknown] = uniform_below(len(self.domain), len(unknown))",
            "indexes[unknown] = 0",
        ),
    ),
    bug(
        "the truth is kept as often as it should be told",
        _RATIO,
        ("frequency/direct.py", "probability=told - other", "probability=told"),
    ),
    bug(
        "each bit of a symmetric encoding gets the whole epsilon",
        _RATIO,
        ("frequency/unary.py", "root = odds(self.epsilon / 2)", "root = odds(self.epsilon)"),
    ),
    bug(
        "a set holds the truth more often than its epsilon allows",
        _RATIO,
        (
            "frequency/subset.py",
            "weight / (weight + len(self.domain) - self.size)",
            "weight / (weight + len(self.domain) - 2 * self.size)",
        ),
    ),
    bug(
        "the noise of a histogram has half of its scale",
        _RATIO,
        ("frequency/thresholded.py", "ratio = 1 / odds(epsilon / (2 * STEPS))", "ratio = 1 / odds(epsilon / STEPS)"),
    ),
    bug(
        "a pool is priced as if its functions were fresh",
        "core/test_protocol.py::test_a_public_pool_reveals_no_more_than_its_event",
        ("frequency/hashing.py", "return Fraction(1)\n", "return 1 - self.family.collision_probability\n"),
    ),
    bug(
        "a long domain has short hash functions",
        "frequency/test_hashing.py::test_the_probabilities_are_those_of_the_formula_to_a_billionth_of_a_cell",
        ("frequency/hashing.py", "_SHORT_DOMAIN: Final = 1 << 16", "_SHORT_DOMAIN: Final = 1 << 32"),
    ),
    bug(
        "a sign of a Hadamard row is flipped half as often",
        _RATIO,
        ("frequency/hadamard.py", "bernoulli(1 - kept, len(inputs))", "bernoulli((1 - kept) / 2, len(inputs))"),
    ),
    bug(
        "a window is hit with the wrong probability",
        "means/test_windows.py::test_draws_have_the_stated_probabilities",
        ("means/windows.py", "is_in = bernoulli(self.width * self.inside,", "is_in = bernoulli(self.excess,"),
    ),
    bug(
        "two ends of a scale are taken to differ in one output",
        "means/test_windows.py::test_no_two_places_are_further_apart_than_the_ends",
        ("means/windows.py", "apart = min(self.width, self.steps)", "apart = 1"),
    ),
    bug(
        "numbers beyond the bounds are not moved to them",
        "means/test_numbers.py::test_every_value_has_its_place",
        ("means/numbers.py", "(np.clip(numbers, float(low), float(high)) - float(low))", "(numbers - float(low))"),
        ("means/numbers.py", "np.clip(np.floor(scaled + 0.5), 0, steps)", "np.floor(scaled + 0.5)"),
    ),
    bug(
        "what is no number counts as the lower bound",
        "means/test_numbers.py::test_every_value_has_its_place",
        (
            "means/numbers.py",
            "        places[unknown] = uniform_below(steps + 1, len(unknown))\n",
            "        places[unknown] = 0\n",
        ),
    ),
    bug(
        "a number is rounded to a bound with a bias",
        "means/test_mean.py::test_outputs_have_the_stated_probabilities_the_true_mean_and_the_stated_squares",
        (
            "means/mean.py",
            "bounds = uniform_below(self.steps, len(places)) < places",
            "bounds = uniform_below(self.steps, len(places)) <= places",
        ),
    ),
    bug(
        "one attribute may be drawn twice",
        "means/test_attributes.py::test_all_sets_are_alike",
        ("means/attributes.py", "np.where(is_taken, last, drawn)", "drawn"),
    ),
    bug(
        "several numbers are charged as one",
        _RATIO,
        (
            "means/attributes.py",
            "return self.of(0).realized_epsilon * self.sampled",
            "return self.of(0).realized_epsilon",
        ),
    ),
    bug(
        "a device spends more than its day",
        "devices/test_budget.py::test_protocols_take_turns_until_the_day_is_spent",
        ("devices/budget.py", "today + cost <= self.per_day and spent", "spent"),
    ),
    bug(
        "a device is silent when nothing is left",
        "devices/test_budget.py::test_as_many_reports_are_sent_every_day_whatever_is_held",
        (
            "devices/budget.py",
            "sent[name].append(self._fresh(name, held[name]) if is_fresh else self._beyond(name, at, sent[name]))",
            "sent[name] += [self._fresh(name, held[name])] if is_fresh else []",
        ),
    ),
    bug(
        "reports beyond the budget are about values",
        "devices/test_budget.py::test_what_is_beyond_the_budget_has_one_distribution_whatever_is_held",
        ("devices/budget.py", "else self._beyond(name, at, sent[name]))", "else self._fresh(name, held[name]))"),
    ),
    bug(
        "a device that starts again has spent nothing",
        "devices/test_budget.py::test_asking_again_gives_the_same_reports_and_costs_nothing",
        (
            "devices/budget.py",
            "self._day, self._spent, self._last = day, spent, reports",
            "self._day, self._spent, self._last = day, Fraction(0), reports",
        ),
    ),
    bug(
        "the ledger of another budget is taken",
        "devices/test_budget.py::test_a_ledger_that_is_damaged_or_of_something_else_is_refused",
        ("devices/budget.py", "!= self._header():", "== {}:"),
    ),
    bug(
        "a report may cost more than one use",
        "devices/test_budget.py::test_wrong_clients_days_and_values_are_refused",
        ("devices/budget.py", "if cost > budget.per_use:", "if False:"),
    ),
    bug(
        "a device reports the first value of a day",
        "devices/test_budget.py::test_values_of_a_day_are_drawn_uniformly",
        ("devices/budget.py", "held[int(uniform_below(len(held), 1)[0])]", "held[0]"),
    ),
    bug(
        "cohorts share their Bloom bits",
        "rappor/test_permanent.py::test_bloom_bits_are_the_published_ones",
        ("rappor/permanent.py", "md5(cohort.to_bytes(4) +", "md5(bytes(4) +"),
    ),
    bug(
        "permanent responses of all devices are alike",
        "rappor/test_device.py::test_permanent_responses_have_their_distribution_over_devices",
        (
            "rappor/permanent.py",
            "hmac.digest(secret, named, _DIGEST)[:bits]",
            'hmac.digest(b"", named, _DIGEST)[:bits]',
        ),
    ),
    bug(
        "a bit of a permanent response is uniform once too often",
        "rappor/test_permanent.py::test_permanent_responses_are_those_of_the_other_clients",
        ("rappor/permanent.py", "< drawn.dtype.type(int(threshold))", "<= drawn.dtype.type(int(threshold))"),
    ),
    bug(
        "the share of uniform bits is rounded down",
        "rappor/test_permanent.py::test_a_threshold_is_exact_or_rounded_up",
        (
            "rappor/permanent.py",
            "Fraction(ceil(wanted * (1 << FINE_BITS)), 1 << FINE_BITS)",
            "Fraction(int(wanted * (1 << FINE_BITS)), 1 << FINE_BITS)",
        ),
    ),
    bug(
        "bits of one instantaneous response share their coin",
        "rappor/test_device.py::test_a_report_is_its_permanent_response_seen_through_fresh_coins",
        (
            "rappor/device.py",
            "bernoulli(self.p, len(permanent)), bernoulli(self.q, len(permanent))",
            "bernoulli(self.p, 1), bernoulli(self.q, 1)",
        ),
    ),
    bug(
        "a device draws its cohort for each report",
        "rappor/test_device.py::test_a_cohort_has_nothing_to_do_with_what_is_held",
        (
            "rappor/device.py",
            "np.array([self.cohort]), bits[None, :]",
            "np.array([cohort_of(random_bytes(32), cohorts=self._protocol.cohorts, bits=64)]), bits[None, :]",
        ),
    ),
    bug(
        "short secrets are taken",
        "rappor/test_device.py::test_wrong_secrets_and_cohorts_are_refused",
        ("rappor/device.py", "if len(self.secret) < _SHORTEST_SECRET:", "if False:"),
    ),
    bug(
        "an unknown value of basic RAPPOR is always the first one",
        "rappor/test_device.py::test_an_unknown_drink_is_the_same_for_as_long_as_the_secret",
        (
            "rappor/basic.py",
            "return int.from_bytes(hmac_drbg(secret + _UNKNOWN + self.metric.encode(), _WIDTH)) % len(self.domain)",
            "return 0",
        ),
    ),
    bug(
        "first reports always have the bits of their text",
        "rappor/test_protocol.py::test_the_largest_ratio_of_one_report_is_at_most_the_realized_one_and_reached_where_no_bit_is_shared",
        ("rappor/protocol.py", "bits[at] = bernoulli(high, len(at))", "bits[at] = True"),
    ),
    bug(
        "a lifetime of RAPPOR costs what one report costs",
        "rappor/test_protocol.py::test_the_published_epsilons",
        ("rappor/device.py", "return epsilon_of(self.lifetime_event)", "return self.realized_epsilon"),
    ),
    bug(
        "the bit of a sketch is never flipped",
        _SKETCH,
        (
            "sketches/count_mean.py",
            "bits[np.arange(len(at)), at] = bernoulli(held, len(at))",
            "bits[np.arange(len(at)), at] = True",
        ),
    ),
    bug(
        "each bit of a sketch gets the whole epsilon",
        _SKETCH,
        ("sketches/count_mean.py", "root = odds(self.epsilon / 2)", "root = odds(self.epsilon)"),
    ),
    bug(
        "the position of a fragment follows from the word",
        "sketches/test_fragments.py::test_the_largest_ratio_is_at_most_the_realized_epsilon_and_reached",
        (
            "sketches/fragments.py",
            "drawn = uniform_below(self.positions, len(inputs))",
            "drawn = inputs[:, 0] % self.positions",
        ),
    ),
    bug(
        "a puzzle charges one of its sketches",
        "sketches/test_fragments.py::test_the_largest_ratio_is_at_most_the_realized_epsilon_and_reached",
        ("sketches/fragments.py", "return 2 * self.sketch.realized_epsilon", "return self.sketch.realized_epsilon"),
    ),
    bug(
        "a text that is too long is always the first one",
        "hitters/test_prefixes.py::test_texts_become_numbers_and_come_back",
        (
            "hitters/prefixes.py",
            "words[unknown] = uniform_below(1 << _BYTE * self.length, len(unknown))",
            "words[unknown] = 0",
        ),
    ),
    bug(
        "a text that is too long for a tree is always the first one",
        "hitters/test_tree.py::test_texts_become_numbers_and_come_back",
        ("hitters/tree.py", "words[unknown] = uniform_below(1 << self.levels, len(unknown))", "words[unknown] = 0"),
    ),
    bug(
        "a report may cost as much as a lifetime",
        "longitudinal/test_memory.py::test_parameters_out_of_range_are_refused",
        ("longitudinal/memory.py", "if self.epsilon >= self.permanent_epsilon:", "if False:"),
    ),
    bug(
        "an unknown value is drawn anew for each report",
        "longitudinal/test_memory.py::test_an_unknown_value_is_drawn_once",
        ("longitudinal/memory.py", "if self._unknown is None:", "if True:"),
    ),
    bug(
        "a device counts one response however many it drew",
        "longitudinal/test_memory.py::test_what_is_spent_is_the_number_of_responses",
        (
            "longitudinal/memory.py",
            "return self.responses * self._protocol.lifetime_epsilon",
            "return min(1, self.responses) * self._protocol.lifetime_epsilon",
        ),
    ),
    bug(
        "the memory of another protocol is taken",
        "longitudinal/test_memory.py::test_a_memory_of_something_else_is_refused",
        ("longitudinal/memory.py", ' or known.get("protocol", self._named) != self._named:', ":"),
    ),
    bug(
        "the lifetime of a response costs what one report costs",
        _LIFETIME,
        ("longitudinal/memory.py", "return epsilon_of(self.permanent_event)", "return epsilon_of(self.event)"),
    ),
    bug(
        "a permanent response always has the bit of its value",
        _LIFETIME,
        (
            "longitudinal/unary.py",
            "bits[np.arange(len(remembered)), remembered] = bernoulli(held, len(remembered))",
            "bits[np.arange(len(remembered)), remembered] = True",
        ),
    ),
    bug(
        "bits of a report are flipped too rarely",
        "longitudinal/test_unary.py::test_two_steps_make_the_probabilities_of_one",
        ("longitudinal/unary.py", "return (reported - other) / (1 - 2 * other)", "return reported - other"),
    ),
    bug(
        "a permanent response is true more often than its epsilon allows",
        _LIFETIME,
        (
            "longitudinal/direct.py",
            "ratio = odds(self.permanent_epsilon)\n        gap",
            "ratio = odds(2 * self.permanent_epsilon)\n        gap",
        ),
    ),
    bug(
        "a device may sample a bucket twice",
        "longitudinal/test_buckets.py::test_samples_are_uniform_sets",
        ("longitudinal/buckets.py", "                drawn += drawn >= before[:, column]\n", "                pass\n"),
    ),
    bug(
        "a bucket is right more often than its epsilon allows",
        "longitudinal/test_buckets.py::test_the_largest_ratio_is_the_realized_epsilon_however_many_reports_there_are",
        (
            "longitudinal/buckets.py",
            "ratio = odds(self.epsilon / min(self.sampled, _DIFFERING))",
            "ratio = odds(self.epsilon)",
        ),
    ),
    bug(
        "losses that are left out of a sum count as hidden",
        "shuffle/test_crowds.py::test_the_event_of_clones_dominates_the_pair_of_the_theorem_and_is_near_to_it",
        (
            "shuffle/crowds.py",
            "_add(remaining, crowd.epsilon, held, other)",
            "_add(remaining, Fraction(0), held, other)",
        ),
    ),
    bug(
        "the closed form is stated where it does not hold",
        "shuffle/test_clones.py::test_the_published_values_of_the_closed_form",
        ("shuffle/clones.py", "    if alone > log(people / (16 * (log(2) - log(wanted)))):\n        return inf\n", ""),
    ),
    bug(
        "a paper with many answers is charged as one with two",
        "test_survey.py::test_the_throws_of_the_form_have_the_probabilities_of_the_event",
        (
            "survey.py",
            "RandomizedResponseEvent(self.truth, len(self.answers))",
            "RandomizedResponseEvent(self.truth, 2)",
        ),
    ),
    bug(
        "an array of a party is not clamped",
        "parties/test_party_sum.py::test_arrays_are_clamped_as_single_values_are",
        ("parties/party_sum.py", "np.clip(given.astype(np.int64), self.low, self.high)", "given.astype(np.int64)"),
    ),
    bug(
        "what is no number of a party counts as the lower bound",
        "parties/test_party_sum.py::test_no_value_is_an_error_and_what_is_none_counts_as_any",
        (
            "parties/party_sum.py",
            "return self.low + uniform_one_below(self.high - self.low + 1)",
            "return self.low",
        ),
    ),
    bug(
        "parts that do not belong together give a secret",
        "parties/test_splitting.py::test_a_part_that_was_changed_is_noticed",
        ("parties/splitting.py", "if not fits or secret", "if secret"),
    ),
    bug(
        "a key that nobody showed takes masks off",
        "parties/test_secure_sum.py::test_a_key_that_is_not_the_one_that_was_shown_is_noticed",
        ("parties/secure_sum.py", "if public_key(private) != self._keys[lost].masking:", "if False:"),
    ),
    bug(
        "a shuffler takes reports that repeat responses",
        "shuffle/test_shuffler.py::test_protocols_that_repeat_responses_are_refused",
        ("shuffle/shuffler.py", 'if hasattr(protocol, "lifetime_epsilon"):', "if False:"),
    ),
    bug(
        "a shuffler gives reports out twice",
        "shuffle/test_shuffler.py::test_nothing_is_given_out_before_enough_came_and_nothing_twice",
        ("shuffle/shuffler.py", "        self._kept = []\n        order", "        order"),
    ),
    bug(
        "damaged reports of a shuffler are taken",
        "shuffle/test_shuffler.py::test_a_whole_is_read_as_it_was_written_and_what_is_damaged_is_refused",
        ("shuffle/shuffler.py", " or sha256(state).digest() != digest:", ":"),
    ),
)
