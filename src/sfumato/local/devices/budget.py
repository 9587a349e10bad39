"""A ledger on the device: what all of its reports may cost a use, a day and a lifetime, and how it goes on beyond.

Deployed systems limit what one report costs, and send reports day after day [TKBWL17]. A device with a `DeviceBudget`
sends as many reports a day as ever, but only so many are about its values. Which ones is public.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any, Final, Literal, TypeAlias

from sfumato.errors import ParameterError
from sfumato.ledger.keeping.files import draft_of, locked
from sfumato.local.core.protocol import LocalClient
from sfumato.local.core.reports import Report
from sfumato.mechanisms.base import opened
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.arguments import of_kind, path_of
from sfumato.numeric.rationals import Number, exact, positive, positive_integer, set_fields

Beyond: TypeAlias = Literal["repeat", "data_free"]
_FORMAT: Final = 1
_MOST_REPORTS: Final = 1000


@dataclass(frozen=True, slots=True, init=False)
class DeviceBudget:
    """The most that a device may spend on one report, on one day, and ever; and how many reports it sends a day.

    **Guarantee**: all reports that a device ever sends have `lifetime`-differential privacy in all values that it ever
    holds, and those of one day have `per_day`-differential privacy in the values of that day. Proof:
    proofs/local/devices/budget.md.

    Args:
        per_use: The most ε of one report.
        per_day: The most ε of one day, over all protocols of the device.
        lifetime: The most ε ever, over all protocols of the device.
        reports_per_day: How many reports each protocol sends a day, whatever is left.
        beyond: What a report is when nothing is left: the last one again (``repeat``), or one that is made of no value
            (``data_free``). Both cost nothing. Silence would not do: it would depend on what happened on the device.

    Raises:
        ParameterError: A number is out of range, or one use may cost more than a day, or a day more than a lifetime.

    Example:
        >>> DeviceBudget(per_use=1, per_day=2, lifetime=30, reports_per_day=2).lifetime
        Fraction(30, 1)
    """

    per_use: Fraction
    per_day: Fraction
    lifetime: Fraction
    reports_per_day: int
    beyond: Beyond

    def __init__(
        self, *, per_use: Number, per_day: Number, lifetime: Number, reports_per_day: int = 1, beyond: Beyond = "repeat"
    ) -> None:
        use, day, life = positive(per_use, "per_use"), positive(per_day, "per_day"), positive(lifetime, "lifetime")
        if use > day:
            raise ParameterError("per_use", per_use, "must be at most per_day")
        if day > life:
            raise ParameterError("per_day", per_day, "must be at most lifetime")
        if of_kind(beyond, "beyond", str, "repeat or data_free") not in {"repeat", "data_free"}:
            raise ParameterError("beyond", beyond, "must be repeat or data_free")
        count = positive_integer(reports_per_day, "reports_per_day", most=_MOST_REPORTS)
        set_fields(self, per_use=use, per_day=day, lifetime=life, reports_per_day=count, beyond=beyond)

    def schedule(self, costs: Mapping[str, Fraction], *, spent: Fraction) -> list[tuple[str, bool]]:
        """A day's reports in their order, and whether each is about a value: public, and nothing a value decides.

        Protocols take turns. A report is about a value if its ε is left, of the day and of the lifetime.

        Example:
            >>> budget = DeviceBudget(per_use=1, per_day="1.5", lifetime=10, reports_per_day=2)
            >>> budget.schedule({"emoji": Fraction(1), "word": Fraction(1, 2)}, spent=Fraction(0))
            [('emoji', True), ('word', True), ('emoji', False), ('word', False)]
        """
        today, made = Fraction(0), []
        for _ in range(self.reports_per_day):
            for name, cost in costs.items():
                is_fresh = today + cost <= self.per_day and spent + today + cost <= self.lifetime
                today += cost if is_fresh else 0
                made.append((name, is_fresh))
        return made


class DeviceLedger:
    """The clients of one device, and a file that says what they have spent. It is written before reports are returned.

    Processes that use one file take turns, and each continues where the others are. Beside it a file `.lock` stays.

    ====================================================  =====================================================
    Edge case                                             Behavior
    ====================================================  =====================================================
    a day is asked for again, or an earlier one           the same reports as before, whatever the values are
    there are fewer values than reports                   values are drawn with replacement; of none, none
    a protocol has no values that day                     its reports are made of no value, at the same cost
    nothing was ever sent, and nothing is left            reports that are made of no value
    two processes send on one day                         both get the reports of the first one
    a client has a memory, such as that of `Rappor`       refused: `LocalClient(protocol)` makes fresh reports
    the file is lost, or an older copy is restored        the device can spend again: keep one file for a device
    ====================================================  =====================================================

    Args:
        budget: What may be spent.
        clients: The device's side of each protocol, by name. Each report must be made of fresh coins alone.
        path: The file of the ledger; it is made with the first reports.

    Raises:
        ParameterError: A report of a client costs more than one use may, or a client has a memory; or the file is
            damaged, or of other protocols or another budget.

    Example:
        >>> from tempfile import mkdtemp
        >>> from sfumato.local import DirectEncoding
        >>> drinks = DirectEncoding(["tea", "coffee"], epsilon=1)
        >>> budget = DeviceBudget(per_use=1, per_day=1, lifetime=2)
        >>> ledger = DeviceLedger(budget, {"drinks": drinks.client()}, f"{mkdtemp()}/ledger.json")
        >>> sent = [ledger.send({"drinks": ["tea"]}, day=day)["drinks"][0] for day in range(4)]
        >>> sent[1] == sent[2] == sent[3], ledger.spent <= 2
        (True, True)
    """

    def __init__(self, budget: DeviceBudget, clients: Mapping[str, LocalClient], path: str | PathLike[str]) -> None:
        self.budget: Final = of_kind(budget, "budget", DeviceBudget, "a DeviceBudget")
        wanted = "a mapping of names to clients, such as protocol.client()"
        of_kind(clients, "clients", Mapping, wanted)
        self._clients: Final = {
            name: of_kind(client, "clients", LocalClient, wanted) for name, client in clients.items()
        }
        self._costs: Final = {name: client.protocol.realized_epsilon for name, client in self._clients.items()}
        self._path: Final = path_of(path, "path")
        if not self._clients:
            raise ParameterError("clients", "{}", "must have at least one client")
        for name, cost in self._costs.items():
            if self._clients[name].has_memory:
                requirement = "has a memory, so that equal reports show equal values; give LocalClient(protocol)"
                raise ParameterError("clients", name, requirement)
            if cost > budget.per_use:
                raise ParameterError("clients", name, f"costs ε {float(cost):.6g} a report, above per_use")
        self._day: int | None = None
        self._spent = Fraction(0)
        self._last: dict[str, list[Report]] = {name: [] for name in self._clients}
        self._read()

    @property
    def spent(self) -> Fraction:
        """The ε of all reports so far that were about values."""
        return self._spent

    @property
    def remaining(self) -> Fraction:
        """The ε that is left of the lifetime."""
        return self.budget.lifetime - self._spent

    def send(self, values: Mapping[str, Sequence[Any]], *, day: int) -> dict[str, list[Report]]:
        """The reports of a day, as many for each protocol as on every other day.

        Args:
            values: What the person held that day, for each protocol; a protocol may be missing.
            day: The number of the day, from a clock that everybody knows. Days may be skipped.

        Raises:
            ParameterError: The day is no whole number, a protocol is unknown, or its values are no list.
            OSError: The ledger cannot be locked or written; then nothing is returned.
        """
        if isinstance(day, bool) or not isinstance(day, int):
            raise ParameterError("day", day, "must be a whole number")
        if unknown := set(values) - set(self._clients):
            raise ParameterError("values", min(unknown), f"must be of {', '.join(self._clients)}")
        with locked(self._path.with_name(f"{self._path.name}.lock")):
            self._read()
            if self._day is None or day > self._day:
                self._spend(values, day)
            return {name: list(reports) for name, reports in self._last.items()}

    def _spend(self, values: Mapping[str, Sequence[Any]], day: int) -> None:
        """The reports of a new day, in the file and in memory."""
        schedule = self.budget.schedule(self._costs, spent=self._spent)
        sent: dict[str, list[Report]] = {name: [] for name in self._clients}
        held = {name: _listed(opened(values.get(name, ()))) for name in self._clients}
        for at, (name, is_fresh) in enumerate(schedule):
            sent[name].append(self._fresh(name, held[name]) if is_fresh else self._beyond(name, at, sent[name]))
        spent = self._spent + sum((self._costs[name] for name, is_fresh in schedule if is_fresh), Fraction(0))
        self._write(day, spent, sent)
        self._day, self._spent, self._last = day, spent, sent

    def _fresh(self, name: str, held: Sequence[Any]) -> Report:
        """A report of one of the day's values, drawn uniformly; of none, it is made of no value."""
        value = held[int(uniform_below(len(held), 1)[0])] if len(held) else None
        return self._clients[name].report(value)

    def _beyond(self, name: str, at: int, today: list[Report]) -> Report:
        """A report that costs nothing: made of no value, or one that was sent before."""
        before = today or self._last[name]
        if self.budget.beyond == "data_free" or not before:
            return self._clients[name].report(None)
        return before[at % len(before)]

    def _header(self) -> dict[str, Any]:
        limits = {name: str(getattr(self.budget, name)) for name in ("per_use", "per_day", "lifetime")}
        protocols = {name: client.protocol.fingerprint.hex() for name, client in self._clients.items()}
        return {"version": _FORMAT, "budget": limits, "protocols": protocols}

    def _write(self, day: int, spent: Fraction, sent: Mapping[str, list[Report]]) -> None:
        """First beside the file, then in its place; both, and the new name, are on the disk before this returns."""
        reports = {name: [b64encode(bytes(report)).decode() for report in made] for name, made in sent.items()}
        document = self._header() | {"day": day, "spent": str(spent), "reports": reports}
        with draft_of(self._path, json.dumps(document).encode()) as draft:
            draft.replace(self._path)

    def _read(self) -> None:
        """Take over what the file says, if it is there and not behind."""
        if not self._path.exists():
            return
        try:
            document = json.loads(self._path.read_text("utf-8"))
            day, spent = document["day"], exact(document["spent"], "spent")
            reports = {name: [Report.from_text(text) for text in made] for name, made in document["reports"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ParameterError("path", str(self._path), "must be the ledger of a device; it is damaged") from None
        if {name: document.get(name) for name in ("version", "budget", "protocols")} != self._header():
            raise ParameterError("path", str(self._path), "must be of the same budget and protocols")
        if isinstance(day, bool) or not isinstance(day, int) or spent < 0 or set(reports) != set(self._clients):
            raise ParameterError("path", str(self._path), "must be the ledger of a device; it is damaged")
        if self._day is None or self._day < day:
            self._day, self._spent, self._last = day, spent, reports


def _listed(values: object) -> list[Any]:
    """The values of a day. The error shows none of them."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise ParameterError("values", type(values).__name__, "must be a list of the day's values for each protocol")
    return list(values)
