import pytest
from tests.cli.commands import in_one_line, refusal, run, spent
from tests.cli.demo.telling import quiet_stage, row, sentences, told

from sfumato.cli.demo import story
from sfumato.cli.demo.stage import MARITAL_STATUS
from sfumato.cli.demo.story import PICTURE, show_accounts, show_opening, show_receipt
from sfumato.datasets import load_adult
from sfumato.errors import ParameterError
from sfumato.mechanisms import Exponential
from sfumato.privacy.guarantees import PureDP
from sfumato.query.statistics.estimates import NOTHING, AnswerValue

FACTS = (
    "$156,000", "Chandler = 1", "ln 3 = 1.0986", "ln 21 = 3.0445", "0.1 + 0.2 = exactly 0.3", "refused",
    "The receipt of the first answer", '"guarantee"', "simulation",
)  # fmt: skip
ACCOUNTS = {"adult": "ε 0.211", "company": "ε 18.2", "patients": "ε 0.3"}


@pytest.fixture
def demo(tmp_path):
    """The demo with a ledger and its own folder for pictures."""
    return lambda: run("demo", "--output", tmp_path / "out", "--ledger", tmp_path / "l.db")


def test_on_the_census_every_promised_fact_is_printed_and_drawn(demo, tmp_path):
    load_adult("all")
    result = demo()
    assert (result.exit_code, result.stderr) == (0, "")
    assert [fact for fact in ("6,460", "22,379", "9,577.2", *FACTS) if fact not in in_one_line(result.stdout)] == []
    assert (tmp_path / "out" / PICTURE).stat().st_size > 10_000


def test_a_second_run_spends_nothing_more_and_answers_the_same(demo, tmp_path):
    load_adult("all")
    first, second = demo().stdout, demo().stdout
    assert {account: spent(tmp_path / "l.db", account) for account in ACCOUNTS} == ACCOUNTS
    assert "Spent before this run: adult ε 0.211, company ε 18.2, patients ε 0.3" in in_one_line(second)
    assert payroll(first) == payroll(second) != []


def payroll(shown):
    """The answers of the averages, which no two runs of chance would share."""
    return [line for line in shown.splitlines() if line.count("$") == 5]


@pytest.mark.usefixtures("no_adult")
def test_without_the_census_made_up_people_answer_and_are_called_so(demo, tmp_path):
    result = demo()
    assert result.exit_code == 0
    assert [fact for fact in ("made-up people", *FACTS) if fact not in in_one_line(result.stdout)] == []
    assert "0.1     6,460 " not in result.stdout  # the true column; by chance a private figure may hold these digits
    assert spent(tmp_path / "l.db", "made-up people") == "ε 0.211"


def test_a_ledger_that_cannot_be_is_refused(tmp_path):
    assert "none" in refusal("demo", "--output", tmp_path, "--ledger", tmp_path / "none" / "l.db")


def test_it_says_who_the_people_are_and_who_looks_at_raw_rows(stage, people, curators):
    show_opening(stage, people, curators)
    said = sentences(stage)
    assert "the Adult census (UCI, adult.data), 32,561 rows" in said
    assert "The demo owns this data" in said
    assert "one budget, ε 0.25" in said
    assert "so spending is not recorded after the demo" in said


def test_with_a_ledger_it_says_what_was_spent_before(tmp_path, people, curators):
    curators.people.sql("SELECT COUNT(*) AS n FROM people", epsilon="0.05")
    stage = quiet_stage(tmp_path, ledger="l.db")
    show_opening(stage, people, curators)
    assert "Ledger l.db. Spent before this run: adult ε 0.05, company ε 0, patients ε 0." in sentences(stage)


def test_the_receipt_is_shown_whole(stage, curators):
    release = curators.patients.sql("SELECT COUNT(*) AS n FROM patients", epsilon="0.1")
    show_receipt(stage, release)
    assert release.receipt.to_json() in told(stage)


def test_every_account_is_shown_before_and_after(stage, curators):
    curators.patients.sql("SELECT COUNT(*) AS n FROM patients", epsilon="0.1")
    show_accounts(stage, curators, [PureDP(0)] * 3)
    assert row(stage, "patients") == ["patients", "ε 0.3", "ε 0", "ε 0.1", "ε 0.2"]
    assert "Nothing was recorded" in sentences(stage)


