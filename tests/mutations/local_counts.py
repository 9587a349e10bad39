"""Seeded bugs of collectors in the local model: which reports are counted, and what the counts say of the people."""

from tests.mutations.local_reports import bug

MUTANTS = (
    bug(
        "a report has several texts",
        "core/test_reports.py::test_a_text_has_one_form",
        ("core/reports.py", "return data if b64encode(data).decode() == text else None", "return data"),
    ),
    bug(
        "single reports of another protocol are counted",
        "core/test_aggregator.py::test_what_is_no_report_is_refused_alone",
        ("core/reports.py", "data is not None and data.startswith(header)}", "data is not None}"),
    ),
    bug(
        "counts of two protocols are merged",
        "core/test_aggregator.py::test_counts_of_another_protocol_are_refused",
        (
            "core/aggregator.py",
            "type(other) is not type(self) or other.header() != self.header()",
            "type(other) is not type(self)",
        ),
    ),
    bug(
        "a merge forgets how many reports there were",
        "core/test_aggregator.py::test_merged_parts_are_the_whole",
        ("core/aggregator.py", "        self._reports += len(other)\n", ""),
    ),
    bug(
        "a snapshot loses how many reports there were",
        "core/test_aggregator.py::test_a_snapshot_restores_the_state",
        (
            "core/aggregator.py",
            "self._reports = int.from_bytes(state[len(header) : len(header) + 8])",
            "self._reports = 0",
        ),
    ),
    bug(
        "a damaged snapshot is restored",
        "core/test_aggregator.py::test_a_damaged_snapshot_is_refused",
        ("core/aggregator.py", "if sha256(state).digest() != digest:", "if False:"),
    ),
    bug(
        "refused reports are counted among the others",
        "core/test_aggregator.py::test_what_is_no_report_is_refused_alone",
        ("core/aggregator.py", "self._reports += len(kept)", "self._reports += block.items"),
    ),
    bug(
        "positions of refused reports start anew with each block",
        "core/test_aggregator.py::test_positions_of_refused_reports_are_counted_across_blocks",
        (
            "core/aggregator.py",
            "refused += (came + np.flatnonzero(is_refused)).tolist()",
            "refused += np.flatnonzero(is_refused).tolist()",
        ),
    ),
    bug(
        "counts can be changed from outside",
        "core/test_aggregator.py::test_the_counts_cannot_be_changed_from_outside",
        ("core/aggregator.py", "return self._counts.copy()", "return self._counts"),
    ),
    bug(
        "a snapshot is of any candidates",
        "frequency/test_hashing.py::test_counts_of_other_candidates_are_refused",
        ("frequency/hashing.py", 'return self._indexes.astype("<i8").tobytes()', 'return b""'),
    ),
    bug(
        "hash collisions are taken for one of as many as there are cells",
        "frequency/test_hash_family.py::test_the_probability_of_a_collision_is_exact",
        (
            "frequency/hash_family.py",
            "return Fraction(pairs, 1 << 2 * self.hash_bits)",
            "return Fraction(1, self.cells)",
        ),
    ),
    bug(
        "an estimate of a Hadamard response reads the column beside",
        "frequency/test_oracle.py::test_supports_have_the_stated_probabilities",
        ("frequency/hadamard.py", "sums[indexes + 1]", "sums[indexes]"),
    ),
    bug(
        "intervals have half of their confidence",
        "frequency/test_estimates.py::test_the_raw_estimate_is_that_of_the_formula_and_may_be_negative",
        ("frequency/estimates.py", "reach = -ndtri(failure / 2) * errors", "reach = -ndtri(failure) * errors"),
    ),
    bug(
        "every interval is that of a value nobody holds",
        "frequency/test_estimates.py::test_the_raw_estimate_is_that_of_the_formula_and_may_be_negative",
        (
            "frequency/estimates.py",
            "errors = np.sqrt(self.variances(within) + extra_variance)",
            "errors = np.sqrt(self.variances(0 * within) + extra_variance)",
        ),
    ),
    bug(
        "what hashes add is left out of intervals",
        "frequency/test_estimates.py::test_what_hashes_add_widens_the_intervals",
        (
            "frequency/estimates.py",
            "errors = np.sqrt(self.variances(within) + extra_variance)",
            "errors = np.sqrt(self.variances(within))",
        ),
    ),
    bug(
        "projected fractions take the place of the unbiased ones",
        "frequency/test_estimates.py::test_the_raw_estimate_is_that_of_the_formula_and_may_be_negative",
        (
            "frequency/estimates.py",
            "fractions=_kept(fractions),",
            "fractions=_kept(norm_sub(fractions, is_whole=self.are_all)),",
        ),
    ),
    bug(
        "estimates can be overwritten",
        "frequency/test_estimates.py::test_no_array_can_be_changed",
        ("frequency/estimates.py", "    array.flags.writeable = False\n", ""),
    ),
    bug(
        "fractions are scaled to a sum of 1",
        "frequency/test_projection.py::test_norm_sub_is_the_nearest_distribution",
        (
            "frequency/projection.py",
            "nearest: NDArray[np.float64] = np.maximum(fractions - shift, 0.0)",
            "nearest: NDArray[np.float64] = positive / positive.sum()",
        ),
    ),
    bug(
        "a cut forgets how many values there are",
        "frequency/test_projection.py::test_base_cut_keeps_what_is_above_its_threshold",
        (
            "frequency/projection.py",
            '-ndtri(share(significance, "significance") / max(1, len(fractions)))',
            '-ndtri(share(significance, "significance"))',
        ),
    ),
    bug(
        "the gain of fake reports leaves out that others support values too",
        "frequency/test_poisoning.py::test_the_closed_forms_of_the_literature",
        ("frequency/poisoning.py", "weight = (supported - most * q) / (p - q)", "weight = supported / (p - q)"),
    ),
    bug(
        "the best oracle may have longer reports than allowed",
        "frequency/test_choice.py::test_short_reports_limit_the_choice",
        ("frequency/choice.py", "if most is None or one.payload_bytes <= most]", "if most is None or one]"),
    ),
    bug(
        "intervals of a mean have half of their confidence",
        "means/test_numbers.py::test_an_interval_is_that_of_the_normal_distribution",
        ("means/numbers.py", "reach = -float(ndtri(failure / 2))", "reach = -float(ndtri(failure))"),
    ),
    bug(
        "the variance of a mean is halved",
        "means/test_mean.py::test_errors_are_as_large_as_stated_and_intervals_cover_the_mean",
        ("means/mean.py", "slope * held + intercept - held", "(slope * held + intercept - held) / 2"),
    ),
    bug(
        "reports of a cohort that there is not are counted",
        "rappor/test_protocol.py::test_reports_of_no_cohort_or_of_too_many_bits_are_refused_alone",
        ("rappor/protocol.py", "(cohorts < self.cohorts) &", "(cohorts >= 0) &"),
    ),
    bug(
        "bits beyond the filter are counted",
        "rappor/test_protocol.py::test_reports_of_no_cohort_or_of_too_many_bits_are_refused_alone",
        ("rappor/protocol.py", "& (bits[:, 0] >> ((self.bits - 1) % 8) <= 1)", ""),
    ),
    bug(
        "a cohort without reports says that nobody holds a text",
        "rappor/test_estimates.py::test_cohorts_without_reports_say_nothing",
        ("rappor/estimates.py", "        errors[counts[:, 0] == 0] = np.inf\n", ""),
    ),
    bug(
        "errors of bits are too small",
        "rappor/test_estimates.py::test_bit_fractions_are_counts_without_their_noise",
        (
            "rappor/estimates.py",
            "errors = np.sqrt(shares * (1 - shares) / reports) / (high - low)",
            "errors = np.sqrt(shares * (1 - shares) / reports)",
        ),
    ),
    bug(
        "texts that are no candidates leave the errors as they are",
        "rappor/test_decoding.py::test_texts_that_are_no_candidates_widen_the_errors",
        ("rappor/decoding.py", "errors=np.sqrt(excess * variances)", "errors=np.sqrt(variances)"),
    ),
    bug(
        "candidates with the same bits are told apart",
        "rappor/test_decoding.py::test_candidates_that_set_the_same_bits_have_infinite_errors_and_share_their_fraction",
        ("rappor/decoding.py", "    variances[(vectors[:, is_lost] ** 2).sum(axis=1) > _NO_RANK] = np.inf\n", ""),
    ),
    bug(
        "a decode without a candidate left goes on",
        "rappor/test_decoding.py::test_an_empty_support_is_no_crash",
        ("rappor/decoding.py", "if not len(support):", "if False:"),
    ),
    bug(
        "reports of another protocol are associated",
        "rappor/test_association.py::test_batches_must_be_of_the_same_people",
        ("rappor/association.py", "if reports.fingerprint != protocol.fingerprint or not", "if not"),
    ),
    bug(
        "an association is tested with a degree of freedom for each pair",
        "rappor/test_association.py::test_p_values_of_independent_texts_are_uniform",
        (
            "rappor/association.py",
            "degrees = (len(rows) - 1) * (len(columns) - 1)",
            "degrees = len(rows) * len(columns) - 1",
        ),
    ),
    bug(
        "a sketch forgets that columns are shared",
        "sketches/test_count_mean.py::test_estimates_are_apples",
        ("sketches/count_mean.py", "return held, other + (held - other) / self.width", "return held, other"),
    ),
    bug(
        "a report of no length is counted",
        "hitters/test_tree.py::test_lengths_that_there_are_not_are_refused",
        (
            "hitters/tree.py",
            "return (lengths >= 1) & (lengths <= self.levels) & self",
            "return (lengths <= self.levels) & self",
        ),
    ),
    bug(
        "reports of no group are counted",
        "hitters/test_prefixes.py::test_payloads_of_no_group_are_refused",
        (
            "hitters/prefixes.py",
            "(payloads[:, 0] < len(self.lengths)) & self",
            "(payloads[:, 0] <= len(self.lengths)) & self",
        ),
    ),
    bug(
        "found texts have intervals as if no prefix shared a cell",
        "hitters/test_prefixes.py::test_intervals_include_what_a_pool_adds",
        ("hitters/prefixes.py", "extra_variance=extra)", "extra_variance=0.0)"),
    ),
    bug(
        "too few people are asked for an error",
        "test_survey.py::test_so_many_people_are_enough",
        ("survey.py", "log(2 * len(self.answers) / failure)", "log(2 / failure)"),
    ),
    bug(
        "reports are written over those of a file",
        "test_files.py::test_reports_are_read_as_they_were_written",
        ("files.py", "    if file.exists():\n        raise", "    if False:\n        raise"),
        ("files.py", "file.hardlink_to(beside)", "beside.replace(file)"),
    ),
    bug(
        "found texts of a tree have intervals as if no columns were shared",
        "hitters/test_tree.py::test_intervals_include_what_columns_share",
        ("hitters/tree.py", "extra_variance=extra)", "extra_variance=0.0)"),
    ),
    bug(
        "found words have intervals as if no columns were shared",
        "sketches/test_fragments.py::test_intervals_include_what_columns_share",
        ("sketches/fragments.py", "extra_variance=shared)", "extra_variance=0.0)"),
    ),
)
