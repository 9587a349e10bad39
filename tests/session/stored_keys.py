"""Questions whose hashes and keys by the first rules are frozen: ledgers and stored answers call them so for ever.

`python -m tests.session.stored_keys` writes the golden file anew, which makes every stored answer of these cost again.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final

from tests.meta.repository import ROOT
from tests.query.planned import PEOPLE, TOWNS, VISITS, N, ref
from tests.session.desk import desk, rows

from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation
from sfumato.query.model.csv_format import CsvFormat
from sfumato.query.model.expressions import Literal
from sfumato.query.model.facts import Edition
from sfumato.query.model.relations import (
    BoundRows,
    Except,
    Filter,
    Intersect,
    PeoplePart,
    Select,
    Source,
    UnionAll,
    tables_of,
)
from sfumato.query.model.schema import Limits, Table, UnitPath, date, integer, text, timestamp
from sfumato.query.model.statement import AUTO
from sfumato.query.planning.plan import compile_plan
from sfumato.query.planning.questions import Presented, presented
from sfumato.query.policy.policy import SourceFacts
from sfumato.query.printing.canonical import question_hash, question_text
from sfumato.query.sql.questions import parse_question
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Sum
from sfumato.query.statistics.measurements import Law
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.statistic import Statistic
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.vectors import VectorSum
from sfumato.session.asking.answer_key import answer_key
from sfumato.session.asking.execution import Desk
from sfumato.session.asking.planning import Prepared, charged_part, prepare_batch
from sfumato.session.asking.question import Question
from sfumato.session.asking.shown import asked_by

FILE: Final = ROOT / "tests" / "golden" / "keys.json"
FILE_OF_BATCHES: Final = ROOT / "tests" / "golden" / "batches.json"
SLOTS: Final = Table(
    name="slots",
    columns={"visitor": text(), "at": timestamp(), "seat": integer(values=[1, 2])},
    unit=UnitPath("visitor", VISITS, "who"),
    limits=Limits(max_rows_per_unit=3, max_rows_per_group_per_unit=2),
    keeps_rows=True,
)
DAYS: Final = Table(name="days", columns={"on": date("2026-01-01", "2026-12-31")})
TABLES: Final = (PEOPLE, VISITS, TOWNS, SLOTS, DAYS)
FORMAT: Final = CsvFormat(delimiter=";", encoding="latin-1", decimal=",", thousands=".", dates="%d.%m.%Y", null=["NA"])
AGE, PAY = ref("age"), ref("pay")
PART: Final = PeoplePart(
    child=Source(VISITS), by="ward", values=("A", "B"), value="A", max_parts_per_unit=2, salt="0" * 32
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, and all that its key depends on."""

    question: Presented
    epsilon: str = "1"
    delta: str = "0"
    relation: NeighboringRelation = ADD_OR_REMOVE_ONE
    law: Law | None = None
    part: PeoplePart | None = None
    formatted: bool = False


def sql(query: str, **options) -> Asked:
    """A question in SQL."""
    return Asked(question=parse_question(query, {table.name: Source(table) for table in TABLES}), **options)


def of(child, *statistics: tuple[str, Statistic], **options) -> Asked:
    """A question about a relation."""
    return Asked(question=presented(child, statistics=statistics), **options)


def _both(kind) -> Asked:
    ages = Select(Source(PEOPLE), (("x", AGE),))
    return of(kind(ages, Filter(ages, Literal(value=True))), N)


