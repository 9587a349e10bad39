"""The key of a stored answer: a hash of all that the answer depends on.

What classes, fields and members of enumerations are called here is hashed, whatever Python calls them; see
`privacy.stored_names`. Where that changes, no answer is found again that was bought before.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from hashlib import sha256
from itertools import repeat
from operator import attrgetter
from types import MappingProxyType, NoneType
from typing import Any, Final

from sfumato.ledger.core.entry import PartitionPart
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.mechanisms.quantiles.joint import JointQuantiles
from sfumato.mechanisms.quantiles.quantile import Quantile, QuantileEnd
from sfumato.mechanisms.selection.noisy_top_k import NoisyTopK
from sfumato.mechanisms.workloads.queries import Subsets
from sfumato.privacy.codec import Json, encode_event, encode_guarantee
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, EachRow, UnitColumn
from sfumato.privacy.stored_names import Names, StoredNames
from sfumato.query.analysis.stability import Sensitivity
from sfumato.query.model.columns import Column
from sfumato.query.model.csv_format import DEFAULT_FORMAT, CsvFormat
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import Edition
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Limits, Public, Table, UnitPath
from sfumato.query.model.statement import (
    Bins,
    CellCount,
    KeyColumn,
    LatticeValue,
    RowCount,
    StepProduct,
    StepSum,
    UnitCount,
    ValueCount,
    Values,
)
from sfumato.query.planning.batch import BatchPlan
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.policy.policy import Policy
from sfumato.query.printing.canonical import question_hash, question_text
from sfumato.query.statistics.measurements import Additive, KeyChoice, QuantileChoice, Section, TopChoice
from sfumato.query.statistics.registry import OUTPUTS
from sfumato.query.statistics.workloads import FittedCells, Workload
from sfumato.session.training.plan import FitPlan, fit_document

PLANS: Final = StoredNames[Any](
    "plan",
    {
        KeyColumn: Names("KeyColumn", "values", unwritten=("name",)),
        Limits: Names("Limits", "max_rows_per_unit", "max_groups_per_unit", "max_rows_per_group_per_unit"),
        RowCount: Names("RowCount"),
        ValueCount: Names("ValueCount", "present"),
        StepSum: Names("StepSum", "steps"),
        StepProduct: Names("StepProduct", "first", "second"),
        UnitCount: Names("UnitCount"),
        CellCount: Names("CellCount"),
        LatticeValue: Names("Steps", "value", "resolution", "lower", "upper", "offset", "nullable"),
        Bins: Names("Bins", "steps", "width"),
        Values: Names("Values", "value", "values"),
        Sensitivity: Names("Sensitivity", "l1", "l2", "l0"),
        KeyChoice: Names("KeyChoice", "measure", "mechanism"),
        Additive: Names("Additive", "statement", "measures", "sensitivity", "mechanism"),
        QuantileChoice: Names("QuantileChoice", "statement", "mechanism", "rows"),
        TopChoice: Names("TopChoice", "statement", "mechanism", "rows"),
        FittedCells: Names("FittedCells", "statement", "axes", "group", unwritten=("workload", "running")),
        Laplace: Names(
            "Laplace",
            "l1_sensitivity",
            "epsilon",
            "resolution",
            "dimension",
            "l0_sensitivity",
            "scale",
            unwritten=("event",),
        ),
        GaussianNoise: Names("GaussianNoise", "l2_sensitivity", "stddev", "l0_sensitivity"),
        Quantile: Names("Quantile", "quantile", "lower", "upper", "epsilon", "resolution", "neighboring_relation"),
        QuantileEnd: Names(
            "QuantileEnd", "quantile", "is_upper", "lower", "upper", "epsilon", "resolution", "confidence",
            "neighboring_relation",
        ),
        JointQuantiles: Names(
            "JointQuantiles", "quantiles", "lower", "upper", "epsilon", "resolution", "neighboring_relation"
        ),
        Extreme: Names("Extreme", "largest", "lower", "upper", "epsilon", "resolution"),
        NoisyTopK: Names("NoisyTopK", "k", "epsilon", "utility_sensitivity", "monotonic", "resolution"),
        TruncatedGeometricSelection: Names(
            "TruncatedGeometricSelection", "epsilon", "delta", "max_groups_per_unit", "neighboring_relation"
        ),
        **{output: output.stored for output in OUTPUTS},
    },
)  # fmt: skip
"""How what is measured is written: in this order, without the names of fields and without those of columns."""

DECLARED: Final = StoredNames[Any](
    "declaration",
    {
        Table: Names("Table", "name", "columns", "unit", "limits", "matches", "keeps_rows"),
        Column: Names(
            "Column", "kind", "lower", "upper", "resolution", "values", "nullable",
            unwritten=("max_length", "is_id", "is_whole"),
        ),
        Limits: Names("Limits", "max_rows_per_unit", "max_groups_per_unit", "max_rows_per_group_per_unit"),
        EachRow: Names("EachRow"),
        UnitColumn: Names("UnitColumn", "column"),
        UnitPath: Names("UnitPath", "column", "table", "key"),
        Public: Names("Public"),
        CsvFormat: Names(
            "CsvFormat", "delimiter", "encoding", "decimal", "thousands", "dates", "null", "skip_lines"
        ),
        PartitionPart: Names("Part", "partition", "value", "max_parts_per_unit"),
    },
)  # fmt: skip
"""How what the owner declares is written. How much of a text is read stands in the query itself."""

MEMBERS: Final[Mapping[Enum, str]] = MappingProxyType(
    {
        Kind.INTEGER: "<Kind.INTEGER: 'integer'>",
        Kind.FLOAT: "<Kind.FLOAT: 'float'>",
        Kind.TEXT: "<Kind.TEXT: 'text'>",
        Kind.BOOLEAN: "<Kind.BOOLEAN: 'boolean'>",
        Kind.DATE: "<Kind.DATE: 'date'>",
        Kind.TIMESTAMP: "<Kind.TIMESTAMP: 'timestamp'>",
        ADD_OR_REMOVE_ONE: "<NeighboringRelation.ADD_OR_REMOVE_ONE: 'add_or_remove_one'>",
        REPLACE_ONE: "<NeighboringRelation.REPLACE_ONE: 'replace_one'>",
    }
)
"""How members of enumerations are written."""


def declared_tables(policy: Policy) -> Mapping[str, str]:
    """How each table of a policy is declared, as keys say it."""
    return MappingProxyType({name: declared_text(table) for name, table in policy.tables.items()})


def names_of(policy: Policy, plan: PrivatePlan | BatchPlan | FitPlan, tables: Mapping[str, str]) -> tuple[str, str]:
    """What ledgers and receipts call a plan by, which is a hash of its canonical form; and the key of its answer.

    Args:
        policy: What the owner declares.
        plan: What would be released.
        tables: How the tables are declared that it reads.
    """
    if isinstance(plan, FitPlan):
        written, model = question_text(plan.question), json.dumps(fit_document(plan), sort_keys=True)
        return question_hash(f"{written}\n{model}"), fit_key(policy, plan, written, tables)
    if isinstance(plan, PrivatePlan):
        written = question_text(plan.question)
        return question_hash(written), answer_key(policy, plan, written, tables)
    each = [question_text(one.question) for one in plan.plans]
    return question_hash("\n".join(each)), batch_key(policy, plan, each, tables)


def answer_key(policy: Policy, plan: PrivatePlan, question: str, tables: Mapping[str, str]) -> str:
    """All that an answer depends on: query and limits, bounds and keys, mechanisms and price, formats, versions.

    It is the edition of the rules and a hash; by the first edition it is the hash alone.

    Args:
        policy: What the owner declares.
        plan: What would be released.
        question: The canonical form of the query.
        tables: How the tables are declared that it reads, in this order.
    """
    bounds = plan.bounds
    document = {
        "question": question,
        "sections": [_section(section) for section in plan.sections],
        "bounds": None if bounds is None else [_section(bounds.section), bounds.law, encode_guarantee(bounds.rest)],
        "event": encode_event(plan.event),
        **_circumstances(policy, plan.charge, tables),
    }
    digest = _digest(document)
    return digest if plan.edition is Edition.FIRST else f"{plan.edition}:{digest}"


def batch_key(policy: Policy, plan: BatchPlan, questions: Sequence[str], tables: Mapping[str, str]) -> str:
    """All that the answers to a batch depend on.

    A strategy is found by floats, which may differ in a last digit elsewhere. So noise is not hashed where there is
    one: its scale follows from the rest.

    Args:
        policy: What the owner declares.
        plan: What would be released.
        questions: The canonical forms of the questions, in their order.
        tables: How the tables are declared that it reads, in this order.
    """
    document: dict[str, Json] = {
        "batch": list(questions),
        "sections": [_without_scales(one) if plan.workloads else _section(one) for one in plan.sections],
        "workloads": [_workload(one) for one in plan.workloads],
        "places": [list(own) for own in plan.places],
        "event": None if plan.workloads else encode_event(plan.event),
        **_circumstances(policy, plan.charge, tables),
    }
    return f"{Edition.LATEST}:{_digest(document)}"


def fit_key(policy: Policy, plan: FitPlan, question: str, tables: Mapping[str, str]) -> str:
    """All that a model depends on: what is read and how it is bounded, the method and its parameters, versions.

    Args:
        policy: What the owner declares.
        plan: What would be fitted.
        question: The canonical form of what is read.
        tables: How the tables are declared that it reads, in this order.
    """
    statement = plan.query.statement
    document: dict[str, Json] = {
        "fit": fit_document(plan),
        "question": question,
        "columns": plan.query.lattices,
        "event": encode_event(plan.event),
        "statement": _figures(_MEASURED(statement)),
        **_circumstances(policy, plan.charge, tables),
    }
    return f"{Edition.LATEST}:{_digest(document)}"


def table_digest(policy: Policy, declared: str, table: str) -> str:
    """How a table is declared and read, as a hash: what was released of it says nothing of one that is read otherwise.

    Args:
        policy: What the owner declares.
        declared: How the table is declared, as keys say it.
        table: Its name.
    """
    written = policy.sources[table].csv or DEFAULT_FORMAT
    return _digest({"table": declared, "format": declared_text(written), "relation": policy.neighboring_relation.value})


def _circumstances(policy: Policy, charge: PureDP | ApproxDP, tables: Mapping[str, str]) -> dict[str, Json]:
    """Price, declarations, formats and versions."""
    written = {name: policy.sources[name].csv or DEFAULT_FORMAT for name in tables}
    formats = {name: declared_text(csv) for name, csv in written.items() if csv != DEFAULT_FORMAT}
    found: dict[str, Json] = {
        "tables": list(tables.values()),
        "charge": encode_guarantee(charge),
        "relation": policy.neighboring_relation.value,
        "policy": policy.version,
        "data": policy.data_version,
    }
    return found | ({"formats": dict(formats)} if formats else {})  # without them the key is that of earlier versions


def _digest(document: Mapping[str, Json]) -> str:
    return sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def is_of_latest_edition(key: str) -> bool:
    """Whether a key is of a plan by the latest rules."""
    return key.startswith(f"{Edition.LATEST}:")


def request_body(key: str, text: str, part: PartitionPart | None, confidence: Fraction) -> str:
    """A hash of all that a receipt and an answer under an idempotency key say."""
    return sha256(declared_text((key, text, part, confidence)).encode()).hexdigest()


def declared_text(value: object) -> str:
    """A declaration as a line that is hashed.

    Example:
        >>> declared_text(UnitColumn("person"))
        "UnitColumn(column='person')"
    """
    plain = _PLAIN.get(type(value))
    if plain is not None:
        return plain(value)
    if isinstance(value, str | int):  # of a class of the caller's own, as a member of an enumeration
        return repr(value)
    names, value = DECLARED.of(value), value.as_declared if isinstance(value, Column) else value
    inner = ", ".join([f"{stored}={declared_text(getattr(value, own))}" for stored, own in names.fields])
    return f"{names.tag}({inner})"


def _tuple_text(values: tuple[object, ...]) -> str:
    inner = ", ".join(map(declared_text, values))
    return f"({inner},)" if len(values) == 1 else f"({inner})"


def _mapping_text(values: Mapping[Any, Any]) -> str:
    inner = ", ".join([f"{declared_text(name)}: {declared_text(value)}" for name, value in values.items()])
    return f"mappingproxy({{{inner}}})"


_PLAIN: Final[dict[type, Callable[[Any], str]]] = {
    **dict.fromkeys((NoneType, bool, int, str, Fraction, date, datetime), repr),
    **dict.fromkeys((type(member) for member in MEMBERS), MEMBERS.__getitem__),
    tuple: _tuple_text,
    MappingProxyType: _mapping_text,
}
"""How values are written whose names are Python's own, or in the table above."""


