"""Seeded bugs of sums of parties: noise, who is counted, the ring, masks, keys and what parties give away."""

from tests.mutations.mutants import Mutant

_FOLDER = "tests/local/parties"
_BRUTE = f"{_FOLDER}/test_party_sum.py::test_no_neighbors_differ_by_more_than_epsilon_whoever_sends_and_colludes"
_PARTIES = "local/parties"

MUTANTS = (
    Mutant(
        name="shares of noise have the shape 1/n where 1/h is needed",
        edits=(("mechanisms/distributed/shares.py", "Fraction(1, parties.needed)", "Fraction(1, parties.parties)"),),
        tests=(_BRUTE, f"{_FOLDER}/test_party.py::test_noise_is_drawn_by_each_party_afresh"),
    ),
    Mutant(
        name="colluders count as honest when shares are counted",
        edits=((f"{_PARTIES}/party_sum.py", "return self.honest + self.max_colluders", "return self.honest"),),
        tests=(_BRUTE,),
    ),
    Mutant(
        name="a sum of too few shares is estimated",
        edits=(
            (
                f"{_PARTIES}/party_sum.py",
                'if not self.least_shares <= whole(shares, "shares") <= self.parties:',
                'if not 1 <= whole(shares, "shares") <= self.parties:',
            ),
        ),
        tests=(f"{_FOLDER}/test_party_sum.py::test_too_few_shares_and_too_many_are_refused",),
    ),
    Mutant(
        name="a trusted adder closes with too few shares",
        edits=((f"{_PARTIES}/trusted_sum.py", "if len(self._senders) < self.protocol.least_shares:", "if False:"),),
        tests=(f"{_FOLDER}/test_trusted_sum.py::test_too_few_parties_get_no_sum_and_more_may_come",),
    ),
    Mutant(
        name="a share that comes late is added to a published sum",
        edits=((f"{_PARTIES}/trusted_sum.py", "self._is_open = False\n", "self._is_open = True\n"),),
        tests=(f"{_FOLDER}/test_trusted_sum.py::test_after_the_sum_is_published_nobody_is_added",),
    ),
    Mutant(
        name="a party may send twice",
        edits=((f"{_PARTIES}/trusted_sum.py", "in self._senders:", "in ():"),),
        tests=(f"{_FOLDER}/test_trusted_sum.py::test_a_party_counts_once",),
    ),
    Mutant(
        name="a party believes the aggregator that enough others take part",
        edits=((f"{_PARTIES}/party.py", "if count < least:", "if count < 1:"),),
        tests=(
            f"{_FOLDER}/test_party.py::test_each_party_refuses_too_few_others_at_each_step_whatever_the_aggregator_says",
        ),
    ),
    Mutant(
        name="a party answers again after a refusal",
        edits=((f"{_PARTIES}/party.py", "        self._taken += 1\n", '        self._taken += name != "reveal"\n'),),
        tests=(f"{_FOLDER}/test_party.py::test_no_second_answer_can_be_had_even_after_a_failure",),
    ),
    Mutant(
        name="a party gives both secrets of a sender away",
        edits=(
            (
                f"{_PARTIES}/party.py",
                "for party, (_, part) in self._held.items() if party not in sent}",
                "for party, (_, part) in self._held.items()}",
            ),
        ),
        tests=(f"{_FOLDER}/test_party.py::test_a_party_gives_one_secret_of_each_away_and_never_both",),
    ),
    Mutant(
        name="all parties have one key for their own masks",
        edits=((f"{_PARTIES}/party.py", "self._own: Final = private_key()", "self._own: Final = bytes(32)"),),
        tests=(f"{_FOLDER}/test_party.py::test_no_two_parties_have_a_secret_in_common",),
    ),
    Mutant(
        name="a party sends its numbers without a mask of its own",
        edits=(
            (
                f"{_PARTIES}/party.py",
                "self.protocol.add(self.protocol.share(value), self._session.mask(self._own))",
                "self.protocol.share(value)",
            ),
        ),
        tests=(
            f"{_FOLDER}/test_secure_sum.py::test_each_pair_adds_and_subtracts_one_mask_and_each_party_adds_its_own",
        ),
    ),
    Mutant(
        name="masks of pairs come from what is public",
        edits=(
            (
                f"{_PARTIES}/keys.py",
                'mask = self.mask(self.agreed(private, other, "mask"))',
                "mask = self.mask(bytes(a ^ b for a, b in zip(public_key(private), other)))",
            ),
        ),
        tests=(f"{_FOLDER}/test_keys.py", f"{_FOLDER}/test_secure_sum.py"),
    ),
    Mutant(
        name="keys of one run serve in all others",
        edits=((f"{_PARTIES}/keys.py", "length=KEY_BYTES, salt=self.name", "length=KEY_BYTES, salt=None"),),
        tests=(f"{_FOLDER}/test_keys.py::test_another_purpose_run_protocol_or_party_has_another_key",),
    ),
    Mutant(
        name="a message of a party serves as one of another",
        edits=((f"{_PARTIES}/party.py", 'f"seal {sender} {receiver}"', '"seal"'),),
        tests=(f"{_FOLDER}/test_keys.py", f"{_FOLDER}/test_party.py::test_a_seal_is_for_one_direction"),
    ),
    Mutant(
        name="masks leave the highest bit of the ring bare",
        edits=((f"{_PARTIES}/keys.py", "np.uint64((1 << bits) - 1)", "np.uint64((1 << bits - 1) - 1)"),),
        tests=(f"{_FOLDER}/test_secure_sum.py::test_what_a_party_sends_is_uniform_in_the_ring",),
    ),
    Mutant(
        name="keys are drawn by a generator that anybody can predict",
        edits=(
            (
                f"{_PARTIES}/keys.py",
                "return entropy.random_bytes(KEY_BYTES)",
                "return np.random.default_rng().bytes(32)",
            ),
        ),
        tests=(f"{_FOLDER}/test_keys.py::test_keys_come_from_the_one_source_of_entropy",),
    ),
    Mutant(
        name="a polynomial of parts has a coefficient too few",
        edits=((f"{_PARTIES}/splitting.py", "in range(threshold - 1))]", "in range(threshold - 2))]"),),
        tests=(f"{_FOLDER}/test_splitting.py",),
    ),
    Mutant(
        name="coefficients of parts are as short as secrets",
        edits=((f"{_PARTIES}/splitting.py", "uniform_one_below(prime)", "uniform_one_below(1 << 256)"),),
        tests=(f"{_FOLDER}/test_splitting.py::test_all_coefficients_but_the_secret_are_drawn_below_the_prime",),
    ),
    Mutant(
        name="the first part is the secret",
        edits=((f"{_PARTIES}/splitting.py", "value_at(part + 1, coefficients", "value_at(part, coefficients"),),
        tests=(f"{_FOLDER}/test_splitting.py",),
    ),
    Mutant(
        name="the ring has no room for the noise",
        edits=((f"{_PARTIES}/party_sum.py", " + self._reach(self.parties)\n", "\n"),),
        tests=(f"{_FOLDER}/test_party_sum.py::test_the_extremes_of_sum_and_noise_come_back_from_the_ring",),
    ),
    Mutant(
        name="a modulus that is too small is taken",
        edits=(
            (
                f"{_PARTIES}/party_sum.py",
                "not bits <= given <= LARGEST_MODULUS_BITS",
                "not 1 <= given <= LARGEST_MODULUS_BITS",
            ),
        ),
        tests=(f"{_FOLDER}/test_party_sum.py::test_a_modulus_that_is_too_small_is_refused_and_a_larger_one_kept",),
    ),
    Mutant(
        name="an interval is for as few shares as are needed, whatever came",
        edits=(
            (
                f"{_PARTIES}/party_sum.py",
                "int(self.noise.accuracy(confidence, shares=shares))",
                "int(self.noise.accuracy(confidence, shares=self.honest))",
            ),
        ),
        tests=(f"{_FOLDER}/test_party_sum.py::test_the_interval_is_that_of_the_shares_that_came",),
    ),
    Mutant(
        name="a party fails if its value is missing",
        edits=((f"{_PARTIES}/party_sum.py", "except (TypeError, ValueError, ArithmeticError):", "except KeyError:"),),
        tests=(f"{_FOLDER}/test_party_sum.py::test_no_value_is_an_error_and_what_is_none_counts_as_any",),
    ),
    Mutant(
        name="values are not clamped to their bounds",
        edits=(
            (
                f"{_PARTIES}/party_sum.py",
                "return min(max(floor(Fraction(held) + Fraction(1, 2)), self.low), self.high)",
                "return floor(Fraction(held) + Fraction(1, 2))",
            ),
        ),
        tests=(f"{_FOLDER}/test_party_sum.py::test_values_are_rounded_and_clamped",),
    ),
    Mutant(
        name="whole parties are promised what one person among them is",
        edits=(
            (
                "mechanisms/distributed/laplace.py",
                "return change * numbers <= self.l1_sensitivity",
                "return change <= self.l1_sensitivity",
            ),
        ),
        tests=(f"{_FOLDER}/test_party_sum.py::test_it_knows_whether_it_protects_all_that_a_party_sends",),
    ),
    Mutant(
        name="a lost party's masks are taken off with the wrong sign",
        edits=((f"{_PARTIES}/secure_sum.py", "is_first=at < lost", "is_first=at > lost"),),
        tests=(f"{_FOLDER}/test_secure_sum.py",),
    ),
    Mutant(
        name="a secure sum takes any number of dropouts",
        edits=(
            (
                f"{_PARTIES}/secure_sum.py",
                "if protocol.parties <= 2 * missing + protocol.max_colluders:",
                "if False:",
            ),
        ),
        tests=(f"{_FOLDER}/test_secure_sum.py::test_two_lists_of_senders_open_no_more_than_one_sum",),
    ),
    Mutant(
        name="shares are taken for a discrete Gaussian of their variance",
        edits=(
            (
                "accounting/gaussian/shares.py",
                "(2 * count * noise**2) + moved * Fraction(spread)",
                "(2 * count * noise**2)",
            ),
        ),
        tests=("tests/accounting/gaussian/test_shares.py",),
    ),
    Mutant(
        name="Gaussian shares are sized for everybody although some may drop out",
        edits=(
            (
                "mechanisms/distributed/gaussian.py",
                "rho=wanted, shares=needed",
                "rho=wanted, shares=parties",
            ),
        ),
        tests=("tests/mechanisms/distributed/test_gaussian.py::test_whoever_sends_makes_noise_enough_for_rho",),
    ),
    Mutant(
        name="messages of a secure sum fit another run",
        edits=(
            (
                f"{_PARTIES}/messages.py",
                "protocol.fingerprint + run.name).hexdigest()",
                "protocol.fingerprint).hexdigest()",
            ),
        ),
        tests=(f"{_FOLDER}/test_messages.py::test_messages_of_another_run_or_protocol_are_refused",),
    ),
    Mutant(
        name="a message of a secure sum passes for any kind",
        edits=(
            (
                f"{_PARTIES}/messages.py",
                '(found["run"], found["kind"]) == (self._run, kind)',
                'found["run"] == self._run',
            ),
        ),
        tests=(f"{_FOLDER}/test_messages.py::test_a_message_of_one_kind_is_none_of_another",),
    ),
    Mutant(
        name="a message may name a party that there is not",
        edits=((f"{_PARTIES}/messages.py", "not 0 <= number < self._protocol.parties", "number < 0"),),
        tests=(f"{_FOLDER}/test_messages.py::test_values_that_no_method_gave_are_refused_and_not_shown",),
    ),
)
