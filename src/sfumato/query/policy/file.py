"""Policy files: TOML, validated, with the path of what is wrong in every error."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from sfumato.errors import ParameterError, PolicyError
from sfumato.privacy.formats import parse_toml
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.model.csv_format import CsvFormat
from sfumato.query.policy.columns import origin_of
from sfumato.query.policy.document import PolicyDocument, TableEntry
from sfumato.query.policy.policy import Place, Policy, SourceFacts, is_address
from sfumato.query.policy.tables import policy_tables


def load_policy(path: str | Path) -> Policy:
    """The policy in a TOML file; relative sources are looked for beside it.

    Raises:
        PolicyError: The file is no TOML, or says something impossible; the error names the place.
        ParameterError: There is no such file.
    """
    file = Path(path)
    document = _document(file)
    tables = policy_tables(document.tables)
    with _placed():
        return Policy(
            dataset=document.dataset or file.stem,
            version=document.version,
            data_version=document.data_version or document.version,
            unit_name=document.unit.name,
            neighboring_relation=NeighboringRelation(document.unit.neighboring_relation),
            tables=tables,
            sources={name: _source(file.parent, name, entry) for name, entry in document.tables.items()},
            views={name: entry.sql for name, entry in document.views.items()},
            values_from=dict(_values_from(document.tables)),
            derived_from=tuple(document.derived_from),
            beside=tuple(document.beside),
            shares_answers=document.shares_answers,
        )


def _document(file: Path) -> PolicyDocument:
    try:
        content = parse_toml(file.read_text("utf-8"))
    except OSError:
        raise ParameterError("policy", str(file), "must be an existing TOML file") from None
    except ValueError as error:
        raise PolicyError(file.name, f"the file is not TOML: {error}") from None
    try:
        return PolicyDocument.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise PolicyError(".".join(map(str, first["loc"])) or "the top", first["msg"]) from None


@contextmanager
def _placed() -> Iterator[None]:
    """What a `Policy` refuses, at the place in the file that it names."""
    try:
        yield
    except ParameterError as error:
        raise PolicyError(error.name, f"{error.value}: {error.requirement}") from None


def _source(folder: Path, name: str, entry: TableEntry) -> SourceFacts:
    source = entry.source if is_address(entry.source) else folder / entry.source
    names = None if entry.names is None else tuple(entry.names)
    snapshot = None if entry.snapshot is None else folder / entry.snapshot
    return SourceFacts(
        source=source, names=names, accepted_risks=entry.accepted_risks, snapshot=snapshot, csv=_csv(name, entry)
    )  # fmt: skip


def _csv(name: str, entry: TableEntry) -> CsvFormat | None:
    try:
        return None if entry.csv is None else CsvFormat(**entry.csv.model_dump())
    except ParameterError as error:
        raise PolicyError(f"tables.{name}.csv.{error.name}", f"{error.value}: {error.requirement}") from None


def _values_from(entries: Mapping[str, TableEntry]) -> Iterator[tuple[Place, Place]]:
    for name, table in entries.items():
        for column, entry in table.columns.items():
            if entry.values_from is not None:
                yield Place(name, column), origin_of(entry.values_from)
