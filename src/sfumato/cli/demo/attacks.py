"""The sections about attacks, on a survey, on two averages and by prefixes, and about what stops them."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from sfumato.cli.demo.stage import TOP_SALARY, Stage, numbered_patients, paid
from sfumato.datasets import company, survey
from sfumato.errors import BudgetExceededError
from sfumato.mechanisms import RandomizedResponse
from sfumato.query.statistics.estimates import Estimate
from sfumato.session.releases.release import shown_estimate
from sfumato.session.session import Session

COINS: Final = {"fair": "0.5", "heads 80%": "0.8"}


def show_survey(stage: Stage) -> None:
    """A survey of a hundred made-up people with each coin."""
    truths = survey()["smoked_marijuana"].to_pylist()
    stage.section("5. Randomized response: a survey in which no answer convicts")
    stage.say(
        f'{len(truths)} made-up people, of whom {sum(truths)} would say "yes". Each tosses a coin: on heads the truth, '
        'on tails another toss decides, heads for "yes". No curator and no account: everybody adds their own noise.'
    )
    rows = [_row(name, RandomizedResponse(heads_probability=heads), truths) for name, heads in COINS.items()]
    stage.figures(("coin", "ε of one answer", "true yes", "estimated yes (95% interval)"), rows)


def _row(name: str, coin: RandomizedResponse, truths: Sequence[bool]) -> tuple[str, ...]:
    estimate = coin.estimate(coin.release(truths))
    return (
        name,
        f"ln {coin.exp_epsilon} = {float(coin.epsilon):.4f}",
        f"{sum(truths) / len(truths):.0%}",
        f"{estimate.fraction:.0%} ({estimate.low:.0%} to {estimate.high:.0%})",
    )


EPSILONS: Final = ("8", "1", "0.1")


def show_payroll(stage: Stage, curator: Session) -> None:
    """Attack the raw averages, then the curator."""
    stage.section("6. The differencing attack: what does Mallory earn?")
    (jan_size, jan_mean), (feb_size, feb_mean) = _raw("january"), _raw("february")
    stolen = feb_mean * feb_size - jan_mean * jan_size
    stage.say(
        f"January: {jan_size} employees, who earn ${jan_mean:,} on average. In February Mallory joins: {feb_size} "
        f"employees, ${feb_mean:,}. From the raw averages: {feb_mean:,}·{feb_size} − {jan_mean:,}·{jan_size} = "
        f"${stolen:,}, Mallory's salary. The attack wins."
    )
    stage.say(f"The same two averages through the curator (salaries within the public bounds $0 to ${TOP_SALARY:,}):")
    rows = [_attack(curator, epsilon, jan_size, feb_size) for epsilon in EPSILONS]
    stage.figures(("ε a month", "January", "February", "difference", "from", "to"), rows)
    stage.say(
        f"The attack loses. The difference {feb_size}·February − {jan_size}·January multiplies the noise by the number "
        "of employees: all that it tells, with a confidence of at least 90%, is that the salary lies between the last "
        "two columns."
    )
    stage.say(
        f"These six answers cost {curator.spent}, the whole budget of this account. An owner would allow one row of "
        "them: at ε 8 a month the averages are good and the promise is weak, at ε 0.1 it is the other way round."
    )


def _raw(month: str) -> tuple[int, int]:
    """Employees and their exact average in whole dollars: for the owner's eyes."""
    salaries = company("january" if month == "january" else "february")["salary"].to_pylist()
    return len(salaries), sum(salaries) // len(salaries)


def _attack(curator: Session, epsilon: str, jan_size: int, feb_size: int) -> tuple[str, ...]:
    """What an attacker gets who knows the numbers of employees."""
    jan, feb = (_average(curator, month, epsilon) for month in ("january", "february"))
    found = [
        None if january is None or february is None else feb_size * february - jan_size * january
        for january, february in ((jan.value, feb.value), (jan.high, feb.low), (jan.low, feb.high))
    ]
    return epsilon, *map(_dollars, (jan.value, feb.value, *found))


def _average(curator: Session, month: str, epsilon: str) -> Estimate:
    return curator.sql(f"SELECT AVG(salary) AS mean FROM {month}", epsilon=epsilon)["mean"][0]


def _dollars(amount: float | None) -> str:
    """A mean over noisy counts of nobody has no value."""
    return "unknown" if amount is None else f"{'-' if amount < 0 else ''}${abs(amount):,.0f}"


FIVE_EPSILON, FOUR_EPSILON = "0.1", "0.2"
_NEXT_EPSILON: Final = "0.1"


def show_diagnosis(stage: Stage, curator: Session) -> None:
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
