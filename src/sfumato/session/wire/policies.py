"""What a process without data knows of a policy: all that planning needs, and nothing of where the rows are.

A source may be an address with a password. So the process that opens the sources writes the policy down as it knows it
then, with the public keys that it took from tables and the ids that it found to be text, but without any source.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Final, get_args

from sfumato.errors import SfumatoError, TicketError
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.model.columns import Column
from sfumato.query.model.csv_format import CsvFormat
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Limits, Table, TableUnit
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.session.asking.planning import Planning
from sfumato.session.wire.nodes import MISTAKES, Wire

VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """A policy without its sources.

    Attributes:
        dataset: As of `Policy`, like most fields here.
        version: As of `Policy`.
        data_version: As of `Policy`.
        unit_name: As of `Policy`.
        neighboring_relation: As of `Policy`.
        tables: As of `Policy`.
        formats: The formats of CSV files as JSON, by table: keys of answers depend on them.
        views: As of `Policy`.
        derived_from: As of `Policy`.
        beside: As of `Policy`.
        shares_answers: As of `Policy`.
        places: The engine of each table, if they are in several.
    """

    dataset: str
    version: str
    data_version: str
    unit_name: str
    neighboring_relation: NeighboringRelation
    tables: Mapping[str, Table]
    formats: Mapping[str, str]
    views: Mapping[str, str]
    derived_from: tuple[str, ...]
    beside: tuple[str, ...]
    shares_answers: bool
    places: Mapping[str, str]

    @classmethod
    def of(cls, planning: Planning) -> "Declarations":
        """What is known of the policy where its sources are open."""
        policy = planning.policy
        formats = {name: facts.csv for name, facts in policy.sources.items()}
        return cls(
            dataset=policy.dataset, version=policy.version, data_version=policy.data_version,
            unit_name=policy.unit_name, neighboring_relation=policy.neighboring_relation, tables=policy.tables,
            formats=MappingProxyType({name: json.dumps(asdict(csv)) for name, csv in formats.items() if csv}),
            views=policy.views, derived_from=policy.derived_from, beside=policy.beside,
            shares_answers=policy.shares_answers, places=MappingProxyType(dict(planning.places)),
        )  # fmt: skip

    def policy(self) -> Policy:
        """The policy, with sources of which only the format is known."""
        formats = {name: CsvFormat(**json.loads(text)) for name, text in self.formats.items()}
        return Policy(
            dataset=self.dataset, version=self.version, data_version=self.data_version, unit_name=self.unit_name,
            tables=self.tables,
            sources={name: SourceFacts(source=None, csv=formats.get(name)) for name in self.tables},
            neighboring_relation=self.neighboring_relation, views=self.views, derived_from=self.derived_from,
            beside=self.beside, shares_answers=self.shares_answers,
        )  # fmt: skip


DECLARATIONS: Final = Wire(
    Declarations,
    version=VERSION,
    classes=(Declarations, Table, *get_args(TableUnit), Column, Limits),
    words=(Kind, NeighboringRelation),
    roles={},
    made={},
)
"""How declarations are written."""


def encode_declarations(planning: Planning, ledger: Ledger) -> str:
    """The declarations as text, sealed with the key of the ledger that records what they cost."""
    text = DECLARATIONS.encode(Declarations.of(planning))
    return f"{ledger.key.seal('declarations', text)} {text}"


def decode_declarations(sealed: str, ledger: Ledger) -> Declarations:
    """What `encode_declarations` wrote in the process that holds the data.

    Raises:
        TicketError: It was written by somebody else, or by another version.
    """
    seal, _, text = sealed.partition(" ")
    if not ledger.key.verifies(seal, "declarations", text):
        raise TicketError("seal", "must be made with the key of this ledger")
    declared = DECLARATIONS.decode(text)
    try:
        declared.policy()
    except (SfumatoError, *MISTAKES):
        raise TicketError("policy", "must be one that this version can have") from None
    return declared
