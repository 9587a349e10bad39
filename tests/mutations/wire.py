"""Seeded bugs of what comes from elsewhere: what is believed of a text that another process may have written."""

from tests.mutations.mutants import Mutant

NODES = "tests/session/wire/test_nodes.py::"
REFUSALS = "tests/session/wire/test_refusals.py::"
AGAIN = "tests/query/planning/test_again.py::"
STRATEGIES = "tests/mechanisms/workloads/test_codec.py::test_what_is_no_strategy_is_refused"

MUTANTS = (
    Mutant(
        name="a strategy is orthogonal if it says so",
        edits=(
            (
                "mechanisms/workloads/strategies.py",
                "if self.is_orthogonal and not _see_nothing_in_common(self.measurements):",
                "if self.is_orthogonal and not self.measurements:",
            ),
        ),
        tests=(STRATEGIES,),
    ),
    Mutant(
        name="a measurement twice has nothing in common with itself",
        edits=(
            (
                "mechanisms/workloads/strategies.py",
                "return are_apart and len({each.components for each in measurements}) == len(measurements)",
                "return are_apart",
            ),
        ),
        tests=(STRATEGIES,),
    ),
    Mutant(
        name="the rows of a matrix add up to zero if it says so",
        edits=(
            (
                "mechanisms/workloads/components.py",
                "if is_centered and matrix.sum(axis=1).any():",
                "if is_centered and not matrix.size:",
            ),
        ),
        tests=(STRATEGIES,),
    ),
    Mutant(
        name="what is measured within blocks may see their total",
        edits=(
            (
                "mechanisms/workloads/blocks.py",
                "if not lower.is_centered or cells > upper.cells * lower.cells:",
                "if cells > upper.cells * lower.cells:",
            ),
        ),
        tests=(STRATEGIES,),
    ),
    Mutant(
        name="a measurement may be multiplied by less than nothing",
        edits=(
            (
                "mechanisms/workloads/sensitivity.py",
                'positive_integer(self.multiplier, "multiplier")',
                "self.size",
            ),
        ),
        tests=(STRATEGIES,),
    ),
    Mutant(
        name="a ticket is run as it is if some plan follows from its question",
        edits=(("session/wire/tickets.py", "if TICKETS.encode(one) == text), None)", "if one), None)"),),
        tests=(f"{REFUSALS}test_a_ticket_that_measures_other_rows_than_it_says_is_refused",),
    ),
    Mutant(
        name="the noise of a ticket may cost more than was charged",
        edits=(
            (
                "session/wire/tickets.py",
                "for plan in () if ticket is None else _measured(ticket.prepared.plan):",
                "for plan in ():",
            ),
        ),
        tests=(f"{REFUSALS}test_noise_that_costs_more_than_was_charged_is_refused",),
    ),
    Mutant(
        name="what is measured for the widest bounds costs whatever it does",
        edits=(
            (
                "session/wire/tickets.py",
                "if isinstance(plan, PrivatePlan) and plan.bounds is not None:",
                "if plan is None:",
            ),
        ),
        tests=(f"{REFUSALS}test_noise_for_the_widest_bounds_costs_what_was_kept_for_it",),
    ),
    Mutant(
        name="a ticket names the key of its answer",
        edits=(
            (
                "session/wire/tickets.py",
                "if names != (ticket.prepared.question, ticket.prepared.key):",
                "if names[0] != ticket.prepared.question:",
            ),
        ),
        tests=(f"{REFUSALS}test_a_ticket_under_another_name_is_refused",),
    ),
    Mutant(
        name="a ticket of another account is run on this one",
        edits=(
            (
                "session/wire/tickets.py",
                "if claim.reservation.account != planning.account:",
                "if not claim.reservation.request:",
            ),
        ),
        tests=(f"{REFUSALS}test_a_ticket_of_another_account_is_refused",),
    ),
    Mutant(
        name="a ticket brings its own tables",
        edits=(
            (
                "session/asking/planning.py",
                "if planning.policy.tables.get(table.name) != table:",
                "if table.name not in planning.declared:",
            ),
        ),
        tests=(f"{REFUSALS}test_a_ticket_about_tables_of_laxer_limits_is_refused",),
    ),
    Mutant(
        name="noise hides what the ticket says it hides",
        edits=(
            (
                "query/planning/again.py",
                "hiding = Laplace(l1_sensitivity=sensitivity.l1, epsilon=noise.epsilon)",
                "hiding = noise",
            ),
        ),
        tests=(f"{AGAIN}test_a_change_that_would_reveal_more_is_refused",),
    ),
    Mutant(
        name="the strategy of a ticket is for the unit that it says",
        edits=(
            (
                "query/planning/again.py",
                "(dict(one.columns), list(one.workload), one.unit, one.noise) == (columns, workload, unit, noise)",
                "(dict(one.columns), list(one.workload), one.noise, unit) == (columns, workload, noise, unit)",
            ),
        ),
        tests=(f"{AGAIN}test_the_unit_of_a_workload_moves_it_as_much_as_its_statement_says",),
    ),
    Mutant(
        name="fields of a ticket may be of any type",
        edits=(("session/wire/nodes.py", "if not written.checks[name](value)]", "if not written.checks[name]]"),),
        tests=(f"{NODES}test_a_text_that_is_no_ticket_is_refused",),
    ),
    Mutant(
        name="a truth is a whole number",
        edits=(
            (
                "session/wire/declared.py",
                "return lambda value: type(value) in plain",
                "return lambda value: isinstance(value, tuple(plain))",
            ),
        ),
        tests=(f"{NODES}test_a_text_that_is_no_ticket_is_refused",),
    ),
    Mutant(
        name="a ticket may consist of more values than can be counted",
        edits=(("session/wire/nodes.py", "if reading.terms > MAX_TERMS:", "if reading.terms < 0:"),),
        tests=(f"{NODES}test_a_text_that_doubles_at_every_step_is_refused_before_it_is_looked_at",),
    ),
    Mutant(
        name="a ticket may be written in several ways",
        edits=(("session/wire/nodes.py", "if self.encode(value) != text:", "if not text:"),),
        tests=(f"{NODES}test_a_text_that_is_no_ticket_is_refused",),
    ),
    Mutant(
        name="a node may name one after it",
        edits=(("session/wire/nodes.py", "not 0 <= inner < len(self._made)", "not inner < len(self._made)"),),
        tests=(f"{NODES}test_a_text_that_is_no_ticket_is_refused",),
    ),
)
