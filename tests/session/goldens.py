"""Answers as they are printed, of made-up released numbers: what people read changes only on purpose.

`python -m tests.session.goldens` writes the file anew, from its questions and numbers.
"""

import json
from fractions import Fraction
from typing import Final

from tests.meta.repository import ROOT

from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Table, integer, text
from sfumato.query.planning.plan import compile_plan
from sfumato.query.planning.questions import with_intervals
from sfumato.query.sql.questions import parse_question
from sfumato.session.releases.presenting import present
from sfumato.session.releases.release import shown_estimate
from sfumato.session.releases.releasing import Released

FILE: Final = ROOT / "tests" / "golden" / "answers.json"
TABLE: Final = Table(
    name="t", columns={"x": integer(0, 100), "y": integer(0, 100), "ward": text(values=["A", "B", "C"])}
)


def shown(sql: str, epsilon: str, measured: list[int], *, intervals: bool = False) -> list[str]:
    """The columns of an answer, as they are printed."""
    question = parse_question(sql, {"t": Source(TABLE)})
    question = with_intervals(question) if intervals else question
    plan = compile_plan(question.child, guarantee(epsilon), neighboring_relation=ADD_OR_REMOVE_ONE)
    released = Released(groups=((),), measured=tuple(((number,),) for number in measured))
    (row,) = present(question, plan, [released], Fraction(95, 100)).estimates
    return [shown_estimate(one) for one in row]


def cases() -> list[dict]:
    """Each with its question, its ε, what was released, and what is printed."""
    return json.loads(FILE.read_text("utf-8"))


def _again(case: dict) -> dict:
    asked = {name: value for name, value in case.items() if name != "shown"}
    return {**asked, "shown": shown(**asked)}


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(_again(case), ensure_ascii=False) for case in cases())
    FILE.write_text(f"[\n{lines}\n]\n", "utf-8")
