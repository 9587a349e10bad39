"""`curator.toml`: which datasets a curator serves, where its ledger is, how it is reached, and what it allows.

All that is relative is looked for beside the file. Nothing here is secret but addresses of databases, which may hold
passwords; `Curator` does not show them.
"""

import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sfumato.errors import ParameterError, PolicyError, SfumatoError
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow, Window
from sfumato.local.core.protocol import LocalProtocol
from sfumato.local.files import load_protocol
from sfumato.numeric.rationals import exact
from sfumato.privacy.budgets import ZCDP, Budget
from sfumato.privacy.formats import parse_toml
from sfumato.privacy.guarantees import guarantee
from sfumato.server.providers import ProviderEntry, declared_providers, public_url

Number = str | int | float
_LONGEST_NAME: Final = 60
_NAME: Final = re.compile(rf"[\w.@:+-]{{1,{_LONGEST_NAME}}}")
"""The name of a dataset, which begins the names of files, or of a collection."""

_ORIGIN: Final = re.compile(
    r"(https://(?!.*:443$)[a-z0-9.-]+|http://(?!.*:80$)(localhost|127\.0\.0\.1))(:[1-9][0-9]{0,4})?"
)
"""An origin in the form of browsers, which leave out usual ports. On a page that came without TLS anybody may have
written the script, so it may come from this machine alone."""

_MOST_CELLS: Final = 1 << 20
_OF_OTHERS: Final = 0o077


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class BudgetEntry(_Entry):
    """`budget = { epsilon = 3, delta = "1e-6" }`, or `{ rho = "0.5", delta = 0 }`."""

    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number = 0

    def budget(self, place: str) -> Budget:
        """The budget that it declares.

        Raises:
            PolicyError: It declares none, or an impossible one.
        """
        if (self.epsilon is None) == (self.rho is None):
            raise PolicyError(place, "must have either epsilon or rho, such as { epsilon = 1 }")
        try:
            if self.rho is None:
                return guarantee(exact(self.epsilon or 0, "epsilon"), exact(self.delta, "delta"))
            return ZCDP(exact(self.rho, "rho"), exact(self.delta, "delta"))
        except ParameterError as error:
            raise PolicyError(f"{place}.{error.name}", error.requirement) from None


class WindowEntry(_Entry):
    """`window = { calendar = "month" }`, or `{ days = 30 }`."""

    calendar: str | None = None
    days: int | None = None

    def window(self, place: str) -> Window:
        """The window that it declares.

        Raises:
            PolicyError: It declares none, or an impossible one.
        """
        if (self.calendar is None) == (self.days is None):
            raise PolicyError(place, 'must have either calendar or days, such as { calendar = "month" }')
        try:
            return RollingWindow(self.days) if self.calendar is None else CalendarWindow(self.calendar)  # type: ignore[arg-type] # the class checks both
        except ParameterError as error:
            raise PolicyError(place, error.requirement) from None


class DatasetEntry(_Entry):
    """`[datasets.hospital]`."""

    policy: str
    budget: BudgetEntry
    window: WindowEntry | None = None
    lifetime: BudgetEntry | None = None
    engine: str = "duckdb"
    engine_options: dict[str, Any] = {}
    declared_rows: int = Field(default=1_000_000, ge=1)
    owners_may_ask: bool = False
    second_person: bool = False


class CollectionEntry(_Entry):
    """`[collections.drinks]`: randomized reports that devices send."""

    protocol: str
    public: bool = False
    readers: list[str] = []
    origins: list[str] = []


class PublishedEntry(_Entry):
    """`[counters.visits]` or `[maps.trips]`: a file of what was released; if public, all who sign in may see it."""

    releases: str
    public: bool = False
    readers: list[str] = []


class SyntheticEntry(PublishedEntry):
    """`[synthetic.adult]`: the file of synthetic data, and the dataset whose answers are shown beside it, if any."""

    dataset: str | None = None


class TLSEntry(_Entry):
    """`[tls]`: the certificate and its key, as files in PEM."""

    certificate: str
    key: str


class LimitsEntry(_Entry):
    """`[limits]`: what one request, one person and all together may take."""

    body_bytes: int = Field(default=1_000_000, ge=1_000)
    sql_characters: int = Field(default=100_000, ge=100)
    requests_per_minute: int = Field(default=600, ge=1)
    reports_per_minute: int = Field(default=1_000_000, ge=1)
    batch_reports: int = Field(default=100_000, ge=1)
    batch_days: int = Field(default=30, ge=1, le=3_650)
    concurrent_per_person: int = Field(default=4, ge=1)
    concurrent: int = Field(default=64, ge=1)
    seconds_to_send: float = Field(default=10.0, gt=0)
    seconds_to_answer: float = Field(default=30.0, ge=0)