CASES: Final = {
    "rows": sql("SELECT COUNT(*) AS n FROM people WHERE age > 50 AND NOT smokes"),
    "groups": sql("SELECT sex, COUNT(*) AS n, COUNT(pay) AS c, SUM(pay) AS s, AVG(age) AS a FROM people GROUP BY sex"),
    "moments": sql(
        "SELECT VAR_POP(pay) AS v, STDDEV(age) AS s, COVAR_SAMP(age, pay) AS c, CORR(age, pay) AS r FROM people"
    ),
    "gaussian": sql("SELECT SUM(pay) AS s, AVG(kids) AS a FROM people", delta="1e-6", law="gaussian"),
    "private keys": sql("SELECT town, COUNT(*) AS n FROM people GROUP BY town", delta="1e-6"),
    "replaced keys": sql(
        "SELECT town, COUNT(*) AS n FROM people GROUP BY town", delta="1e-6", relation=REPLACE_ONE
    ),
    "quantiles": sql("SELECT MEDIAN(age) AS m, MIN(pay) AS l, MAX(pay) AS h FROM people"),
    "several quantiles": sql(
        "SELECT QUANTILE(age, 0.75) AS u, MEDIAN(age) AS m, QUANTILE(pay, 0.75) AS p, MIN(age) AS l FROM people"
    ),
    "interval": of(Source(PEOPLE), ("m", Percentile(AGE, Fraction(1, 4), interval=True))),
    "replaced": sql("SELECT MEDIAN(age) AS m, SUM(pay) AS s, COUNT(*) AS n FROM people", relation=REPLACE_ONE),
    "absolute deviation": sql("SELECT AVG_ABS_DEV(age, 40.5) AS d FROM people"),
    "histogram": of(Source(PEOPLE), ("h", Histogram(AGE, (Fraction(0), Fraction(50), Fraction(100))))),
    "top": of(Source(PEOPLE), ("t", TopValues(ref("sex"), 1)), ("v", VectorSum((AGE, PAY)))),
    "chosen bounds": of(Source(PEOPLE), ("s", Sum(AGE, AUTO)), ("b", Sum(PAY, (Fraction(1, 2), Fraction(3))))),
    "people": sql("SELECT ward, COUNT(DISTINCT who) AS n, COUNT(DISTINCT ill) AS k FROM visits GROUP BY ward"),
    "narrowed": Asked(question=presented(Source(VISITS), statistics=(N,), limits=Limits(max_rows_per_unit=2))),
    "path": sql("SELECT seat, COUNT(*) AS n FROM slots WHERE EXTRACT(YEAR FROM at) > 2020 GROUP BY seat"),
    "day": sql("SELECT COUNT(*) AS n FROM slots WHERE at < TIMESTAMP '2026-01-31 12:00:00'"),
    "join": sql("SELECT size, COUNT(*) AS n FROM visits JOIN towns ON visits.ill = towns.code GROUP BY size"),
    "semi join": sql("SELECT COUNT(*) AS n FROM visits v WHERE NOT EXISTS (SELECT 1 FROM towns WHERE code = v.ill)"),
    "union": _both(UnionAll),
    "intersection": _both(Intersect),
    "difference": _both(Except),
    "bound": of(BoundRows(Source(VISITS), 3), N),
    "folded": sql(
        "SELECT AVG(h) AS a FROM (SELECT who, SUM(hours) AS h, COUNT(*) AS k, MIN(beds) AS b FROM visits GROUP BY who)"
    ),
    "distinct": sql("SELECT COUNT(*) AS n FROM (SELECT DISTINCT sex, age FROM people)"),
    "ordered": sql(
        "SELECT AVG(hours - b) AS a FROM (SELECT hours, LAG(hours, 2) OVER (PARTITION BY who, ill ORDER BY hours DESC) "
        "AS b FROM visits)"
    ),
    "texts": sql(
        "SELECT COUNT(*) AS n FROM people WHERE POSITION('a' IN town) > 2 AND RIGHT(REPLACE(town, 'a', 'bc'), 2) = 'cd'"
    ),
    "expressions": sql(
        "SELECT SUM(CASE WHEN age IN (1, 2) OR town IS NULL THEN pay * 2 ELSE LEAST(age, 3) END) AS s FROM people "
        "WHERE born >= DATE '1990-01-31' AND NOT (sex = 'f' AND smokes) AND COALESCE(pay, 0.5) < 3"
    ),
    "sets": sql("SELECT sex, smokes, COUNT(*) AS n FROM people GROUP BY GROUPING SETS ((sex), (sex, smokes), ())"),
    "part": of(PART, N, part=PART),
    "format": sql("SELECT COUNT(*) AS n FROM people", formatted=True),
    "dates": sql('SELECT DATE_TRUNC(\'month\', "on") AS k, MEDIAN("on") AS m FROM days GROUP BY 1'),
}  # fmt: skip


