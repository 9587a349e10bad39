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
        edits=((f"{_ROOM}/release.py", "prior=public.prior, draws", "prior=public.prior / 1000, draws"),),
        tests=(f"{_TESTS}/test_release.py::test_drawn_flows_have_the_law_of_counts_priors_and_public_flows",),
    ),
    Mutant(
        name="units of several rows are priced as one",
        edits=((f"{_ROOM}/release.py", "if query.rows_per_unit != 1:", "if query.rows_per_unit < 1:"),),
        tests=(f"{_TESTS}/test_release.py::test_a_unit_of_several_rows_is_refused",),
    ),
    Mutant(
        name="the destination with the most origins prices all",
        edits=((f"{_ROOM}/release.py", "fewest = min(size", "fewest = max(size"),),
        tests=(
            f"{_TESTS}/test_release.py::test_where_workers_replace_one_another_the_destination_with_the_fewest_origins_counts",
        ),
    ),
    Mutant(
        name="flows are counted by origin and destination the other way round",
        edits=((f"{_ROOM}/release.py", "columns=(destination, origin)", "columns=(origin, destination)"),),
        tests=(
            f"{_TESTS}/test_release.py::test_rows_without_declared_places_are_in_no_flow_and_counts_are_where_they_belong",
        ),
    ),
    Mutant(
        name="flows have a hundredth of the prior that was paid for",
        edits=((f"{_ROOM}/release.py", "prior=least, added=row)", "prior=least / 100, added=row)"),),
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
)
