"""Seeded bugs of plans: what one unit moves, how a price is shared, what a question is called by."""

from tests.mutations.mutants import Mutant

READING = "tests/engines/reference/test_engine.py::TestReadingByReference::"
NEIGHBORS = "tests/session/test_neighbors.py::"
TINY = "tests/query/test_tiny_databases.py::"
BATCH = "tests/query/planning/test_batch.py::"
WAYS = "tests/query/planning/test_ways.py::"
WORKLOADS = "tests/query/planning/test_workloads.py::"
AXES = "tests/query/planning/test_axes.py::"

OF_IMAGES = "test_rows_are_in_the_group_of_their_key_if_it_is_one_of_the_image_and_else_in_none"
"""What every engine is asked of keys that are images."""

TOO_MANY_ROWS = "test_the_rows_of_one_patient_do_not_multiply_beyond_what_an_engine_holds"

WINDOWS = "tests/session/releases/test_windows.py::"
TWO_SALTS = "release_together(plan.sections, plan.workloads, lambda one: run(one, salt=f'{id(one):032x}'))"
RAISED = """
def _raised(shares: Sequence[Share], sharing: Sharing) -> list[Share]:
    users = [sum(place in own for own in sharing.places) for place in range(len(shares))]
    return [
        replace(share, mechanism=laplace(need.sensitivity, share.epsilon * count)) if isinstance(need, Noise) else share
        for share, need, count in zip(shares, sharing.needs, users, strict=True)
    ]


"""
ALIKE = """
def _alike(*both: NoisyMeasures) -> bool:
    first, second = ([measure.range() for measure in one.measures] for one in both)
    return first == second


"""

