"""Policy files: TOML, validated, with the path of what is wrong in every error."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sfumato.errors import ParameterError, PolicyError, SfumatoError
from sfumato.numeric.rationals import exact
from sfumato.privacy.neighbors import EACH_ROW, NeighboringRelation, PrivacyUnit, UnitColumn
from sfumato.query.policy import Policy, SourceFacts
from sfumato.query.schema import Column, Key, Kind, Limits, Table

Number = str | int | float


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Column(_Strict):
    type: Literal["integer", "float", "text", "boolean"] | None = None
    bounds: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    resolution: Number | None = None
    values: list[bool | int | str] | None = None
    nullable: bool = True


class _Table(_Strict):
    source: str
    unit: str = "row"
    names: list[str] | None = None
    max_rows_per_unit: int | None = None
    max_groups_per_unit: int | None = None
    max_rows_per_group_per_unit: int | None = None
    columns: dict[str, _Column]


class _Unit(_Strict):
    name: str
    neighboring_relation: Literal["add_or_remove_one", "replace_one"] = "add_or_remove_one"


class _Policy(_Strict):
    version: str
    data_version: str | None = None
    dataset: str | None = None
    unit: _Unit
    tables: Annotated[dict[str, _Table], Field(min_length=1)]


def load_policy(path: str | Path) -> Policy:
    """The policy in a TOML file; relative sources are looked for beside it.

    Raises:
        PolicyError: The file is no TOML, or says something impossible; the error names the place.
        ParameterError: There is no such file.
    """
    file = Path(path)
    try:
        with file.open("rb") as opened:
            document = tomllib.load(opened)
    except OSError:
        raise ParameterError("policy", str(path), "must be an existing TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(file.name, f"the file is not TOML: {error}") from None
    try:
        parsed = _Policy.model_validate(document)
    except ValidationError as error:
        _refuse(error)
    return Policy(
        dataset=parsed.dataset or file.stem,
        version=parsed.version,
        data_version=parsed.data_version or parsed.version,
        unit_name=parsed.unit.name,
        neighboring_relation=NeighboringRelation(parsed.unit.neighboring_relation),
        tables={name: _table(name, table) for name, table in parsed.tables.items()},
        sources={name: _source(file.parent, table) for name, table in parsed.tables.items()},
    )


def _refuse(error: ValidationError) -> NoReturn:
    first = error.errors(include_url=False)[0]
    raise PolicyError(".".join(map(str, first["loc"])) or "the top", first["msg"]) from None


def _source(folder: Path, table: _Table) -> SourceFacts:
    return SourceFacts(source=folder / table.source, names=None if table.names is None else tuple(table.names))


def _table(name: str, table: _Table) -> Table:
    path = f"tables.{name}"
    unit: PrivacyUnit = EACH_ROW if table.unit == "row" else UnitColumn(table.unit)
    columns = {column: _column(f"{path}.columns.{column}", facts) for column, facts in table.columns.items()}
    if isinstance(unit, UnitColumn):
        columns.setdefault(unit.column, Column(kind=Kind.TEXT))
    try:
        limits = Limits(
            max_rows_per_unit=table.max_rows_per_unit,
            max_groups_per_unit=table.max_groups_per_unit,
            max_rows_per_group_per_unit=table.max_rows_per_group_per_unit,
        )
        return Table(name=name, columns=columns, unit=unit, limits=limits)
    except SfumatoError as error:
        raise PolicyError(path, str(error)) from None


def _column(path: str, facts: _Column) -> Column:
    values = None if facts.values is None else tuple(facts.values)
    kind = Kind(facts.type) if facts.type else _kind_of(path, values)
    try:
        lower, upper = (None, None) if facts.bounds is None else (exact(end, "bounds") for end in facts.bounds)
        resolution = exact(
            facts.resolution if facts.resolution is not None else _default_resolution(kind), "resolution"
        )
        if kind is Kind.BOOLEAN:
            values = values or (False, True)
        return Column(
            kind=kind, lower=lower, upper=upper, resolution=resolution, values=values, nullable=facts.nullable
        )  # fmt: skip
    except ParameterError as error:
        raise PolicyError(path, str(error)) from None


def _default_resolution(kind: Kind) -> str:
    return "0.01" if kind is Kind.FLOAT else "1"


def _kind_of(path: str, values: tuple[Key, ...] | None) -> Kind:
    """The kind of a column that only lists its keys."""
    kinds = {bool: Kind.BOOLEAN, int: Kind.INTEGER, str: Kind.TEXT}
    found = {kinds[type(value)] for value in values or ()}
    if len(found) != 1:
        raise PolicyError(path, 'needs type = "integer", "float", "text" or "boolean", or values of one type')
    return found.pop()
