"""Many databases in one table: each world has people of its own, so that one release answers about all at one price."""

import pyarrow as pa

import sfumato as sf

OTHERS = 3
"""How many are in each world whether or not person 0 is."""


def released(rows, columns, question, epsilon):
    """The answers of one release, by their names; ε is what each person is charged in all."""
    worlds = {"world": sf.integer(values=range(max(rows["world"]) + 1))}
    with sf.open(
        pa.table(rows), name="people", unit=sf.EACH_ROW, columns=worlds | columns, budget=sf.PureDP(epsilon)
    ) as people:
        answers = people.sql(question, epsilon=epsilon).to_arrow()
        assert people.spent == sf.PureDP(epsilon)
    assert answers["world"].to_pylist() == list(range(len(answers)))
    return {name: answers[name].to_pylist() for name in answers.column_names}


def looked_up(answers):
    """What answers about each world; a question is the name of a column."""
    return [lambda question, world=world: answers[question][world] for world in answers["world"]]


def with_and_without(epsilon, *, statistics):
    """Worlds of `membership_game`: person 0 is in a world if its coin says so, persons 1 to 3 are in each."""

    def worlds(coins):
        people = [(world, person) for world, coin in enumerate(coins) for person in range(not coin, OTHERS + 1)]
        rows = dict(zip(("world", "person"), zip(*people, strict=True), strict=True))
        question = f"SELECT world, {statistics} FROM people GROUP BY world"
        return looked_up(released(rows, {"person": sf.integer(0, OTHERS)}, question, epsilon))

    return worlds
