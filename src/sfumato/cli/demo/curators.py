"""The three databases of the demo, each with its own people, its own account and its own stated budget."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from sfumato.cli.demo.people import BINS, OLDEST, YOUNGEST, People
from sfumato.datasets import company, medical_table
from sfumato.privacy.guarantees import PureDP
from sfumato.query.model.schema import Column, Table, integer, text
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.session.session import Session

MARITAL_STATUS: Final = (
    "Married-civ-spouse", "Never-married", "Divorced", "Separated", "Widowed", "Married-spouse-absent",
    "Married-AF-spouse",
)  # fmt: skip
TOP_SALARY: Final = 290_000
PEOPLE_BUDGET, COMPANY_BUDGET, PATIENTS_BUDGET = PureDP("0.25"), PureDP("18.2"), PureDP("0.3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Curators:
    """Those who hold the data and answer with noise: of the census, of a company's payroll, of five patients."""

    people: Session
    company: Session
    patients: Session

    @property
    def all(self) -> tuple[Session, ...]:
        """Each of them."""
        return self.people, self.company, self.patients


@contextmanager
def open_curators(people: People, *, ledger: str | None) -> Iterator[Curators]:
    """All three, over one ledger file if one is named.

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
