"""Limits on an unknown probability from how often an event happened [CP34]."""

from scipy.stats import beta

from sfumato.numeric.rounding import deflated


def lower_limit(events: int, runs: int, *, significance: float) -> float:
    """The smallest probability that gives so many events or more with a chance above `significance`.

    Example:
        >>> round(lower_limit(5, 5, significance=0.05), 3)
        0.549
    """
    if events == 0:
        return 0.0
    return deflated(float(beta.ppf(significance, events, runs - events + 1)))


def upper_limit(events: int, runs: int, *, significance: float) -> float:
    """The largest probability that gives so few events or fewer with a chance above `significance`.

    Example:
        >>> round(upper_limit(0, 5, significance=0.05), 3)
        0.451
    """
    return 1 - lower_limit(runs - events, runs, significance=significance)
