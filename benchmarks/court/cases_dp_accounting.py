"""dp-accounting on trial: the laws of accountants, with closed forms as the truth.

Docs of SelfComposedDpEvent: it is equivalent to a ComposedDpEvent of as many copies; of `compose`: a count is how often
an event is composed; of GaussianDpEvent: the noise multiplier is relative to the norm of one value.
"""

from docket import Accountant, case

from sfumato.audit import Verdict
from sfumato.privacy.events import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    RandomizedResponseEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import REPLACE_ONE


@case("dp_accounting", "pld")
def pld():
    """PLDAccountant, adding or removing a record.

    Gaussian, Laplace and discrete Laplace noise.
    """
    return Accountant(events=(GaussianEvent(10), LaplaceEvent(10), DiscreteLaplaceEvent(10, 1)))


@case("dp_accounting", "rdp")
def rdp():
    """RdpAccountant, adding or removing a record.

    Gaussian and Laplace noise, and zCDP.
    """
    return Accountant(events=(GaussianEvent(10), LaplaceEvent(10), ZCDPEvent("0.01")))


@case("dp_accounting", "rdp_replaced")
def rdp_response():
    """RdpAccountant, replacing a record: randomized response.

    The control of the next case.
    """
    return Accountant(events=(RandomizedResponseEvent("1/2", 2),), relation=REPLACE_ONE)


@case("dp_accounting", "pld_replaced", expects=Verdict.ACCOUNTING_BUG)
def pld_response():
    """PLDAccountant, replacing a record: randomized response.

    The count of a randomized response is not looked at.
    """
    return Accountant(events=(RandomizedResponseEvent("1/2", 2),), relation=REPLACE_ONE)


@case("dp_accounting", "pld_replaced")
def pld_gaussian():
    """PLDAccountant, replacing a record: Gaussian noise.

    The control of the next case.
    """
    return Accountant(events=(GaussianEvent(5),), relation=REPLACE_ONE)


@case("dp_accounting", "rdp_replaced", expects=Verdict.ACCOUNTING_BUG)
def rdp_gaussian():
    """RdpAccountant, replacing a record: Gaussian noise.

    It charges for a move of one norm where replacing a value moves the sum by two.
    """
    return Accountant(events=(GaussianEvent(5),), relation=REPLACE_ONE)
