"""A question as people read it is a statement that asks the same."""

import pytest
from tests.query.asking import frame, hashed

import sfumato as sf
from sfumato.query.canonical import question_hash
from sfumato.query.describe import described

people = frame()


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (people.agg(n=sf.count()), "SELECT COUNT(*) AS n FROM people"),
        (
            people.filter(people.age > 50).filter(~(people.Sex == "it's")).group_by("Sex").agg(m=sf.mean("age")),
            "SELECT Sex, AVG(age) AS m FROM people WHERE age > 50 AND NOT Sex = 'it''s' GROUP BY Sex",
        ),
        (
            people.filter((people.smoker.is_true() | people.age.is_null()) & people.age.is_in([1, 2])).agg(
                s=sf.sum("pay")
            ),
            "SELECT SUM(pay) AS s FROM people WHERE (smoker OR age IS NULL) AND age IN (1, 2)",
        ),
        (
            people.filter((people.pay >= 0.25) & (people.smoker == False)).agg(n=sf.count("age")),  # noqa: E712 # what an analyst may write
            "SELECT COUNT(age) AS n FROM people WHERE pay >= 0.25 AND smoker = FALSE",
        ),
    ],
)
def test_the_text_of_a_frame_is_the_statement_that_asks_the_same(asked, text):
    assert described(asked) == text
    assert hashed(text) == question_hash(asked)
