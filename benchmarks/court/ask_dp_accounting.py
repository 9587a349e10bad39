"""dp-accounting answers the court: what its accountants charge for events.

The database of a request is `{"seen": [[event, count], …], "what": "epsilon" or "delta", "at": δ or ε}`.
"""

from answering import answer, one_by_one
from dp_accounting import NeighboringRelation, UnsupportedEventError, dp_event, pld, rdp

MADE = {
    "gaussian": dp_event.GaussianDpEvent,
    "laplace": dp_event.LaplaceDpEvent,
    "discrete laplace": dp_event.DiscreteLaplaceDpEvent,
    "response": dp_event.RandomizedResponseDpEvent,
    "zcdp": dp_event.ZCDpEvent,
    "self-composed": lambda inner, count: dp_event.SelfComposedDpEvent(made(inner), count),
    "composed": lambda events: dp_event.ComposedDpEvent([made(event) for event in events]),
    "sampled": lambda share, inner: dp_event.PoissonSampledDpEvent(share, made(inner)),
}


def made(document):
    kind, *parameters = document
    return MADE[kind](*parameters)


def charged(accountant, relation):
    def asked(request):
        spent = accountant(neighboring_relation=relation)
        try:
            for event, count in request["seen"]:
                spent.compose(made(event), count)
        except UnsupportedEventError:
            return "has no such event"
        return float({"epsilon": spent.get_epsilon, "delta": spent.get_delta}[request["what"]](request["at"]))

    return one_by_one(asked)


ONE_MORE, REPLACED = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
CASES = {
    "pld": charged(pld.PLDAccountant, ONE_MORE),
    "rdp": charged(rdp.RdpAccountant, ONE_MORE),
    "pld_replaced": charged(pld.PLDAccountant, REPLACED),
    "rdp_replaced": charged(rdp.RdpAccountant, REPLACED),
}

if __name__ == "__main__":
    answer(CASES, packages=("dp-accounting",))
