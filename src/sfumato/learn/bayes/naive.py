"""What models of naive Bayes share: a prior of classes, and for each class a score of each feature by itself."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.learn.bayes.tallies import ClassTallies, Kind, tallies
from sfumato.learn.core.classifiers import JointClassifier
from sfumato.learn.core.inputs import TrainingData, moved_rows
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import Codes, TrainingColumn

Matrix = npt.NDArray[np.float64]


class NaiveBayes(JointClassifier):
    """A classifier by log P(y) + Σ log P(x_j | y), all of it from noisy tallies.

    A subclass says which tallies it needs (`_kind`), checks its columns (`_check`), and reads each column's noisy sums
    (`_learned`). Whatever is done with released tallies is post-processing.

    Attributes:
        class_prior_: The probability of each class, from noisy counts.
        noise_: The method, "laplace" or "gaussian", and the standard deviations of its noise.
    """

    _kind: ClassVar[Kind]

    @abstractmethod
    def _check(self, columns: tuple[TrainingColumn, ...]) -> None:
        """Refuse columns that this model cannot have, before anything is read."""

    @abstractmethod
    def _learned(self, fit: ClassTallies, counts: Matrix, sums: list[Matrix]) -> None:
        """Set the attributes from counts, each at least 1, and from sums, of each column one row a class."""

    @abstractmethod
    def _scores(self, codes: Codes) -> Matrix:
        """Σ log P(x_j | y), up to a constant of the row: one row a row, one column a class."""

    def row_scores(self, codes: Codes) -> Matrix:
        """The logarithm of P(y | x) up to a constant of the row; each row's by itself, to the last digit."""
        scores: Matrix = self._scores(codes) + np.log(self.class_prior_)
        return scores

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> ClassTallies:
        classes = self._class_values(data)
        self._check(data.columns)
        self.classes_ = np.array(classes)
        return tallies(
            data.columns, kind=self._kind, classes=len(classes), moved_rows=moved_rows(data), total=total
        )  # fmt: skip

    def _adopt(self, fit: ClassTallies, model: Mapping[str, Any]) -> None:
        counts = np.maximum(np.array(model["counts"], dtype=np.float64), 1.0)
        self.class_prior_ = counts / counts.sum()
        self.noise_ = {
            "method": "laplace" if isinstance(fit.charge, PureDP) else "gaussian",
            "count_stddev": float(fit.count.stddev), "sum_stddevs": [float(one) for one in self._units(fit)],
        }  # fmt: skip
        self._learned(fit, counts, [np.array(one, dtype=np.float64) for one in model["sums"]])

    @abstractmethod
    def _units(self, fit: ClassTallies) -> list[float]:
        """The standard deviations of the noise on each column's sums, in units that the subclass documents."""
