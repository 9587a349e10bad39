"""Routes of datasets: what is public of them, what they promise, and what their owners publish."""

from dataclasses import asdict
from fractions import Fraction
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from sfumato.ledger.labels import label_of
from sfumato.numeric.rationals import decimal_text
from sfumato.privacy.codec import Json
from sfumato.query.model.schema import Column, Table
from sfumato.server.gateway.access import Anybody, Guarded
from sfumato.server.gateway.desks import Served
from sfumato.server.identity.people import Action

router = APIRouter(prefix="/v1/datasets", tags=["datasets"], route_class=Guarded)

Reason = Annotated[str, Field(min_length=1, max_length=1_000, pattern=r"^[^\x00-\x09\x0b-\x1f\x7f]+$")]
"""Why an owner does something, in their words; of control characters it holds new lines alone."""


class Version(BaseModel):
    """A new version of the data, which its owner has put in place."""

    model_config = ConfigDict(extra="forbid", strict=True)

    data_version: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]


class Acknowledgment(BaseModel):
    """Why a failure on the data cannot happen again."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reason: Reason


@router.get("")
def datasets(who: Anybody) -> list[dict[str, Any]]:
    """The datasets on which whoever asks has a role."""
    with who.doing(Action.READ_SELF) as doing:
        names = [name for name in who.gateway.curator.datasets if doing.principal.roles(name)]
        return [_shown(who, name, sorted(doing.principal.roles(name))) for name in names]


@router.get("/{dataset}")
def dataset(dataset: str, who: Anybody) -> dict[str, Any]:
    """All that is public of a dataset: tables, columns, views, limits and versions."""
    with who.doing(Action.READ_SCHEMA, dataset) as doing:
        served = who.gateway.datasets.served(dataset)
        declared = served.declared
        return {
            **_shown(who, dataset, sorted(doing.principal.roles(dataset))),
            "account": doing.principal.account(dataset),
            "tables": [_table(table) for table in declared.tables.values()],
            "views": dict(declared.views),
            "shares_answers": declared.shares_answers,
        }


@router.get("/{dataset}/relations")
def relations(dataset: str, who: Anybody) -> dict[str, str]:
    """The tables as this package writes them, for clients that build frames."""
    with who.doing(Action.READ_RELATIONS, dataset):
        return {"relations": who.gateway.datasets.served(dataset).text}


@router.get("/{dataset}/label")
def label(dataset: str, who: Anybody) -> dict[str, Any]:
    """The privacy label: who is protected, how well, for how long, and how much of the budget is spent."""
    with who.doing(Action.READ_SCHEMA, dataset):
        return label_of(who.gateway.ledger, who.gateway.datasets.served(dataset).planning.account).to_dict()


@router.post("/{dataset}/versions")
def publish(dataset: str, version: Version, who: Anybody) -> dict[str, Any]:
    """Answer from data of a new version from now on; stored answers of other versions are not returned."""
    with who.doing(Action.PUBLISH_VERSION, dataset):
        who.gateway.datasets.publish(dataset, version.data_version)
        return _versions(who.gateway.datasets.served(dataset))


@router.post("/{dataset}/acknowledgments")
def acknowledge(dataset: str, why: Acknowledgment, who: Anybody) -> dict[str, Any]:
    """Answer queries again after one failed on the data; each such failure may tell one bit of a person."""
    with who.doing(Action.ACKNOWLEDGE, dataset):
        account = who.gateway.datasets.served(dataset).planning.account
        return {"acknowledged_failures": who.gateway.ledger.resume_account(account, reason=why.reason)}


def _shown(who: Anybody, name: str, roles: list[Any]) -> dict[str, Any]:
    """What a list of datasets says of one."""
    served = who.gateway.datasets.served(name)
    return {
        "name": name,
        "roles": list(map(str, roles)),
        "privacy_unit": served.declared.unit_name,
        "neighboring_relation": served.declared.neighboring_relation.value,
        **_versions(served),
    }


def _versions(served: Served) -> dict[str, str]:
    return {"policy_version": served.declared.version, "data_version": served.declared.data_version}


def _table(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "unit": table.owner_text,
        "limits": asdict(table.limits),
        "columns": [_column(name, column) for name, column in table.columns.items()],
    }


def _column(name: str, column: Column) -> dict[str, Json]:
    bounds = None if column.lower is None else [_bound(column.lower), _bound(column.upper)]
    return {
        "name": name,
        "type": column.kind.value,
        "bounds": bounds,
        "resolution": decimal_text(column.resolution),
        "values": None if column.values is None else [_bound(value) for value in column.values],
        "nullable": column.nullable,
    }


def _bound(value: Any) -> Json:
    """A number, a text or a truth as it is; a day, a time or a fraction as text."""
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return value if isinstance(value, bool | int | str) else str(value)
