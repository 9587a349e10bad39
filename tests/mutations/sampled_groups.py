"""Seeded bugs of groups in samples, of several answers about one sample, and of calibrations for learning."""

from tests.mutations.mutants import Mutant

MUTANTS = (
    Mutant(
        name="units that are not drawn hide nothing",
        edits=(
            (
                "accounting/profiles/sampled_groups.py",
                "(float_down(_present(self.drawn)) + np.expm1(asked))",
                "(1.0 + np.expm1(asked))",
            ),
        ),
        tests=("tests/accounting/profiles/test_sampled_groups.py::test_every_line_gives_a_bound_for_every_mechanism",),
    ),
    Mutant(
        name="an absent group is compared with too little of the others",
        edits=(
            (
                "accounting/profiles/sampled_groups.py",
                "losses(t)) >= needed",
                "losses(t)) >= needed / 2",
            ),
        ),
        tests=("tests/accounting/profiles/test_sampled_groups.py::test_every_line_gives_a_bound_for_every_mechanism",),
    ),
    Mutant(
        name="what replaces a unit is taken for the unit",
        edits=(
            (
                "accounting/profiles/sampled_groups.py",
                "np.exp(asked - b) * hockey_up(pair.reversed(), b)",
                "np.exp(asked - b) * hockey_up(pair, b)",
            ),
        ),
        tests=("tests/accounting/profiles/test_sampled_groups.py::test_every_line_gives_a_bound_for_every_mechanism",),
    ),
    Mutant(
        name="both sides of an exchange take all the slack",
        edits=(
            (
                "accounting/profiles/sampled_groups.py",
                "<= allowed + left * (1 - _SLACK)",
                "<= 2 * allowed + left * (1 - _SLACK)",
            ),
        ),
        tests=(
            "tests/accounting/profiles/test_sampled_groups.py::test_noise_on_the_integers_has_its_exact_two_sided_pair",
        ),
    ),
    Mutant(
        name="a unit that is exchanged costs no more than one that is added",
        edits=(
            (
                "accounting/profiles/sampled_groups.py",
                "floor = asked if self.is_exchange else",
                "floor = asked - 1 if self.is_exchange else",
            ),
        ),
        tests=(
            "tests/accounting/profiles/test_sampled_groups.py::test_exchanged_groups_cost_at_least_what_their_mixture_does",
        ),
    ),
    Mutant(
        name="one of a group takes the place of another in a sample",
        edits=(
            (
                "accounting/profiles/sampled_groups.py",
                "math.perm(others, size - count), total)",
                "math.perm(others - 1, size - count), total)",
            ),
        ),
        tests=("tests/accounting/profiles/test_sampled_groups.py::test_the_numbers_drawn_are_those_of_all_subsets",),
    ),
    Mutant(
        name="a sample of a sample is as large as the smaller one",
        edits=(
            (
                "accounting/core/normal_form.py",
                "event.sampling_probability * inside.sampling_probability, inside.event)",
                "min(event.sampling_probability, inside.sampling_probability), inside.event)",
            ),
        ),
        tests=("tests/accounting/core/test_normal_form.py",),
    ),
    Mutant(
        name="several answers about one sample are one of them",
        edits=(
            (
                "accounting/profiles/sampled_groups.py",
                "total += count / event.noise_multiplier**2",
                "total = count / event.noise_multiplier**2",
            ),
        ),
        tests=(
            "tests/accounting/profiles/test_of_event.py::test_gaussian_answers_about_one_sample_cost_as_much_as_one_with_less_noise",
        ),
    ),
    Mutant(
        name="of a partition one part is paid for",
        edits=(("ledger/core/prices.py", "touched = min(touched_parts(most, relation), len(events))", "touched = 1"),),
        tests=("tests/ledger/core/test_prices.py",),
    ),
    Mutant(
        name="repeated Gaussian answers are paid for once",
        edits=(
            (
                "ledger/core/prices.py",
                "yield from ((part, count * times) for part, count in",
                "yield from ((part, count) for part, count in",
            ),
        ),
        tests=("tests/ledger/core/test_prices.py",),
    ),
    Mutant(
        name="participations may be nearer than they are said to be apart",
        edits=(
            (
                "accounting/core/matrix_events.py",
                "before[max(place + 1 - apart, 0)] + value",
                "before[max(place + 1 - apart - 1, 0)] + value",
            ),
        ),
        tests=("tests/accounting/core/test_matrix_events.py",),
    ),
    Mutant(
        name="columns that share rows are added up by their squares",
        edits=(("accounting/core/matrix_events.py", "list(np.diag(products) + rest)", "list(np.diag(products))"),),
        tests=("tests/accounting/core/test_matrix_events.py",),
    ),
    Mutant(
        name="an attack that fails by chance is limited by the odds alone",
        edits=(("accounting/goals.py", "min(odds * blind + delta,", "min(odds * blind,"),),
        tests=("tests/accounting/test_goals.py",),
    ),
    Mutant(
        name="a leak is no part of a budget",
        edits=(("accounting/goals.py", "is_rare = spent.approximation <= goal.delta", "is_rare = True"),),
        tests=("tests/accounting/test_goals.py",),
    ),
)
