import pytest
from tests.ledger.stories import HandClock, account, gaussian, release, time

from sfumato.cli.ledger import picture
from sfumato.errors import ParameterError
from sfumato.ledger.core.clock import DAY
from sfumato.ledger.core.windows import CalendarWindow
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.memory import MemoryStore
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import GaussianEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP

START = time("2024-11-01T00:00")


@pytest.fixture
def drawn(monkeypatch):
    """What is given to the picture, instead of a picture."""
    given = {}

    def keep(left, **options):
        given.update(left=left, **options)

    monkeypatch.setattr(picture, "burn_down", keep)
    monkeypatch.setattr(picture, "save", lambda _, path: path)
    return given


def draw(*accounts, asked=(), days=10):
    clock = HandClock(START)
    ledger = Ledger(MemoryStore(), clock=clock)
    for one in accounts:
        ledger.open_account(one)
    clock.at = START + DAY
    for what in asked:
        ledger.reserve(accounts[-1].account, question="q", **what)
    clock.at = START + days * DAY
    picture.draw(ledger, ledger.accounts(), days=30, path="x.png")


def seconds(*days):
    return [START / 10**6 + day * 86_400 for day in days]


def test_budgets_in_epsilon_are_drawn_in_epsilon(drawn):
    draw(account("all", PureDP(2)), account(parents=("all",)), asked=[release("0.25")])
    assert drawn["left"]["people"] == (seconds(0, 1, 10), [1, 0.75, 0.75])
    assert drawn["left"]["all"] == (seconds(0, 1, 10), [2, 1.75, 1.75])
    assert (drawn["unit"], drawn["budget"]) == ("ε", 2)


def test_the_pace_goes_on_to_nothing(drawn):
    draw(account(), asked=[release("0.25")])
    assert drawn["projected_by_name"] == {"people": (seconds(10, 40), [0.75, 0])}


def test_the_pace_goes_on_to_where_the_budget_comes_back(drawn):
    draw(account(window=CalendarWindow("month")), asked=[release("0.25")], days=10)
    ((times, left),) = drawn["projected_by_name"].values()
    assert times == seconds(10, 30)
    assert left == pytest.approx([0.75, 0.25])


def test_what_is_never_used_up_goes_on_nowhere(drawn):
    draw(account())
    assert drawn["projected_by_name"] == {}


def test_a_budget_in_rho_is_drawn_in_rho(drawn):
    draw(account(budget=ZCDP("0.5")), asked=[gaussian(GaussianEvent(10))])
    assert (drawn["unit"], drawn["left"]["people"][1]) == ("ρ", [0.5, 0.495, 0.495])


@pytest.mark.parametrize("budget", [ApproxDP(2, "1e-6"), ZCDP(1, "1e-6")])
def test_two_numbers_are_drawn_as_the_share_of_the_scarcer(drawn, budget):
    draw(account(budget=budget), asked=[release("0.25", "5e-7")])
    assert (drawn["unit"], drawn["budget"], drawn["left"]["people"][1][1]) == (None, 1, 0.5)


def test_different_measures_are_drawn_as_shares(drawn):
    draw(account("all", ZCDP(1)), account(parents=("all",)), asked=[release("0.25")])
    assert drawn["unit"] is None
    assert drawn["left"]["people"][1][1] == 0.75


def test_what_nothing_limits_is_not_drawn(drawn):
    draw(account("all", NO_GUARANTEE), account(parents=("all",)))
    assert list(drawn["left"]) == ["people"]
    with pytest.raises(ParameterError, match="needs an account with a budget"):
        draw(account(budget=NO_GUARANTEE))