def test_with_a_ledger_it_says_how_to_check_it(tmp_path, curators):
    stage = quiet_stage(tmp_path, ledger="l.db")
    show_accounts(stage, curators, [PureDP(0)] * 3)
    assert "sfumato ledger verify l.db" in sentences(stage)


def test_both_answers_stand_beside_the_true_one(stage, people, curators):
    story.show_over_fifty(stage, people, curators.people)
    assert row(stage, "0.1")[1:2] + row(stage, "0.1")[3:] == ["6,460", "ε 0.1"]
    assert row(stage, "0.001")[1:2] + row(stage, "0.001")[3:] == ["6,460", "ε 0.001"]


@pytest.mark.parametrize(("epsilon", "error"), [("0.1", "± 30"), ("0.001", "± 2,996")])
def test_the_error_bar_is_that_of_its_epsilon(stage, people, curators, epsilon, error):
    story.show_over_fifty(stage, people, curators.people)
    assert row(stage, epsilon)[2].removesuffix(" ≲ noise").endswith(error)


def test_the_first_answer_comes_back_for_its_receipt(stage, people, curators):
    release = story.show_over_fifty(stage, people, curators.people)
    assert str(release.receipt.guarantee) == "ε 0.1"
    assert abs(release["n"][0].value - 6_460) < 400  # 40 scales: e^-40


TRUE_AGES = {"17-24": "5,570", "39-46": "6,163", "76-82": "174", "83-90": "67"}


def test_every_bin_is_shown_true_and_private(stage, people, curators):
    story.show_ages(stage, people, curators.people)
    assert {label: row(stage, label)[1] for label in TRUE_AGES} == TRUE_AGES
    assert row(stage, "83-90")[2].removesuffix(" ≲ noise").endswith("± 300")


def test_the_picture_is_a_png(stage, people, curators):
    story.show_ages(stage, people, curators.people)
    assert (stage.output / story.PICTURE).read_bytes().startswith(b"\x89PNG")
    assert f"Picture: {stage.output / story.PICTURE}" in sentences(stage)


def test_it_says_which_bins_drown_in_the_noise(stage, people, curators):
    story.show_ages(stage, people, curators.people)
    assert "= 141 people" in sentences(stage)
    assert "in the smallest bins (76-82, 83-90)" in sentences(stage)


def test_the_whole_histogram_costs_its_epsilon_once(stage, people, curators):
    story.show_ages(stage, people, curators.people)
    assert str(curators.people.spent) == "ε 0.01"


def test_without_matplotlib_the_table_is_all(stage, people, curators, monkeypatch):
    def missing(*_, **__):
        raise ParameterError("matplotlib", None, "is needed for pictures")

    monkeypatch.setattr(story, "histogram", missing)
    story.show_ages(stage, people, curators.people)
    assert "No picture: matplotlib" in sentences(stage)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, people, curators):
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(ParameterError, match="output = "):
        story.show_ages(quiet_stage(tmp_path / "file" / "folder"), people, curators.people)


TRUE_MARITAL_STATUS = ("22,379", "16,117", "6,633", "1,530", "1,518", "628", "37")


@pytest.fixture
def shown_marital_status(stage, people, curators):
    story.show_marital_status(stage, people, curators.people)
    return stage


def test_every_status_is_counted_true_and_private(shown_marital_status):
    assert tuple(row(shown_marital_status, status)[1] for status in MARITAL_STATUS) == TRUE_MARITAL_STATUS
    assert all("± 30" in row(shown_marital_status, status)[2] for status in MARITAL_STATUS)


def test_the_people_are_those_of_both_files(shown_marital_status):
    assert "48,842 rows: adult.data and adult.test together (cost: ε 0.1)" in sentences(shown_marital_status)


EXPECTED = ("9,577.2", "418.3", "3.65", "0.28", "0.28", "0.18", "0.13")


@pytest.fixture
def shown_exponential(stage, people):
    story.show_exponential(stage, people)
    return stage


def test_expected_draws_are_those_of_the_texts(shown_exponential):
    assert tuple(row(shown_exponential, status)[2] for status in MARITAL_STATUS) == EXPECTED


def test_ten_thousand_are_drawn(shown_exponential):
    drawn = [int(row(shown_exponential, status)[3].replace(",", "")) for status in MARITAL_STATUS]
    assert sum(drawn) == 10_000
    assert abs(drawn[0] - 9_577) < 200  # 10 standard deviations


