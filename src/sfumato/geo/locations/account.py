"""An account on a device for privacy under a metric: ε per unit of distance adds up, and stops at a budget."""

import json
from os import PathLike
from typing import Any, Final, Protocol, TypeVar

from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.geo.locations.keeping import DeviceMemory
from sfumato.ledger.keeping.files import draft_of
from sfumato.numeric.arguments import of_kind
from sfumato.privacy.promises import MetricDP

T_co = TypeVar("T_co", covariant=True)
_FORMAT: Final = 1
_WANTED: Final = "a MetricDP: an ε of differential privacy has no distance"


class MetricMechanism(Protocol[T_co]):
    """Releases something about a place or another point of a metric, and says what that promises."""

    @property
    def guarantee(self) -> MetricDP:
        """What one release promises."""
        ...

    def release(self, exact: Any, /) -> T_co:
        """One release."""
        ...


class MetricAccount(DeviceMemory):
    """What a device may ever reveal of its inputs, per unit of distance, and a file that says what it has.

    It is kept apart from accounts of ε-differential privacy, which refuse a `MetricDP`: no number of the one is a
    number of the other.

    **Guarantee**: all that was charged together has at most the budget's promise, for adaptive releases too. A charge
    is on the disk before its release is made, and is never given back. Proof: proofs/geo/locations/account.md.

    ====================================================  =====================================================
    Edge case                                             Behavior
    ====================================================  =====================================================
    a charge would exceed ε or the offset                 BudgetExceededError, and nothing is charged
    a charge per kilometer, a budget per meter            converted; other units are refused
    two processes use one file                            they take turns, and each continues where the other is
    threads share an account                              they take turns
    an account without a file is forked, or any copied    refused: its budget would be there twice
    the file is lost, or an older copy is restored        the device can spend again: keep one file for a device
    ====================================================  =====================================================

    Args:
        budget: The most that all releases together may promise.
        path: The file of the account, made with the first charge; None to keep it in memory alone.

    Raises:
        ParameterError: The budget is no MetricDP, or the file is damaged or of another budget.

    Example:
        >>> account = MetricAccount(MetricDP("0.02", "meter"))
        >>> account.charge(MetricDP("0.007", "meter"))
        >>> str(account.remaining)
        'ε 0.013 per meter'
    """

    def __init__(self, budget: MetricDP, path: str | PathLike[str] | None = None) -> None:
        self.budget: Final = of_kind(budget, "budget", MetricDP, _WANTED)
        super().__init__(path)
        self._spent = MetricDP(0, budget.unit)
        self._read()

    @property
    def spent(self) -> MetricDP:
        """What all charges together promise."""
        return self._spent

    @property
    def remaining(self) -> MetricDP:
        """What is left of the budget."""
        left = self.budget.epsilon - self._spent.epsilon, self.budget.offset - self._spent.offset
        return MetricDP(left[0], self.budget.unit, left[1])

    def charge(self, promise: MetricDP) -> None:
        """Charge a release, before it is made.

        Raises:
            BudgetExceededError: Too little is left; nothing was charged.
            ParameterError: It is no MetricDP, or has another unit; or this is a fork of an account without a file.
            OSError: The file cannot be locked or written.
        """
        asked = of_kind(promise, "promise", MetricDP, _WANTED).per(self.budget.unit)
        with self._alone():
            self._read()
            spent = self._with(asked)
            self._write({"version": _FORMAT, "budget": _fields(self.budget), "spent": _fields(spent)})
            self._spent = spent

    def release(self, mechanism: MetricMechanism[T_co], exact: Any) -> T_co:
        """Charge what a mechanism promises, and make one release of it.

        Raises:
            The errors of `charge`, and those of the mechanism.

        Example:
            >>> from sfumato.geo.metrics.lipschitz import LipschitzLaplace
            >>> height = LipschitzLaplace(lipschitz=1, epsilon="0.01", unit="meter")
            >>> account = MetricAccount(MetricDP("0.01", "meter"))
            >>> _ = account.release(height, 421)
            >>> account.remaining.epsilon
            Fraction(0, 1)
        """
        if not isinstance(getattr(mechanism, "guarantee", None), MetricDP):
            raise ParameterError("mechanism", mechanism, "must be a mechanism of sf.geo, whose guarantee is a MetricDP")
        self.charge(mechanism.guarantee)
        return mechanism.release(exact)

    def _with(self, asked: MetricDP) -> MetricDP:
        """What is spent with one more charge."""
        total = self._spent + asked
        if not total <= self.budget:
            raise BudgetExceededError(str(asked), str(self.remaining))
        return total

    def _write(self, document: dict[str, Any]) -> None:
        """First beside the file, then in its place; both, and the new name, are on the disk before this returns."""
        if self._path is None:
            return
        with draft_of(self._path, json.dumps(document).encode()) as draft:
            draft.replace(self._path)

    def _read(self) -> None:
        """Take over what the file says, if it is there."""
        if self._path is None or not self._path.exists():
            return
        try:
            document = json.loads(self._path.read_text("utf-8"))
            spent, budget = MetricDP(**document["spent"]), MetricDP(**document["budget"])
            is_known = document["version"] == _FORMAT and spent.unit == budget.unit and spent <= budget
        except (ValueError, KeyError, TypeError, AttributeError):
            is_known = False
        if not is_known:
            raise ParameterError("path", str(self._path), "must be the account of a device; it is damaged")
        if budget != self.budget:
            raise ParameterError("path", str(self._path), f"must be of the same budget; it is of {budget}")
        self._spent = spent


def _fields(promise: MetricDP) -> dict[str, str]:
    return {"epsilon": str(promise.epsilon), "unit": promise.unit, "offset": str(promise.offset)}
