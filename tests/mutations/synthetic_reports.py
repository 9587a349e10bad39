"""Seeded bugs of reports on synthetic rows: what is private of them, and what is compared."""

from tests.mutations.mutants import Mutant

_ROOM = "synth/reports"
_PRIVATE, _OWNER = f"{_ROOM}/private.py", f"{_ROOM}/exact/owner.py"
_TESTS = "tests/synth/reports"

MUTANTS = (
    Mutant(
        name="the sensitivity of a distance is halved",
        edits=((_PRIVATE, "reaches += [self.made * (", "reaches += [-(-self.made // 2) * ("),),
        tests=(f"{_TESTS}/test_private.py::test_no_row_moves_a_measure_further_than_its_noise_is_made_for",),
    ),
    Mutant(
        name="a sum of distances has the sensitivity of one",
        edits=((_PRIVATE, "else sum(moved[size]))", "else max(moved[size]))"),),
        tests=(f"{_TESTS}/test_private.py::test_no_row_moves_a_measure_further_than_its_noise_is_made_for",),
    ),
    Mutant(
        name="the exact distance is released",
        edits=((_PRIVATE, "[noise.release(Secret(exact)) for noise,", "[exact for noise,"),),
        tests=(f"{_TESTS}/test_private.py::test_an_audit_refutes_a_smaller_cost_and_not_the_cost",),
    ),
    Mutant(
        name="the number of rows is used without noise",
        edits=((_PRIVATE, "next(noises).release(Secret(exact))", "max(next(noises).scale and exact, 1)"),),
        tests=(f"{_TESTS}/test_private.py::test_the_number_of_rows_has_noise_too",),
    ),
    Mutant(
        name="each answer costs all of epsilon",
        edits=((_PRIVATE, "self.charge.epsilon / len(reaches)", "self.charge.epsilon"),),
        tests=(f"{_TESTS}/test_private.py::test_shares_of_the_cost_add_up_to_what_is_charged",),
    ),
    Mutant(
        name="intervals leave out that the number of rows is noisy",
        edits=((_PRIVATE, "(Fraction(off, 2) + ", "(0 * Fraction(off, 2) + "),),
        tests=(f"{_TESTS}/test_private.py::test_intervals_have_the_distance_while_noise_is_within_its_accuracy",),
    ),
    Mutant(
        name="a report of other rows is taken for the stored one",
        edits=((_PRIVATE, '"rows": sha256(table.tobytes()).hexdigest(), ', '"rows": str(len(table)), '),),
        tests=(f"{_TESTS}/test_private.py::test_a_report_is_charged_once_stored_and_covers_the_truth",),
    ),
    Mutant(
        name="the floor is the table itself",
        edits=((_OWNER, '"bootstrap": bootstrap(table, seed=start),', '"bootstrap": table,'),),
        tests=(f"{_TESTS}/exact/test_owner.py::test_equal_tables_are_0_apart_and_the_floor_and_the_baseline_are_not",),
    ),
    Mutant(
        name="models are tested on rows that they were trained on",
        edits=((_OWNER, "for part in (order[cut:], order[:cut])", "for part in (order, order[:cut])"),),
        tests=(f"{_TESTS}/exact/test_owner.py::test_models_are_tested_on_rows_that_none_was_trained_on",),
    ),
    Mutant(
        name="the bootstrap that models learn from has rows to test on",
        edits=((_OWNER, '"bootstrap": bootstrap(seen, seed=start)', '"bootstrap": bootstrap(table, seed=start)'),),
        tests=(f"{_TESTS}/exact/test_owner.py::test_models_are_tested_on_rows_that_none_was_trained_on",),
    ),
    Mutant(
        name="an exact page says nothing of it",
        edits=((f"{_ROOM}/page.html", "<strong>{{ page.label }}</strong>", ""),),
        tests=(f"{_TESTS}/test_page.py",),
    ),
    Mutant(
        name="a missing value counts as the first one",
        edits=((f"{_ROOM}/rows.py", "found < 0, attribute.size - 1, found", "found < 0, 0, found"),),
        tests=(f"{_TESTS}/test_rows.py::test_rows_are_counted_as_a_session_counts_them",),
    ),
    Mutant(
        name="a distance is the whole sum of differences",
        edits=((f"{_ROOM}/exact/distances.py", "shares[0] - shares[1]).sum()) / 2", "shares[0] - shares[1]).sum())"),),
        tests=(f"{_TESTS}/exact/test_distances.py::test_distances_are_those_of_all_combinations",),
    ),
)  # fmt: skip
