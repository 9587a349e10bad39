"""Private training of networks; needs the extra `torch`."""

from sfumato.learn.torch.attacks.leakage import (
    GradientLeakage,
    LeakedInput,
    gradient_leakage,
    gradient_of,
    leaked_input,
)
from sfumato.learn.torch.federated.accounts import SessionOwner
from sfumato.learn.torch.federated.owners import LocalTraining, Owner
from sfumato.learn.torch.federated.plan import FederatedModel, FederatedPlan, private_federation
from sfumato.learn.torch.federated.shared import SharedFederatedPlan, shared_federation
from sfumato.learn.torch.training.clipping import AdaptiveClip
from sfumato.learn.torch.training.examples import Examples
from sfumato.learn.torch.training.plan import TrainedModel, TrainingPlan
from sfumato.learn.torch.training.private import private

__all__ = [
    "AdaptiveClip",
    "Examples",
    "FederatedModel",
    "FederatedPlan",
    "GradientLeakage",
    "LeakedInput",
    "LocalTraining",
    "Owner",
    "SessionOwner",
    "SharedFederatedPlan",
    "TrainedModel",
    "TrainingPlan",
    "gradient_leakage",
    "gradient_of",
    "leaked_input",
    "private",
    "private_federation",
    "shared_federation",
]
