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
                "return (shares - self.when_not) / (self.when_held - self.when_not)",
                "return np.maximum((shares - self.when_not) / (self.when_held - self.when_not), 0)",
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
                "max(square - mean**2, 0.0) if are_sampled else",
                "0.0 if are_sampled else",
            ),
        ),
        tests=("tests/local/means/test_mean.py", "tests/local/means/test_attributes.py"),
    ),
)
