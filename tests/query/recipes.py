"""Statistics of a table as recipes, for tests of what they are made of."""

from tests.query.planned import PEOPLE, grouped, ref

from sfumato.query.model.schema import Table, integer, real
from sfumato.query.model.statement import StepSum

AGE, PAY, KIDS = ref("age"), ref("pay"), ref("kids")
WIDE = Table(name="t", columns={"v": integer(0, 10**12), "f": real(-(10**6), 10**6), "w": real(0, 10**7)})


def lowered(statistic, table=PEOPLE, *keys):
    """The recipe of a statistic, named x."""
    return statistic.recipe(grouped(table, *keys), "x")


def measures(statistic, table=PEOPLE):
    """The measures that it needs noise on."""
    return [measure for component in lowered(statistic, table).components for measure in component.measures]


def steps(statistic, table=PEOPLE):
    """The lattice of its only sum."""
    (measure,) = [measure for measure in measures(statistic, table) if isinstance(measure, StepSum)]
    return measure.steps
