"""The demo, section by section: the census, a survey, attacks on averages and prefixes, a receipt and the accounts."""

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Final

from sfumato.cli.demo.stage import (
    BINS,
    MARITAL_STATUS,
    OLDEST,
    OVER,
    TOP_SALARY,
    YOUNGEST,
    Curators,
    People,
    Stage,
    age_bin,
    cost,
    load_people,
    numbered_patients,
    open_curators,
    true_counts,
)
from sfumato.datasets import company, survey
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.mechanisms import Exponential, RandomizedResponse
from sfumato.plots import histogram, save
from sfumato.privacy.budgets import Budget
from sfumato.query.statistics.estimates import AnswerValue
from sfumato.session.releases.release import Release, shown_estimate
from sfumato.session.session import Session

EPSILONS: Final = ("0.1", "0.001")
SQL: Final = f"SELECT COUNT(*) AS n FROM people WHERE age > {OVER}"
AGES_EPSILON: Final = "0.01"
PICTURE: Final = "age_histogram.png"
_AGES_SQL: Final = "SELECT age_bin, COUNT(*) AS n FROM people GROUP BY age_bin"
STATUS_EPSILON: Final = "0.1"
_STATUS_SQL: Final = "SELECT marital_status, COUNT(*) AS n FROM everyone GROUP BY marital_status"
DRAWS: Final = 10_000
PEOPLE_A_POINT: Final = 1_000
_MANY: Final = 100  # from here on, one decimal is enough

CLAIMED: Final = Exponential(utility_sensitivity=1, epsilon=1)
"""The textbook mechanism: utility count/1000, with a claimed sensitivity of 1, at ε = 1."""

TRUE_SENSITIVITY: Final = Fraction(1, PEOPLE_A_POINT)
TRUE_EPSILON: Final = CLAIMED.epsilon * TRUE_SENSITIVITY / CLAIMED.utility_sensitivity
"""The cost of a draw, from the true sensitivity."""

COINS: Final = {"fair": "0.5", "heads 80%": "0.8"}
MONTHLY_EPSILONS: Final = ("8", "1", "0.1")
FIVE_EPSILON, FOUR_EPSILON = "0.1", "0.2"
_NEXT_EPSILON: Final = "0.1"


def run(*, output: str, ledger: str | None) -> None:
    """Show all sections.

    Args:
        output: The folder for the picture, created if missing.
        ledger: The ledger file; None keeps no ledger after the demo.

    Raises:
        ParameterError: A data file has unexpected content, or the folder cannot be written.
        LedgerError: The ledger cannot be used.
    """
    stage = Stage(output=Path(output), ledger=ledger)
    people = load_people()
    with open_curators(people, ledger=ledger) as curators:
        before = tuple(curator.spent for curator in curators.all)
        show_opening(stage, people, curators)
        first = show_over_fifty(stage, people, curators.people)
        show_ages(stage, people, curators.people)
        show_marital_status(stage, people, curators.people)
        show_exponential(stage, people)
        show_survey(stage)
        show_payroll(stage, curators.company)
        show_diagnosis(stage, curators.patients)
        show_receipt(stage, first)
        show_accounts(stage, curators, before)


def show_opening(stage: Stage, people: People, curators: Curators) -> None:
    """State the data, the budget, and what a ledger already holds."""
    stage.section("Sfumato: a curator you can trust with a database of people")
    stage.say(f"Data: {people.origin}, {people.table.num_rows:,} rows, one per person.")
    stage.say(
        'The demo owns this data. "True" columns come from the raw rows, which only an owner may read. An analyst sees '
        "only the private numbers, each with its 95% interval."
    )
    stage.say(
        f"All queries about these people share one budget, {curators.people.budget}. The smaller ε is, the less an "
        "answer can reveal about any one person."
    )
    if stage.ledger is None:
        stage.say("No --ledger was given, so spending is not recorded after the demo.")
        return
    spent = ", ".join(f"{curator.policy.dataset} {curator.spent}" for curator in curators.all)
    stage.say(f"Ledger {stage.ledger}. Spent before this run: {spent}.")


