"""What must hold of accounts, ledgers and stored answers, item by item, and the tests that hold it.

The numbers are those of the catalogue of attacks: F, accounting, 27 to 33; G, integrity of the ledger, 34 to 44; H,
stored answers and averaging, 45 to 50. Tests in this folder bear the number of their item in their name.
"""

import ast
import re
from functools import cache

import pytest
from tests.meta.repository import ROOT

HERE = "attacks_on_ledgers"
FILTERS = "accounting/adaptive/test"
QUESTIONS = "attacks_on_questions/test_price_attacks"
CHANNELS = "attacks_on_questions/test_side_channels"

ITEMS = {
    27: "adaptive composition: filters, odometers, budgets exact to the last digit",
    28: "the price of a statement is what was asked, hidden mechanisms included, and that of its events",
    29: "the events, added up by independent accountants, and the noise as it is drawn",
    30: "one account for tables, views, sessions; parallel composition for disjoint parts alone",
    31: "laws of accountants: k-fold is a loop, losses hold the truth, monotone",
    32: "a question about several datasets is charged to all of them or to none",
    33: "what is paid does not depend on the data",
    34: "processes and threads race to the cap, which holds exactly at every account above",
    35: "killed at any point: released within charged, asked again without a second charge",
    36: "disk full, read-only, failing: closed; power lost while writing",
    37: "an old ledger put back is refused",
    38: "no clock gives a budget early",
    39: "the same data under another name, path or view has the same account",
    40: "analysts together stay within the dataset",
    41: "the same request has the same bytes; with another body it is refused",
    42: "stopped after the charge: charged, no refund, a constant text; malformed: free, without data",
    43: "describing, explaining, estimating change nothing and open no data",
    44: "a ledger verifies; a backup restores",
    45: "the identical question: identical bytes, cost 0; across analysts by the policy alone",
    46: "a thousand spellings hit the stored answer or are charged; the mean is as wrong as the budget makes it",
    47: "an answer belongs to its data, policy, price, law, bounds, limits and dataset",
    48: "a hit tells nothing of other analysts",
    49: "noise is new for every version of the data; no seed from the question",
    50: "stored answers have integrity, and are not drawn anew after a restart",
}

ELSEWHERE = {
    27: [
        "attacks_on_questions/test_arithmetic_attacks::test_a_budget_is_spent_to_the_last_digit_and_not_beyond",
        f"{FILTERS}_filters::test_no_adaptive_strategy_passes_a_pure_budget",
        f"{FILTERS}_filters::test_a_filter_that_checks_after_spending_is_beaten",
        f"{FILTERS}_divergence_filters::test_no_adaptive_strategy_passes_a_concentrated_budget_at_any_order",
        f"{FILTERS}_divergence_filters::test_no_adaptive_strategy_passes_a_bound_at_any_order",
        f"{FILTERS}_odometers::test_the_privacy_loss_never_passes_the_sum",
    ],
    28: [
        f"{QUESTIONS}::test_a_question_costs_what_is_asked_and_its_events_no_more_whoever_adds_them_up",
        f"{QUESTIONS}::test_the_ledger_holds_what_was_asked_to_the_last_digit",
        f"{QUESTIONS}::test_what_is_only_compared_or_sorted_by_is_released_and_paid_for",
    ],
    29: [
        f"{QUESTIONS}::test_noise_is_drawn_with_the_widths_that_are_in_the_events_and_no_others",
        f"{QUESTIONS}::test_a_question_costs_what_is_asked_and_its_events_no_more_whoever_adds_them_up",
    ],
    30: [
        f"{QUESTIONS}::test_tables_views_frames_and_sessions_spend_from_one_account",
        f"{QUESTIONS}::test_nobody_outside_of_a_part_moves_what_is_paid_for_as_that_part",
        f"{QUESTIONS}::test_a_part_has_no_other_table_of_people",
    ],
    31: [
        "accounting/test_laws::test_independent_accountants_agree_within_their_bounds",
        "accounting/test_laws::test_no_accountant_is_below_the_definition",
        "accounting/test_laws::test_the_loss_distribution_holds_the_truth_between_its_bounds",
    ],
    33: [
        f"{QUESTIONS}::test_whichever_bounds_are_chosen_the_rest_costs_no_more_than_was_kept_for_it",
        "attacks_on_questions/test_side_channels::test_plans_prices_forecasts_and_statements_do_not_depend_on_the_data",
    ],
    34: ["ledger/test_races::test_processes_and_threads_race_to_the_caps_of_a_tree_and_fill_them_exactly"],
    35: ["ledger/test_kills::test_who_is_killed_has_released_no_more_than_was_charged_and_who_asks_again_pays_once"],
    36: [
        "ledger/test_faults::test_a_full_disk_refuses_and_once_there_is_room_all_goes_on_and_is_charged_once",
        "ledger/test_faults::test_a_file_or_a_folder_that_only_reads_refuses_and_says_what_right_is_missing",
        "ledger/stores/test_sqlite::test_a_disk_that_is_full_keeps_nothing_and_the_ledger_goes_on_once_there_is_room",
        "ledger/stores/test_sqlite::test_wherever_the_power_fails_whole_batches_are_left",
    ],
    37: [
        "ledger/keeping/test_checkpoints::test_an_older_ledger_is_refused_with_the_remedy",
        "ledger/test_damage::test_another_history_of_the_same_length_is_refused",
    ],
    38: ["ledger/core/test_windows::test_put_forward_it_hurries_no_more_than_the_steady_clock"],
    39: ["session/opening/test_lineage::test_a_file_has_one_fingerprint_by_every_path_and_name"],
    42: [f"{QUESTIONS}::test_a_failure_behind_the_charge_is_charged"],
    44: [
        "ledger/reading/test_verification::test_a_charge_that_was_never_to_be_granted_is_found_and_named",
        "ledger/reading/test_verification::test_a_record_that_somebody_changed_is_found",
        "ledger/test_damage::test_a_flipped_bit_is_found_or_was_in_no_record",
    ],
    47: [
        "session/asking/test_planning::test_whatever_an_answer_depends_on_is_in_its_key",
        "session/asking/test_planning::test_facts_of_tables_are_in_the_key",
    ],
}
"""Tests in other folders that hold an item, too, by what is below tests/."""

WAITS = {
    42: "ROLLBACK, a cursor or connection that is closed: no protocol speaks to clients yet",
    43: "Parse, Describe and the catalog of a database: the same",
    48: "the time that a hit takes: questions are asked in one's own process, whose time nobody pads",
}
"""What of an item is left until there is a server."""


@cache
def names_in(path):
    """The names of the tests of a file."""
    module = ast.parse((ROOT / "tests" / f"{path}.py").read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef))


def numbered():
    """The items whose number is in the name of a test of this folder."""
    files = (f"{HERE}/{path.stem}" for path in (ROOT / "tests" / HERE).glob("test_*.py"))
    found = (re.match(r"test_(\d\d)_", name) for file in files for name in names_in(file))
    return {int(match[1]) for match in found if match}


@pytest.mark.parametrize("item", ITEMS, ids=ITEMS.get)
def test_every_item_is_held_by_a_test(item):
    assert item in numbered() or ELSEWHERE.get(item)


@pytest.mark.parametrize("named", sorted({named for tests in ELSEWHERE.values() for named in tests}))
def test_a_test_that_is_named_exists(named):
    path, name = named.split("::")
    assert name in names_in(path)


def test_no_number_is_of_another_item():
    assert list(ITEMS) == list(range(27, 51))
    assert numbered() | ELSEWHERE.keys() | WAITS.keys() <= ITEMS.keys()
