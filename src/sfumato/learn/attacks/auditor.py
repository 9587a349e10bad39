"""`audit`: attacks on a model in one call, on rows that fair coins put into its training or leave out.

Proof: proofs/learn/attacks/auditor.md.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from sfumato.attacks.members.means import Roc
from sfumato.audit.canaries.auditor import audit_scores, best_guesses
from sfumato.audit.canaries.guesses import Scored, exact_p_value
from sfumato.errors import ParameterError
from sfumato.learn.attacks.fits import Booleans, Choosing, Floats, Heard, LabeledRows, confidences, fitted
from sfumato.learn.attacks.report import ModelAudit, ModelFinding
from sfumato.learn.attacks.scores import Shadows, inverted, sensitive_column
from sfumato.numeric.arguments import called, floats, listed, of_kind, one_of, result, share, whole
from sfumato.numeric.rationals import flag
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation, as_relation
from sfumato.session.asking.shown import progress_shown

AttackName: TypeAlias = Literal["loss", "likelihood_ratio", "one_sided", "inversion", "canaries"]
CanaryScore: TypeAlias = Callable[[Any, Floats, Any], Any]
"""Of a fitted model, the canaries and their classes: a number for each, higher where it looks included."""

ON_ROWS: Final = ("loss", "likelihood_ratio", "one_sided", "inversion")
"""Attacks on models that saw some of the rows."""

KNOWN: Final = (*ON_ROWS, "canaries")
_FEWEST_COINS: Final = 32
_FEWEST_SHADOWS: Final = 4
_MOST: Final = 100_000
_ESTIMATOR: Final = "a classifier by scikit-learn's conventions, not fitted, such as GaussianNB(epsilon=1, …)"


@runtime_checkable
class AuditsItself(Protocol):
    """What attacks its own code, such as a plan of `learn.torch`: with canaries that it makes up, without rows."""

    def audited(self, *, significance: float, progress: bool) -> ModelAudit:
        """What the attack found."""


def audit(
    estimator: Any,
    X: Any = None,  # noqa: N803 # scikit-learn's name
    y: Any = None,
    *,
    attacks: Sequence[AttackName] | None = None,
    sensitive: int | None = None,
    canaries: tuple[Any, Any] | None = None,
    score: CanaryScore | None = None,
    claim: PureDP | ApproxDP | None = None,
    neighboring_relation: str | None = None,
    runs: int = 1,
    shadows: int = 64,
    significance: float = 0.05,
    progress: bool = False,
) -> ModelAudit:
    """Attack a classifier, and try to refute the guarantee that it claims for one row.

    It fits copies of the estimator to rows that fair coins choose, and guesses the coins from what the models say:

    - ``"loss"``: a row of small loss was seen [YGFJ18].
    - ``"likelihood_ratio"``: LiRA. Gaussians of shadow models that saw the row, and of those that did not [CCNSTT22].
    - ``"one_sided"``: the same, of those alone that did not see the row.
    - ``"inversion"``: the column `sensitive` is guessed from the others and the class [FLJLPR14]. Guesses for rows that
      were seen are compared with those for rows that were not. So what the population tells is no leak.
    - ``"canaries"``: all rows are seen, and coins choose among canaries: rows made up to stand out [SNJ23].

    **Guarantee**: if the claim is true, `is_refuted` is so with probability at most `significance`, whatever the model
    does. That nothing is found proves nothing. Proof: proofs/learn/attacks/auditor.md.

    The audit is not private: it reads its rows exactly, its result reveals some of them, and no ledger is charged. Use
    public or made-up rows.

    Args:
        estimator: A classifier of this package or of scikit-learn; or a plan of `learn.torch`, which makes up its own
            canaries and takes no rows. What tells how sure it is are `predict_proba`, or
            else `decision_function`, or else whether `predict` is right. It is copied for each fit, and not changed.
        X: Rows of numbers, at least 32, or 64 if coins choose between two. Each is a unit.
        y: The class of each row.
        attacks: Which attacks; None takes all, inversion only where `sensitive` is stated.
        sensitive: The place of the column that is to be guessed, with 2 to 100 values.
        canaries: Rows and classes of canaries. None takes the rows with a wrong class each.
        score: What tells canaries that were seen; None takes how sure the model is of their class.
        claim: The claimed guarantee for one row; None takes what a fitted model states as `guarantee_`, if it does.
        neighboring_relation: None takes that of the estimator or of those within it, or else ``"add_or_remove_one"``.
            With ``"replace_one"`` one coin chooses one of two rows beside each other, of canaries as well.
        runs: How many models are attacked. With one canary it takes many.
        shadows: How many shadow models there are, an even number from 4. From 128 each row has spreads of its own.
        significance: The probability that a true claim is called false, of all attacks together.
        progress: Whether to show on the error stream how many models are fitted.

    Raises:
        ParameterError: An argument cannot be used.

    Example:
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> rows, coins = np.random.default_rng(0).random((80, 3)), [0, 1] * 40
        >>> found = audit(DecisionTreeClassifier(), rows, coins, attacks=["likelihood_ratio"], shadows=16)
        >>> found["likelihood_ratio"].area > 0.6
        True
        >>> from sfumato.learn import GaussianNB
        >>> model = GaussianNB(epsilon=1, bounds=(0, 1), classes=[0, 1])
        >>> audit(model, rows, coins, attacks=["loss"], significance=1e-6).is_refuted
        False

    References:
        [YGFJ18]; [CCNSTT22]; [FLJLPR14]; [SNJ23].
    """
    if isinstance(estimator, AuditsItself):
        if X is not None or y is not None:
            raise ParameterError("X", "rows", "must be left out: a plan makes up its own canaries")
        return estimator.audited(significance=significance, progress=progress)
    names = _names(attacks, sensitive)
    if not all(hasattr(estimator, name) for name in ("fit", "get_params")) or isinstance(estimator, type):
        raise ParameterError("estimator", type(estimator), f"must be {_ESTIMATOR}")
    relation = _relation(estimator, neighboring_relation)
    rows = _rows(X, y, is_paired=relation is REPLACE_ONE)
    game = _Game(
        estimator=estimator, rows=rows, relation=relation, runs=whole(runs, "runs", least=1, most=_MOST),
        shadows=_even(whole(shadows, "shadows", least=_FEWEST_SHADOWS, most=_MOST)),
        sensitive=sensitive_column(rows, sensitive) if "inversion" in names else None,
        canaries=_mislabeled(rows) if canaries is None else _stated(canaries, rows),
        score=confidences if score is None else _scored_by(score),
    )  # fmt: skip
    if claim is not None:
        of_kind(claim, "claim", (PureDP, ApproxDP), "a guarantee, such as PureDP(1)")
    level = share(significance, "significance") / len(names)
    game.require_coins(names)
    with progress_shown("models fitted", shown=flag(progress, "progress")) as heard:
        played = [*game.on_rows(names, heard), *(game.on_canaries(heard) if "canaries" in names else ())]
    believed = played[0].promised if claim is None else ApproxDP(claim.epsilon, claim.delta)
    on_rows = any(name in ON_ROWS for name in names)
    return ModelAudit(
        model=type(estimator).__name__,
        claim=believed,
        findings=tuple(
            sorted((one.finding(believed, level) for one in played), key=lambda one: names.index(one.attack))
        ),
        fits=game.runs * (on_rows + ("canaries" in names)) + game.shadows * game.needs_shadows(names),
        significance=level * len(names),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One attack after all models are fitted.

    Attributes:
        attack: Its name.
        scores: For each model and coin.
        fell: How each coin fell.
        promised: The guarantee that a fitted model states.
        notes: Further facts.
    """

    attack: str
    scores: Floats
    fell: Booleans
    promised: ApproxDP | None
    notes: tuple[str, ...] = ()

    def finding(self, claim: ApproxDP | None, level: float) -> ModelFinding:
        """What it says of a claim; with none, of ε alone."""
        delta = Fraction(0) if claim is None else claim.delta
        scores, fell = self.scores.reshape(-1), self.fell.reshape(-1)
        is_alone = self.scores.shape[1] == 1  # a coin a model: models are independent, so rates need no assumption
        own = level / 2 if is_alone else level
        guesses, bound = best_guesses(
            Scored(scores=scores, included=fell), exact_p_value, delta=delta, significance=own
        )  # fmt: skip
        report = None
        if self.attack == "canaries":
            report = audit_scores(
                scores, fell, epsilon=0 if claim is None else claim.epsilon, delta=delta, significance=own
            )  # fmt: skip
            rates = [one.epsilon_lower_bound for one in report.assumes_independence]
            bound = max([bound, *rates]) if is_alone else bound
        return ModelFinding(
            attack=self.attack, roc=Roc(scores=scores, present=fell), guesses=guesses, epsilon_lower_bound=bound,
            claim=claim, significance=level, notes=self.notes, report=report,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Game:
    """What is attacked, and with what."""

    estimator: Any
    rows: LabeledRows
    relation: NeighboringRelation
    runs: int
    shadows: int
    sensitive: int | None
    canaries: LabeledRows
    score: Callable[[Any, LabeledRows], Floats]

    def needs_shadows(self, names: tuple[str, ...]) -> bool:
        """Whether one of the attacks has shadow models."""
        return "likelihood_ratio" in names or "one_sided" in names

    def choosing(self, rows: LabeledRows) -> Choosing:
        """How coins choose among rows, or canaries."""
        return Choosing(rows=len(rows), is_paired=self.relation is REPLACE_ONE)

    def require_coins(self, names: tuple[str, ...]) -> None:
        """Check that there are enough coins.

        Raises:
            ParameterError: There are fewer than 32.
        """
        of_canaries = self.runs * self.choosing(self.canaries).coins
        if "canaries" in names and of_canaries < _FEWEST_COINS:
            raise ParameterError("runs", self.runs, f"times the coins of canaries must be at least {_FEWEST_COINS}")

    def on_rows(self, names: tuple[str, ...], heard: Heard) -> list[Played]:
        """Attacks on models that saw about half of the rows."""
        if not any(name in ON_ROWS for name in names):
            return []
        choosing = self.choosing(self.rows)
        chosen = choosing.fair(self.runs)
        models = list(fitted(self.estimator, self.rows, chosen, heard=heard))
        observed = np.stack([confidences(model, self.rows) for model in models])
        scores, notes = {"loss": observed}, dict[str, tuple[str, ...]]()
        if self.needs_shadows(names):
            known = choosing.balanced(self.shadows)
            own = fitted(self.estimator, self.rows, known, heard=heard)
            shadows = Shadows(confidences=np.stack([confidences(model, self.rows) for model in own]), seen=known)
            for name in ("likelihood_ratio", "one_sided"):
                scores[name] = shadows.scores(observed, one_sided=name == "one_sided")
        if self.sensitive is not None:
            found = inverted(models, self.rows, self.sensitive)
            scores["inversion"] = found.scores
            notes["inversion"] = (f"rows seen: {found.outcome(chosen)}", f"rows not seen: {found.outcome(~chosen)}")
        return [
            Played(
                attack=name, scores=choosing.by_coin(found), fell=choosing.fallen(chosen),
                promised=_promised(models[0]), notes=notes.get(name, ()),
            )
            for name, found in scores.items()
            if name in names
        ]  # fmt: skip

    def on_canaries(self, heard: Heard) -> list[Played]:
        """The attack on models that saw all rows, and about half of the canaries."""
        choosing = self.choosing(self.canaries)
        chosen = choosing.fair(self.runs)
        promised, scores = None, []
        for model in fitted(self.estimator, self.canaries, chosen, heard=heard, base=self.rows):
            promised = _promised(model)
            scores.append(self.score(model, self.canaries))
        return [
            Played(
                attack="canaries", scores=choosing.by_coin(np.stack(scores)), fell=choosing.fallen(chosen),
                promised=promised, notes=(f"{self.runs * choosing.coins:,} coins in {self.runs:,} models",),
            )
        ]  # fmt: skip


def _names(attacks: Sequence[AttackName] | None, sensitive: int | None) -> tuple[str, ...]:
    """The attacks, checked."""
    if attacks is None:
        return tuple(name for name in KNOWN if name != "inversion" or sensitive is not None)
    names = tuple(one_of(name, "attacks", KNOWN) for name in listed(attacks, "attacks", of="names"))
    if not names or len(set(names)) < len(names):
        raise ParameterError("attacks", names, "must name at least one attack, each once")
    if ("inversion" in names) != (sensitive is not None):
        raise ParameterError("sensitive", sensitive, "must be stated for inversion, and for nothing else")
    return names


def _relation(estimator: Any, stated: str | None) -> NeighboringRelation:
    """What the claim is about: as stated, or as an estimator says, or one of those within."""
    found = set(_relations(estimator)) if stated is None else {as_relation(stated)}
    return REPLACE_ONE if REPLACE_ONE in found else ADD_OR_REMOVE_ONE


def _relations(part: Any) -> Iterator[NeighboringRelation]:
    """The relations that an estimator states, and those within it, also in lists."""
    if isinstance(part, list | tuple):
        for one in part:
            yield from _relations(one)
    elif hasattr(part, "get_params") and not isinstance(part, type):
        if hasattr(part, "neighboring_relation"):
            yield as_relation(part.neighboring_relation)
        yield from _relations(list(part.get_params(deep=False).values()))


def _rows(features: Any, labels: Any, *, is_paired: bool) -> LabeledRows:
    """The rows, an even number if they are paired; of two classes at least."""
    found = LabeledRows.of(features, labels)
    fewest = 2 * _FEWEST_COINS if is_paired else _FEWEST_COINS
    if len(found) < fewest:
        raise ParameterError("X", f"{len(found)} rows", f"must have at least {fewest} rows")
    if len(np.unique(found.labels)) == 1:
        raise ParameterError("y", "one class", "must have at least two classes")
    return found.only(np.arange(len(found) - len(found) % 2)) if is_paired else found


def _even(shadows: int) -> int:
    if shadows % 2:
        raise ParameterError("shadows", shadows, "must be an even number: half of them see a row")
    return shadows


def _mislabeled(rows: LabeledRows) -> LabeledRows:
    """The rows, each with the next class."""
    classes, places = np.unique(rows.labels, return_inverse=True)
    return LabeledRows(features=rows.features, labels=classes[(places + 1) % len(classes)])


def _stated(canaries: tuple[Any, Any], rows: LabeledRows) -> LabeledRows:
    pair = listed(canaries, "canaries", of="rows, and their classes")
    if len(pair) != 2:  # noqa: PLR2004 # rows and classes
        raise ParameterError("canaries", f"{len(pair)} values", "must be rows and their classes")
    found = LabeledRows.of(*pair, name="canaries")
    if found.features.shape[1] != rows.features.shape[1] or not np.isin(found.labels, rows.labels).all():
        raise ParameterError("canaries", found.features.shape, "must have the columns of X, and classes of y")
    return found


def _scored_by(score: CanaryScore) -> Callable[[Any, LabeledRows], Floats]:
    """The caller's score of canaries, checked each time."""
    called(score, "score", "a function of a model, canaries and their classes")

    def scored(model: Any, canaries: LabeledRows) -> Floats:
        found = floats(result(score, "score", model, canaries.features, canaries.labels), "score(…)")
        if found.shape != (len(canaries),) or np.isnan(found).any():
            raise ParameterError("score(…)", found.shape, f"must be a number for each of {len(canaries)} canaries")
        return found

    return scored


def _promised(model: Any) -> ApproxDP | None:
    """The guarantee that a fitted model of this package states."""
    found = getattr(model, "guarantee_", None)
    return ApproxDP(found.epsilon, found.delta) if isinstance(found, PureDP | ApproxDP) else None
