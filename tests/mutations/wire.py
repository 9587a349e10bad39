"""Seeded bugs of what comes from elsewhere: what is believed of a text that another process may have written."""

from tests.mutations.mutants import Mutant

NODES = "tests/session/wire/test_nodes.py::"
REFUSALS = "tests/session/wire/test_refusals.py::"
HOSTILE = "tests/query/python/test_rebuilding.py::"
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
    Mutant(
        name="a question brings its own tables",
        edits=(
            (
                "query/python/rebuilding.py",
                "if tables.get(table.name) != table:",
                "if table.name not in tables:",
            ),
            (
                "query/python/rebuilding.py",
                "return Source(tables[table.name])",
                "return claim",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="a question is whatever was built of its text",
        edits=(
            (
                "session/wire/questions.py",
                "if not is_as_sent:",
                "if not text:",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="a question may have constants of any size",
        edits=(
            (
                "query/python/rebuilding.py",
                "            literal(expression.value)\n",
                "            pass\n",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="a question groups by units, too",
        edits=(
            (
                "query/python/rebuilding.py",
                "return grouped(rebuilt_rows(child, tables), keys, columns, used=keys)",
                "return replace(claim, child=rebuilt_rows(child, tables))",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="a question samples units as it likes",
        edits=(
            (
                "session/wire/questions.py",
                "tuple(one for one in get_args(Relation) if one not in OF_SESSIONS)",
                "get_args(Relation)",
            ),
            (
                "query/python/rebuilding.py",
                "            raise NotPrivateError(\n",
                "            return claim\n            raise NotPrivateError(\n",
            ),
        ),
        tests=(f"{HOSTILE}test_what_only_sessions_make_is_neither_written_nor_read",),
    ),
    Mutant(
        name="windows over the rows of a unit need no order",
        edits=(
            (
                "query/planning/windows.py",
                "    if not order:",
                "    if order is None:",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="ranks may be of a value",
        edits=(
            (
                "query/planning/windows.py",
                "if (value is None) is (function in _OF_VALUES):",
                "if value is None and function in _OF_VALUES:",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="LAG goes as far as anybody likes",
        edits=(
            (
                "query/planning/windows.py",
                "if not (0 <= distance <= MAX_PLACES if function in _GO else distance == 1):",
                "if distance < 0:",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="windows over answers are whatever was sent",
        edits=(
            (
                "query/planning/questions.py",
                "        check_window(window)\n",
                "        pass\n",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="windows over answers need no order",
        edits=(
            (
                "query/planning/windows.py",
                "if function not in WITH_FRAMES and not window.order:",
                "if window.order is None:",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="NTILE makes as many parts as anybody likes",
        edits=(
            (
                "query/planning/windows.py",
                "if not least <= window.number <= most:",
                "if not least <= window.number:",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="frames reach as far as anybody likes",
        edits=(
            (
                "query/planning/windows.py",
                "any(not 0 <= end <= MAX_ROWS_AWAY for end in ends)",
                "any(end is None for end in ends)",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="a count of rows has a value that nobody reads",
        edits=(
            (
                "query/analysis/shape.py",
                "if column.fold is Fold.COUNT_ROWS and column.value is None:",
                "if column.fold is Fold.COUNT_ROWS:",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="bounds may have any number of digits",
        edits=(
            (
                "query/statistics/statistic.py",
                "bounds = stated(self.bounds)",
                "bounds = self.bounds",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="edges may have any number of digits",
        edits=(
            (
                "query/statistics/histograms.py",
                "place_of(_edge(edge)) for",
                "place_of(edge) for",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="limits may say nothing",
        edits=(
            (
                "query/planning/questions.py",
                "if limits == Limits():",
                "if limits is None:",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="answers show any number of rows",
        edits=(
            (
                "query/planning/questions.py",
                "not 0 <= value <= MAX_SHOWN:",
                "value < 0:",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="names of columns may be no text",
        edits=(
            (
                "query/analysis/shape.py",
                '{unicode_text(name, "columns").lower() for name in names}',
                "{name.lower() for name in names}",
            ),
        ),
        tests=(f"{HOSTILE}test_a_tree_that_nothing_here_builds_is_refused",),
    ),
    Mutant(
        name="a choice may have no cases",
        edits=(
            (
                "query/model/expressions.py",
                "        if not self.branches:",
                "        if self.branches is None:",
            ),
        ),
        tests=(f"{HOSTILE}test_a_choice_without_cases_is_none",),
    ),
)
