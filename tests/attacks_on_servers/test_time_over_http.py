"""Catalogue 53, over HTTP: whether one person has rows on which a query works hard is not told by how long it takes.

One person has many rows whose notes are as slow as they can be; another one is not there. An analyst asks for either,
in random order, how many of their notes are so and so, which a CASE looks at in the rows of that person alone. They
first try several conditions, take the one where the times differ most, and ask on with it. At full size the 300
requests after that are compared by the test of Kolmogorov and Smirnov at 1e-3, which has to notice 5 ms that are added,
and without time classes the two people. Nothing else may run meanwhile.
"""

import time
from itertools import count

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import ks_2samp
from tests.attacks_on_servers.curators import Curator, write_curator
from tests.sizes import FULL_SIZE

ROWS, OWN, TRIED, RUNS, ALPHA = (20_000, 2_000, 25, 150, 1e-3) if FULL_SIZE else (2_000, 200, 1, 4, 1e-3)
QUANTUM, NOTICED, INJECTED = 0.05, 0.2, 0.005
SOMEBODY, NOBODY = 8, 9
LETTERS = "\u0416\u00c0" * 128
WORK = {"rows_per_second": 4e6}
CONDITIONS = (
    "UPPER(note) = 'x'",
    "note ILIKE 'x%'",
    " OR ".join(f"note LIKE '%{'_'.join(letter * 14)}b%'" for letter in LETTERS[:2]),
    "note LIKE '%b%'",
)
POLICY = f"""\
dataset = "people"
version = "1"

[unit]
name = "person"
neighboring_relation = "add_or_remove_one"

[tables.people]
source = "people.parquet"
unit = "who"
max_rows_per_unit = {OWN}

[tables.people.columns.who]
type = "integer"
bounds = [0, 1000000]

[tables.people.columns.note]
type = "text"
max_length = 256
"""


def notes():
    """The rows of one person, and those of everybody else."""
    who = [SOMEBODY] * OWN + [0, *range(10, ROWS - OWN + 9)]
    note = [LETTERS] * OWN + ["Seen on Monday."] * (ROWS - OWN)
    return pa.table({"who": who, "note": note})


class Analyst:
    """Somebody with a watch, and a query for each try.

    Args:
        client: Asks.
    """

    def __init__(self, client):
        self._client, self._numbers, self._random = client, count(1), np.random.default_rng(53)

    def seconds(self, person, condition, *, more=0.0):
        """How long a query takes that nobody has asked before."""
        found = f"CASE WHEN who = {person} THEN CASE WHEN {condition} THEN 1 ELSE 0 END ELSE 0 END"
        body = {"sql": f"SELECT SUM({found}) AS n FROM people", "epsilon": f"0.1{next(self._numbers):05d}"}
        start = time.perf_counter()
        response = self._client.post("/datasets/people/ask", json=body)
        time.sleep(more)
        taken = time.perf_counter() - start
        assert response.headers["Sfumato-Reused"] == "false", response.text
        return taken

    def times(self, condition, runs, arms):
        """Times of some runs of each arm, which are a person and what is added."""
        found = np.empty((len(arms), runs))
        for run in range(-1, runs):  # the first one warms up, and is overwritten by the last
            for place in self._random.permutation(len(arms)):
                person, more = arms[place]
                found[place, run] = self.seconds(person, condition, more=more)
        return found

    def best_condition(self):
        """Where the times of the two people differ most, as far as a few tries tell."""
        differences = []
        for condition in CONDITIONS:
            somebody, nobody = self.times(condition, TRIED, [(SOMEBODY, 0.0), (NOBODY, 0.0)])
            differences.append(abs(np.median(somebody) - np.median(nobody)))
        return CONDITIONS[int(np.argmax(differences))]


def measured(folder, quantum, arms):
    """What an analyst measures at a curator of these time classes."""
    folder.mkdir()
    config = write_curator(
        folder, epsilon="100000", policy=POLICY, data=notes(), declared_rows=ROWS, work=WORK | {"quantum": quantum}
    )  # fmt: skip
    with Curator(config) as curator:
        curator.account("ann", 50_000)
        with curator.analyst("people/ann", "ann").client(curator.url) as client:
            analyst = Analyst(client)
            return analyst.times(analyst.best_condition(), RUNS, arms)


def told_apart(first, second):
    """With a chance of `ALPHA` where both follow one law."""
    return ks_2samp(first, second).pvalue < ALPHA


@pytest.mark.statistical
def test_an_analyst_with_a_watch_does_not_tell_a_person_with_slow_rows_from_nobody(tmp_path):
    """Type-I error 1e-3 at full size; otherwise only what takes long is noticed."""
    arms = [(SOMEBODY, 0.0), (NOBODY, 0.0), (NOBODY, INJECTED)]
    somebody, nobody, delayed = measured(tmp_path / "padded", QUANTUM, arms)
    if not FULL_SIZE:
        assert somebody.min() - nobody.min() < NOTICED
        return
    plain, none = measured(tmp_path / "plain", 0.0, arms[:2])
    medians = [f"{1e3 * np.median(times):.2f} ms" for times in (somebody, nobody, delayed, plain, none)]
    assert told_apart(nobody, delayed), f"an injected delay is not noticed: {medians}"
    assert told_apart(plain, none), f"without time classes the rows are not noticed: {medians}"
    assert not told_apart(somebody, nobody), f"{medians}; type-I error {ALPHA}"
