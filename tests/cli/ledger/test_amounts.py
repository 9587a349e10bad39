import pytest

from sfumato.cli.ledger.amounts import budget_of, window_of
from sfumato.errors import ParameterError
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.guarantees import ApproxDP, PureDP


@pytest.mark.parametrize(
    ("options", "budget"),
    [
        (("1", None, None), PureDP(1)), (("0.1", "1e-6", None), ApproxDP("0.1", "1e-6")),
        ((None, None, "0.5"), ZCDP("0.5")), ((None, "1e-6", "0.5"), ZCDP("0.5", "1e-6")),
    ],
)  # fmt: skip
def test_a_budget_is_in_epsilon_or_in_rho(options, budget):
    assert budget_of(**dict(zip(("epsilon", "delta", "rho"), options, strict=True))) == budget


@pytest.mark.parametrize("options", [(None, None, None), ("1", None, "1"), (None, "1e-6", None)])
def test_a_budget_has_exactly_one_measure(options):
    with pytest.raises(ParameterError, match="exactly one"):
        budget_of(**dict(zip(("epsilon", "delta", "rho"), options, strict=True)))


@pytest.mark.parametrize("number", ["-1", "nan", "inf", "much", "1e-500"])
def test_a_budget_of_no_number_is_refused(number):
    for name in ("epsilon", "rho"):
        with pytest.raises(ParameterError, match=name):
            budget_of(**({"epsilon": None, "delta": None, "rho": None} | {name: number}))


@pytest.mark.parametrize("text", ["day", "week", "month", "quarter", "year"])
def test_a_window_is_a_period(text):
    assert window_of(text) == CalendarWindow(text)


def test_a_window_is_a_number_of_days_or_none():
    assert window_of("30d") == RollingWindow(30)
    assert window_of(None) is None


@pytest.mark.parametrize("text", ["0d", "d", "30", "-1d", "99999999d", "month!", "", "1.5d", "٣d"])
def test_a_window_of_no_kind_is_refused(text):
    with pytest.raises(ParameterError):
        window_of(text)
