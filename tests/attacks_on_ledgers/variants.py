"""One question in more than a hundred thousand spellings: how many people are at least 30, and female or male."""

from collections.abc import Mapping
from math import prod
from typing import NamedTuple

import numpy as np

OLD = (
    "age >= 30",
    "NOT age < 30",
    "30 <= age",
    "age >= 30.0",
    "age BETWEEN 30 AND 100",
    "NOT (NOT (age >= 30))",
    "age >= :low",
    "age > 29",
)
SEX = (
    "sex IN ('f', 'm')",
    "sex IN ('m', 'f')",
    "(sex = 'f' OR sex = 'm')",
    "(sex = 'm' OR 'f' = sex)",
    "NOT sex NOT IN ('f', 'm')",
    "sex IN (:first, :second)",
)
TOGETHER = (
    "{old} AND {sex}",
    "{sex} AND {old}",
    "1=1 AND {old} AND {sex}",
    "{sex} AND ({old} AND TRUE)",
    "NOT (NOT ({old}) OR NOT ({sex}))",
    "{old} AND {sex} AND {old}",
)
ALWAYS = (
    "",
    " AND age <= 100",
    " AND age > -1",
    " AND age <> 101",
    " AND age <> 102",
    " AND age * 2 < 900",
    " AND (pay >= 0 OR pay IS NULL)",
    " AND town IS NOT NULL",
)
"""True of everybody, which the ledger cannot always see."""
FROM = (
    "people WHERE {who}",
    "(SELECT * FROM people) AS p WHERE {who}",
    "(SELECT * FROM people WHERE {who}) AS p",
    "(SELECT sex, age, pay, town FROM (SELECT * FROM people) AS inside) AS p WHERE {who}",
)
SHOWN = (
    "SELECT COUNT(*) AS n FROM {rows}",
    "select  count( * )  as people_found\n  from {rows}\t-- once more",
    'SELECT COUNT(*) AS "n" FROM {rows} ORDER BY n',
    "SELECT 'all' AS who, COUNT(*) AS n FROM {rows}",
    "WITH asked AS (SELECT * FROM people) SELECT COUNT(*) AS n FROM asked WHERE {who}",
    "SELECT COUNT(1) AS n FROM {rows}",
)
QUOTED = (str, lambda sql: sql.replace("age ", '"age" ').replace("FROM people", 'FROM "people"'))
PARTS = (OLD, SEX, TOGETHER, ALWAYS, FROM, SHOWN, QUOTED)
VALUES = {"low": 30, "first": "f", "second": "m"}
"""What stands for the parameters."""


class Variant(NamedTuple):
    """A statement and its parameters."""

    sql: str
    parameters: Mapping[str, object]


def variants(count):
    """So many different spellings, always the same ones, from all over the place."""
    numbers = np.random.default_rng(46).choice(prod(map(len, PARTS)), count, replace=False)
    return [_spelled(*_chosen(int(number))) for number in numbers]


def _spelled(old, sex, together, always, rows, shown, quoted):
    who = together.format(old=old, sex=sex) + always
    sql = quoted(shown.format(rows=rows.format(who=who), who=who))
    return Variant(sql, {name: value for name, value in VALUES.items() if f":{name}" in sql})


def _chosen(number):
    for part in PARTS:
        number, place = divmod(number, len(part))
        yield part[place]
