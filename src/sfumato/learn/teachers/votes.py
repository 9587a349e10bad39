"""Teachers: classifiers of disjoint parts of the rows, of which nothing leaves but how they vote on public rows.

Proof: proofs/learn/teachers/votes.md.
"""

import warnings
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, TypeAlias

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier

from sfumato.errors import ParameterError
from sfumato.learn.linear.design import UNIT, Design
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.session.training.columns import Codes, TrainingRows

Whole: TypeAlias = npt.NDArray[np.int64]
Matrix: TypeAlias = npt.NDArray[np.float64]

NO_VOTE: Final = -1
"""The vote of a teacher that has none: without rows, or whose classifier failed."""

_MADE_UP: Final = 20
"""How many rows of each class a classifier is tried on, at least."""

_FIXED: Final = {"random_state": 0, "verbose": 0}
"""Arguments of a teacher that could make it depend on other teachers, or print what it sees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Teachers:
    """Classifiers that each see one part of the rows, and the public rows on which they vote.

    Each unit is drawn into one of `count` equally probable parts by itself, with all of its rows; where units are not
    known, each row is. A teacher depends on the rows of its part alone, in an order that follows from the rows. A
    teacher whose rows have one class votes for it. One without rows, or whose classifier raises or predicts no class,
    has no vote.

    **Sensitivity**: let a unit be added, removed or replaced, with all of its rows. For equal draws of the other units,
    one teacher at most votes differently. Where rows are drawn by themselves, as many as a unit has rows. Proof:
    proofs/learn/teachers/votes.md.

    Attributes:
        design: How codes become the features that classifiers see.
        classes: How many classes there are.
        count: How many teachers there are.
        model: The classifier of each, not fitted; see `settled`.
        public: The codes of the public rows.
    """

    design: Design
    classes: int
    count: int
    model: Any = field(repr=False, compare=False)
    public: Codes = field(repr=False, compare=False)

    def votes(self, rows: TrainingRows) -> Whole:
        """How many teachers vote for each class on each public row, for noise alone: one row a row, one column a class.

        Args:
            rows: The rows of all teachers, with their target.
        """
        target = np.zeros(len(rows.codes), dtype=np.int32) if rows.target is None else rows.target
        parts = self.drawn_parts(rows)
        found = np.zeros((len(self.public), self.classes), dtype=np.int64)
        for part in range(self.count):
            is_in = parts == part
            chosen = self.vote(rows.codes[is_in], target[is_in])
            voted = np.flatnonzero(chosen != NO_VOTE)
            found[voted, chosen[voted]] += 1
        return found

    def drawn_parts(self, rows: TrainingRows) -> Whole:
        """The part of each row: uniform, of each unit by itself."""
        if rows.units is None:
            return np.asarray(uniform_below(self.count, len(rows.codes)), dtype=np.int64)
        drawn = np.asarray(uniform_below(self.count, int(rows.units.max(initial=-1)) + 1), dtype=np.int64)
        parts: Whole = drawn[rows.units]
        return parts

    def vote(self, codes: Codes, target: Codes) -> Whole:
        """The class that one teacher votes for on each public row, or `NO_VOTE`; it raises nothing."""
        nothing = np.full(len(self.public), NO_VOTE, dtype=np.int64)
        if len(target) == 0:
            return nothing
        if (target == target[0]).all():
            return np.full(len(self.public), target[0], dtype=np.int64)
        order = np.lexsort((target, *codes.T))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a warning would tell of a part
                fitted = clone(self.model).fit(self.features(codes[order]), target[order].astype(np.int64))
                found = np.asarray(fitted.predict(self.features(self.public)), dtype=np.float64)
        except Exception:  # noqa: BLE001 # whatever a classifier raises may follow from rows
            return nothing
        if found.shape != nothing.shape or not np.isin(found, np.arange(self.classes)).all():
            return nothing
        return found.astype(np.int64)

    def can_vote(self) -> bool:
        """Whether a classifier can be fitted to the public rows with made-up labels, and predicts classes."""
        size = max(len(self.public), _MADE_UP * self.classes)
        target = np.arange(size, dtype=np.int32) % self.classes
        return bool((self.vote(np.resize(self.public, (size, self.public.shape[1])), target) != NO_VOTE).all())

    def features(self, codes: Codes) -> Matrix:
        """What classifiers see of rows: numbers in [0, 1], or in [−1, 1] where bounds are ±b, and 0/1 of categories."""
        found: Matrix = self.design.rows(codes) / UNIT
        return found

    def document(self) -> dict[str, Any]:
        """All on which votes depend beside the rows."""
        return {
            "count": self.count, "classes": self.classes, "design": self.design.document(),
            "model": _digest(self.model), "public": sha256(np.ascontiguousarray(self.public).tobytes()).hexdigest(),
            "public_rows": len(self.public),
        }  # fmt: skip


def settled(model: Any, name: str) -> Any:
    """A classifier whose fit follows from its rows alone: seeds are fixed, and it prints nothing.

    Args:
        model: A classifier by scikit-learn's conventions, not fitted.
        name: What errors call it.

    Raises:
        ParameterError: It is no classifier, or cannot be copied and stored.
    """
    if isinstance(model, type) or not hasattr(model, "get_params") or not is_classifier(model):
        raise ParameterError(name, type(model).__name__, "must be a classifier by scikit-learn's conventions")
    copied = clone(model)
    for argument in copied.get_params(deep=True):
        last = argument.rpartition("__")[2]
        if last in _FIXED:
            copied.set_params(**{argument: _FIXED[last]})
    _digest(copied, name)
    return copied


def _digest(model: Any, name: str = "teacher") -> str:
    """What tells classifiers with different arguments apart."""
    try:
        return str(joblib.hash(model, hash_name="sha1"))
    except Exception as error:  # whatever an argument of it raises
        requirement = "must be a classifier that can be written down, without functions defined on the spot"
        raise ParameterError(name, type(model).__name__, requirement) from error
