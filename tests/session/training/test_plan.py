"""Plans of fits: which rows reach one, and how many of a unit."""

from collections import Counter
from itertools import combinations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Limits, Table
from sfumato.query.sql.questions import parse_view
from sfumato.session.training.plan import training_query, training_rows

COLUMNS = {"age": sf.integer(0, 4), "sex": sf.text(values=["f", "m"]), "pay": sf.real(0, 10), "who": sf.text()}
VISITS = {"who": sf.text(), "age": sf.integer(0, 4), "ill": sf.boolean()}
SALT = "00" * 16


def rows_of(session, sql, *, salt=SALT, **arguments):
    query = training_query(parse_view(sql, session._tables), **({"target": None} | arguments))
    found = training_rows(query, session.desk.engine.run(query.statement, salt=salt)).open_for_noise()
    return query, found


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_rows_are_codes_and_rows_with_a_null_or_an_unlisted_value_are_left_out(engine):
    data = pa.table(
        {
            "age": [0, 9, 2, None, 3, 2], "sex": ["f", "m", "x", "f", None, "f"],
            "pay": [0.0, 10.0, 1.0, 1.0, 1.0, float("nan")], "who": ["a"] * 6,
        }
    )  # fmt: skip
    with sf.open(data, name="people", columns=COLUMNS, budget=sf.PureDP(1), engine=engine) as people:
        query, found = rows_of(people, "SELECT age, sex, pay FROM people", target="sex")
        assert [column.name for column in query.columns] == ["age", "pay"]
        assert sorted(zip(found.codes.tolist(), found.target.tolist(), strict=True)) == [([0, 0], 0), ([4, 4096], 1)]
        assert query.rows_per_unit == 1


def test_a_fraction_has_the_code_that_arrays_give_it():
    pays = [0.0, 0.004, 1.2345, 3.3, 9.999, 10.0, -1.0, 12.0]
    data = pa.table({"age": [1] * 8, "sex": ["f"] * 8, "pay": pays, "who": ["a"] * 8})
    with sf.open(data, name="people", columns=COLUMNS, budget=sf.PureDP(1)) as people:
        query, found = rows_of(people, "SELECT pay FROM people")
    assert sorted(found.codes[:, 0]) == sorted(query.columns[0].encode(pays))
    assert found.target is None


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_no_unit_moves_more_rows_than_the_policy_allows(engine):
    """Over all subsets of the units, with all of their rows."""
    records = [("a", 1, True)] * 3 + [("a", 2, False)] * 2 + [("b", 1, True)] + [("c", 3, None), ("c", 1, True)]
    limits = Limits(max_rows_per_unit=2)

    def found(units):
        kept = [record for record in records if record[0] in units]
        data = pa.table(
            {name: [row[place] for row in kept] for place, name in enumerate(VISITS)},
            schema=pa.schema([("who", pa.string()), ("age", pa.int64()), ("ill", pa.bool_())]),
        )
        opened = {"columns": VISITS, "unit": "who", "limits": limits, "budget": sf.PureDP(1), "engine": engine}
        with sf.open(data, name="visits", **opened) as visits:
            query, rows = rows_of(visits, "SELECT age, ill FROM visits", target="ill")
            assert query.rows_per_unit == 2
        return Counter(map(tuple, [[*code, end] for code, end in zip(rows.codes.tolist(), rows.target, strict=True)]))

    by_units = {units: found(units) for size in range(4) for units in combinations("abc", size)}
    for units, rows in by_units.items():
        for unit in units:
            without = by_units[tuple(one for one in units if one != unit)]
            assert not without - rows
            assert (rows - without).total() <= 2
    assert by_units["a",].total() == 2  # of five


def test_what_cannot_be_fitted_to_is_refused():
    people = {"people": Source(Table(name="people", columns=COLUMNS))}

    def asked(sql, **arguments):
        return training_query(parse_view(sql, people), **({"target": None} | arguments))

    with pytest.raises(ParameterError, match="must be one of: age"):
        asked("SELECT age FROM people", target="sex")
    with pytest.raises(ParameterError, match="beside the target"):
        asked("SELECT sex FROM people", target="sex")
    with pytest.raises(UnboundedSensitivityError, match="who"):
        asked("SELECT age, who FROM people")
    with pytest.raises(NotPrivateError):
        asked("SELECT COUNT(*) AS n FROM people")
    with pytest.raises(ParameterError, match="limits"):
        asked("SELECT age FROM people", limits=Limits(max_rows_per_unit=1))


def test_classes_may_be_listed_by_who_asks():
    people = {"people": Source(Table(name="people", columns=COLUMNS))}
    query = training_query(parse_view("SELECT age, who FROM people", people), target="who", classes=["b", "a"])
    assert query.target.values == ("b", "a")
