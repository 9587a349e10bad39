"""Questions that fail in a database only where one person is: an engine asked as it is says so, a curator does not."""

import duckdb
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.implementation.side_channels import error_oracle

TRIALS = 30
CONDITIONS = {
    "a cast to a number": "CAST(name AS INTEGER) > 0",
    "a cast to a date": "CAST(born AS DATE) > CAST('1900-01-01' AS DATE)",
    "an overflow": "(person + 9223372036854775805) % 7 < 9",
}
"""Person 3 has the name 'Ann', was born on a 30th of February, and is the only one to exceed 2^63 - 1."""


def table(coin):
    """Persons 1 and 2, and person 3 if the coin says so."""
    count = 2 + coin
    names, births = ["1", "2", "Ann"], ["1980-01-01", "1990-01-01", "1970-02-30"]
    persons = pa.array([1, 2, 3], pa.int64())
    return pa.table({"person": persons, "name": names, "born": births}).slice(0, count)


def raw(coins):
    """Asked of the engine, without a curator."""

    def answer(coin):
        connection = duckdb.connect()
        connection.register("people", table(coin))
        return lambda question: connection.execute(question).fetchone()[0]

    return [answer(coin) for coin in coins]


def private(coins):
    """Asked of a session, at ε = 1 for each database."""
    columns = {"person": sf.integer(0, 3), "name": sf.text(), "born": sf.text()}

    def answer(coin):
        people = sf.open(table(coin), name="people", unit=sf.EACH_ROW, columns=columns, budget=sf.PureDP(1))
        return lambda question: people.sql(question, epsilon=1).to_arrow()["n"][0].as_py()

    return [answer(coin) for coin in coins]


def attacked(worlds, condition):
    question = f"SELECT COUNT(*) AS n FROM people WHERE {CONDITIONS[condition]}"
    return error_oracle(worlds, question=question, trials=TRIALS, epsilon=1)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_engine_asked_as_it_is_gives_the_person_away_by_failing(condition):
    assert attacked(raw, condition).rates.advantage == 1


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_curator_answers_in_both_worlds(condition):
    found = attacked(private, condition)
    assert found.rates.hits == found.rates.false_alarms == 0, "no question failed"
    assert found.outcome.notes == (), "none was refused"