def show_over_fifty(stage: Stage, people: People, curator: Session) -> Release:
    """Ask at both ε and return the first answer, whose receipt is shown later."""
    stage.section(f"1. How many people are over {OVER}?")
    true = sum(age > OVER for age in people.table["age"].to_pylist())
    releases = [curator.sql(SQL, epsilon=epsilon) for epsilon in EPSILONS]
    stage.say(SQL)
    stage.figures(
        ("ε", "true", "private", "cost"),
        [
            (epsilon, f"{true:,}", shown_estimate(release["n"][0]), cost(release))
            for epsilon, release in zip(EPSILONS, releases, strict=True)
        ],
    )
    stage.say("The interval follows from ε alone, so its width was known before anything was spent.")
    return releases[0]


def show_ages(stage: Stage, people: People, curator: Session) -> None:
    """Release the histogram, and draw it beside the true one."""
    stage.section(f"2. The age histogram at ε = {AGES_EPSILON}")
    true = true_counts(people.table["age_bin"].to_pylist(), range(BINS))
    release = curator.sql(_AGES_SQL, epsilon=AGES_EPSILON)
    private = [shown_estimate(estimate) for estimate in release["n"]]
    stage.say(
        f"{BINS} equal bins on the declared range {YOUNGEST}-{OLDEST}, in a column that the owner added. One person "
        f"is in one bin, so all bins together cost ε {AGES_EPSILON} (cost: {cost(release)})."
    )
    rows = zip(_labels(), (f"{count:,}" for count in true), private, strict=True)
    stage.figures(("age", "true", "private"), rows)
    stage.say(_remark(true, release))
    stage.say(_drawn(stage.output / PICTURE, true, release))


def _labels() -> list[str]:
    """The whole ages of each bin."""
    ages = [[age for age in range(YOUNGEST, OLDEST + 1) if age_bin(age) == index] for index in range(BINS)]
    return [f"{bin_ages[0]}-{bin_ages[-1]}" for bin_ages in ages]


def _remark(true: list[int], release: Release) -> str:
    small = [
        label
        for label, count, estimate in zip(_labels(), true, release["n"], strict=True)
        if count <= estimate.half_width
    ]
    stddev = sqrt(2) / float(AGES_EPSILON)
    return (
        f"The noise in every bin has a standard deviation of √2/ε = {stddev:.0f} people, whatever the true count. The "
        f"noise exceeds the count in the smallest bins ({', '.join(small) or 'none here'}), and a private count may be "
        "negative. A number no larger than its error is marked ≲ noise."
    )


def _drawn(path: Path, true: list[int], release: Release) -> str:
    """Draw the chart, and return a sentence with its path, or the reason why there is none."""
    estimates = release["n"]
    values = [0 if estimate.value is None else estimate.value for estimate in estimates]
    errors = [estimate.half_width for estimate in estimates]
    clear = sum(abs(value) > error for value, error in zip(values, errors, strict=True))
    title = f"At ε = {AGES_EPSILON}, {clear} of {BINS} counts exceed their 95% error"
    try:
        picture = histogram(_labels(), true, values, errors, title=title, x_label="age in years")
    except ParameterError as error:  # without the extra `plots` the rest of the demo still works
        return f"No picture: {error}"
    try:
        return f"Picture: {save(picture, path)}"
    except OSError:
        raise ParameterError("output", str(path.parent), "must be a folder that can be written") from None


def show_marital_status(stage: Stage, people: People, curator: Session) -> None:
    """Count each status."""
    stage.section(f"3. Marital status at ε = {STATUS_EPSILON}")
    true = true_counts(people.everyone["marital_status"].to_pylist(), MARITAL_STATUS)
    release = curator.sql(_STATUS_SQL, epsilon=STATUS_EPSILON)
    stage.say(f"{people.everyone.num_rows:,} rows: {people.everyone_origin} (cost: {cost(release)}).")
    rows = zip(MARITAL_STATUS, (f"{count:,}" for count in true), map(shown_estimate, release["n"]), strict=True)
    stage.figures(("marital status", "true", "private"), rows)
    stage.say(
        "The seven names are public keys, declared by the owner. Every key gets an answer, so the result does not "
        "reveal which of them occur in the data."
    )


