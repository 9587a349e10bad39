"""Which frequency oracle to take: the variance, the bytes and the work of each, and the reason for one."""

from dataclasses import dataclass
from typing import Final

from sfumato.errors import ParameterError
from sfumato.local.core.domain import Domain
from sfumato.local.frequency.direct import DirectEncoding
from sfumato.local.frequency.hadamard import HadamardResponse
from sfumato.local.frequency.hashing import LocalHashing
from sfumato.local.frequency.oracle import DomainLike, FrequencyOracle
from sfumato.local.frequency.subset import SubsetSelection
from sfumato.local.frequency.unary import OptimizedUnaryEncoding
from sfumato.numeric.rationals import Number, positive_integer

_TRIED: Final = (DirectEncoding, HadamardResponse, LocalHashing, OptimizedUnaryEncoding, SubsetSelection)
_NEARLY: Final = 1.05
"""Variances within 5% of the least count as equal: shorter reports are worth more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One oracle beside others.

    Attributes:
        oracle: The oracle, at the ε and on the domain that were asked for.
        variance: Of the estimate of a value that nobody holds, times the number of reports.
        payload_bytes: The length of a report, without its header.
    """

    oracle: FrequencyOracle
    variance: float
    payload_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleChoice:
    """The oracle to take, and why.

    Attributes:
        oracle: The one to take.
        reason: Why, in a sentence with the numbers.
        compared: All that were tried, the least variance first.
    """

    oracle: FrequencyOracle
    reason: str
    compared: tuple[Compared, ...]


def best(epsilon: Number, domain: DomainLike, *, bytes: int | None = None) -> OracleChoice:  # noqa: A002 # what is limited
    """The oracle with the least variance of those whose reports are short enough.

    Of variances within 5% of the least, the one with the shortest reports is taken. The choice depends on public facts
    alone.

    Args:
        epsilon: The ε of one report.
        domain: The values.
        bytes: The longest payload that may be sent; any, if none is given.

    Raises:
        ParameterError: An argument is out of range, or no oracle has such short reports.

    Example:
        >>> print(best(1, 1024).reason)
        LocalHashing: n·Var 3.692 with 9 bytes a report; the least is 3.674 (SubsetSelection, 128 bytes)
        >>> print(best(1, 1024, bytes=2).reason)
        HadamardResponse: n·Var 4.683 with 2 bytes a report; the least is 3.674 (SubsetSelection, 128 bytes)
        >>> print(best(3, 20).reason)
        DirectEncoding: n·Var 0.1046 with 1 byte a report, the least of all

    References:
        [WBLJ17] for the comparison.
    """
    held = domain if isinstance(domain, Domain) else Domain(domain)
    able = (kind for kind in _TRIED if (kind.takes_texts if held.is_open else len(held) <= kind.most_values))
    oracles = [kind(held, epsilon=epsilon) for kind in able]
    compared = sorted(
        (Compared(oracle=o, variance=o.variance(reports=1), payload_bytes=o.payload_bytes) for o in oracles),
        key=lambda one: one.variance,
    )
    most = None if bytes is None else positive_integer(bytes, "bytes")
    short = [one for one in compared if most is None or one.payload_bytes <= most]
    if not short:
        least = min(one.payload_bytes for one in compared)
        raise ParameterError("bytes", bytes, f"must be at least {least}, the shortest report for this domain and ε")
    near = [one for one in short if one.variance <= _NEARLY * short[0].variance]
    chosen = min(near, key=lambda one: one.payload_bytes)
    return OracleChoice(oracle=chosen.oracle, reason=_reason(chosen, compared[0]), compared=tuple(compared))


def _reason(chosen: Compared, least: Compared) -> str:
    said = f"{type(chosen.oracle).__name__}: n·Var {chosen.variance:.4g} with {_sized(chosen)} a report"
    if chosen is least:
        return f"{said}, the least of all"
    return f"{said}; the least is {least.variance:.4g} ({type(least.oracle).__name__}, {_sized(least)})"


def _sized(one: Compared) -> str:
    return "1 byte" if one.payload_bytes == 1 else f"{one.payload_bytes:,} bytes"
