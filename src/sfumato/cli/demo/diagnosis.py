"""The prefix-query attack on five patients, then what stops its second try: exact sums and a budget that ends."""

from fractions import Fraction
from typing import Final

from sfumato.cli.demo.curators import numbered_patients
from sfumato.cli.demo.stage import Stage, paid
from sfumato.errors import BudgetExceededError
from sfumato.session.releases.release import shown_estimate
from sfumato.session.session import Session

FIVE_EPSILON, FOUR_EPSILON = "0.1", "0.2"
_NEXT_EPSILON: Final = "0.1"


def show(stage: Stage, curator: Session) -> None:
    """Attack, add up, refuse."""
    _show_attack(stage, curator)
    _show_composition(stage, curator)
    _show_refusal(stage, curator)


def prefix_query(rows: int) -> str:
    """How many of the first patients are ill."""
    return f"SELECT SUM(diabetes) AS ill FROM patients WHERE number <= {rows}"


def _show_attack(stage: Stage, curator: Session) -> None:
    stage.section("7. The prefix attack: is Chandler ill?")
    table = numbered_patients()
    names, ill = table["name"].to_pylist(), table["diabetes"].to_pylist()
    stage.say(
        f"Five patients: {', '.join(names)}. Qi counts the ill among the first i. Raw answers: Q5 − Q4 = {sum(ill)} − "
        f"{sum(ill[:-1])}, so {names[-1]} = {sum(ill) - sum(ill[:-1])}: ill. The attack wins."
    )
    five = curator.sql(prefix_query(5), epsilon=FIVE_EPSILON)["ill"][0]
    four = curator.sql(prefix_query(4), epsilon=FOUR_EPSILON)["ill"][0]
    difference = five.value - four.value
    rows = [
        (f"Q5 at ε = {FIVE_EPSILON}", shown_estimate(five)),
        (f"Q4 at ε = {FOUR_EPSILON}", shown_estimate(four)),
        (f"Q5 − Q4, meant to be {names[-1]}'s 0 or 1", f"{difference} ± {five.half_width + four.half_width:.0f}"),
    ]
    stage.say("Through the curator:")
    stage.figures(("", "private"), rows)
    stage.say("The attack loses: one person's 0 or 1 is far below the noise.")


def _show_composition(stage: Stage, curator: Session) -> None:
    stage.section("8. Sequential composition: what two answers cost together")
    total = sum(map(Fraction, (FIVE_EPSILON, FOUR_EPSILON)))
    stage.say(
        f"Q5 cost ε {FIVE_EPSILON} and Q4 cost ε {FOUR_EPSILON}: {FIVE_EPSILON} + {FOUR_EPSILON} = exactly "
        f"{float(total)}, kept as the fraction {total}. Binary floats would make it "
        f"{float(FIVE_EPSILON) + float(FOUR_EPSILON)}, which is more than the budget."
    )
    stage.say(f"Budget {curator.budget}, spent {curator.spent}, left {curator.remaining}.")


def _show_refusal(stage: Stage, curator: Session) -> None:
    stage.section("9. The refusal when the budget is gone")
    again = curator.sql(prefix_query(5), epsilon=FIVE_EPSILON)
    stage.say(
        f"Q5 asked again, to average the noise away: {shown_estimate(again['ill'][0])} (paid: {paid(again)}). The same "
        "question gets the same answer, so there is nothing to average."
    )
    try:
        curator.sql(prefix_query(3), epsilon=_NEXT_EPSILON)
    except BudgetExceededError as refusal:
        stage.say(f"Q3 at ε = {_NEXT_EPSILON}, a new question: refused. The curator says: {refusal}.")
    stage.say(f"Spent is still {curator.spent}.")
