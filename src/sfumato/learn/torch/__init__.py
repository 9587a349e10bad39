"""Private training of networks; needs the extra `torch`."""

from sfumato.learn.torch.federated.owners import LocalTraining, Owner
from sfumato.learn.torch.federated.plan import FederatedModel, FederatedPlan, private_federation
from sfumato.learn.torch.federated.shared import SharedFederatedPlan, shared_federation

__all__ = [
    "FederatedModel",
    "FederatedPlan",
    "LocalTraining",
    "Owner",
    "SharedFederatedPlan",
    "private_federation",
    "shared_federation",
]
