import pytest
from tests.query.asking import parsed

from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.compile import compile_plan, exact_half
from sfumato.query.measures import RowCount, StepSum, ValueCount
from sfumato.query.plan import CountOutput, MeanOutput, SumOutput
from sfumato.query.schema import integer


def plan(sql):
    return compile_plan(parsed(sql), PureDP(1), neighboring_relation=ADD_OR_REMOVE_ONE)


def test_every_statistic_becomes_integers_and_a_way_back():
    statement, columns, outputs = exact_half(
        parsed("SELECT COUNT(*) AS a, COUNT(age) AS b, SUM(pay) AS c, AVG(age) AS d FROM people")
    )
    assert statement.measures == (
        RowCount(),
        ValueCount("age", nullable=True),
        StepSum(column="pay", lower=0, upper=1_000, offset=0, nullable=True),
        ValueCount("age", nullable=True),
        StepSum(column="age", lower=0, upper=100, offset=50, nullable=True),
    )
    assert columns == ((0,), (1,), (2,), (3, 4))
    assert [type(output) for output in outputs] == [CountOutput, CountOutput, SumOutput, MeanOutput]
    assert [output.name for output in outputs] == ["a", "b", "c", "d"]


def test_groups_are_the_product_of_public_keys():
    made = plan("SELECT COUNT(*) FROM people GROUP BY Sex, smoker")
    assert [key.values for key in made.statement.keys] == [("m", "f"), (False, True)]
    assert made.statement.group_count == 4


def test_each_measure_has_a_sensitivity_a_mechanism_and_an_event():
    made = plan("SELECT COUNT(*), AVG(age) FROM people")
    assert (
        len(made.sensitivities) == len(made.mechanisms) == len(made.statement.measures) == len(made.event.events) == 3
    )
    assert made.charge == PureDP(1)


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        ("SELECT COUNT(*) FROM people GROUP BY age", NotPrivateError, "public keys"),
        ("SELECT SUM(Sex) FROM people", ParameterError, "declared as text"),
        ("SELECT AVG(smoker) FROM people", ParameterError, "declared as boolean"),
    ],
)
def test_a_question_without_a_plan_is_refused(sql, error, message):
    with pytest.raises(error, match=message):
        plan(sql)


@pytest.mark.parametrize("statistic", ["SUM(v)", "AVG(v)"])
def test_a_sum_without_bounds_is_refused(statistic):
    from tests.engines.running import question

    from sfumato.query.schema import Table

    table = Table(name="t", columns={"v": integer()})
    with pytest.raises(UnboundedSensitivityError, match=r"t\.v.*bounds"):
        exact_half(question(f"SELECT {statistic} FROM t", table))