MUTANTS = (
    Mutant(
        name="a batch charges one part",
        edits=(
            (
                "query/planning/batch.py",
                "*chain.from_iterable(own), *(one.event for one in self.workloads)",
                "*own[0], *(one.event for one in self.workloads[:1])",
            ),
        ),
        tests=(f"{BATCH}test_all_that_is_measured_is_one_event_that_costs_no_more_than_the_total",),
    ),
    Mutant(
        name="each question of a batch spends the whole",
        edits=(
            (
                "query/planning/batch.py",
                "allocation = allocate(needs, total, weights=weights, law=law)",
                "allocation = allocate(needs, replace(total, epsilon=2 * total.epsilon), weights=weights, law=law)",
            ),
        ),
        tests=(f"{BATCH}test_all_that_is_measured_is_one_event_that_costs_no_more_than_the_total",),
    ),
    Mutant(
        name="two salts in one batch",
        edits=(
            (
                "session/asking/execution.py",
                "release_together(plan.sections, plan.workloads, run)",
                TWO_SALTS,
            ),
        ),
        tests=("tests/session/asking/test_batch.py::test_all_statements_of_a_batch_see_one_salt",),
    ),
    Mutant(
        name="questions under other filters share a number",
        edits=(
            (
                "query/planning/ways.py",
                "key = question.child.child, question.limits, keys",
                "key = question.limits, keys",
            ),
            ("query/planning/ways.py", "known = [(one.child.child, one.limits, own)", "known = [(one.limits, own)"),
        ),
        tests=(f"{BATCH}test_other_groups_and_other_rows_are_measured_apart",),
    ),
    Mutant(
        name="questions under other limits share a number",
        edits=(
            (
                "query/planning/ways.py",
                "key = question.child.child, question.limits, keys",
                "key = question.child.child, keys",
            ),
            (
                "query/planning/ways.py",
                "known = [(one.child.child, one.limits, own)",
                "known = [(one.child.child, own)",
            ),
        ),
        tests=(f"{BATCH}test_other_limits_are_measured_apart",),
    ),
    Mutant(
        name="rows that no key lists count as those of its first value",
        edits=(("query/planning/axes.py", "literal(other)), (*ordered", "literal(ordered[0])), (*ordered"),),
        tests=(f"{WORKLOADS}test_every_row_is_in_a_cell_and_those_that_are_not_listed_in_the_last_of_an_axis",),
    ),
    Mutant(
        name="conditions of units with limits are parts of one histogram",
        edits=(
            (
                "query/planning/ways.py",
                "if not is_apart or shape_of(rows).metric is not Metric.ROWS:",
                "if not is_apart:",
            ),
        ),
        tests=(f"{WAYS}test_where_units_have_limits_conditions_are_rows_of_their_own",),
    ),
    Mutant(
        name="a condition that some questions have holds for all of a histogram",
        edits=(
            (
                "query/planning/ways.py",
                "if all(one in other.apart for other in others)]",
                "if any(one in other.apart for other in others)]",
            ),
        ),
        tests=(f"{WAYS}test_conditions_of_several_columns_are_products",),
    ),
    Mutant(
        name="NULL is in the first part of a line",
        edits=(
            (
                "query/planning/axes.py",
                "for condition, code in branches), literal(null))",
                "for condition, code in branches), literal(own[0]))",
            ),
        ),
        tests=(f"{AXES}test_a_cell_is_asked_for_exactly_if_its_values_are",),
    ),
    Mutant(
        name="what is equal to a constant is below it",
        edits=(("query/planning/axes.py", "np.where(parts <= low, -1", "np.where(parts <= low + 1, -1"),),
        tests=(f"{AXES}test_a_cell_is_asked_for_exactly_if_its_values_are",),
    ),
    Mutant(
        name="of chosen sums each cell is in one",
        edits=(
            (
                "mechanisms/workloads/queries.py",
                "return int(kind.matrix(cells).sum(axis=0).max())",
                "return 1",
            ),
        ),
        tests=(
            "tests/mechanisms/workloads/test_queries.py::test_queries_are_those_of_the_matrix",
            "tests/mechanisms/workloads/test_components.py::test_limits_are_those_of_the_matrix",
        ),
    ),
    Mutant(
        name="one more row takes no row of a histogram away",
        edits=(
            (
                "query/planning/workloads.py",
                "return isinstance(rows, Source) or shape_of(rows).metric is Metric.UNITS",
                "return True",
            ),
        ),
        tests=(f"{WORKLOADS}test_only_rows_of_one_table_are_surely_added",),
    ),
    Mutant(
        name="a unit has one row of a histogram",
        edits=(("query/planning/workloads.py", "l1=reach.rows * furthest,", "l1=furthest,"),),
        tests=(f"{WORKLOADS}test_all_pairs_of_tiny_databases_of_people_are_within_the_claim",),
    ),
    Mutant(
        name="a row of a histogram counts one, whatever it adds",
        edits=(("query/planning/workloads.py", "furthest = max(abs(low), abs(high))", "furthest = 1"),),
        tests=(f"{WORKLOADS}test_all_pairs_of_tiny_databases_of_people_are_within_the_claim",),
    ),
    Mutant(
        name="limits on groups mean the same for every table of a histogram",
        edits=(
            (
                "query/planning/workloads.py",
                "return limits.max_groups_per_unit is None and limits.max_rows_per_group_per_unit is None",
                "return True",
            ),
        ),
        tests=(f"{WAYS}test_groups_under_limits_of_their_own_are_no_workload",),
    ),
    Mutant(
        name="a RIGHT JOIN keeps the rows of its left side",
        edits=(
            (
                "query/sql/joins.py",
                "pairs = joined(context, right, left, conditions",
                "pairs = joined(context, left, right, conditions",
            ),
        ),
        tests=("tests/query/sql/test_joins.py::test_a_right_join_is_a_left_join_of_the_sides_exchanged",),
    ),
    Mutant(
        name="a window in a sub-query is of whatever rows it says",
        edits=(
            (
                "query/sql/windows.py",
                "if not is_own and scope.shape.metric is not Metric.PUBLIC:",
                "if scope.shape.metric is Metric.ROWS:",
            ),
        ),
        tests=("tests/query/sql/test_windows.py::test_a_window_in_a_sub_query_is_over_the_rows_of_a_unit",),
    ),
    Mutant(
        name="a sub-query as a value reads the rows of anybody",
        edits=(
            (
                "query/sql/subqueries.py",
                "if inner.scope.shape.metric is Metric.PUBLIC:",
                "if inner.scope.shape.metric is around.shape.metric:",
            ),
        ),
        tests=("tests/query/sql/test_subqueries.py::test_rows_of_other_people_are_not_looked_at",),
    ),
    Mutant(
        name="rows that are units are put in order",
        edits=(
            (
                "query/analysis/shape.py",
                'if shape.metric is Metric.ROWS:\n        raise NotPrivateError(\n            "a window',
                'if False:\n        raise NotPrivateError(\n            "a window',
            ),
        ),
        tests=("tests/query/analysis/test_shape.py::test_a_window_is_over_the_rows_of_a_unit_or_of_public_ones",),
    ),
    Mutant(
        name="a rank by released numbers is called certain",
        edits=(
            (
                "session/releases/presenting.py",
                "if value is None or not names <= line.keys.keys():",
                "if value is None:",
            ),
        ),
        tests=(f"{WINDOWS}test_where_released_numbers_say_which_rows_the_interval_is_unknown",),
    ),
    Mutant(
        name="the ends of a bought interval are free",
        edits=(
            (
                "query/planning/sections.py",
                "return Choice(is_free=moved(statement, neighboring_relation) == 0)",
                "return Choice(is_free=getattr(component, 'side', None) is not None)",
            ),
        ),
        tests=(
            "tests/query/statistics/test_ranks.py::test_an_interval_takes_two_thirds_of_the_price_and_none_of_anything_else",
        ),
    ),
    Mutant(
        name="noise relies on limits of tables that no engine enforces below a join",
        edits=(("query/analysis/stability.py", "keys, is_bound=True)", "keys)"),),
        tests=(
            "tests/query/analysis/test_stability.py::test_a_limit_that_no_engine_enforces_below_a_join_bounds_no_noise",
        ),
    ),
    Mutant(
        name="a row of a public join moves as one, however many partners it has",
        edits=(("query/analysis/stability.py", "return own * matches(relation) if own else 0", "return own"),),
        tests=(f"{TINY}test_f1_e6_no_operator_moves_more_rows_than_it_is_said_to_and_what_it_does_move_is_known",),
    ),
    Mutant(
        name="a group that changes counts once",
        edits=(("query/analysis/stability.py", "return 2 * _moved(child, table)", "return _moved(child, table)"),),
        tests=(f"{TINY}test_f1_e6_no_operator_moves_more_rows_than_it_is_said_to_and_what_it_does_move_is_known",),
    ),
    Mutant(
        name="a union of a table with itself moves as one row",
        edits=(
            (
                "query/analysis/stability.py",
                "return _moved(left, table) + _moved(right, table)",
                "return _moved(left, table)",
            ),
        ),
        tests=(f"{TINY}test_f1_e6_no_operator_moves_more_rows_than_it_is_said_to_and_what_it_does_move_is_known",),
    ),
    Mutant(
        name="the table of which the fewest rows move is the one that counts",
        edits=(("query/analysis/stability.py", "return max((_moved(", "return min((_moved("),),
        tests=("tests/query/test_textbook_sensitivities.py::test_e6_a_transformation_is_as_stable_as_pinq_says",),
    ),
    Mutant(
        name="a unit that takes the place of another moves as one",
        edits=(("query/analysis/stability.py", "l1 = min(2 * one.l1, furthest * touched)", "l1 = one.l1"),),
        tests=("tests/query/test_tiny_databases.py",),
    ),
    Mutant(
        name="a value and the one that replaces it are never on two sides of 0",
        edits=(("query/analysis/stability.py", "width = max(high, 0) - min(low, 0)", "width = max(high, -low)"),),
        tests=("tests/query/test_textbook_sensitivities.py",),
    ),
    Mutant(
        name="in L2 the rows of a unit lie apart",
        edits=(
            (
                "query/analysis/stability.py",
                "squares = full * reach.rows_per_group**2 + rest**2",
                "squares = reach.rows",
            ),
        ),
        tests=("tests/query/test_tiny_databases.py",),
    ),
    Mutant(
        name="every line of a file is taken for a row",
        edits=(("query/analysis/stability.py", "rows.table.keeps_rows and not statement.keys", "not statement.keys"),),
        tests=("tests/query/test_textbook_sensitivities.py",),
    ),
    Mutant(
        name="an analyst widens the limits of the policy",
        edits=(
            (
                "query/analysis/bounding.py",
                "max_rows_per_unit=least(limits.max_rows_per_unit, asked.max_rows_per_unit),",
                "max_rows_per_unit=asked.max_rows_per_unit or limits.max_rows_per_unit,",
            ),
        ),
        tests=("tests/query/analysis/test_bounding.py",),
    ),
    Mutant(
        name="nothing is bounded below a join",
        edits=(
            (
                "query/analysis/bounding.py",
                "left, right = _bounded(left), right if is_public(right) else _bounded(right)",
                "pass",
            ),
        ),
        tests=("tests/query/analysis/test_bounding.py",),
    ),
    Mutant(
        name="the second table of a join is not bounded",
        edits=(
            (
                "query/analysis/bounding.py",
                "left, right = _bounded(left), right if is_public(right) else _bounded(right)",
                "left = _bounded(left)",
            ),
        ),
        tests=("tests/query/analysis/test_bounding.py",),
    ),
    Mutant(
        name="rows are bounded behind a join within units, and not below it",
        edits=(
            (
                "query/analysis/bounding.py",
                "left, right = _bounded(left), right if is_public(right) else _bounded(right)",
                "return _bounded(replace(relation, left=left, right=right))",
            ),
        ),
        tests=("tests/query/analysis/test_bounding.py",),
    ),
    Mutant(
        name="of a union only the first table has limits",
        edits=(
            (
                "query/analysis/bounding.py",
                "return _added(limits_of(left, seen), limits_of(right, seen))",
                "return limits_of(left, seen)",
            ),
        ),
        tests=("tests/query/analysis/test_bounding.py",),
    ),
    Mutant(
        name="columns that are whole numbers on one side and floats on the other join",
        edits=(("query/analysis/shape.py", "    _check_kinds(join.on, left, right)\n", ""),),
        tests=("tests/query/analysis/test_shape.py",),
    ),
    Mutant(
        name="private rows that are units meet any others",
        edits=(("query/analysis/shape.py", "if left.metric is Metric.ROWS and not is_keyed:", "if False:"),),
        tests=("tests/query/analysis/test_shape.py",),
    ),
    Mutant(
        name="a choice costs as much however many rows a unit has",
        edits=(
            (
                "query/planning/sections.py",
                "return share.epsilon / rows if rows else",
                "return share.epsilon if rows else",
            ),
        ),
        tests=("tests/query/planning/test_sections.py",),
    ),
    Mutant(
        name="a row that is replaced is paid for once in a choice",
        edits=(
            (
                "query/planning/sections.py",
                "return rows if neighboring_relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2 * rows",
                "return rows",
            ),
        ),
        tests=("tests/query/planning/test_sections.py",),
    ),
    Mutant(
        name="of a vector of sums only the first moves",
        edits=(
            (
                "query/planning/sections.py",
                "    if len(parts) == 1:\n        return Noise(parts[0])",
                "    return Noise(parts[0])",
            ),
        ),
        tests=("tests/query/planning/test_sections.py",),
    ),
    Mutant(
        name="different values are counted among all rows",
        edits=(
            (
                "query/statistics/counts.py",
                "rows=Distinct(Select(rows.rows, columns))",
                "rows=Select(rows.rows, columns)",
            ),
        ),
        tests=("tests/query/statistics/test_counts.py",),
    ),
    Mutant(
        name="weights are taken as they are, not as shares",
        edits=(
            (
                "query/planning/allocation.py",
                "return [epsilon * weight / whole if weight",
                "return [epsilon * weight if weight",
            ),
        ),
        tests=("tests/query/planning/test_allocation.py",),
    ),
    Mutant(
        name="Gaussian answers that are calibrated together have the ε of all of them each",
        edits=(
            (
                "query/planning/allocation.py",
                "weights=parts,\n            epsilon=epsilon, delta=delta,",
                "weights=parts,\n            epsilon=epsilon * len(parts), delta=delta,",
            ),
        ),
        tests=("tests/query/planning/test_allocation.py",),
    ),
    Mutant(
        name="every taker of δ has all of it",
        edits=(("query/planning/allocation.py", "delta = total.delta / max(1, takers)", "delta = total.delta"),),
        tests=("tests/query/planning/test_allocation.py",),
    ),
    Mutant(
        name="bounds are chosen for nothing",
        edits=(
            (
                "query/planning/plan.py",
                "rest = guarantee(total.epsilon - sum(epsilons, start=Fraction(0)), total.delta)",
                "rest = guarantee(total.epsilon, total.delta)",
            ),
        ),
        tests=("tests/query/planning/test_auto_bounds.py",),
    ),
    Mutant(
        name="the cells that bounds are chosen from move as one row, however many a unit has",
        edits=(
            (
                "query/planning/auto_bounds.py",
                "mechanism = laplace(moved, epsilon)",
                "mechanism = laplace(type(moved)(l1=min(1, moved.l1), l2=moved.l2, l0=moved.l0), epsilon)",
            ),
        ),
        tests=("tests/query/planning/test_auto_bounds.py",),
    ),
    Mutant(
        name="a noisy number is shared across different filters",
        edits=(
            (
                "query/planning/sharing.py",
                "return self._measured.get((component, time))",
                "return next((p for (c, t), p in self._measured.items() if t == time and _alike(c, component)), None)",
            ),
            (
                "query/planning/sharing.py",
                "class _Numbers:",
                ALIKE + "class _Numbers:",
            ),
        ),
        tests=(
            "tests/query/planning/test_sharing.py::test_nothing_is_shared_across_filters_values_or_bounds",
            f"{NEIGHBORS}test_without_noise_shared_numbers_make_the_answers_that_numbers_of_their_own_do",
        ),
    ),
    Mutant(
        name="of two numbers with the same noise only one is told of",
        edits=(
            (
                "query/statistics/measurements.py",
                "*(measurement.event for measurement in self.measurements)",
                "*dict.fromkeys(measurement.event for measurement in self.measurements)",
            ),
        ),
        tests=("tests/query/planning/test_sharing.py", "tests/query/planning/test_plan.py"),
    ),
    Mutant(
        name="a number that several statistics need is paid for as if one did, and noised as if each did",
        edits=(
            (
                "query/planning/sections.py",
                "for component, share in zip(self.sharing.components, shares, strict=True)",
                "for component, share in zip(self.sharing.components, _raised(shares, self.sharing), strict=True)",
            ),
            (
                "query/planning/sections.py",
                "def _per_row(share: Share",
                RAISED + "def _per_row(share: Share",
            ),
            (
                "query/planning/sections.py",
                "import Choice, KeySelection, Need, Noise, Share, Weight",
                "import Choice, KeySelection, Need, Noise, Share, Weight, laplace",
            ),
        ),
        tests=("tests/query/planning/test_sharing.py", "tests/query/planning/test_plan.py"),
    ),
    Mutant(
        name="each of several quantiles has the share of all",
        edits=(
            (
                "query/planning/sections.py",
                "upper=last, epsilon=epsilon)\n    quantile",
                "upper=last, epsilon=epsilon * len(component.quantiles))\n    quantile",
            ),
        ),
        tests=("tests/query/planning/test_common_choices.py",),
    ),
    Mutant(
        name="quantiles of different values are chosen at once",
        edits=(
            (
                "query/planning/common_choices.py",
                "for one, quantiles in by_statement if one == own.statement)",
                "for one, quantiles in by_statement)",
            ),
        ),
        tests=("tests/query/planning/test_common_choices.py",),
    ),
    Mutant(
        name="each of several quantiles shows the first",
        edits=(("query/planning/common_choices.py", "coordinate=coordinate", "coordinate=0"),),
        tests=("tests/query/planning/test_common_choices.py",),
    ),
    Mutant(
        name="both times that a statistic needs a number it gets one noise",
        edits=(("query/planning/sharing.py", "times[first] += 1", "pass"),),
        tests=("tests/query/planning/test_sharing.py",),
    ),
    Mutant(
        name="a sum around its middle leaves out the count",
        edits=(
            (
                "query/statistics/measurements.py",
                "return ((self.total, 0), 1), ((self.count, 0), self.middle)",
                "return ((self.total, 0), 1), ((self.count, 0), 0)",
            ),
        ),
        tests=("tests/session/test_neighbors.py",),
    ),
    Mutant(
        name="only the first of several ways to group is told of",
        edits=(
            (
                "query/planning/plan.py",
                "for section in self.sections for event in section.events",
                "for section in self.sections[:1] for event in section.events",
            ),
        ),
        tests=("tests/query/planning/test_plan.py",),
    ),
    Mutant(
        name="the selection of private keys is not told of",
        edits=(
            (
                "query/statistics/measurements.py",
                "chosen = () if self.selection is None else (self.selection.event,)",
                "chosen: tuple[Event, ...] = ()",
            ),
        ),
        tests=("tests/query/statistics/test_measurements.py",),
    ),
    Mutant(
        name="a statistic is the same question whatever it is clamped to",
        edits=(
            (
                "query/printing/canonical.py",
                "fields.items() if part}",
                'fields.items() if part and stored != "bounds"}',
            ),
        ),
        tests=("tests/query/printing/test_canonical.py::test_whatever_changes_an_exact_answer_makes_another_question",),
    ),
    Mutant(
        name="rows that are sampled below a join are the same whatever their columns",
        edits=(("query/printing/canonical.py", "_form(bound_joins(group_by.child))", "_form(group_by.child)"),),
        tests=("tests/query/printing/test_canonical.py::test_whatever_changes_an_exact_answer_makes_another_question",),
    ),
    Mutant(
        name="a limit is no part of a question",
        edits=(("query/printing/canonical.py", '"limits": _limits(question.limits),', '"limits": None,'),),
        tests=("tests/query/printing/test_canonical.py::test_whatever_changes_an_exact_answer_makes_another_question",),
    ),
    Mutant(
        name="a median takes a unit of one row for the whole of it",
        edits=(
            (
                "query/planning/sections.py",
                "rows = reach_of(statement).rows",
                "rows = min(1, reach_of(statement).rows)",
            ),
        ),
        tests=("tests/query/planning/test_sections.py",),
    ),
    Mutant(
        name="joins may make any number of rows of one unit",
        edits=(("query/planning/sections.py", "    check_growth(question.child.child)\n", ""),),
        tests=(f"tests/attacks_on_questions/test_function_attacks.py::{TOO_MANY_ROWS}",),
    ),
    Mutant(
        name="rows that meet several public ones are not bounded before they do",
        edits=(
            (
                "query/analysis/bounding.py",
                "not is_public(join.right) or matches(join) > 1",
                "not is_public(join.right)",
            ),
        ),
        tests=("tests/query/analysis/test_bounding.py",),
    ),
    Mutant(
        name="groups by more columns are taken to be one row of each group by fewer",
        edits=(("query/analysis/bounding.py", "return 1 if columns.issuperset(keys) else None", "return 1"),),
        tests=(
            "tests/query/test_textbook_sensitivities.py::test_a_group_has_no_more_rows_of_a_unit_than_share_its_keys",
        ),
    ),
    Mutant(
        name="a unit is known by the beginning of its id",
        edits=(
            (
                "query/model/schema.py",
                "replace(column, is_id=True) if name in names",
                "replace(column) if name in names",
            ),
        ),
        tests=(f"{READING}test_long_ids_are_never_cut",),
    ),
    Mutant(
        name="a text that is too long may be a public key",
        edits=(("query/model/columns.py", "return self.max_length + 1", "return self.max_length"),),
        tests=(f"{READING}test_a_text_that_is_too_long_is_none_of_the_public_keys",),
    ),
    Mutant(
        name="how much of a text is read is no part of a question",
        edits=(
            (
                "query/printing/canonical.py",
                'ColumnRef(name) if column.longest is None else _origin("column", name, column.longest)',
                "ColumnRef(name)",
            ),
        ),
        tests=("tests/query/printing/test_canonical.py::test_whatever_changes_an_exact_answer_makes_another_question",),
    ),
    Mutant(
        name="any pattern takes as long as the text",
        edits=(("query/analysis/work.py", "return 1 + len(pattern) * length", "return 1 + length"),),
        tests=("tests/query/analysis/test_work.py::test_any_other_pattern_is_admitted_only_while_it_is_short",),
    ),
    Mutant(
        name="a pattern may be as long as one likes",
        edits=(("query/analysis/work.py", "if len(pattern) * length > MAX_PATTERN_WORK:", "if False:"),),
        tests=("tests/query/analysis/test_work.py::test_any_other_pattern_is_admitted_only_while_it_is_short",),
    ),
    Mutant(
        name="only the first statement of a question is bounded in its work",
        edits=(("query/planning/sections.py", "for statement in statements:", "for statement in statements[:1]:"),),
        tests=("tests/query/analysis/test_work.py",),
    ),
    Mutant(
        name="a computed column takes one step wherever it is read",
        edits=(
            (
                "query/analysis/work.py",
                "return made, total + sum(made.values())",
                "return dict.fromkeys(made, 1), total + sum(made.values())",
            ),
        ),
        tests=("tests/query/analysis/test_work.py::test_a_column_that_is_computed_counts_wherever_it_is_read",),
    ),
    Mutant(
        name="texts that are joined are as long as the first",
        edits=(("query/analysis/signatures.py", "return min(sum(lengths), MAX_TEXT)", "return first"),),
        tests=("tests/query/analysis/test_work.py::test_the_length_of_a_text_that_is_made_is_public",),
    ),
    Mutant(
        name="a sum is stored under the tag of a mean, and a mean under that of a sum",
        edits=(
            (
                "query/statistics/means.py",
                'Names("Sum", "bounds", unwritten=("value",))\n    spellings: ClassVar = (of_one("SUM"',
                'Names("Mean", "bounds", unwritten=("value",))\n    spellings: ClassVar = (of_one("SUM"',
            ),
            (
                "query/statistics/means.py",
                'Names("Mean", "bounds", unwritten=("value",))\n    spellings: ClassVar = (of_one("AVG"',
                'Names("Sum", "bounds", unwritten=("value",))\n    spellings: ClassVar = (of_one("AVG"',
            ),
        ),
        tests=("tests/session/asking/test_answer_key.py",),
    ),
    Mutant(
        name="an event is stored under another tag",
        edits=(("privacy/codec.py", 'Names("ZCDPEvent", "rho")', 'Names("ConcentratedEvent", "rho")'),),
        tests=("tests/session/test_stored_names.py::test_every_name_that_was_ever_stored_is_stored_still",),
    ),
    Mutant(
        name="a scale is stored as a sensitivity, and a sensitivity as a scale",
        edits=(
            (
                "privacy/codec.py",
                '"DiscreteLaplaceEvent", "scale", "l1_sensitivity"',
                '"DiscreteLaplaceEvent", ("scale", "l1_sensitivity"), ("l1_sensitivity", "scale")',
            ),
        ),
        tests=("tests/privacy/test_codec.py::test_the_written_form_never_changes",),
    ),
    Mutant(
        name="a stored answer is given whatever the owner lets one unit add",
        edits=(
            (
                "session/asking/answer_key.py",
                '"unit", "limits", "matches", "keeps_rows")',
                '"unit", "matches", "keeps_rows", unwritten=("limits",))',
            ),
        ),
        tests=("tests/session/asking/test_answer_key.py",),
    ),
    Mutant(
        name="an image computed from data",
        edits=(
            (
                "session/releases/releasing.py",
                "        return groups(section.statements[0])\n",
                "        return sorted(zip(*found.keys, strict=True)) if found.keys else [()]\n",
            ),
        ),
        tests=(
            "tests/session/test_images_in_answers.py::test_an_answer_has_the_groups_of_the_image_and_no_others_whatever_is_stored",
        ),
    ),
    Mutant(
        name="an image without the key join",
        edits=(
            (
                "engines/reference/groups.py",
                "any(value is None or (listed is not None and value not in listed) for value, listed in keys)",
                "any(value is None for value, _ in keys)",
            ),
        ),
        tests=("tests/engines/reference/test_engine.py::TestReferenceEngine::" + OF_IMAGES,),
    ),
    Mutant(
        name="an image of whole numbers without the key join in SQL",
        edits=(
            (
                "engines/sql/entries.py",
                "kept.append(present(value) if group.span is None else between(value, *map(whole, group.span)))",
                "kept.append(present(value))",
            ),
        ),
        tests=("tests/engines/duckdb/test_engine.py::TestDuckDBEngine::" + OF_IMAGES,),
    ),
    Mutant(
        name="a private key that is computed takes no time",
        edits=(("query/analysis/work.py", "for key in statement.keys if key.values is None)", "for key in ())"),),
        tests=("tests/query/analysis/test_work.py::test_a_computed_key_counts_once_if_it_is_listed_and_else_twice",),
    ),
    Mutant(
        name="the median of dates is of all time",
        edits=(
            (
                "query/statistics/quantiles.py",
                "    lower, upper = facts.interval.lower, facts.interval.upper\n",
                "    lower, upper = YEARS[facts.kind].lower, YEARS[facts.kind].upper\n",
            ),
        ),
        tests=("tests/query/statistics/test_quantiles.py",),
    ),
    Mutant(
        name="whatever has no stored name is written as Python calls it",
        edits=(
            (
                "privacy/stored_names.py",
                "            raise _unstored(self._what, value) from None\n",
                "            return Names(type(value).__name__)\n",
            ),
        ),
        tests=("tests/session/test_stored_names.py::test_what_has_no_name_is_refused",),
    ),
    Mutant(
        name="above a whole number is at least that number, once folded",
        edits=(("query/analysis/folding.py", "least = floor(bound) + 1 if", "least = floor(bound) if"),),
        tests=("tests/query/analysis/test_folding.py::test_whole_numbers_are_compared_with_constants_as_before",),
    ),
    Mutant(
        name="what may be NULL passes IS NOT NULL, once folded",
        edits=(
            (
                "query/analysis/folding.py",
                "return IsNull(inner) if facts_of(inner, columns).nullable else Literal(value=False)",
                "return Literal(value=False)",
            ),
        ),
        tests=("tests/query/analysis/test_folding.py::test_a_column_that_may_be_null_stays_in_question",),
    ),
    Mutant(
        name="fractions are folded as whole numbers are",
        edits=(("query/analysis/folding.py", "value.denominator == 1 and ", ""),),
        tests=(
            "tests/query/analysis/test_folding.py::test_fractions_are_not_added_in_advance_as_engines_add_them_in_doubles",
        ),
    ),
)
