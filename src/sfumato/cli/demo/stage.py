"""The setting of the demo: the terminal, the people, and three databases with their accounts and budgets."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from rich.console import Console
from rich.text import Text

from sfumato.cli.show import console, table
from sfumato.datasets import adult_or_people, company, load_adult, medical_table
from sfumato.privacy.guarantees import PureDP
from sfumato.query.model.schema import Column, Key, Table, integer, text
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.session.releases.release import Release
from sfumato.session.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The terminal and the files of the demo.

    Attributes:
        output: The folder for pictures.
        ledger: The ledger file; None keeps no ledger.
        console: The terminal.
    """

    output: Path
    ledger: str | None
    console: Console = field(default_factory=console)

    def section(self, title: str) -> None:
        """Print a heading."""
        self.console.print()
        self.console.rule(Text(title, style="bold"), align="left", style="dim")

    def say(self, text: str) -> None:
        """Print a paragraph."""
        self.console.print(text)

    def figures(self, header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> None:
        """Print a table whose first `left` columns are text and whose others are numbers."""
        self.console.print(table(header, rows, left=left))


def cost(release: Release) -> str:
    """The cost of an answer this time."""
    return "nothing, stored answer" if release.reused else str(release.receipt.guarantee)


OVER = 50
YOUNGEST, OLDEST, BINS = 17, 90, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The raw tables and their names; only an owner, such as the demo, may read them.

    Attributes:
        dataset: The name of their account.
        origin: The source of `table`, in words.
        table: One row per person, with the owner's column `age_bin`.
        everyone: The same people and, for the census, those of adult.test.
        everyone_origin: The source of `everyone`, in words.
    """

    dataset: str
    origin: str
    table: Any  # pyarrow.Table; pyarrow ships no types
    everyone: Any
    everyone_origin: str


def load_people() -> People:
    """The Adult census or, if it is not available, as many made-up people.

    Raises:
        ParameterError: A file has unexpected content, or adult.data is there without adult.test.
    """
    table, origin = adult_or_people()
    is_made_up = "made-up" in origin
    return People(
        dataset="made-up people" if is_made_up else "adult",
        origin=origin,
        table=table.append_column("age_bin", pa.array(map(age_bin, table["age"].to_pylist()), pa.int64())),
        everyone=table if is_made_up else load_adult("all"),
        everyone_origin="the same made-up people" if is_made_up else "adult.data and adult.test together",
    )


def age_bin(age: int) -> int:
    """The index of an age's bin, of ten equal ones on the declared range; ages outside are in the nearest bin."""
    position = (age - YOUNGEST) * BINS // (OLDEST - YOUNGEST)
    return min(max(position, 0), BINS - 1)


def true_counts(column: Iterable[Key], keys: Iterable[Key]) -> list[int]:
    """The exact number of rows with each key, which only the owner may see."""
    values = list(column)
    return [values.count(key) for key in keys]


MARITAL_STATUS: Final = (
    "Married-civ-spouse", "Never-married", "Divorced", "Separated", "Widowed", "Married-spouse-absent",
    "Married-AF-spouse",
)  # fmt: skip
TOP_SALARY: Final = 290_000
PEOPLE_BUDGET, COMPANY_BUDGET, PATIENTS_BUDGET = PureDP("0.25"), PureDP("18.2"), PureDP("0.3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Curators:
    """The sessions that answer with noise: on the census, a company's payroll, and five patients."""

    people: Session
    company: Session
    patients: Session

    @property
    def all(self) -> tuple[Session, ...]:
        """All three sessions."""
        return self.people, self.company, self.patients


@contextmanager
def open_curators(people: People, *, ledger: str | None) -> Iterator[Curators]:
    """All three sessions, on one ledger file if one is given.

    Raises:
        LedgerError: The ledger is broken, or holds one of the accounts with another budget.
    """
    policies = ((_people(people), PEOPLE_BUDGET), (_company(), COMPANY_BUDGET), (_patients(), PATIENTS_BUDGET))
    with ExitStack() as stack:
        census, payroll, patients = (
            stack.enter_context(Session(policy, budget=budget, ledger=ledger)) for policy, budget in policies
        )
        yield Curators(people=census, company=payroll, patients=patients)


def numbered_patients() -> Any:
    """The medical table of the texts with the number of each row."""
    table = medical_table()
    return table.append_column("number", pa.array(range(1, table.num_rows + 1), pa.int64()))


def _people(people: People) -> Policy:
    ages = {"age": integer(YOUNGEST, OLDEST), "age_bin": integer(values=range(BINS))}
    status = {"marital_status": text(values=MARITAL_STATUS)}
    tables = {"people": (people.table, ages), "everyone": (people.everyone, status)}
    return _policy(people.dataset, "person", tables)


def _company() -> Policy:
    salary = {"salary": integer(0, TOP_SALARY)}
    return _policy("company", "employee", {month: (company(month), salary) for month in ("january", "february")})


def _patients() -> Policy:
    columns = {"number": integer(), "diabetes": integer(0, 1)}
    return _policy("patients", "patient", {"patients": (numbered_patients(), columns)})


def _policy(dataset: str, unit_name: str, tables: dict[str, tuple[Any, dict[str, Column]]]) -> Policy:
    """Tables in which each row is one unit."""
    return Policy(
        dataset=dataset, version="1", data_version="1", unit_name=unit_name,
        tables={name: Table(name=name, columns=columns) for name, (_, columns) in tables.items()},
        sources={name: SourceFacts(source=source) for name, (source, _) in tables.items()},
    )  # fmt: skip