_MEASURED: Final = attrgetter("keys", "measures", "cell", "limits")
"""What is measured of a statement."""


def _section(section: Section) -> Json:
    """What is measured, how, and what is made of it; which rows and expressions those are says the query itself."""
    statements: Json = list(map(_figures, map(_MEASURED, section.statements)))
    return [statements, _figures((section.selection, section.measurements, section.outputs))]


def _without_scales(section: Section) -> Json:
    """The same without the scales of noise, which are calibrated together with that of a strategy."""
    measured: list[Json] = []
    for one in section.measurements:
        kind: Json = PLANS.of(one).tag if isinstance(one, FittedCells) else PLANS.of(one.mechanism).tag
        measured.append([kind, _figures(one) if isinstance(one, FittedCells) else one.statement])
    statements: Json = list(map(_figures, map(_MEASURED, section.statements)))
    return [statements, _figures(section.selection), measured, _figures(section.outputs)]


def _workload(workload: Workload) -> Json:
    """What is asked of a workload, and which strategy answers it; not the numbers of that."""
    plan = workload.mechanism.plan
    queries: Json = [
        [
            str(one.weight),
            {name: list(map(list, kind.places)) if isinstance(kind, Subsets) else kind for name, kind in one.kinds},
        ]
        for one in plan.workload
    ]
    noise = PLANS.of(workload.mechanism.noise).tag
    return [_figures(_MEASURED(workload.statement)), queries, plan.strategy.name, noise]


def _figures(value: Any) -> Json:
    """A value of a plan without names and expressions, which queries that mean the same may write differently."""
    match value:
        case tuple():
            return list(map(_figures, value))
        case Fraction():
            return str(value)
        case str() | int() | date() | None:
            return declared_text(value)
        case _ if isinstance(value, Expression):
            return None
        case _:
            names = PLANS.of(value)
            return [names.tag, *map(_figures, map(getattr, repeat(value), names.attributes.values()))]
