"""Queries of every kind on made-up rows, so that the first one on data takes no longer than the others.

What a query needs for the first time is loaded and computed here: modules, tables of noise, and what an engine sets up
at its first statement. No source of a dataset is opened, and no random bytes are kept.
"""

import itertools
import threading
from dataclasses import replace
from typing import Final

import pyarrow as pa

from sfumato.privacy.guarantees import NO_GUARANTEE
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, UnitColumn
from sfumato.query.model.schema import Limits, Table, date, integer, real, text
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.query.statistics.measurements import Law
from sfumato.session.opening.made_up import MadeUpTables
from sfumato.session.session import Session

_TABLE: Final = Table(
    name="made_up", unit=UnitColumn("unit"), limits=Limits(max_rows_per_unit=2),
    columns={
        "unit": integer(), "number": integer(0, 100), "amount": real(0, 10), "word": text(max_length=8), "day": date(),
        "kind": text(values=["a", "b"]),
    },
)  # fmt: skip
_POLICY: Final = Policy(
    dataset="made_up", version="1", data_version="1", unit_name="unit", tables={"made_up": _TABLE},
    sources={"made_up": SourceFacts(source=None)}, neighboring_relation=ADD_OR_REMOVE_ONE,
)  # fmt: skip
_LAWS: Final[tuple[Law, ...]] = ("laplace", "gaussian")
_QUERIES: Final = (
    "SELECT COUNT(*) AS n FROM made_up WHERE number > 5",
    "SELECT kind, COUNT(*) AS n, SUM(number) AS total, AVG(amount) AS mean FROM made_up GROUP BY kind",
    "SELECT word, COUNT(*) AS n FROM made_up GROUP BY word",
    "SELECT COUNT(DISTINCT unit) AS n FROM made_up WHERE CASE WHEN LOWER(word) LIKE '%a%' THEN amount ELSE 0 END > 1",
    "SELECT MEDIAN(amount) AS middle, MAX(number) AS most FROM made_up",
    "SELECT AVG(b.amount) AS mean FROM made_up a JOIN made_up b ON a.unit = b.unit WHERE EXTRACT(YEAR FROM a.day) > 0",
)


_BATCH: Final = (
    "SELECT kind, COUNT(*) AS n FROM made_up GROUP BY kind",
    "SELECT kind, word, COUNT(*) AS n FROM made_up WHERE word IN ('a', 'b') GROUP BY kind, word",
)


def warm_up(engine: str) -> None:
    """Plan, charge, run and answer some queries; all that is kept of them is what was loaded, and no thread.

    Args:
        engine: The engine that runs them: ``"reference"`` opens nothing.
    """
    before = frozenset(threading.enumerate())
    rows = pa.Table.from_pylist(MadeUpTables(_POLICY).rows(_TABLE))
    policy = replace(_POLICY, sources={"made_up": SourceFacts(source=rows)})
    with Session(policy, budget=NO_GUARANTEE, engine=engine) as session:
        for query, law in itertools.product(_QUERIES, _LAWS):
            session.query(query).release(epsilon=1, delta="1e-6", mechanism=law)
        session.batch(_BATCH, epsilon=1, delta="1e-6")
    for thread in frozenset(threading.enumerate()) - before:
        thread.join()  # a fork would have none of them, and would wait for what they hold
