"""All names that are stored, by codec: what the golden file freezes.

`python -m tests.session.stored_tables` writes the file anew. A tag or a name that is in it never changes, whatever
Python calls the class, the field or the member; new ones are added.
"""

import json
from typing import Final

from tests.meta.repository import ROOT

from sfumato.ledger.core.codec import ENTRIES
from sfumato.ledger.core.windows import Period
from sfumato.privacy.codec import BUDGETS, EVENTS
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.model.expressions import Comparison
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Fold, JoinKind, RowFunction
from sfumato.query.model.statement import Auto
from sfumato.query.statistics.registry import STORED
from sfumato.session.asking.answer_key import DECLARED, MEMBERS, PLANS

FILE: Final = ROOT / "tests" / "golden" / "stored_names.json"
CODECS: Final = {
    "event": EVENTS, "budget": BUDGETS, "entry": ENTRIES, "statistic": STORED, "plan": PLANS,
    "declaration": DECLARED,
}  # fmt: skip
ENUMERATIONS: Final = {
    "aggregation": Fold, "bounds": Auto, "comparison": Comparison, "function": Function, "join": JoinKind, "kind": Kind,
    "neighboring relation": NeighboringRelation, "period": Period, "row function": RowFunction,
}  # fmt: skip


def tables() -> dict[str, dict]:
    """Of each codec tags with the names of their fields; of enumerations what stands for each member."""
    classes = {
        what: {names.tag: [stored for stored, _ in names.fields] for names in codec.table.values()}
        for what, codec in CODECS.items()
    }
    values = {what: {one.name: one.value for one in kind} for what, kind in ENUMERATIONS.items()}
    written = {
        what: {one.name: MEMBERS[one] for one in ENUMERATIONS[what]} for what in ("kind", "neighboring relation")
    }
    return {"classes": classes, "values": values, "members": written}


if __name__ == "__main__":
    FILE.write_text(json.dumps(tables(), indent=1) + "\n", "ascii")