def show_exponential(stage: Stage, people: People) -> None:
    """Draw, and set the counts beside the expected ones."""
    stage.section(f"4. The exponential mechanism: {DRAWS:,} draws of a marital status")
    stage.say(
        "A simulation of the mechanism, outside any session: no account is charged, and no analyst sees it. It draws "
        "a status with probability ∝ exp(ε·utility/2), where utility = count/1000 and ε = 1."
    )
    true = true_counts(people.everyone["marital_status"].to_pylist(), MARITAL_STATUS)
    utilities = [Fraction(count, PEOPLE_A_POINT) for count in true]
    drawn = CLAIMED.release_many(utilities, DRAWS).tolist()
    expected = DRAWS * CLAIMED.probabilities(utilities)
    rows = [
        (status, f"{count:,}", f"{draws:,.1f}" if draws >= _MANY else f"{draws:.2f}", f"{drawn.count(index):,}")
        for index, (status, count, draws) in enumerate(zip(MARITAL_STATUS, true, expected, strict=True))
    ]
    stage.figures(("marital status", "people", "expected draws", "drawn"), rows)
    stage.say(
        f"Nominal total: ε {int(DRAWS * CLAIMED.epsilon):,}, if one person changes a utility by 1, at ε "
        f"{CLAIMED.epsilon} per draw. True total: one person changes count/1000 by only 1/1000, so a draw costs ε "
        f"{float(TRUE_EPSILON)}, and all {DRAWS:,} together at most ε {DRAWS * TRUE_EPSILON}."
    )


def show_survey(stage: Stage) -> None:
    """A survey of a hundred made-up people with each coin."""
    truths = survey()["smoked_marijuana"].to_pylist()
    stage.section("5. Randomized response: a survey in which no answer proves anything")
    stage.say(
        f'{len(truths)} made-up people, of whom {sum(truths)} would say "yes". Each tosses a coin: on heads they tell '
        'the truth, on tails they toss again and say "yes" on heads. No curator and no account: each adds noise alone.'
    )
    rows = [_survey_row(name, RandomizedResponse(heads_probability=heads), truths) for name, heads in COINS.items()]
    stage.figures(("coin", "ε of one answer", "true yes", "estimated yes (95% interval)"), rows)


def _survey_row(name: str, coin: RandomizedResponse, truths: Sequence[bool]) -> tuple[str, ...]:
    estimate = coin.estimate(coin.release(truths))
    return (
        name,
        f"ln {coin.exp_epsilon} = {float(coin.epsilon):.4f}",
        f"{sum(truths) / len(truths):.0%}",
        f"{estimate.fraction:.0%} ({estimate.low:.0%} to {estimate.high:.0%})",
    )


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
    rows = [_attack(curator, epsilon, jan_size, feb_size) for epsilon in MONTHLY_EPSILONS]
    stage.figures(("ε a month", "January", "February", "difference", "from", "to"), rows)
    stage.say(
        f"The attack loses. The difference {feb_size}·February − {jan_size}·January multiplies the noise by the number "
        "of employees. With at least 90% confidence it shows only that the salary is between the last two columns."
    )
    stage.say(
        f"These six answers cost {curator.spent}, the whole budget of this account. An owner would allow one row: at ε "
        "8 a month the averages are accurate and the guarantee is weak; at ε 0.1 it is the other way round."
    )


def _raw(month: str) -> tuple[int, int]:
    """Employees and their exact average in whole dollars: for the owner's eyes."""
    salaries = company("january" if month == "january" else "february")["salary"].to_pylist()
    return len(salaries), sum(salaries) // len(salaries)


