"""Every kind of question there is, in SQL and in Python: what is attacked."""

from dataclasses import dataclass

from tests.attacks_on_questions.clinic import clinic, town
from tests.sizes import FULL_SIZE

import sfumato as sf

OF_THE_CLINIC = {
    "rows": "SELECT COUNT(*) AS n FROM visits",
    "values": "SELECT COUNT(cost) AS n, COUNT(hours) AS h FROM visits",
    "units": "SELECT COUNT(DISTINCT patient) AS n FROM visits",
    "different values": "SELECT COUNT(DISTINCT ill) AS n, COUNT(DISTINCT day) AS d FROM visits WHERE urgent",
    "sums": "SELECT SUM(cost) AS s, SUM(beds) AS b, SUM(hours) AS h FROM visits",
    "means": "SELECT AVG(cost) AS a, AVG(beds) AS b, AVG(hours) AS h FROM visits",
    "variances": "SELECT VARIANCE(cost) AS v, STDDEV_POP(beds) AS d FROM visits",
    "correlations": "SELECT CORR(cost, beds) AS r, COVAR_POP(cost, hours) AS c FROM visits",
    "quantiles": "SELECT MIN(cost) AS low, MEDIAN(cost) AS mid, MAX(beds) AS high FROM visits",
    "percentile": "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY hours) AS p FROM visits",
    "mode": "SELECT MODE() WITHIN GROUP (ORDER BY ward) AS m FROM visits",
    "public keys": "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward",
    "two public keys": "SELECT ward, urgent, AVG(beds) AS m, MEDIAN(beds) AS q FROM visits GROUP BY ward, urgent",
    "computed keys": "SELECT EXTRACT(MONTH FROM day) AS m, COUNT(*) AS n FROM visits GROUP BY EXTRACT(MONTH FROM day)",
    "numbers as keys": "SELECT beds, COUNT(DISTINCT patient) AS n FROM visits GROUP BY beds",
    "private keys": "SELECT ill, COUNT(*) AS n, SUM(beds) AS s FROM visits GROUP BY ill",
    "private keys of more": "SELECT ill, COUNT(DISTINCT note) AS n, MEDIAN(cost) AS m FROM visits GROUP BY ill",
    "private and public keys": "SELECT day, ward, COUNT(*) AS n FROM visits GROUP BY day, ward",
    "the unit as a key": "SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient",
    "grouping sets": "SELECT ward, urgent, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward, urgent)",
    "having": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING SUM(cost) > 10 ORDER BY n DESC LIMIT 2",
    "filtered": "SELECT COUNT(*) FILTER (WHERE cost > 10) AS n, SUM(cost) FILTER (WHERE urgent) AS s FROM visits",
    "cases": "SELECT SUM(CASE WHEN cost > 50 THEN cost * beds ELSE 0 END) AS s FROM visits",
    "public join": "SELECT kind, COUNT(*) AS n, SUM(cost) AS s FROM visits JOIN wards ON ward = code GROUP BY kind",
    "public left join": "SELECT floor, SUM(beds) AS n FROM visits LEFT JOIN wards ON ward = code GROUP BY floor",
    "private join": "SELECT sex, COUNT(*) AS n, AVG(cost) AS a FROM patients JOIN visits USING (patient) GROUP BY sex",
    "private left join": """
        SELECT sex, COUNT(*) AS n, SUM(beds) AS b FROM patients AS p LEFT JOIN visits AS v ON p.patient = v.patient
        GROUP BY sex""",
    "self join": """
        SELECT COUNT(*) AS n, SUM(v.beds) AS b FROM visits AS v
        JOIN visits AS w ON v.patient = w.patient AND v.ward = w.ward""",
    "many to many": """
        SELECT ward, COUNT(*) AS n FROM (SELECT patient, ward, beds FROM visits) AS v
        JOIN (SELECT patient, ill FROM visits) AS w USING (patient) GROUP BY ward""",
    "a path": "SELECT drug, COUNT(*) AS n, SUM(dose) AS d FROM drugs GROUP BY drug",
    "a path without keys": "SELECT COUNT(DISTINCT drug) AS n, SUM(dose) AS d, MAX(dose) AS m FROM drugs",
    "along a path": "SELECT ward, SUM(dose) AS d FROM drugs JOIN visits ON visit = id GROUP BY ward",
    "along a longer path": """
        SELECT sex, SUM(dose) AS d FROM drugs JOIN visits ON visit = id JOIN patients USING (patient) GROUP BY sex""",
    "exists": """
        SELECT COUNT(*) AS n FROM visits AS v
        WHERE EXISTS (SELECT 1 FROM patients AS p WHERE p.patient = v.patient AND sex = 'f')""",
    "not exists": """
        SELECT COUNT(*) AS n FROM visits AS v WHERE NOT EXISTS (SELECT 1 FROM drugs AS d WHERE d.visit = v.id)""",
    "in a public table": "SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT code FROM wards WHERE floor > 2)",
    "union all": """
        SELECT COUNT(*) AS n FROM (SELECT patient, ward FROM visits UNION ALL SELECT patient, ward FROM visits) AS u""",
    "intersect all": """
        SELECT ward, COUNT(*) AS n FROM (
          SELECT patient, ward FROM visits INTERSECT ALL SELECT patient, ward FROM visits WHERE urgent) AS u
        GROUP BY ward""",
    "except all": """
        SELECT COUNT(*) AS n FROM (
          SELECT patient, ill FROM visits EXCEPT ALL SELECT patient, ill FROM visits WHERE urgent) AS u""",
    "union": """
        SELECT COUNT(*) AS n FROM (SELECT patient, ward FROM visits UNION SELECT patient, ward FROM visits) AS u""",
    "distinct": "SELECT ward, COUNT(*) AS n FROM (SELECT DISTINCT patient, ward FROM visits) AS d GROUP BY ward",
    "mean of counts": """
        SELECT AVG(visits) AS a FROM (SELECT patient, COUNT(*) AS visits FROM visits GROUP BY patient) AS each""",
    "mean of means": """
        SELECT AVG(mean) AS a, SUM(total) AS t FROM (
          SELECT patient, AVG(cost) AS mean, SUM(cost) AS total FROM visits GROUP BY patient) AS each""",
    "sum of extremes": """
        SELECT ward, SUM(most) AS s FROM (
          SELECT patient, ward, MAX(beds) AS most FROM visits GROUP BY patient, ward) AS each
        GROUP BY ward""",
    "units of groups": """
        SELECT COUNT(DISTINCT patient) AS n FROM (SELECT patient, ward FROM visits GROUP BY patient, ward) AS each""",
    "having in a sub-query": """
        WITH often AS (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient HAVING COUNT(*) > 1)
        SELECT COUNT(DISTINCT patient) AS n FROM often""",
    "how many have how many": """
        SELECT n, COUNT(*) AS people FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) AS each
        GROUP BY n""",
}  # fmt: skip
"""Questions about patients, who have many rows."""

