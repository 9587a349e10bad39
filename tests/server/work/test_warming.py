"""A warm process has loaded what queries need, and answers the first one as quickly as the next; it opens no data."""

import subprocess
import sys

import pyarrow as pa
import pytest
from tests.meta.repository import ROOT

from sfumato.server.work import warming
from sfumato.server.work.warming import warm_up
from sfumato.session import session

FIRST = """
import sys
from sfumato.server.work import child
import sfumato.engines.duckdb.engine
from sfumato.server.work.warming import warm_up

def modules(engine):
    warm_up(engine)
    return set(sys.modules)

modules({first!r})
before = modules("duckdb")
print(sorted(modules("duckdb") - before))
"""


@pytest.mark.parametrize("engine", ["reference", "duckdb"])
def test_it_asks_queries_of_every_kind_by_both_distributions(engine, monkeypatch):
    asked = []
    release = warming.Session.query

    def query(session, sql):
        asked.append(sql)
        return release(session, sql)

    monkeypatch.setattr(warming.Session, "query", query)
    warm_up(engine)
    assert sorted(asked) == sorted([*warming._QUERIES, *warming._QUERIES, *warming._BATCH])
    words = " ".join(asked)
    assert all(word in words for word in ("COUNT", "SUM", "AVG", "MEDIAN", "MAX", "GROUP BY", "JOIN", "CASE", "LIKE"))


def test_it_opens_only_rows_that_are_made_up(monkeypatch):
    opened = []
    real = session.open_sources

    def open_sources(policy, places):
        opened.extend(facts.source for facts in policy.sources.values())
        return real(policy, places)

    monkeypatch.setattr(session, "open_sources", open_sources)
    warm_up("reference")
    assert [type(source) for source in opened] == [pa.Table]


def test_a_warm_process_loads_nothing_more(tmp_path):
    script = FIRST.format(first="reference")
    done = subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONPATH": str(ROOT / "src")}, cwd=tmp_path, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
    assert list(tmp_path.iterdir()) == []
