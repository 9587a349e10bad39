"""Seeded bugs of synthetic flows: prices, tails, urns, and which rows are in which flow."""

from tests.mutations.mutants import Mutant

_ROOM = "synth/flows"
_TESTS = "tests/synth/flows"

MUTANTS = (
    Mutant(
        name="the mean of a prior is taken for its smallest number",
        edits=(
            (
                f"{_ROOM}/priors.py",
                'least = min(positive(one, "prior") for one in each)',
                'least = sum(positive(one, "prior") for one in each) / len(each)',
            ),
        ),
        tests=(f"{_TESTS}/test_priors.py::test_no_worker_who_enters_or_leaves_a_destination_costs_more_than_stated",),
    ),
    Mutant(
        name="draws of flows cost one too little",
        edits=(
            (
                f"{_ROOM}/priors.py",
                '1 + whole(draws, "draws", most=MOST_DRAWS) / least',
                'whole(draws, "draws", most=MOST_DRAWS) / least',
            ),
        ),
        tests=(f"{_TESTS}/test_priors.py::test_the_golden_is_what_all_histograms_and_outputs_give",),
    ),
    Mutant(
        name="a delta is not divided over cells",
        edits=((f"{_ROOM}/priors.py", "delta / most, draws=draws", "delta, draws=draws"),),
        tests=(f"{_TESTS}/test_priors.py::test_what_is_charged_divides_delta_over_all_cells",),
    ),
    Mutant(
        name="a delta is divided over the fewest of several numbers of origins",
        edits=((f"{_ROOM}/priors.py", "delta / most, draws=draws", "delta / fewest, draws=draws"),),
        tests=(f"{_TESTS}/test_priors.py::test_one_prior_is_for_all_numbers_of_origins_with_the_same_first_digits",),
    ),
    Mutant(
        name="the most of several numbers of origins hide a worker",
        edits=((f"{_ROOM}/priors.py", "draws=draws, origins=fewest, least", "draws=draws, origins=most, least"),),
        tests=(f"{_TESTS}/test_priors.py::test_one_prior_is_for_all_numbers_of_origins_with_the_same_first_digits",),
    ),
    Mutant(
        name="tails in doubles are not rounded outward",
        edits=((f"{_ROOM}/tails.py", "(found * (1 - _SLACK), found * (1 + _SLACK))", "(found, found)"),),
        tests=(f"{_TESTS}/test_tails.py::test_bounds_in_doubles_enclose_those_of_sixty_digits_and_are_near_them",),
    ),
    Mutant(
        name="a tail in doubles that is too small to compute is nothing",
        edits=((f"{_ROOM}/tails.py", "else (0.0, _LEAST * (1 + _SLACK))", "else (0.0, 0.0)"),),
        tests=(f"{_TESTS}/test_tails.py::test_bounds_in_doubles_enclose_those_of_sixty_digits_and_are_near_them",),
    ),
    Mutant(
        name="doubles decide where they do not reach",
        edits=((f"{_ROOM}/tails.py", "surely <= allowed and tail_bound", "surely <= allowed or tail_bound"),),
        tests=(f"{_TESTS}/test_tails.py::test_where_doubles_do_not_reach_they_say_so_and_sixty_digits_decide",),
    ),
    Mutant(
        name="a second destination is free",
        edits=((f"{_ROOM}/priors.py", "(_shared(growth, origins) if is_replaced else growth)", "growth"),),
        tests=(f"{_TESTS}/test_priors.py::test_two_destinations_together_cost_no_more_than_was_asked",),
    ),
    Mutant(
        name="a second destination is free where there is a delta",
        edits=((f"{_ROOM}/priors.py", "asked / 2 if is_replaced else asked", "asked"),),
        tests=(f"{_TESTS}/test_priors.py::test_with_a_delta_no_two_neighbors_differ_by_more",),
    ),
    Mutant(
        name="growth is rounded up to the exponential",
        edits=((f"{_ROOM}/priors.py", "exp_bounds(asked, _PRECISION)[1]) - 1)", "exp_bounds(asked, _PRECISION)[1]))"),),
        tests=(f"{_TESTS}/test_priors.py::test_two_destinations_together_cost_no_more_than_was_asked",),
    ),
    Mutant(
        name="counts of a tail are taken in intervals from their middle",
        edits=(
            (
                f"{_ROOM}/tails.py",
                "beyond = floor(growth * (low - 1 + prior)) + 1",
                "beyond = floor(growth * (high - 1 + prior)) + 1",
            ),
        ),
        tests=(f"{_TESTS}/test_tails.py::test_the_answer_is_that_of_all_counts_one_by_one",),
    ),
    Mutant(
        name="only the first count of a tail is checked",
        edits=(
            (
                f"{_ROOM}/tails.py",
                "waiting = [(1, last if total is None else min(last, total))]",
                "waiting = [(1, min(1, last))]",
            ),
        ),
        tests=(f"{_TESTS}/test_tails.py::test_the_largest_tail_need_not_be_of_the_first_count",),
    ),
    Mutant(
        name="a worker keeps his own weight in a tail",
        edits=((f"{_ROOM}/tails.py", "growth * (low - 1 + prior)", "growth * (low + prior)"),),
        tests=(f"{_TESTS}/test_tails.py::test_the_answer_is_that_of_all_counts_one_by_one",),
    ),
    Mutant(
        name="tails are rounded to the nearest",
        edits=((f"{_ROOM}/tails.py", "rounding=rounding)", 'rounding="ROUND_HALF_EVEN")'),),
        tests=(f"{_TESTS}/test_tails.py::test_a_tail_agrees_with_beta_functions_to_fifty_digits",),
    ),
    Mutant(
        name="an urn adds too few balls",
        edits=((f"{_ROOM}/urn.py", "numbers * step + start", "numbers + start"),),
        tests=(f"{_TESTS}/test_urn.py::test_draws_have_the_law_of_the_definition",),
    ),
    Mutant(
        name="an urn repeats no draw of a repeated draw",
        edits=(
            (
                f"{_ROOM}/urn.py",
                "while not np.array_equal(taken, further := taken[taken]):",
                "if not np.array_equal(taken, further := taken[taken]):",
            ),
        ),
        tests=(f"{_TESTS}/test_urn.py::test_long_draws_have_the_law_of_one_cell",),
    ),
    Mutant(
        name="a ball of an urn belongs to its neighbor",
        edits=((f"{_ROOM}/urn.py", 'side="right"', 'side="left"'),),
        tests=(f"{_TESTS}/test_urn.py::test_draws_have_the_law_of_the_definition",),
    ),
    Mutant(
        name="flows come without a prior of their own",
        edits=((f"{_ROOM}/drawing.py", "prior=public.prior, draws", "prior=public.prior / 1000, draws"),),
        tests=(f"{_TESTS}/test_drawing.py::test_drawn_flows_have_the_law_of_counts_priors_and_public_flows",),
    ),
    Mutant(
        name="units of several rows are priced as one",
        edits=((f"{_ROOM}/release.py", "if query.rows_per_unit != 1:", "if query.rows_per_unit < 1:"),),
        tests=(f"{_TESTS}/test_release.py::test_a_unit_of_several_rows_is_refused",),
    ),
    Mutant(
        name="the destination with the most origins prices all",
        edits=((f"{_ROOM}/drawing.py", "fewest = min((size", "fewest = max((size"),),
        tests=(
            f"{_TESTS}/test_release.py::test_where_workers_replace_one_another_the_destination_with_the_fewest_origins_counts",
        ),
    ),
    Mutant(
        name="flows are counted by origin and destination the other way round",
        edits=(
            (
                f"{_ROOM}/release.py",
                "relation = (destination, origin)",
                "relation = (origin, destination)",
            ),
        ),
        tests=(
            f"{_TESTS}/test_release.py::test_rows_without_declared_places_are_in_no_flow_and_counts_are_where_they_belong",
        ),
    ),
    Mutant(
        name="flows have a hundredth of the prior that was paid for",
        edits=(
            (
                f"{_ROOM}/drawing.py",
                "max(SMALLEST, least - counted)",
                "max(SMALLEST, least / 100)",
            ),
        ),
        tests=(f"{_TESTS}/test_release.py::test_a_delta_is_charged_too_and_an_empty_table_has_flows",),
    ),
    Mutant(
        name="a map of flows shows those to other places",
        edits=((f"{_ROOM}/result.py", "if destination in (None, self.destinations[place])", "if place >= 0"),),
        tests=(f"{_TESTS}/test_result.py::test_a_map_shows_where_those_who_go_somewhere_come_from",),
    ),
    Mutant(
        name="errors beside exact flows do not say that they are the owner's",
        edits=(("plots/flows.py", "panel.set_title(OWNER_ONLY", 'panel.set_title("errors"'),),
        tests=("tests/plots/test_flows.py::test_errors_against_exact_flows_are_labeled_as_the_owners",),
    ),
    Mutant(
        name="a session of a server has marginals that nobody makes",
        edits=(
            (
                "session/training/ordered.py",
                'raise _refused("marginals")',
                'return _refused("marginals")',
            ),
        ),
        tests=("tests/client/test_session.py::test_a_server_makes_no_synthetic_flows_and_says_so",),
    ),
    Mutant(
        name="choosing origins by the data is free",
        edits=((f"{_ROOM}/shrinking.py", "((self.selection.event, event_of(self.rest)))", "((event_of(self.rest),))"),),
        tests=(f"{_TESTS}/test_shrinking.py::test_the_event_is_both_parts_and_the_charge_their_sum",),
    ),
    Mutant(
        name="the delta of choosing origins is not charged",
        edits=((f"{_ROOM}/shrinking.py", "self.selection.delta + self.rest.delta", "self.rest.delta"),),
        tests=(
            f"{_TESTS}/test_shrinking.py::test_the_event_is_both_parts_and_the_charge_their_sum",
            f"{_TESTS}/test_release.py::test_chosen_origins_and_flows_are_one_charge_and_stored",
        ),
    ),
    Mutant(
        name="flows from chosen origins have all of the cost",
        edits=((f"{_ROOM}/release.py", "_charge(charge.epsilon - part.epsilon,", "_charge(charge.epsilon,"),),
        tests=(f"{_TESTS}/test_release.py::test_chosen_origins_and_flows_are_one_charge_and_stored",),
    ),
    Mutant(
        name="flows from chosen origins have all of the delta",
        edits=((f"{_ROOM}/release.py", "charge.delta - part.delta)", "charge.delta)"),),
        tests=(f"{_TESTS}/test_release.py::test_chosen_origins_and_flows_are_one_charge_and_stored",),
    ),
    Mutant(
        name="origins are chosen without noise",
        edits=(
            (f"{_ROOM}/shrinking.py", "self.selection.kept(rows[to, start]).open_for_noise()", "rows[to, start] > 0"),
        ),
        tests=(f"{_TESTS}/test_shrinking.py::test_what_is_released_has_the_law_that_was_checked",),
    ),
    Mutant(
        name="origins that nobody comes from are kept",
        edits=((f"{_ROOM}/shrinking.py", "selection.kept(rows[to, start])", "selection.kept(rows[to, start] + 1)"),),
        tests=(
            f"{_TESTS}/test_shrinking.py::test_nobody_and_nothing_drawn_keep_no_origin",
            f"{_TESTS}/test_shrinking.py::test_what_is_released_has_the_law_that_was_checked",
        ),
    ),
    Mutant(
        name="priors are for the origins before they were chosen",
        edits=(
            (
                f"{_ROOM}/drawing.py",
                "sizes = [sum(one is not None for one in row) for row in added]",
                "sizes = [len(row) for row in added]",
            ),
        ),
        tests=(
            f"{_TESTS}/test_shrinking.py::test_priors_are_for_the_origins_that_are_kept_and_never_vanish",
            f"{_TESTS}/test_shrinking.py::test_where_workers_replace_one_another_the_fewest_kept_origins_count",
        ),
    ),
    Mutant(
        name="destinations without draws or kept origins have the fewest",
        edits=(
            (
                f"{_ROOM}/drawing.py",
                "for size, many in zip(sizes, draws, strict=True) if many), default=1)",
                "for size, many in zip(sizes, draws, strict=True) if size + many), default=1)",
            ),
        ),
        tests=(
            f"{_TESTS}/test_drawing.py::test_a_destination_without_draws_makes_no_other_prior_larger",
            f"{_TESTS}/test_shrinking.py::test_where_workers_replace_one_another_the_fewest_kept_origins_count",
        ),
    ),
    Mutant(
        name="workers of origins that are not kept are in flows",
        edits=(
            (
                f"{_ROOM}/shrinking.py",
                "flows_drawn(self.destinations(kept), rows)",
                "flows_drawn(self.destinations(kept | kept.any(axis=1, keepdims=True)), rows)",
            ),
        ),
        tests=(f"{_TESTS}/test_shrinking.py::test_what_is_released_has_the_law_that_was_checked",),
    ),
    Mutant(
        name="origins are chosen as if no worker replaced another",
        edits=((f"{_ROOM}/release.py", "per_unit=1, neighboring_relation=relation", "per_unit=1"),),
        tests=(f"{_TESTS}/test_release.py::test_chosen_origins_and_flows_are_one_charge_and_stored",),
    ),
    Mutant(
        name="a replaced worker who leaves one origin and enters another is priced as one origin",
        edits=(
            (
                "mechanisms/partitions/partition_selection.py",
                "(2 if self.neighboring_relation is REPLACE_ONE else 1)",
                "1",
            ),
        ),
        tests=(f"{_TESTS}/test_shrinking.py::test_origins_and_flows_together_tell_no_more_than_is_charged",),
    ),
    Mutant(
        name="a kept origin is worth two workers",
        edits=((f"{_ROOM}/shrinking.py", "counted=1,", "counted=2,"),),
        tests=(f"{_TESTS}/test_shrinking.py::test_a_kept_origin_has_a_worker_who_hides_others",),
    ),
    Mutant(
        name="public flows do not say which origins can be kept",
        edits=((f"{_ROOM}/shrinking.py", "many > 0 and one is not None for", "many > 0 for"),),
        tests=(f"{_TESTS}/test_shrinking.py::test_only_origins_that_public_flows_name_are_kept",),
    ),
    Mutant(
        name="choosing origins may have all of the cost",
        edits=((f"{_ROOM}/release.py", "if part.epsilon >= charge.epsilon or", "if part.epsilon > 10**9 or"),),
        tests=(
            f"{_TESTS}/test_release.py::test_a_part_for_choosing_that_is_none_is_refused_before_anything_is_charged",
        ),
    ),
)