OF_THE_TOWN = {
    "rows": "SELECT COUNT(*) AS n FROM people",
    "sums": "SELECT SUM(age) AS a, SUM(pay) AS p, SUM(kids) AS k FROM people",
    "means": "SELECT AVG(age) AS a, VARIANCE(pay) AS v FROM people",
    "quantiles": "SELECT MIN(age) AS low, MEDIAN(pay) AS mid, MAX(kids) AS high FROM people",
    "mode": "SELECT MODE() WITHIN GROUP (ORDER BY sex) AS m FROM people",
    "different values": "SELECT COUNT(DISTINCT town) AS n FROM people",
    "public keys": "SELECT sex, COUNT(*) AS n, SUM(age) AS a FROM people GROUP BY sex",
    "private keys": "SELECT town, COUNT(*) AS n, AVG(pay) AS p FROM people GROUP BY town",
    "grouping sets": "SELECT sex, smokes, SUM(kids) AS k FROM people GROUP BY CUBE (sex, smokes)",
    "public join": "SELECT kind, SUM(age) AS a FROM people JOIN wards ON name = code GROUP BY kind",
    "groups of groups": """
        SELECT COUNT(*) AS towns, SUM(LEAST(n, 5)) AS n FROM (
          SELECT town, COUNT(*) AS n FROM people GROUP BY town) AS each""",
    "union all": """
        SELECT sex, COUNT(*) AS n FROM (SELECT sex, age FROM people UNION ALL SELECT sex, kids FROM people) AS u
        GROUP BY sex""",
    "distinct": "SELECT COUNT(*) AS n FROM (SELECT DISTINCT town, sex FROM people) AS d",
    "public rows": "SELECT kind, COUNT(*) AS n, SUM(floor) AS f FROM wards GROUP BY kind",
}  # fmt: skip
"""Questions about people who have one row each."""