def curator(asked: Asked) -> Desk:
    """A desk over the tables, which have no rows."""
    facts = SourceFacts(source=None, csv=FORMAT if asked.formatted else None)
    return desk(
        *((table, rows(table)) for table in TABLES),
        relation=asked.relation,
        sources={table.name: facts for table in TABLES},
    )


def prepared(asked: Asked, edition: Edition = Edition.LATEST) -> Prepared:
    """The question with its key, by the rules of an edition."""
    desk_of_all = curator(asked)
    part = None if asked.part is None else charged_part(asked.part)
    plan = compile_plan(
        asked.question.child, guarantee(asked.epsilon, asked.delta),
        neighboring_relation=asked.relation, law=asked.law, edition=edition,
    )  # fmt: skip
    written = question_text(plan.question)
    tables = {table.name: desk_of_all.declared[table.name] for table in tables_of(plan.question.child.child)}
    key = answer_key(desk_of_all.policy, plan, written, tables)
    return Prepared(plan=plan, text="as asked", question=question_hash(written), key=key, part=part)


def stored(asked: Asked, edition: Edition = Edition.FIRST) -> dict[str, str]:
    """What of a question is stored, or hashed into what is stored, by the rules of an edition."""
    found = prepared(asked, edition)
    written = Question(relation=asked.question, text="as asked", desk=curator(asked), part=found.part)
    sent = asked_by(written.desk, "monday", found, Fraction(95, 100))  # the ledger alone has it
    return {
        "question": question_text(found.plan.question),
        "hash": question_hash(question_text(found.plan.question)),
        "key": found.key,
        "body": sent.body,
    }


TABLE_PAIRS: Final = tuple(
    f"SELECT {a}, {b}, COUNT(*) AS n FROM people GROUP BY {a}, {b}"
    for a, b in combinations(("kids", "kids + 1", "kids * 2", "kids - 3", "9 - kids"), 2)
)
BATCHES: Final = {
    "apart": (("SELECT COUNT(*) AS n FROM people", "SELECT AVG(age) AS a FROM people"), "1", "0", None),
    "together": (TABLE_PAIRS, "0.05", "1e-6", "gaussian"),
    "running": (
        ("SELECT age, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY age) AS u FROM people GROUP BY age",), "0.5", "1e-6",
        "gaussian",
    ),
    "conditions": (
        (
            *(f"SELECT COUNT(*) AS n FROM people WHERE age BETWEEN {low} AND {low + 20}" for low in range(20, 80, 4)),
            "SELECT smokes, COUNT(*) AS n FROM people WHERE pay > 2.5 AND sex <> 'f' GROUP BY smokes",
        ),
        "1", "0", None,
    ),
}  # fmt: skip
"""Statements, ε, δ and the law of the noise."""


def stored_batch(name: str) -> dict[str, str]:
    """What of a batch is hashed into what is stored."""
    texts, epsilon, delta, law = BATCHES[name]
    found = prepare_batch(
        curator(sql(texts[0])), [sql(one).question for one in texts], text="as asked", total=guarantee(epsilon, delta),
        law=law,
    )  # fmt: skip
    assert (name == "apart") == (not found.plan.workloads)
    return {"hash": found.question, "key": found.key}


if __name__ == "__main__":
    batches = {name: stored_batch(name) for name in BATCHES}
    FILE_OF_BATCHES.write_text(json.dumps(batches, indent=1) + "\n", "ascii")
    written = {name: stored(asked) for name, asked in CASES.items()}
    FILE.write_text(json.dumps(written, ensure_ascii=False, indent=1) + "\n", "utf-8")
