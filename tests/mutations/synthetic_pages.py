"""Seeded bugs of published synthetic data: what is in a file, who reads it, and which answers stand beside."""

from tests.mutations.mutants import Mutant

_PUBLISHED = "synth/published.py"
_PUBLISHING = "synth/publishing.py"
_ROUTES = "server/gateway/routes/synthetic.py"
_OF_FILES = "tests/synth/test_published.py::"
_OF_MAKING = "tests/synth/test_publishing.py::"
_OF_ROUTES = "tests/server/gateway/routes/test_synthetic.py::"
_OF_PAGES = "tests/server/dashboard/pages/test_synthetic.py::"

MUTANTS = (
    Mutant(
        name="exact counts are published",
        edits=(
            (
                "synth/methods/measuring.py",
                "counts = tuple(map(int, noisy))",
                "counts = tuple(map(int, self._counts(columns).open_for_noise().reshape(-1)))",
            ),
        ),
        tests=(f"{_OF_MAKING}test_nothing_exact_is_in_the_file",),
    ),
    Mutant(
        name="errors of published counts are half as wide",
        edits=((_PUBLISHING, "half_width=discrete_gaussian_half_width(stddev,", "half_width=int(stddev) or int("),),
        tests=(f"{_OF_MAKING}test_counts_are_those_released_and_errors_those_of_their_noise",),
    ),
    Mutant(
        name="a column is published as it was measured last",
        edits=(
            (
                _PUBLISHING,
                "singles.setdefault(columns[0], (stddev, columns, counts))",
                "singles[columns[0]] = (stddev, columns, counts)",
            ),
        ),
        tests=(f"{_OF_MAKING}test_of_several_measurements_the_one_with_the_least_noise_is_shown",),
    ),
    Mutant(
        name="an answer by single values stands beside bins",
        edits=((_PUBLISHING, "not all(_is_of_values(own[name]) for name in columns)", "False"),),
        tests=(f"{_OF_MAKING}test_no_query_counts_bins_or_periods",),
    ),
    Mutant(
        name="rows of a kind are published as the whole",
        edits=(("synth/synthetic.py", "replace(self, steps=(), made=", "replace(self, made="),),
        tests=(f"{_OF_MAKING}test_rows_of_a_kind_are_not_published",),
    ),
    Mutant(
        name="a page shows a file of another kind",
        edits=((_PUBLISHED, "found = found if found.to_dict() == document else None", "found = found"),),
        tests=(f"{_OF_FILES}test_a_document_that_says_more_or_otherwise_is_refused",),
    ),
    Mutant(
        name="a published file may be as large as memory",
        edits=((_PUBLISHED, "if len(content) <= _MOST_BYTES:", "if content:"),),
        tests=(f"{_OF_FILES}test_a_file_that_is_too_large_is_not_parsed",),
    ),
    Mutant(
        name="a published file may count what is not there",
        edits=((_PUBLISHED, "            _check(found)\n", ""),),
        tests=(f"{_OF_FILES}test_what_does_not_fit_together_is_refused",),
    ),
    Mutant(
        name="everybody reads all synthetic data",
        edits=(
            (
                _ROUTES,
                'readable(who, who.gateway.curator.synthetic, name, Action.READ_SYNTHETIC, thing="synthetic data")',
                "who.gateway.curator.synthetic[name]",
            ),
        ),
        tests=(f"{_OF_ROUTES}test_whoever_is_no_reader_sees_nothing",),
    ),
    Mutant(
        name="answers of another account stand beside",
        edits=(
            (
                _ROUTES,
                "account = None if dataset is None else who.principal.account(dataset)",
                'account = "clinic/bob"',
            ),
        ),
        tests=(f"{_OF_ROUTES}test_answers_of_others_are_not_shown",),
    ),
    Mutant(
        name="owners see answers beside synthetic data that they may not ask for",
        edits=(
            (
                _ROUTES,
                "if not who.principal.may(Action.READ_OWN_RELEASES, dataset, owners_ask=owners_ask):",
                "if not owners_ask and not who.principal.account(dataset):",
            ),
            (_ROUTES, "with who.doing(Action.READ_OWN_RELEASES, dataset), suppress(", "with suppress("),
        ),
        tests=(f"{_OF_ROUTES}test_owners_who_are_analysts_see_answers_only_where_they_may_ask",),
    ),
    Mutant(
        name="what shows a stored answer otherwise is taken for a count",
        edits=((_ROUTES, "confidence=str(release.confidence)) != kept.shown_key:", 'confidence="") == "":'),),
        tests=(f"{_OF_ROUTES}test_what_shows_a_stored_answer_otherwise_is_no_count",),
    ),
    Mutant(
        name="figures made of counts stand beside as counts",
        edits=(
            (
                _ROUTES,
                "named = {value.name: output for output, value in shown if isinstance(value, ColumnRef)}",
                'named = {getattr(value, "name", statistic): output for output, value in shown}',
            ),
        ),
        tests=(f"{_OF_ROUTES}test_own_answers_count_the_same_rows_by_the_same_columns_alone",),
    ),
    Mutant(
        name="what was not asked is 0",
        edits=(
            (
                "server/dashboard/pages/synthetic.py",
                "                return value, low, high\n    return None\n",
                "                return value, low, high\n    return 0.0, 0.0, 0.0\n",
            ),
        ),
        tests=(f"{_OF_PAGES}test_the_latest_answers_are_shown_and_what_is_missing_is_not_zero",),
    ),
)
