"""A privacy profile as a table: points (ε, δ) that an accountant proves, for files and pictures."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sfumato.accounting.core.accountant import Accountant
from sfumato.accounting.core.printed import text_up
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, nonnegative

_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class ProfilePoints:
    """Points of a privacy profile: at each δ an ε, and all pairs hold at once.

    Figures in files have 12 digits and are rounded up, which weakens them.

    Args:
        deltas: δ of each point.
        epsilons: ε of each point; infinite where none is proved.

    Example:
        >>> from sfumato.accounting.composition.basic import BasicAccountant
        >>> from sfumato.privacy.events import PureEvent
        >>> account = BasicAccountant().compose(PureEvent("0.1"), count=3)
        >>> print(ProfilePoints.of(account, deltas=[0, "1e-6"]).to_csv(), end="")
        delta,epsilon
        0,0.3
        1e-6,0.3
    """

    deltas: tuple[Fraction, ...]
    epsilons: tuple[Fraction | float, ...]

    @classmethod
    def of(cls, accountant: Accountant, *, deltas: Iterable[Number]) -> "ProfilePoints":
        """What an accountant proves at each δ.

        Raises:
            ParameterError: A δ is negative, or 1 or more.
        """
        asked = tuple(nonnegative(delta, "deltas") for delta in listed(deltas, "deltas"))
        return cls(asked, tuple(accountant.epsilon(delta) for delta in asked))

    def to_csv(self) -> str:
        """The points in columns `delta` and `epsilon`; an ε without limit is `inf`."""
        return "".join(f"{delta},{epsilon}\n" for delta, epsilon in (("delta", "epsilon"), *self._figures()))

    def to_json(self) -> str:
        """The points as an array of objects; figures are strings of decimals, and null where ε has no limit."""
        found = (
            {"delta": delta, "epsilon": None if epsilon == "inf" else epsilon} for delta, epsilon in self._figures()
        )
        return json.dumps(list(found))

    def _figures(self) -> list[tuple[str, str]]:
        return [
            (text_up(delta, _DIGITS), "inf" if math.isinf(epsilon) else text_up(epsilon, _DIGITS))
            for delta, epsilon in zip(self.deltas, self.epsilons, strict=True)
        ]