class WorkEntry(_Entry):
    """`[work]`: how long answers are made to take, and when the process that reads data is replaced."""

    quantum: float = Field(default=0.05, ge=0)
    rows_per_second: float = Field(default=1e6, gt=0)
    seconds: float = Field(default=600.0, gt=0)
    memory: int | None = Field(default=None, ge=2**28)
    tickets: int = Field(default=10_000, ge=1)
    queue: int = Field(default=64, ge=1)


class CuratorEntry(_Entry):
    """The whole file."""

    state: str = "state"
    address: str = "127.0.0.1:8000"
    ledger: str = "ledger.db"
    database: str | None = None
    gateways: int = Field(default=1, ge=1, le=64)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    tls: TLSEntry | None = None
    insecure: bool = False
    public_url: str | None = None
    providers: dict[str, ProviderEntry] = {}
    limits: LimitsEntry = LimitsEntry()
    work: WorkEntry = WorkEntry()
    datasets: dict[str, DatasetEntry] = {}
    collections: dict[str, CollectionEntry] = {}
    counters: dict[str, PublishedEntry] = {}
    maps: dict[str, PublishedEntry] = {}
    synthetic: dict[str, SyntheticEntry] = {}


class Dataset:
    """One dataset as the file declares it.

    Args:
        name: Its name, in addresses.
        entry: What the file says.
        folder: Where the file is.
    """

    def __init__(self, name: str, entry: DatasetEntry, folder: Path) -> None:
        _check_name("datasets", name)
        self.name, place = name, f"datasets.{name}"
        self.policy = folder / entry.policy
        self.budget = entry.budget.budget(f"{place}.budget")
        self.window = None if entry.window is None else entry.window.window(f"{place}.window")
        self.lifetime = None if entry.lifetime is None else entry.lifetime.budget(f"{place}.lifetime")
        self.engine, self.engine_options = entry.engine, entry.engine_options
        self.declared_rows = entry.declared_rows
        self.owners_may_ask, self.second_person = entry.owners_may_ask, entry.second_person


@dataclass(frozen=True, slots=True)
class Collection:
    """Randomized reports of one protocol, which a curator collects.

    Attributes:
        name: Its name, in addresses.
        protocol: What devices and curator agreed on.
        is_public: Whether anybody may send reports, without an API key.
        readers: The people who may read the estimates.
        origins: The sites whose pages may send reports, as browsers name them; none by default.
        file: Where the protocol is.
        protocol_hash: The SHA-256 of the protocol, which tells it from any other.
    """

    name: str
    protocol: LocalProtocol
    is_public: bool
    readers: frozenset[str]
    origins: tuple[str, ...] = ()
    file: Path = Path()
    protocol_hash: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        written = json.dumps(self.protocol.to_json(), sort_keys=True, ensure_ascii=False)
        object.__setattr__(self, "protocol_hash", sha256(written.encode()).hexdigest())

    @classmethod
    def declared(cls, name: str, entry: CollectionEntry, folder: Path) -> "Collection":
        """The collection that the file declares.

        Raises:
            PolicyError: Its name is none, its file holds no protocol, or one that counts too much, or no browser would
                name an origin so.
        """
        _check_name("collections", name)
        for origin in entry.origins:
            if not _ORIGIN.fullmatch(origin):
                requirement = (
                    f"must be like https://shop.example or http://localhost:8080, without a path; {origin!r} is not"
                )
                raise PolicyError(f"collections.{name}.origins", requirement)
        place = f"collections.{name}.protocol"
        try:
            protocol = load_protocol(folder / entry.protocol)
        except ParameterError as error:
            raise PolicyError(place, error.requirement) from None
        if protocol.cells > _MOST_CELLS:
            requirement = f"must keep at most {_MOST_CELLS:,} counts, as each batch is written with all of them"
            raise PolicyError(place, requirement)
        readers, origins = frozenset(entry.readers), tuple(entry.origins)
        return cls(name, protocol, entry.public, readers, origins, folder / entry.protocol)


