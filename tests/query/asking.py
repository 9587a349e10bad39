"""The table that the tests of the front ends ask about."""

from sfumato.query.canonical import question_hash
from sfumato.query.frame import Frame
from sfumato.query.relations import Aggregate, Source
from sfumato.query.schema import Table, boolean, integer, real, text
from sfumato.query.sql import parse_question

PEOPLE = Table(
    name="people",
    columns={
        "age": integer(0, 100),
        "Sex": text(values=["m", "f"]),
        "smoker": boolean(),
        "pay": real(0, 10),
        "select": integer(0, 3),
    },
)


def parsed(sql: str) -> Aggregate:
    return parse_question(sql, {"people": Source(PEOPLE)})


def hashed(sql: str) -> str:
    return question_hash(parsed(sql))


def frame() -> Frame[Aggregate]:
    return Frame(Source(PEOPLE), lambda relation: relation)
