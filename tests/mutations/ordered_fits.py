"""Seeded bugs of fits on servers: what is planned, charged, sealed and run may not come apart."""

from tests.mutations.mutants import Mutant

_FITS = "tests/session/wire/test_fits.py::"
_ORDERED = "tests/session/training/test_ordered.py::"
_ORDERS = "tests/learn/ordering/test_orders.py::"
_PLANNING = "tests/learn/ordering/test_planning.py::"
_FITTING = "tests/server/gateway/test_fitting.py::"
_PLANNERS = "tests/server/gateway/test_planners.py::"
_CHILD = "tests/server/work/test_child.py::"
_PACING = "tests/server/work/test_pacing.py::"
_CLIENT = "tests/client/test_training.py::"

_CLAIMED = """\
    fits(plan.fit.order, declared_rows(query, planning.policy.neighboring_relation))
    return plan
"""
_DEARER = """\
    if hasattr(estimator, "epsilon"):
        found = OrderedFit.of(order, fit, steps_a_row=int(work.row) + 1, steps=int(work.rest) + 1)
        object.__setattr__(found, "planned", estimator.set_params(epsilon=2).plan(rows))
        return found
"""

MUTANTS = (
    Mutant(
        name="the fit of a ticket is not planned again",
        edits=(
            (
                "session/wire/tickets.py",
                "    return FitPlan(query=query, fit=fits(",
                _CLAIMED + "    return FitPlan(query=query, fit=fits(",
            ),
        ),
        tests=(f"{_FITS}test_a_claim_that_is_not_what_the_order_says_is_refused",),
    ),
    Mutant(
        name="the rows of a ticket's fit are not made again",
        edits=(("session/wire/tickets.py", "query = query_again(plan.query)", "query = plan.query"),),
        tests=(f"{_FITS}test_rows_that_are_not_those_of_the_question_are_refused",),
    ),
    Mutant(
        name="the worker runs a fit of another epsilon than was charged",
        edits=(
            (
                "learn/ordering/planning.py",
                "    return OrderedFit.of(order, fit, steps",
                _DEARER + "    return OrderedFit.of(order, fit, steps",
            ),
        ),
        tests=(f"{_PLANNING}test_an_order_is_planned_as_in_a_session_of_ones_own",),
    ),
    Mutant(
        name="the process with the data runs a fit that was not charged",
        edits=(("server/work/child.py", "        require_charged(ticket, desk.ledger)\n", ""),),
        tests=(f"{_CHILD}test_a_fit_of_another_epsilon_than_was_charged_is_refused",),
    ),
    Mutant(
        name="the arguments of a fit are in no seal",
        edits=(
            ("server/work/channel.py", 'key.seal(f"worker: {purpose}", *parts)', 'key.seal(f"worker: {purpose}")'),
            (
                "server/work/channel.py",
                'key.verifies(seal, f"worker: {purpose}", *texts)',
                'key.verifies(seal, f"worker: {purpose}")',
            ),
        ),
        tests=(f"{_CHILD}test_the_arguments_of_a_fit_are_sealed",),
    ),
    Mutant(
        name="a fit that was charged less is run",
        edits=(("session/wire/tickets.py", "    if known != claimed:", "    if known is None:"),),
        tests=(
            f"{_FITS}test_a_fit_that_was_charged_less_is_refused_by_the_ledger",
            f"{_CHILD}test_a_fit_of_another_epsilon_than_was_charged_is_refused",
        ),
    ),
    Mutant(
        name="an order is planned for twice the epsilon that it states",
        edits=(
            (
                "learn/ordering/planning.py",
                "fit = estimator.plan(estimator.read(rows))",
                'fit = estimator.set_params(**({"epsilon": 2} if hasattr(estimator, "epsilon") else {})).plan(rows)',
            ),
        ),
        tests=(f"{_PLANNING}test_an_order_is_planned_as_in_a_session_of_ones_own",),
    ),
    Mutant(
        name="two plans with other parameters have one hash",
        edits=(
            ("session/training/ordered.py", "encode_event(fit.event), fit.document()]", "encode_event(fit.event)]"),
        ),
        tests=(f"{_ORDERED}test_whatever_differs_is_another_plan",),
    ),
    Mutant(
        name="a gateway charges a plan that is not the client's",
        edits=(
            (
                "server/gateway/fitting.py",
                "if entry.plan is not None and entry.plan != fit_digest(found):",
                "if entry.plan is not None and not fit_digest(found):",
            ),
        ),
        tests=(
            f"{_FITTING}test_whoever_plans_otherwise_is_told_before_a_charge",
            f"{_CLIENT}test_a_plan_that_differs_is_refused_before_a_charge",
        ),
    ),
    Mutant(
        name="a gateway takes the plan of another order",
        edits=(("server/gateway/planners.py", "if found.order != order:", "if not found.order:"),),
        tests=(f"{_PLANNERS}test_a_plan_of_another_order_is_refused",),
    ),
    Mutant(
        name="a plan may take for ever",
        edits=(("server/gateway/planners.py", "    late.start()\n", "    late.daemon = True\n"),),
        tests=(f"{_PLANNERS}test_what_ends_or_holds_up_the_process_is_refused_and_the_next_fit_is_planned",),
    ),
    Mutant(
        name="an order may have lists of any length",
        edits=(
            (
                "learn/ordering/orders.py",
                "case list() if depth > 0 and len(value) <= MAX_CATEGORIES:",
                "case list() if depth > 0:",
            ),
        ),
        tests=(f"{_ORDERS}test_hostile_orders_are_refused",),
    ),
    Mutant(
        name="estimators of an order may be nested without end",
        edits=(
            ("learn/ordering/orders.py", "return _made(inner, arguments, depth)", "return _made(inner, arguments, 99)"),
        ),
        tests=(f"{_ORDERS}test_hostile_orders_are_refused",),
    ),
    Mutant(
        name="a subclass is ordered as what it is derived from",
        edits=(
            (
                "learn/ordering/orders.py",
                "    if ESTIMATORS.get(name) is not type(estimator):",
                "    if name not in ESTIMATORS:",
            ),
        ),
        tests=(f"{_ORDERS}test_what_cannot_be_sent_is_refused_here",),
    ),
    Mutant(
        name="a request for a fit may state a cost that is not charged",
        edits=(("server/gateway/answering.py", '"queries", "epsilon", "delta",', '"queries", "delta",'),),
        tests=(f"{_FITTING}test_requests_that_say_something_else_are_refused",),
    ),
    Mutant(
        name="the work of a fit takes no time",
        edits=(
            ("server/work/pacing.py", "    return rows * plan.fit.steps_a_row + plan.fit.steps\n", "    return 0\n"),
        ),
        tests=(
            f"{_PACING}test_the_work_of_a_fit_counts_for_each_row_and_beside",
            f"{_CHILD}test_a_fit_that_may_take_too_long_is_refused_before_it_is_charged",
        ),
    ),
    Mutant(
        name="a client asks for a model under another key than is said",
        edits=(("client/training.py", "_model, key=checked_key(idempotency_key))", "_model, key=checked_key(None))"),),
        tests=(f"{_CLIENT}test_a_model_that_takes_long_is_asked_for_again_under_the_same_key",),
    ),
)
