"""What plans cost, added up anew by accountants: what is fixed is summed, and Gaussian noise is priced together."""

from fractions import Fraction

from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.gaussian.gdp import GDPAccountant
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.privacy.events import ApproxEvent, ComposedEvent, DiscreteGaussianEvent
from sfumato.query.planning.plan import PrivatePlan


def fixed_price(events, relation):
    """The ε and δ of all events but Gaussian ones, summed."""
    others = [event for event in events if not isinstance(event, DiscreteGaussianEvent)]
    delta = sum((event.delta for event in others if isinstance(event, ApproxEvent)), start=Fraction(0))
    accountant = BasicAccountant(neighboring_relation=relation)
    return sum((accountant.compose(event).epsilon(delta) for event in others), start=Fraction(0)), delta


def gaussian_price(events, delta):
    """The ε of all Gaussian events together, at a δ."""
    noise = ComposedEvent(tuple(event for event in events if isinstance(event, DiscreteGaussianEvent)))
    if not noise.events:
        return Fraction(0)
    accountant = GDPAccountant() if GDPAccountant().supports(noise) else PLDAccountant()
    return accountant.compose(noise).epsilon(delta)


def price(plan: PrivatePlan, relation):
    """The ε of a plan at the δ that it charges."""
    epsilon, delta = fixed_price(plan.event.events, relation)
    return epsilon + gaussian_price(plan.event.events, plan.charge.delta - delta)
