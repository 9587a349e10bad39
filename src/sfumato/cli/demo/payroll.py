"""The differencing attack on two averages: it finds a salary in raw answers, and nothing in private ones."""

from typing import Final

from sfumato.cli.demo.curators import TOP_SALARY
from sfumato.cli.demo.stage import Stage
from sfumato.datasets import company
from sfumato.session.releases.answer import Estimate
from sfumato.session.session import Session

EPSILONS: Final = ("8", "1", "0.1")


def show(stage: Stage, curator: Session) -> None:
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
