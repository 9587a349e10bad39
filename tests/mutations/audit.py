"""Seeded bugs of audits and attacks."""

from tests.mutations.mutants import Mutant

MUTANTS = (
    Mutant(
        name="what is allowed bounds right guesses alone",
        edits=(("attacks/questions/differences.py", "1 - (1 - baseline) / power)", "1.0)"),),
        tests=("tests/attacks/questions/test_differences.py::test_what_is_allowed_bounds_wrong_guesses_too",),
    ),
    Mutant(
        name="an audit tests on the half it searched",
        edits=(
            (
                "audit/search/testers.py",
                "for half in (runs.search, runs.test))",
                "for half in (runs.search, runs.search))",
            ),
        ),
        tests=("tests/audit/search/test_testers.py",),
    ),
    Mutant(
        name="an audit's coins are not fair",
        edits=(("audit/core/runs.py", "bernoulli(Fraction(1, 2), tested)", "bernoulli(Fraction(1, 3), tested)"),),
        tests=("tests/audit/core/test_runs.py",),
    ),
    Mutant(
        name="the conditional test expects too few events",
        edits=(("audit/search/bounds.py", "likelier / (1 + likelier)", "likelier / (2 + likelier)"),),
        tests=("tests/audit/search/test_bounds.py",),
    ),
    Mutant(
        name="the spread of a law is not looked at",
        edits=(("audit/distributions.py", "2 * min(chi_square, spread)", "chi_square"),),
        tests=("tests/audit/test_distributions.py",),
    ),
    Mutant(
        name="a set seen once counts as an attack",
        edits=(("attacks/implementation/floating_point.py", "counts[cell] >= enough", "counts[cell] >= 1"),),
        tests=("tests/attacks/implementation/test_floating_point.py",),
    ),
    Mutant(
        name="an audit reads an array with the dtype that its oddest output needs",
        edits=(("audit/core/outputs.py", "(_without_dtype(plain(row)) for row in rows)", "map(plain, rows)"),),
        tests=("tests/audit/core/test_outputs.py",),
    ),
    Mutant(
        name="a sum of coordinates rounds as it goes",
        edits=(("audit/core/outputs.py", "return fsum(numbers)", "return sum(numbers, start=0.0)"),),
        tests=("tests/audit/core/test_outputs.py",),
    ),
    Mutant(
        name="an audit does not see what a double misses",
        edits=(
            (
                "audit/core/outputs.py",
                "exact != (held := Fraction(nearest))",
                "exact == (held := Fraction(nearest)) + 1",
            ),
        ),
        tests=("tests/audit/core/test_outputs.py",),
    ),
    Mutant(
        name="an audit does not count outputs",
        edits=(("audit/core/runs.py", "if len(read) == count:", "if True:"),),
        tests=("tests/audit/core/test_runs.py",),
    ),
    Mutant(
        name="repeated noise is never found",
        edits=(("audit/core/runs.py", "exp(same_order - lgamma(len(answers) + 1))", "1.0"),),
        tests=("tests/audit/core/test_runs.py",),
    ),
    Mutant(
        name="a law of two cells is tested by an approximation",
        edits=(
            (
                "audit/distributions.py",
                "if len(expected) == _TWO:\n        return _binomial_p_value",
                "if len(expected) == 0:\n        return _binomial_p_value",
            ),
        ),
        tests=("tests/audit/test_distributions.py",),
    ),
    Mutant(
        name="an attack runs where it could find nothing",
        edits=(("attacks/implementation/floating_point.py", "epsilon=claimed) > samples:", "epsilon=claimed) < 0:"),),
        tests=(
            "tests/attacks/implementation/test_floating_point.py::test_too_few_samples_to_find_anything_are_refused",
        ),
    ),
    Mutant(
        name="bets against a claim ignore δ",
        edits=(
            (
                "audit/search/bets.py",
                "return 1 - paid, -paid, paid - deltas - factors, paid - deltas",
                "return 1 - paid, -paid, paid - factors, paid",
            ),
        ),
        tests=("tests/audit/search/test_bets.py",),
    ),
    Mutant(
        name="bets pay less than e^ε on the other side",
        edits=(("audit/search/bets.py", "paid - deltas - factors,", "paid - deltas - 0.8 * factors,"),),
        tests=("tests/audit/search/test_bets.py",),
    ),
    Mutant(
        name="the bets are chosen on the half that is tested",
        edits=(("audit/search/testers.py", "bettor = Bettor(*seen, ", "bettor = Bettor(*tested, "),),
        tests=("tests/audit/search/test_testers.py",),
    ),
    Mutant(
        name="an audit swaps the sides of its event",
        edits=(
            (
                "audit/search/testers.py",
                "return (second, first) if suspicion.likelier_on_second",
                "return (first, second) if suspicion.likelier_on_second",
            ),
        ),
        tests=("tests/audit/search/test_testers.py",),
    ),
    Mutant(
        name="a lower bound on ε skips a claim that holds",
        edits=(("audit/search/bets.py", "else int(np.argmin(refuted))", "else int(refuted.sum())"),),
        tests=("tests/audit/search/test_bets.py",),
    ),
    Mutant(
        name="the audit takes δ = 0 whatever was claimed",
        edits=(("audit/search/testers.py", "if claim.delta == 0:", "if claim.delta >= 0:"),),
        tests=("tests/audit/search/test_testers.py",),
    ),
    Mutant(
        name="an error is taken for an answer",
        edits=(("attacks/implementation/side_channels.py", "return 1.0", "return 0.0"),),
        tests=("tests/attacks/implementation/test_side_channels.py",),
    ),
    Mutant(
        name="a block is unique whatever else fits",
        edits=(
            ("attacks/reconstruction/blocks.py", "np.rint(solved[cells + rows :]).sum() == 0", "solved is not None"),
        ),
        tests=("tests/attacks/reconstruction/test_blocks.py",),
    ),
    Mutant(
        name="a misspelt record is named however near another person comes",
        edits=(("attacks/linking/records.py", "min(ahead, weights[best]) >= margin", "weights[best] >= margin"),),
        tests=("tests/attacks/linking/test_records.py",),
    ),
    Mutant(
        name="the baseline of singling out forgets how many people there are",
        edits=(("attacks/disclosure/anonymity_attacks.py", "float((count * weights *", "float((weights *"),),
        tests=("tests/attacks/disclosure/test_anonymity_attacks.py",),
    ),
    Mutant(
        name="events are ranked as if any number of runs told as much",
        edits=(("audit/search/bets.py", "wanted = -math.log(self.significance)", "wanted = 0.01"),),
        tests=("tests/audit/search/test_bets.py",),
    ),
    Mutant(
        name="several steps are held to the promise of one, without δ",
        edits=(("audit/search/testers.py", "significance=significance) / distance", "significance=significance)"),),
        tests=("tests/audit/search/test_testers.py",),
    ),
    Mutant(
        name="several steps are held to the promise of one, with δ",
        edits=(("audit/search/testers.py", "Bettor(*seen, distance=distance)", "Bettor(*seen)"),),
        tests=("tests/audit/search/test_testers.py",),
    ),
    Mutant(
        name="δ does not grow with the steps",
        edits=(("audit/search/bets.py", "group(claim, self.distance)", "group(claim, 1)"),),
        tests=("tests/audit/search/test_bets.py",),
    ),
    Mutant(
        name="a finding looks at ε alone",
        edits=(("audit/core/findings.py", " or self.delta_lower_bound > self.claim.delta", ""),),
        tests=("tests/audit/core/test_findings.py",),
    ),
    Mutant(
        name="unions of cells are taken in order, not by their likelihood ratios",
        edits=(
            (
                "audit/search/events.py",
                'np.argsort(sign * np.log((theirs + 1) / (ours + 1)), kind="stable")',
                "np.arange(len(here))[::sign]",
            ),
        ),
        tests=("tests/audit/search/test_events.py",),
    ),
    Mutant(
        name="missing numbers fall into the last cell",
        edits=(
            (
                "audit/search/events.py",
                "found[np.isnan(values)] = len(ends) + 1",
                "found[np.isnan(values)] = len(ends)",
            ),
        ),
        tests=("tests/audit/search/test_events.py",),
    ),
    Mutant(
        name="the truth of composed Gaussian noise forgets the count",
        edits=(
            (
                "audit/accountants/properties.py",
                "case GaussianEvent(noise):\n            return _gaussian(math.sqrt(count) / float(noise))",
                "case GaussianEvent(noise):\n            return _gaussian(1 / float(noise))",
            ),
        ),
        tests=("tests/audit/accountants/test_properties.py",),
    ),
    Mutant(
        name="optimal composition leaves δ out",
        edits=(
            (
                "audit/accountants/properties.py",
                "_optimal(float(epsilon), float(delta), count)",
                "_optimal(float(epsilon), 0.0, count)",
            ),
        ),
        tests=("tests/audit/accountants/test_properties.py", "tests/audit/accountants/test_properties.py"),
    ),
    Mutant(
        name="a count is compared with itself",
        edits=(("audit/accountants/properties.py", "((SelfComposedEvent(event, count), 1),)", "((event, count),)"),),
        tests=("tests/audit/accountants/test_properties.py",),
    ),
    Mutant(
        name="costs below the truth pass",
        edits=(("audit/accountants/properties.py", "if said < truth * (1 - _ROUNDING) - _FINER:", "if said < 0:"),),
        tests=("tests/audit/accountants/test_properties.py",),
    ),
    Mutant(
        name="an ε below the truth passes",
        edits=(("audit/accountants/properties.py", "> delta + _FINER * delta:", "> 1:"),),
        tests=("tests/audit/accountants/test_properties.py",),
    ),
    Mutant(
        name="an accountant that fails is said to keep the law",
        edits=(
            (
                "audit/accountants/accountants.py",
                'unchecked[f"{type(error).__name__}: {error}"] = None\n            continue',
                "counterexample = None",
            ),
        ),
        tests=(
            "tests/audit/accountants/test_accountants.py::test_what_has_no_price_or_fails_is_listed_and_breaks_nothing",
        ),
    ),
    Mutant(
        name="a sensitivity is compared in floats",
        edits=(("audit/noiseless.py", "worst > (limit**2 if", "float(worst) > (float(limit) ** 2 if"),),
        tests=("tests/audit/test_noiseless.py",),
    ),
    Mutant(
        name="an l2 distance is compared without its square",
        edits=(("audit/noiseless.py", '(limit**2 if norm == "l2" else limit)', "limit"),),
        tests=("tests/audit/test_noiseless.py",),
    ),
    Mutant(
        name="what is no number has not moved",
        edits=(("audit/noiseless.py", "size = math.inf if changes is None", "size = Fraction(0) if changes is None"),),
        tests=("tests/audit/test_noiseless.py",),
    ),
    Mutant(
        name="only the last pair of neighbours is compared",
        edits=(("audit/noiseless.py", "if size > worst:", "if True:"),),
        tests=("tests/audit/test_noiseless.py",),
    ),
    Mutant(
        name="a page believes what outputs say",
        edits=(("audit/reports/template.py", "autoescape=True", "autoescape=False"),),
        tests=("tests/audit/reports/test_page.py",),
    ),
    Mutant(
        name="a page of a pass does not say that it proves nothing",
        edits=(("audit/reports/page.py", "if lines else [CAVEAT]", "if lines else []"),),
        tests=("tests/audit/reports/test_page.py",),
    ),
    Mutant(
        name="a page calls a calibration bug a refuted claim",
        edits=(
            (
                "audit/reports/page.py",
                'outputs on two neighbors contradict it.": report.violations',
                'outputs on two neighbors contradict it.": report.found',
            ),
        ),
        tests=("tests/audit/reports/test_page.py",),
    ),
)
