"""Seeded bugs of attacks on models: coins that are no coins, scores and levels that do not hold, models that cheat."""

from tests.mutations.mutants import Mutant

_FITS = "learn/attacks/fits.py"
_AUDITOR = "learn/attacks/auditor.py"
_SCORES = "learn/attacks/scores.py"
_REPORT = "learn/attacks/report.py"
_OF_FITS = "tests/learn/attacks/test_fits.py"
_OF_AUDITS = "tests/learn/attacks/test_auditor.py"
_OF_SCORES = "tests/learn/attacks/test_scores.py"
_OF_REPORTS = "tests/learn/attacks/test_report.py"
_STANDS = f"{_OF_AUDITS}::test_true_claims_stand"

MUTANTS = (
    Mutant(
        name="one coin decides for a row in every model",
        edits=(
            (
                _FITS,
                "bernoulli(Fraction(1, 2), models * self.coins).reshape(models, self.coins)",
                "np.tile(bernoulli(Fraction(1, 2), self.coins), (models, 1))",
            ),
        ),
        tests=(f"{_OF_FITS}::test_each_row_has_a_fair_coin_of_its_own",),
    ),
    Mutant(
        name="both rows of a pair are seen",
        edits=((_FITS, "np.stack([coins, ~coins], axis=2)", "np.stack([coins, coins], axis=2)"),),
        tests=(f"{_OF_AUDITS}::test_of_pairs_one_row_is_seen", _OF_FITS),
    ),
    Mutant(
        name="models that are attacked by canaries see no other rows",
        edits=((_AUDITOR, "heard=heard, base=self.rows", "heard=heard"),),
        tests=(f"{_OF_AUDITS}::test_canaries_come_beside_all_rows",),
    ),
    Mutant(
        name="one-sided scores know models that saw the row",
        edits=((_SCORES, "np.where(self.seen, np.nan, self.confidences)", "self.confidences"),),
        tests=(_OF_SCORES,),
    ),
    Mutant(
        name="inversion forgets how common a value is",
        edits=((_SCORES, "posterior = self.prior * np.maximum", "posterior = 1.0 * np.maximum"),),
        tests=(_OF_SCORES,),
    ),
    Mutant(
        name="each attack has the whole level",
        edits=((_AUDITOR, 'share(significance, "significance") / len(names)', 'share(significance, "significance")'),),
        tests=(f"{_OF_AUDITS}::test_several_models_and_attacks_share_the_level",),
    ),
    Mutant(
        name="an audit believes the scores of canaries of one model to be independent",
        edits=((_AUDITOR, "max([bound, *rates]) if is_alone else bound", "max([bound, *rates])"),),
        tests=(f"{_OF_AUDITS}::test_one_run_that_gives_all_away_may_be_the_one_that_delta_allows",),
    ),
    Mutant(
        name="limits of an advantage are those of one threshold on one side",
        edits=((_REPORT, "for side in sides)", "for side in sides[:1])"),),
        tests=(_OF_REPORTS,),
    ),
    Mutant(
        name="tallies of a model have half their noise",
        edits=(
            (
                "learn/core/parts.py",
                "return tuple(_laplace(part, charge.epsilon) for part in parts)",
                "return tuple(_laplace(part, 2 * charge.epsilon) for part in parts)",
            ),
        ),
        tests=(_STANDS,),
    ),
    Mutant(
        name="tallies of a model have no noise",
        edits=(("learn/bayes/tallies.py", "np.asarray(noise.release(found.reshape(-1)))", "np.asarray(found)"),),
        tests=(_STANDS,),
    ),
    Mutant(
        name="audited counts of classes are exact",
        edits=(
            (
                "learn/bayes/tallies.py",
                "np.asarray(self.count.release(tallied(target, np.zeros_like(target), self.classes, _ONE)[:, 0]))",
                "np.asarray(tallied(target, np.zeros_like(target), self.classes, _ONE)[:, 0])",
            ),
        ),
        tests=(_STANDS,),
    ),
    Mutant(
        name="audited gradients are not clipped",
        edits=(
            (
                "learn/linear/descent.py",
                "clipped: Matrix = np.clip(residuals, -most[:, None], most[:, None])",
                "clipped: Matrix = residuals",
            ),
        ),
        tests=(_STANDS,),
    ),
    Mutant(
        name="audited gradients have half their noise",
        edits=(
            (
                "learn/linear/descent.py",
                "np.asarray(self.gradient.release(gradients.exact(weights).reshape(-1)), dtype=np.float64)",
                (
                    "(gradients.exact(weights).reshape(-1) + np.asarray(self.gradient.release("
                    "gradients.exact(weights).reshape(-1)), dtype=np.float64)) / 2"
                ),
            ),
        ),
        tests=(_STANDS,),
    ),
    Mutant(
        name="a choice among models that protect a replaced row is attacked by rows that are left out",
        edits=((_AUDITOR, "if isinstance(part, list | tuple):", "if isinstance(part, tuple):"),),
        tests=(f"{_OF_AUDITS}::test_every_classifier_is_attacked_by_what_it_claims",),
    ),
    Mutant(
        name="audited gradients have no noise",
        edits=(
            (
                "learn/linear/descent.py",
                "np.asarray(self.gradient.release(gradients.exact(weights).reshape(-1)), dtype=np.float64)",
                "gradients.exact(weights).reshape(-1).astype(np.float64)",
            ),
        ),
        tests=(_STANDS,),
    ),
)
