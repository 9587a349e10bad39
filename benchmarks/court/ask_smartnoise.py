"""SmartNoise SQL answers the court, on a frame that it queries in SQLite.

A query takes it 30 ms, so one query asks about many disjoint copies of the database at once, each a group of its own:
nobody is in two of them, so that the answer of each group is one run.
"""

import math
import warnings

import pandas as pd
from answering import answer
from snsql import Privacy, from_df

warnings.simplefilter("ignore")

MOST_COPIES = 1000
COUNT = "SELECT copy, COUNT(*) AS n FROM people GROUP BY copy"
SUM = "SELECT copy, SUM(x) AS s FROM people GROUP BY copy"
INTEGER_SUM = "SELECT copy, SUM(k) AS s FROM people GROUP BY copy"
BOTH = "SELECT copy, COUNT(*) AS n, SUM(k) AS s FROM people GROUP BY copy"


def reader(rows, copies, *, censored=False, delta=1e-6):
    """One row a person, x and k in [0, 10]; and somebody apart, so that there is always a table."""
    people = {
        "max_ids": 1, "clamp_counts": False, "censor_dims": censored,
        "id": {"type": "int", "private_id": True}, "copy": {"type": "int"},
        "x": {"type": "float", "lower": 0.0, "upper": 10.0}, "k": {"type": "int", "lower": 0, "upper": 10},
    }  # fmt: skip
    table = [(copy * len(rows) + i, copy, float(x), int(k)) for copy in range(copies) for i, (x, k) in enumerate(rows)]
    table.append((-1, -1, 5.0, 5))
    frame = pd.DataFrame(table, columns=["id", "copy", "x", "k"])
    return from_df(frame, privacy=Privacy(epsilon=1.0, delta=delta), metadata={"": {"": {"people": people}}})


def in_copies(query, read=lambda row: row[0], **options):
    def case(rows, runs):
        outputs = []
        while len(outputs) < runs:
            copies = min(MOST_COPIES, runs - len(outputs))
            answers = {row[0]: row[1:] for row in reader(rows, copies, **options).execute(query)[1:]}
            outputs += [read(answers[copy]) if copy in answers else "missing" for copy in range(copies)]
        return outputs

    return case


def with_nan(query):
    """The same, where the x of -1 stands for NaN."""
    case = in_copies(query)
    return lambda rows, runs: case([(math.nan if x == -1 else x, k) for x, k in rows], runs)


def both(row):
    """The two answers, and the sum of what each says for the person."""
    return [row[0], row[1], row[0] + row[1] / 10]


def claims():
    """ε and δ of each query as `get_privacy_cost` states them."""
    asked = {"count": COUNT, "sum": SUM, "integer_sum": INTEGER_SUM, "both": BOTH, "sum_with_nan": SUM}
    costs = {name: reader([(5, 5)], 1).get_privacy_cost(query) for name, query in asked.items()}
    costs["groups"] = reader([(5, 5)], 1, censored=True, delta=0.01).get_privacy_cost(COUNT)
    return {name: [float(epsilon), float(delta)] for name, (epsilon, delta) in costs.items()}


CASES = {
    "count": in_copies(COUNT),
    "sum": in_copies(SUM),
    "integer_sum": in_copies(INTEGER_SUM),
    "both": in_copies(BOTH, both),
    "sum_with_nan": with_nan(SUM),
    "groups": in_copies(COUNT, censored=True, delta=0.01),
    "claims": lambda _, runs: [claims()] * runs,
}

if __name__ == "__main__":
    answer(CASES, packages=("smartnoise-sql", "opendp", "pandas"))
