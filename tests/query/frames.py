"""Frames over four kinds of tables, whose questions are the relations themselves, and the values of their columns."""

from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import PUBLIC, Limits, Table, boolean, date, integer, real, text, timestamp
from sfumato.query.planning.questions import Presented
from sfumato.query.python.frame import Frame
from sfumato.query.values.evaluation import evaluate

PEOPLE = Table(
    name="people",
    columns={
        "age": integer(0, 100),
        "sex": text(values=["m", "f"]),
        "smoker": boolean(),
        "pay": real(0, 10),
        "born": date(),
        "seen": timestamp(),
    },
)
VISITS = Table(
    name="visits",
    columns={"visitor": text(), "ward": text(), "day": integer(values=[1, 2, 3]), "hours": real(0, 100)},
    unit=UnitColumn("visitor"),
    limits=Limits(max_rows_per_unit=10),
)
BILLS = Table(
    name="bills",
    columns={"visitor": text(), "day": integer(values=[1, 2, 3]), "amount": integer(0, 1000)},
    unit=UnitColumn("visitor"),
    limits=Limits(max_rows_per_unit=5),
)
WARDS = Table(
    name="wards",
    columns={"code": text(values=["a", "b"]), "beds": integer(0, 50)},
    unit=PUBLIC,
    matches={("code",): 1},
)


def frame(table: Table) -> Frame[Presented]:
    return Frame(Source(table), lambda question: question)


def value(handle, **cells):
    """What a handle is on a row, as the engines see it."""
    return evaluate(unmixed(handle.expression, SHAPE), cells)


SHAPE = frame(PEOPLE).shape.columns
