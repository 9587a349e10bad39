"""What the options of `sfumato stream` mean: a clock, a measure, who is protected, and what it costs."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from sfumato import mechanisms
from sfumato.cli.ledger.owner import budget_of
from sfumato.cli.options import separated
from sfumato.cli.query import known_budget
from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.participation import Participation
from sfumato.numeric.rationals import open_probability
from sfumato.privacy.budgets import ZCDP, Budget
from sfumato.privacy.guarantees import PureDP
from sfumato.streams.counting.measures import ClampedSum, EventCount, Measure
from sfumato.streams.sources.ticks import Ticks

_MECHANISMS: Final = {
    "tree": "BinaryTree", "square-root": "SquareRoot", "buffered": "BufferedToeplitz", "best": "best_counter",
}  # fmt: skip
_LONGEST_LATENESS: Final = 10**9
_TIMED: Final = ("second", "minute", "hour")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """The options as they are typed."""

    every: str
    horizon: int
    epsilon: str | None
    rho: str | None
    delta: str | None
    mechanism: str | None
    time: str | None
    key: str | None
    value: str | None
    unit: str | None
    participations: int | None
    separation: int
    id: str | None
    lateness: float
    start: str | None
    zone: str
    replay: bool
    state: str | None
    ledger: str | None
    name: str
    budget: str | None
    budget_rho: str | None
    budget_delta: str | None

    @property
    def fields(self) -> dict[str, str]:
        """The fields that are read, by what they say."""
        named = {
            "time": self.time, "key": _field(self.key), "value": _field(self.value), "unit": self.unit, "id": self.id,
        }  # fmt: skip
        return {name: field for name, field in named.items() if field is not None}

    @property
    def ticks(self) -> Ticks:
        """The clock; without a start it begins now, at a whole second, or today."""
        now = datetime.now(UTC).replace(microsecond=0)
        start = self.start
        if start is None:
            is_timed = any(word in self.every for word in _TIMED)
            Ticks(start="1970-01-01", every=self.every, zone=self.zone)  # which refuses a zone that there is not
            start = now.isoformat() if is_timed else now.astimezone(ZoneInfo(self.zone)).date().isoformat()
        return Ticks(start=start, every=self.every, zone=self.zone)

    @property
    def is_continued(self) -> bool:
        """Whether the state is there already."""
        return self.state is not None and Path(self.state).exists()

    @property
    def waits(self) -> timedelta:
        """How long a tick waits for late events."""
        if not 0 <= self.lateness <= _LONGEST_LATENESS:
            raise ParameterError("--lateness", self.lateness, f"must be seconds from 0 to {_LONGEST_LATENESS:,}")
        return timedelta(seconds=self.lateness)

    @property
    def measure(self) -> Measure:
        """What is summed up."""
        keys = None if self.key is None else separated(_after(self.key, "--key", "ward=north,south"))
        if self.value is None:
            return EventCount(keys=keys)
        low, *rest = _after(self.value, "--value", "hours=0:24 or hours=0:24:0.5").split(":")
        if len(rest) not in {1, 2}:
            raise ParameterError("--value", self.value, "must look like hours=0:24 or hours=0:24:0.5")
        return ClampedSum(low, rest[0], resolution=rest[1] if len(rest) == 2 else None, keys=keys)  # noqa: PLR2004

    @property
    def participation(self) -> Participation | None:
        """How often one person counts."""
        if self.unit is None:
            if self.participations is not None or self.separation != 1:
                raise ParameterError("--participations", self.participations, "needs --unit, as does --separation")
            return None
        if self.participations is None:
            raise ParameterError("--participations", None, "is missing: say in how many ticks a person counts at most")
        return Participation(most=self.participations, separation=self.separation)

    @property
    def kind(self) -> Any:
        """The kind of noise."""
        name = "tree" if self.mechanism is None else self.mechanism
        if name not in _MECHANISMS:
            raise ParameterError("--mechanism", name, f"must be one of: {', '.join(_MECHANISMS)}")
        return getattr(mechanisms, _MECHANISMS[name])

    @property
    def cost(self) -> Budget:
        """The cost of all ticks."""
        if (self.epsilon is None) is (self.rho is None):
            raise ParameterError(
                "--epsilon, --rho", (self.epsilon, self.rho), "give exactly one: the cost of all ticks"
            )
        if self.delta is not None:
            open_probability(self.delta, "--delta")
        return ZCDP(self.rho) if self.rho is not None else PureDP(self.epsilon or "")

    @property
    def allowed(self) -> Budget:
        """The budget: stated, known to the ledger, or without a ledger the cost."""
        if self.state is not None and self.ledger is None:
            raise ParameterError("--state", self.state, "needs --ledger, which knows the live copy of a state")
        if self.budget is not None or self.budget_rho is not None:
            return budget_of(epsilon=self.budget, delta=self.budget_delta, rho=self.budget_rho)
        if self.budget_delta is not None:
            raise ParameterError("--budget-delta", self.budget_delta, "needs --budget or --budget-rho too")
        return self.cost if self.ledger is None else known_budget(self.ledger, self.name)


def _field(option: str | None) -> str | None:
    return None if option is None else option.partition("=")[0]


def _after(option: str, name: str, form: str) -> str:
    """What stands behind "="."""
    field, sign, rest = option.partition("=")
    if not (field and sign and rest):
        raise ParameterError(name, option, f"must look like {form}")
    return rest
