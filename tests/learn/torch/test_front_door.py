"""The front door of networks: whatever anyone hands to a public name, it works or says what was wanted."""

import numpy as np
import pyarrow as pa
import pytest
import torch
from tests.test_front_door import call, outcome, spoiled
from torch import nn

import sfumato as sf

ROWS = (np.ones((4, 2), dtype=np.float32), np.array([0, 1, 0, 1]))
MADE_BY_THE_PACKAGE = {
    "FederatedModel", "FederatedPlan", "GradientLeakage", "LeakedInput", "SharedFederatedPlan", "TrainedModel",
    "TrainingPlan",
}  # fmt: skip


def session_rows():
    columns = {"age": sf.integer(0, 90), "ill": sf.integer(0, 1)}
    people = sf.open(pa.table({"age": [30, 40], "ill": [0, 1]}), name="people", columns=columns, budget=sf.PureDP(1))
    return people.training_set("SELECT age, ill FROM people", target="ill")


def calls():
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss, example = nn.CrossEntropyLoss(), (torch.zeros(2, 2), torch.zeros(2, dtype=torch.int64))
    local = sf.learn.torch.LocalTraining(epochs=1, batch_size=2, rate="0.1")
    agreed = {"loss": loss, "example": example, "local": local, "clip": 1, "rounds": 2, "epsilon": 8, "delta": "1e-5"}
    image = torch.tensor([0.5, -0.5])
    update = sf.learn.torch.gradient_of(model, loss, image, 1)
    return {
        "AdaptiveClip": call(stddev=5, quantile="0.5", rate="0.2"),
        "Examples": call(*ROWS, units=[1, 1, 2, 3], rows_per_unit=2, neighboring_relation="replace_one"),
        "LocalTraining": call(epochs=1, batch_size=2, rate="0.1"),
        "Owner": call("a", *(torch.from_numpy(part) for part in ROWS)),
        "SessionOwner": call("north", session_rows(), epsilon=1),
        "private": call(
            model, optimizer, loss, ROWS, epsilon=3, delta="1e-5", epochs=1, batch_size=2, rows=4, clip=1,
            mode="per example", adaptive_clip=None, noise="independent", bands=2, largest_batch=None, block=4,
            autocast=None, schedule=None,
        ),
        "private_federation": call(model, optimizer, owners=20, owners_per_round=5, **agreed),
        "shared_federation": call(model, optimizer, owners=20, max_dropouts=2, **agreed),
        "gradient_of": call(model, loss, image, 1),
        "leaked_input": call(update, model=model, loss=loss, shape=(2,), method="first layer"),
        "gradient_leakage": call(
            lambda one, label: sf.learn.torch.gradient_of(model, loss, one, label), model=model, loss=loss,
            inputs=torch.rand(4, 2), labels=torch.tensor([0, 1, 0, 1]),
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(sf.learn.torch.__all__) - MADE_BY_THE_PACKAGE))
def test_a_wrong_argument_is_used_or_refused_in_the_words_of_the_package(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    value, right = getattr(sf.learn.torch, name), calls()[name]
    assert outcome(value, right) == ""
    wrong = [f"{where}: {said}" for where, spoilt in spoiled(right) if (said := outcome(value, spoilt))]
    assert not wrong, "\n".join(wrong)