def _visits(session):
    return session.table("visits")


def _number(session):
    """A number without bounds: the id, which is text where a file holds it as text."""
    return _visits(session).id.cast("integer")


IN_PYTHON = {
    "histogram": lambda s: _visits(s).agg(h=sf.histogram("cost", edges=[0, 10, 50, 100])),
    "top k": lambda s: _visits(s).group_by("urgent").agg(t=sf.top_k("ward", 2)),
    "vector sum": lambda s: _visits(s).group_by("ward").agg(v=sf.vector_sum("cost", "beds", "hours")),
    "values of a unit": lambda s: _visits(s).group_by("ward").agg(n=sf.count_distinct("ill", max_values_per_unit=1)),
    "chosen bounds": lambda s: _visits(s).group_by("ward").agg(m=sf.mean(_number(s), bounds="auto"), n=sf.count()),
    "chosen bounds, private keys": lambda s: _visits(s).group_by("ill").agg(m=sf.sum(_number(s), bounds="auto")),
    "narrower limits": lambda s: _visits(s).per_unit(rows=3, groups=1).group_by("ward").agg(s=sf.sum("cost")),
    "weights": lambda s: _visits(s).agg(weights={"s": 3}, n=sf.count(), s=sf.sum("cost")),
    "consistent sets": lambda s: s.table("patients").group_by("sex").rollup(consistent=True).agg(n=sf.count()),
    "anti join": lambda s: _visits(s).anti_join(s.table("drugs"), on={"id": "visit"}).agg(n=sf.count_units()),
    "folded twice": lambda s: (
        _visits(s).group_by("ward", "ill").fold(n=sf.count()).group_by("ward").fold(m=sf.max("n")).agg(s=sf.sum("m"))
    ),
}
"""Questions that have no words in SQL, or other ones."""


@dataclass(frozen=True)
class Asked:
    """A question to a database of one of the two policies."""

    name: str
    open: object
    ask: object

    def of(self, session):
        """The question to a session."""
        return self.ask(session)


def _of_sql(name, opened, sql):
    return Asked(name, opened, lambda session: session.query(sql))


CLINIC_QUESTIONS = (
    *(_of_sql(name, clinic, sql) for name, sql in OF_THE_CLINIC.items()),
    *(Asked(f"{name} in Python", clinic, ask) for name, ask in IN_PYTHON.items()),
)
TOWN_QUESTIONS = tuple(_of_sql(f"{name} of the town", town, sql) for name, sql in OF_THE_TOWN.items())
QUESTIONS = (*CLINIC_QUESTIONS, *TOWN_QUESTIONS)
DELTA = "1e-6"


def by_turns(questions, engine, turn, *, of=8):
    """A part of the questions that is its turn; twice as large of the plain engine, which is quick on few rows."""
    of = of // 2 if engine == "reference" else of
    return questions if FULL_SIZE else questions[turn % of :: of]
