"""Seeded bugs of audits in one run, and of attacks on members, attributes and time."""

from tests.mutations.mutants import Mutant

_FOLDER = "audit/canaries"

MUTANTS = (
    Mutant(
        name="guesses about canaries may be right as often as e^ε to one",
        edits=(
            (
                f"{_FOLDER}/guesses.py",
                "wrong = np.array([1 / (1 + exp_up(epsilon))])",
                "wrong = np.array([1 / (2 + exp_up(epsilon))])",
            ),
        ),
        tests=("tests/audit/canaries/test_guesses.py",),
    ),
    Mutant(
        name="what δ lets through is not multiplied by the canaries",
        edits=((f"{_FOLDER}/guesses.py", "(tail + guesses.canaries * delta", "(tail + delta"),),
        tests=("tests/audit/canaries/test_guesses.py",),
    ),
    Mutant(
        name="the number of right guesses itself is left out of its tail",
        edits=(
            (
                f"{_FOLDER}/guesses.py",
                "    tail = binom.cdf(guesses.made - guesses.right,",
                "    tail = binom.cdf(guesses.made - guesses.right - 1,",
            ),
        ),
        tests=("tests/audit/canaries/test_guesses.py",),
    ),
    Mutant(
        name="the published bound counts δ once where it is twice",
        edits=((f"{_FOLDER}/guesses.py", "tail + 2 * guesses.canaries", "tail + guesses.canaries"),),
        tests=("tests/audit/canaries/test_guesses.py",),
    ),
    Mutant(
        name="the tries of an audit do not share its level",
        edits=(
            (
                f"{_FOLDER}/auditor.py",
                "significance=significance / len(tries), above=bound)",
                "significance=significance, above=bound)",
            ),
        ),
        tests=(
            "tests/audit/canaries/test_auditor.py::test_that_is_the_verdict_of_the_audit",
            "tests/audit/canaries/test_auditor.py::test_each_try_has_its_share_of_the_level",
        ),
    ),
    Mutant(
        name="coins decide nothing: the first half of the canaries is included",
        edits=(
            (
                f"{_FOLDER}/auditor.py",
                "bernoulli(Fraction(1, 2), len(every))",
                "np.arange(len(every)) < len(every) // 2",
            ),
        ),
        tests=("tests/audit/canaries/test_auditor.py::test_every_canary_has_a_coin_of_its_own_in_each_run",),
    ),
    Mutant(
        name="omitted canaries are guessed from the wrong end",
        edits=((f"{_FOLDER}/guesses.py", "~self.included[order[:low]]", "self.included[order[:low]]"),),
        tests=("tests/audit/canaries/test_guesses.py",),
    ),
    Mutant(
        name="ties among canaries go to those that were included",
        edits=(
            (
                f"{_FOLDER}/guesses.py",
                'np.argsort(self.scores, kind="stable")',
                "np.lexsort((self.included, self.scores))",
            ),
        ),
        tests=("tests/audit/canaries/test_guesses.py",),
    ),
    Mutant(
        name="a verdict listens to whoever assumes Gaussian noise",
        edits=(
            (f"{_FOLDER}/report.py", "return self.verdict_assuming()", "return self.verdict_assuming(gaussian=True)"),
        ),
        tests=("tests/audit/canaries/test_report.py",),
    ),
    Mutant(
        name="the events of independent canaries do not share the level",
        edits=((f"{_FOLDER}/error_rates.py", "share = significance / (2 * len(LEVELS))", "share = 5 * significance"),),
        tests=("tests/audit/canaries/test_error_rates.py",),
    ),
    Mutant(
        name="the canary at the threshold is forgotten among false alarms",
        edits=((f"{_FOLDER}/error_rates.py", "[len(rarer) - 1 - allowed]", "[max(len(rarer) - 20 - allowed, 0)]"),),
        tests=("tests/audit/canaries/test_error_rates.py",),
    ),
    Mutant(
        name="the separation of scores is in standard errors",
        edits=((f"{_FOLDER}/gaussian.py", "return unit * _least", "return _least"),),
        tests=("tests/audit/canaries/test_gaussian.py",),
    ),
    Mutant(
        name="the Gaussian curve is that of half its μ",
        edits=((f"{_FOLDER}/gaussian.py", "delta=_curve(mu, epsilon)", "delta=_curve(mu / 2, epsilon)"),),
        tests=("tests/audit/canaries/test_gaussian.py",),
    ),
    Mutant(
        name="a threshold is taken from the people that taught the frequencies",
        edits=(
            (
                "attacks/members/means.py",
                "(members, outsiders, reference[1::2])",
                "(members, outsiders, reference[::2])",
            ),
        ),
        tests=("tests/attacks/members/test_means.py::test_the_threshold_is_for_those_who_taught_nothing",),
    ),
    Mutant(
        name="shadow models see what they are to be without",
        edits=(("attacks/members/models.py", "without = np.where(seen, np.nan, found)", "without = found"),),
        tests=(
            "tests/attacks/members/test_models.py::test_a_row_is_compared_with_models_that_saw_it_and_with_others_that_did_not",
        ),
    ),
    Mutant(
        name="an attack on time is tested on what it learned from",
        edits=(
            (
                "attacks/implementation/side_channels.py",
                "_learned(times[:half], coins[:half])",
                "_learned(times[half:], coins[half:])",
            ),
        ),
        tests=("tests/attacks/implementation/test_side_channels.py",),
    ),
    Mutant(
        name="what may be inferred forgets the prior",
        edits=(
            (
                "attacks/disclosure/attribute.py",
                "max(power * chance / (power + others) for others, chance in enumerate(likeliest))",
                "power / (power + 1)",
            ),
        ),
        tests=("tests/attacks/disclosure/test_attribute.py",),
    ),
)
