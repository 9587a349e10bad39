"""Accounting by Rényi divergences: any events, added up at each order, and the best order in the end."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.accounting.core.accountant import EpsilonInterval, TalliedAccountant
from sfumato.accounting.core.normal_form import NeighborGroup
from sfumato.accounting.renyi.bound import RenyiBound
from sfumato.accounting.renyi.conversion import delta_up, epsilon_up
from sfumato.accounting.renyi.of_event import bound_of_tally, renyi_bound_of
from sfumato.errors import UnsupportedEventError
from sfumato.privacy.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class RDPAccountant(TalliedAccountant):
    """Rényi differential privacy: D_α of releases in sequence adds up at every order α; ε is the best over orders.

    ε(δ) = min over α > 1 of Σ D_α + ln(1 − 1/α) − (ln δ + ln α)/(α − 1), and never more than the sum of pure ε's.
    What fails with a probability of its own, as an (ε₀, δ₀) event does, costs that probability first.

    **Guarantee**: `epsilon` and `delta` are never below the truth, for the accountant's neighboring relation, also
    where each mechanism depends on earlier answers, as long as the events are fixed in advance. Looser than the exact
    curve: by 1 to 20% for Gaussian noise, and by more for small samples.

    Edge cases: nothing composed costs ε = 0. At δ = 0 only events with an ε of their own have a finite cost. A
    `NonPrivateEvent` costs an infinite ε; in a sample of probability q it costs δ = q. The lower end of `interval` is
    0, because a bound on divergences proves no loss.

    Args:
        neighboring_relation: The relation for which the events' sensitivities and the guarantee hold.

    Example:
        >>> from sfumato.privacy.events import GaussianEvent, PoissonSampledEvent
        >>> step = PoissonSampledEvent("0.01", GaussianEvent(1))
        >>> round(RDPAccountant().compose(step, count=1000).epsilon("1e-6"), 3)
        2.436

    References:
        [Mir17] Proposition 1; [CKS20] Proposition 12.
    """

    def _supports(self, event: Event) -> bool:
        try:
            renyi_bound_of(event, self.neighboring_relation)
        except UnsupportedEventError:
            return False
        return True

    def _bound(self) -> RenyiBound:
        return bound_of_tally(self.tally, NeighborGroup(self.neighboring_relation))

    def _interval(self, delta: Fraction) -> EpsilonInterval:
        bound = self._bound()
        if bound.failure > delta:
            return EpsilonInterval(Fraction(0), float("inf"))
        left = (delta - bound.failure) / (1 - bound.failure)
        found = epsilon_up(bound.divergence, left) if left else float("inf")
        return EpsilonInterval(Fraction(0), min(bound.epsilon, found))

    def _delta(self, epsilon: Fraction) -> Fraction:
        bound = self._bound()
        left = Fraction(0) if epsilon >= bound.epsilon else Fraction(delta_up(bound.divergence, epsilon))
        return bound.failure + (1 - bound.failure) * left