def test_it_is_called_a_simulation_with_both_totals(shown_exponential):
    said = sentences(shown_exponential)
    assert "A simulation of the mechanism, outside any session" in said
    assert "Nominal total: ε 10,000" in said
    assert "a draw costs ε 0.001, and all 10,000 together at most ε 10." in said


def test_the_true_price_is_of_the_same_law():
    scores = [22.379, 16.117, 0.037]
    same = Exponential(utility_sensitivity=story.TRUE_SENSITIVITY, epsilon=story.TRUE_EPSILON)
    assert same.probabilities(scores).tolist() == story.CLAIMED.probabilities(scores).tolist()


def test_each_coin_has_its_epsilon(stage):
    story.show_survey(stage)
    assert row(stage, "fair")[1:3] == ["ln 3 = 1.0986", "40%"]
    assert row(stage, "heads 80%")[1:3] == ["ln 21 = 3.0445", "40%"]


def test_it_says_that_nobody_collects_truths(stage):
    story.show_survey(stage)
    assert "100 made-up people, of whom 40" in sentences(stage)
    assert "No curator and no account" in sentences(stage)


@pytest.fixture
def differenced(stage, curators):
    story.show_payroll(stage, curators.company)
    return stage


def dollars(text):
    return int(text.replace("$", "").replace(",", ""))


def test_raw_averages_give_the_salary_away(differenced):
    assert "56,000·101 − 55,000·100 = $156,000, Mallory's salary. The attack wins." in sentences(differenced)


@pytest.mark.parametrize("epsilon", story.MONTHLY_EPSILONS)
def test_private_averages_leave_it_anywhere_within_the_public_bounds(differenced, epsilon):
    _, january, february, difference, low, high = row(differenced, f"{epsilon} ")
    if "unknown" in {january, february}:  # a mean over a noisy count of nobody: 0.3% at ε = 0.1
        assert {difference, low, high} == {"unknown"}
        return
    assert dollars(low) <= dollars(difference) <= dollars(high)
    assert dollars(high) - dollars(low) > story.TOP_SALARY  # wider than what is known without asking
    # The averages are differenced in whole dollars: half a dollar for each of 201 employees.
    assert abs(101 * dollars(february) - 100 * dollars(january) - dollars(difference)) <= 101


def test_an_average_that_is_missing_is_not_zero(monkeypatch):
    averages = {"january": NOTHING, "february": AnswerValue(value=50_000, low=40_000, high=60_000)}
    monkeypatch.setattr(story, "_average", lambda _curator, month, _epsilon: averages[month])
    assert story._attack(None, "1", 100, 101) == ("1", "unknown", "$50,000", "unknown", "unknown", "unknown")


def test_the_whole_price_is_said(differenced, curators):
    assert "These six answers cost ε 18.2" in sentences(differenced)
    assert str(curators.company.remaining) == "ε 0"


@pytest.fixture
def attacked(stage, curators):
    story.show_diagnosis(stage, curators.patients)
    return stage


def test_raw_answers_give_the_diagnosis_away(attacked):
    assert "Q5 − Q4 = 3 − 2, so Chandler = 1: ill. The attack wins." in sentences(attacked)


def test_private_answers_leave_a_difference_that_means_nothing(attacked):
    assert row(attacked, "Q5 at ε = 0.1")[1].removesuffix(" ≲ noise").endswith("± 30")
    assert row(attacked, "Q4 at ε = 0.2")[1].removesuffix(" ≲ noise").endswith("± 15")
    assert row(attacked, "Q5 − Q4")[1].removesuffix(" ≲ noise").endswith("± 45")
    assert "The attack loses" in sentences(attacked)


def test_two_prices_add_up_exactly(attacked):
    assert "0.1 + 0.2 = exactly 0.3, stored as the fraction 3/10" in sentences(attacked)
    assert "0.30000000000000004" in sentences(attacked)
    assert "Budget ε 0.3, spent ε 0.3, remaining ε 0." in sentences(attacked)


def test_the_same_question_again_is_free_and_a_new_one_is_refused(attacked, curators):
    assert "(cost: nothing, stored answer)" in sentences(attacked)
    refusal = "budget exceeded: the query costs ε 0.1; the account has ε 0 remaining; nothing was spent. Lower epsilon"
    assert f"refused. The curator answers: {refusal}" in sentences(attacked)
    assert str(curators.patients.spent) == "ε 0.3"