def _attack(curator: Session, epsilon: str, jan_size: int, feb_size: int) -> tuple[str, ...]:
    """The difference that an attacker computes from the averages and the numbers of employees, with its interval."""
    jan, feb = (_average(curator, month, epsilon) for month in ("january", "february"))
    found = [
        None if january is None or february is None else feb_size * february - jan_size * january
        for january, february in ((jan.value, feb.value), (jan.high, feb.low), (jan.low, feb.high))
    ]
    return epsilon, *map(_dollars, (jan.value, feb.value, *found))


def _average(curator: Session, month: str, epsilon: str) -> AnswerValue:
    return curator.sql(f"SELECT AVG(salary) AS mean FROM {month}", epsilon=epsilon)["mean"][0]


def _dollars(amount: float | None) -> str:
    """An amount; None is the mean of a noisy count of nobody."""
    return "unknown" if amount is None else f"{'-' if amount < 0 else ''}${abs(amount):,.0f}"


def show_diagnosis(stage: Stage, curator: Session) -> None:
    """Attack, add up, refuse."""
    _show_attack(stage, curator)
    _show_composition(stage, curator)
    _show_refusal(stage, curator)


def prefix_query(rows: int) -> str:
    """The query for the number of ill patients among the first ones."""
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
        (f"Q5 − Q4, {names[-1]}'s 0 or 1", f"{difference} ± {five.half_width + four.half_width:.0f}"),
    ]
    stage.say("Through the curator:")
    stage.figures(("", "private"), rows)
    stage.say("The attack loses: the noise is far larger than one person's 0 or 1.")


def _show_composition(stage: Stage, curator: Session) -> None:
    stage.section("8. Sequential composition: what two answers cost together")
    total = sum(map(Fraction, (FIVE_EPSILON, FOUR_EPSILON)))
    stage.say(
        f"Q5 cost ε {FIVE_EPSILON} and Q4 cost ε {FOUR_EPSILON}: {FIVE_EPSILON} + {FOUR_EPSILON} = exactly "
        f"{float(total)}, stored as the fraction {total}. Binary floats would give "
        f"{float(FIVE_EPSILON) + float(FOUR_EPSILON)}, which exceeds the budget."
    )
    stage.say(f"Budget {curator.budget}, spent {curator.spent}, remaining {curator.remaining}.")


def _show_refusal(stage: Stage, curator: Session) -> None:
    stage.section("9. The refusal when the budget is spent")
    again = curator.sql(prefix_query(5), epsilon=FIVE_EPSILON)
    stage.say(
        f"Q5 again, to average the noise away: {shown_estimate(again['ill'][0])} (cost: {cost(again)}). The same query "
        "gets the same answer, so there is nothing to average."
    )
    try:
        curator.sql(prefix_query(3), epsilon=_NEXT_EPSILON)
    except BudgetExceededError as refusal:
        stage.say(f"Q3 at ε = {_NEXT_EPSILON}, a new query: refused. The curator answers: {refusal}.")
    stage.say(f"Spent is still {curator.spent}.")


def show_receipt(stage: Stage, release: Release) -> None:
    """The receipt as JSON."""
    stage.section("10. The receipt of the first answer")
    stage.say(
        "The query, the noise added (event), the cost (guarantee), whom it protects (privacy_unit, "
        "neighboring_relation), and the ledger entry that was charged (request):"
    )
    stage.console.print(release.receipt.to_json(), soft_wrap=True)


def show_accounts(stage: Stage, curators: Curators, before: Sequence[Budget]) -> None:
    """Every account, before this run and after."""
    stage.section("11. The accounts")
    rows = [
        (curator.policy.dataset, *map(str, (curator.budget, spent_before, curator.spent, curator.remaining)))
        for curator, spent_before in zip(curators.all, before, strict=True)
    ]
    stage.figures(("account", "budget", "spent before", "spent after", "remaining"), rows)
    if stage.ledger is None:
        stage.say("Nothing was recorded. With --ledger FILE a second run returns stored answers at no cost.")
    else:
        stage.say(
            f"Recorded in {stage.ledger}: another run spends nothing more. Check the file with: sfumato ledger verify "
            f"{stage.ledger}"
        )
