"""Budgets and windows as options say them."""

from sfumato.errors import ParameterError
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow, Window
from sfumato.privacy.budgets import ZCDP, Budget
from sfumato.privacy.guarantees import guarantee


def budget_of(*, epsilon: str | None, delta: str | None, rho: str | None) -> Budget:
    """The budget of some options.

    Raises:
        ParameterError: Not exactly one of ε and ρ was stated, or a number lies outside.

    Example:
        >>> str(budget_of(epsilon="1", delta=None, rho=None)), str(budget_of(epsilon=None, delta="1e-6", rho="0.5"))
        ('ε 1', 'ρ 0.5, δ 1e-06')
    """
    if epsilon is not None and rho is None:
        return guarantee(epsilon, delta or 0)
    if rho is not None and epsilon is None:
        return ZCDP(rho, delta or 0)
    raise ParameterError("--epsilon, --rho", (epsilon, rho), "exactly one must be stated: in what the budget is kept")


def window_of(text: str | None) -> Window | None:
    """The window of an option: ``month``, ``30d``; None for never.

    Raises:
        ParameterError: It is neither a period nor a number of days.

    Example:
        >>> str(window_of("month")), str(window_of("30d"))
        ('per calendar month (UTC)', 'per any 30 days')
    """
    if text is None:
        return None
    days = text.removesuffix("d")
    if text.endswith("d") and days.isascii() and days.isdigit():
        return RollingWindow(int(days[:6]))
    try:
        return CalendarWindow(text)
    except ParameterError as error:
        raise ParameterError("--window", text, f"{error.requirement}; or days, such as 30d") from None