class Curator:
    """A curator as its file declares it.

    Args:
        entry: What the file says.
        folder: Where the file is.

    Raises:
        PolicyError: It says something impossible.
    """

    def __init__(self, entry: CuratorEntry, folder: Path) -> None:
        self.limits, self.work, self.gateways = entry.limits, entry.work, entry.gateways
        self.log_level, self.insecure = entry.log_level, entry.insecure
        self.state = folder / entry.state
        self.host, self.port = _address(entry.address)
        if entry.ledger == "memory:":
            raise PolicyError("ledger", "must be a file or a server, as several processes have it open")
        self.ledger = _located(entry.ledger, folder)
        self.database = _located(entry.database or f"sqlite:///{self.state / 'server.db'}", folder)
        self.tls = None if entry.tls is None else (folder / entry.tls.certificate, folder / entry.tls.key)
        if lost := [file for file in self.tls or () if not file.is_file()]:
            raise PolicyError("tls", f"must name existing files; {lost[0]} is none")
        self.datasets = {name: Dataset(name, own, folder) for name, own in entry.datasets.items()}
        self.collections = {name: Collection.declared(name, own, folder) for name, own in entry.collections.items()}
        self.counters: dict[str, PublishedEntry] = _published("counters", entry.counters, folder)
        self.maps: dict[str, PublishedEntry] = _published("maps", entry.maps, folder)
        self.synthetic: dict[str, SyntheticEntry] = _published("synthetic", entry.synthetic, folder)
        for name, own in self.synthetic.items():
            if own.dataset not in {None, *self.datasets}:
                raise PolicyError(f"synthetic.{name}.dataset", "must be a dataset of this file, or be left out")
        self.public_url = None if entry.public_url is None else public_url(entry.public_url)
        self.providers = declared_providers(entry.providers, folder, self.datasets, self.public_url)
        if self.tls is None and not self.insecure and not self.is_loopback:
            requirement = "must be a loopback address, or have [tls]; `insecure = true` says that a proxy has it"
            raise PolicyError("address", requirement)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        with suppress(ValueError):
            return ip_address(self.host).is_loopback
        return self.host == "localhost"

    @property
    def url(self) -> str:
        """Where clients reach it."""
        return self.url_at(self.port)

    def url_at(self, port: int) -> str:
        """Where clients reach it at a port, which the system chooses if the file says 0."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'http' if self.tls is None else 'https'}://{host}:{port}"

    @cached_property
    def socket(self) -> Path:
        """The socket on which the process with the data listens; its path is short, as systems limit it."""
        return self.state / "worker.sock"

    @property
    def secret(self) -> Path:
        """The file of the secret by which API keys are hashed."""
        return self.state / "keys.secret"

    def declarations(self, dataset: str) -> Path:
        """The file in which the process with the data says what it knows of a policy."""
        return self.state / f"{dataset}.declared"

    def mark(self, dataset: str) -> Path:
        """The file that names the query that the process with the data is running."""
        return self.state / f"{dataset}.running"

    def version(self, dataset: str) -> Path:
        """The file that names the version of the data, once an owner has published one."""
        return self.state / f"{dataset}.version"

    def make_state(self) -> None:
        """Make the folder of sockets and keys, for this user alone.

        Raises:
            ParameterError: It cannot be made, or others may look into it.
        """
        try:
            self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
            is_private = not self.state.stat().st_mode & _OF_OTHERS
        except OSError:
            is_private = False
        if not is_private:
            raise ParameterError("state", str(self.state), "must be a folder that only this user may open (mode 0700)")

    def __repr__(self) -> str:
        return f"<Curator of {', '.join(self.datasets)} at {self.url}>"


def load_curator(path: str | os.PathLike[str]) -> Curator:
    """The curator that a file declares.

    Raises:
        ParameterError: There is no such file.
        PolicyError: It is no TOML, or says something impossible; the error names the place.
    """
    file = Path(path)
    try:
        content = parse_toml(file.read_text("utf-8"))
    except OSError:
        raise ParameterError("config", str(file), "must be an existing TOML file") from None
    except (ValueError, SfumatoError) as error:
        raise PolicyError(file.name, f"the file is not TOML: {error}") from None
    try:
        entry = CuratorEntry.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise PolicyError(".".join(map(str, first["loc"])) or "the top", first["msg"]) from None
    return Curator(entry, file.parent.absolute())


def _published(room: str, entries: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Entries with the paths of their files."""
    for name in entries:
        _check_name(room, name)
    return {name: one.model_copy(update={"releases": str(folder / one.releases)}) for name, one in entries.items()}


def _check_name(kind: str, name: str) -> None:
    if not _NAME.fullmatch(name) or "sfk_" in name:
        requirement = "must have a name of at most 60 letters, digits or _.@:+-, which grants and acts can hold"
        raise PolicyError(f"{kind}.{name[:_LONGEST_NAME]!r}", requirement)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) >= 2**16:
        raise PolicyError("address", 'must be a host and a port, such as "127.0.0.1:8000"')
    return host.removeprefix("[").removesuffix("]"), int(port)


def _located(location: str, folder: Path) -> str:
    """A location whose file is looked for in a folder."""
    path = location.removeprefix("sqlite:///")
    if "://" in path:
        return path
    return f"sqlite:///{folder / path}"
