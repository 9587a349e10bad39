"""Privacy filters by basic composition: may this still be spent, if each price depends on the answers so far?

A filter says yes only as long as the sums of ε and of δ stay within the budget; all answers together then keep the
budget's guarantee, however cleverly the questions and their prices were chosen [RRUV16]. Arithmetic is exact: a
request that spends the budget to the last bit is granted, and one that is any larger is not.
"""

from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, Guarantee, NoGuarantee, PureDP, as_guarantee


def fits(*, spent: Guarantee, request: Guarantee, budget: Guarantee) -> bool:
    """Whether a request may still be granted: spent + request ≤ budget, in ε and in δ.

    **Guarantee**: if every release was granted by it, their composition has the budget's guarantee, also where
    requests depend on earlier answers. A `PureDP` budget refuses every request with δ above 0.

    Example:
        >>> fits(spent=PureDP("0.9"), request=PureDP("0.1"), budget=PureDP(1))
        True
        >>> fits(spent=PureDP("0.9"), request=PureDP("0.1000001"), budget=PureDP(1))
        False

    References:
        [RRUV16]
    """
    spent, request = as_guarantee(spent, "spent"), as_guarantee(request, "request")
    return spent + request <= as_guarantee(budget, "budget")


def remaining(*, budget: Guarantee, spent: Guarantee) -> Guarantee:
    """The largest request that still `fits`: what is left of ε and of δ.

    Edge cases: nothing can be taken from `NO_GUARANTEE`, which stays.

    Raises:
        ParameterError: More was spent than the budget holds.

    Example:
        >>> remaining(budget=ApproxDP(1, "1e-6"), spent=PureDP("0.25"))
        ApproxDP(epsilon=Fraction(3, 4), delta=Fraction(1, 1000000))

    References:
        [RRUV16]
    """
    if isinstance(as_guarantee(budget, "budget"), NoGuarantee):
        return NO_GUARANTEE
    if isinstance(as_guarantee(spent, "spent"), NoGuarantee) or not spent <= budget:
        raise ParameterError("spent", str(spent), f"must not exceed the budget of {budget}")
    if isinstance(budget, PureDP):
        return PureDP(budget.epsilon - spent.epsilon)
    return ApproxDP(budget.epsilon - spent.epsilon, budget.delta - spent.delta)
