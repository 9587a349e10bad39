"""Seeded bugs of what conditions narrow: where facts are kept that do not hold, or hold and are not enforced."""

from tests.mutations.mutants import Mutant

NARROWING = "tests/query/analysis/test_narrowing.py::"
NARROWED = "tests/query/test_narrowed_statements.py::"

MUTANTS = (
    Mutant(
        name="what one side of an OR says holds of both",
        edits=(
            (
                "query/analysis/narrowing.py",
                "combine = _all if isinstance(condition, And) is truth.is_true else _any",
                "combine = _all",
            ),
        ),
        tests=(f"{NARROWING}test_a_condition_narrows_the_range_of_what_it_compares",),
    ),
    Mutant(
        name="what a condition says holds where NOT says the opposite",
        edits=(("query/analysis/narrowing.py", "replace(truth, is_true=not truth.is_true)", "truth"),),
        tests=(f"{NARROWING}test_a_condition_narrows_the_range_of_what_it_compares",),
    ),
    Mutant(
        name="a comparison that is false narrows as if it were true",
        edits=(
            (
                "query/analysis/narrowing.py",
                "comparison = comparison if truth.is_true else OPPOSITE[comparison]",
                "pass",
            ),
        ),
        tests=(f"{NARROWING}test_a_condition_narrows_the_range_of_what_it_compares",),
    ),
    Mutant(
        name="what is known of the right side of a LEFT JOIN holds in rows without a partner",
        edits=(
            (
                "query/analysis/shape.py",
                "KnownColumns({**left.columns, **missing}, _expressions(left))",
                "KnownColumns({**left.columns, **missing}, {**_expressions(left), **_expressions(right)})",
            ),
        ),
        tests=(f"{NARROWING}test_what_fills_the_place_of_a_missing_partner_is_not_narrowed",),
    ),
    Mutant(
        name="columns of the right side of a LEFT JOIN are never NULL if a condition said so before",
        edits=(("query/analysis/shape.py", "name: replace(facts, nullable=True) for name", "name: facts for name"),),
        tests=(
            f"{NARROWING}test_an_inner_join_keeps_what_is_known_of_both_sides",
            f"{NARROWED}test_conditions_change_no_exact_answer_and_no_unit_moves_a_narrowed_one_further_than_is_claimed",
        ),
    ),
    Mutant(
        name="what a condition bounds is not clamped",
        edits=(
            (
                "query/values/evaluation.py",
                "    if quotient >= steps.upper:\n        return steps.upper\n",
                "    if not steps.nullable:\n        return math.floor(quotient + 0.5)\n",
            ),
        ),
        tests=(
            f"{NARROWED}test_conditions_change_no_exact_answer_and_no_unit_moves_a_narrowed_one_further_than_is_claimed",
        ),
    ),
    Mutant(
        name="a branch of CASE is narrowed by conditions of others that may have been NULL, as if they were false",
        edits=(
            (
                "query/analysis/narrowing.py",
                "NOT_TRUE: Final = Truth(is_true=False, or_null=True)",
                "NOT_TRUE: Final = Truth(is_true=False)",
            ),
        ),
        tests=(f"{NARROWING}test_a_condition_that_was_not_true_may_have_been_null",),
    ),
    Mutant(
        name="a float that is less than a bound is summed as less, though it is rounded",
        edits=(("query/values/comparing.py", "else ceil(steps))", "else floor(steps))"),),
        tests=(f"{NARROWING}test_a_condition_narrows_the_range_of_what_it_compares",),
    ),
    Mutant(
        name="an expression over renamed columns is known by the names of others",
        edits=(
            ("query/analysis/shape.py", "return {replaced(one, kept): facts for one", "return {one: facts for one"),
        ),
        tests=(f"{NARROWING}test_an_expression_keeps_what_is_known_of_it_and_of_it_alone",),
    ),
    Mutant(
        name="a question is called by the facts that conditions narrow",
        edits=(
            (
                "query/analysis/inference.py",
                "found = {} if edition is Edition.FIRST else narrowed(",
                "found = narrowed(",
            ),
        ),
        tests=(f"{NARROWING}test_by_the_first_rules_conditions_say_nothing",),
    ),
)
