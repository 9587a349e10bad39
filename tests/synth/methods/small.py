"""Small tables, and what measures their marginals."""

from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.privacy.secret import Secret
from sfumato.query.sql.questions import parse_view
from sfumato.session.training.marginals import MarginalQuery, Marginals, marginal_query
from sfumato.synth.methods.measuring import Measuring

COLUMNS = {"age": sf.integer(0, 2), "ill": sf.boolean(), "sex": sf.text(values=["f", "m"])}
SCHEMA = pa.schema([("age", pa.int64()), ("ill", pa.bool_()), ("sex", pa.string())])
ROWS = [(0, True, "f")] * 40 + [(1, True, "f")] * 20 + [(2, False, "m")] * 30 + [(1, None, "m"), (None, False, "f")]


def table_of(rows):
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}, schema=SCHEMA)


def session_of(rows=ROWS, **changed):
    given = {"name": "people", "columns": COLUMNS, "budget": sf.ApproxDP(10, "1e-5")}
    return sf.open(table_of(rows), **(given | changed))


def query_of(session, bins=None):
    return marginal_query(parse_view("SELECT age, ill, sex FROM people", session._tables), bins=bins)


def measuring_of(rows=ROWS, *, rho=Fraction(1), relation=ADD_OR_REMOVE_ONE):
    session = session_of(rows, neighboring_relation=relation, engine="reference")
    query = query_of(session)
    run = partial(session.desk.engine.run, salt="00" * 16)
    return Measuring(Marginals(query, run), query, relation=relation, rho=rho)


class Counted(Marginals):
    """Marginals of rows in memory, without an engine: for many runs."""

    def __init__(self, query, rows):
        super().__init__(query, None)
        self.rows = np.array(rows, dtype=np.int64).reshape(-1, len(query.attributes))

    def different_rows(self, names):
        own = [one.name for one in self._query.attributes]
        return Secret((self.rows[:, [own.index(name) for name in names]], np.ones(len(self.rows), dtype=np.int64)))


def without_an_engine(monkeypatch):
    """Sensitivities of the one query of a test are computed once: that takes longer than all else."""
    known, sensitivity = {}, MarginalQuery.sensitivity

    def found(self, names, relation):
        if (tuple(names), relation) not in known:
            known[tuple(names), relation] = sensitivity(self, names, relation)
        return known[tuple(names), relation]

    monkeypatch.setattr(MarginalQuery, "sensitivity", found)
    monkeypatch.setattr(MarginalQuery, "rows_per_unit", 1)
